#include "virtaccel/mock/script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/text.h"

namespace virtaccel::mock {

namespace {

constexpr std::size_t words_per_line = 4;
// How much of a word a sentence repeats.
constexpr std::size_t quoted_bytes_max = 48;
constexpr std::string_view blanks = " \t\r";

std::unexpected<ScriptRefusal> refuse(ScriptFlaw flaw, Call call = Call::create_context,
                                      std::string_view word = {}) {
    return std::unexpected{ScriptRefusal{.flaw = flaw, .call = call, .word = word}};
}

// The words of a line; `count` goes on counting when there are too many.
struct Words {
    std::array<std::string_view, words_per_line> word;
    std::size_t count = 0;
};

Words split(std::string_view line) {
    Words words;
    line = line.substr(0, line.find('#'));
    while (true) {
        const auto start = line.find_first_not_of(blanks);
        if (start == std::string_view::npos) {
            return words;
        }
        line.remove_prefix(start);
        const auto word = line.substr(0, line.find_first_of(blanks));
        if (words.count < words_per_line) {
            words.word[words.count] = word;
        }
        ++words.count;
        line.remove_prefix(word.size());
    }
}

std::string_view name_of(Action action) {
    const auto* const row = std::ranges::find(action_rows, action, &ActionRow::action);
    return row == action_rows.end() ? "" : row->name;
}

std::expected<std::uint64_t, ScriptRefusal> parse_occurrence(Call call, std::string_view word) {
    std::uint64_t occurrence = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), occurrence);
    if (error != std::errc{} || end != word.data() + word.size()) {
        return refuse(ScriptFlaw::occurrence_is_no_number, call, word);
    }
    return occurrence;
}

// The entry that a line says, as far as its words go; `Script::add` judges what they mean together.
std::expected<Fault, ScriptRefusal> parse_line(const Words& words) {
    if (words.count != words_per_line) {
        return refuse(ScriptFlaw::word_count, Call::create_context, words.word[0]);
    }
    const auto [call_word, occurrence_word, action_word, status_word] = words.word;
    const auto* const call = std::ranges::find(call_rows, call_word, &CallRow::name);
    if (call == call_rows.end() || call->actions.empty()) {
        return refuse(ScriptFlaw::unknown_call, Call::create_context, call_word);
    }
    VIRTACCEL_TRY_ASSIGN(const auto occurrence, parse_occurrence(call->call, occurrence_word));
    const auto* const action = std::ranges::find(action_rows, action_word, &ActionRow::name);
    if (action == action_rows.end()) {
        return refuse(ScriptFlaw::unknown_action, call->call, action_word);
    }
    const auto* const status = std::ranges::find(status_rows, status_word, &StatusRow::name);
    if (status == std::end(status_rows)) {
        return refuse(ScriptFlaw::unknown_status, call->call, status_word);
    }
    return Fault{.call = call->call,
                 .occurrence = occurrence,
                 .action = action->action,
                 .status = status->status};
}

// Every flaw in a sentence; names in braces are replaced.
struct FlawRow {
    ScriptFlaw flaw;
    std::string_view sentence;
};

constexpr std::array flaw_rows{
    FlawRow{ScriptFlaw::word_count,
            "that begins with ({word}) is not four words: write a call, its occurrence, an action "
            "and a status."},
    FlawRow{ScriptFlaw::unknown_call,
            "names a call ({word}) that can do nothing wrong: write one of {calls}."},
    FlawRow{ScriptFlaw::occurrence_is_no_number,
            "has an occurrence ({word}) of the call ({call}) that is no number: write 1 for the "
            "first."},
    FlawRow{ScriptFlaw::occurrence_is_zero,
            "has the occurrence (0) of the call ({call}): they are counted from 1, write that for "
            "the first."},
    FlawRow{ScriptFlaw::unknown_action,
            "names an action ({word}) that there is not: write one that the call ({call}) has, "
            "which are {actions}."},
    FlawRow{ScriptFlaw::action_of_another_call,
            "names an action ({word}) that the call ({call}) does not have: write one of its own, "
            "which are {actions}."},
    FlawRow{ScriptFlaw::unknown_status,
            "names a status ({word}) that there is not: write one of {statuses}."},
    FlawRow{ScriptFlaw::status_is_ok,
            "lets the call ({call}) go wrong with ({word}), which is success: write the status of "
            "a failure."},
    FlawRow{ScriptFlaw::duplicate,
            "is about an occurrence of the call ({call}) that an earlier one is about: give each "
            "occurrence one action."},
    FlawRow{ScriptFlaw::too_many,
            "is one more than the ({max}) that a script can hold: leave some out."},
};

void list_calls(Text& text) {
    std::string_view separator;
    for (const CallRow& row : call_rows) {
        if (!row.actions.empty()) {
            text << std::exchange(separator, ", ") << row.name;
        }
    }
}

void list_actions(Text& text, Actions actions) {
    std::string_view separator;
    for (const ActionRow& row : action_rows) {
        if (actions.has(row.action)) {
            text << std::exchange(separator, ", ") << row.name;
        }
    }
    text << (actions.empty() ? "none" : "");
}

void list_failures(Text& text) {
    std::string_view separator;
    for (const StatusRow& row : status_rows) {
        if (row.status != Status::ok) {
            text << std::exchange(separator, ", ") << row.name;
        }
    }
}

// A word of somebody's text, which may be of any length.
void quote(Text& text, std::string_view word) {
    text << word.substr(0, quoted_bytes_max) << (word.size() > quoted_bytes_max ? "..." : "");
}

// What stands for a name in braces.
void substitute(Text& text, std::string_view name, const ScriptRefusal& refusal) {
    const CallRow& row = row_of(refusal.call);
    if (name == "word") {
        quote(text, refusal.word);
    } else if (name == "call") {
        text << row.name;
    } else if (name == "calls") {
        list_calls(text);
    } else if (name == "max") {
        text << script_entries_max;
    } else if (name == "actions") {
        list_actions(text, row.actions);
    } else {
        list_failures(text);
    }
}

}  // namespace

std::expected<Script, ScriptRefusal> Script::parse(std::string_view text) {
    Script script;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const Words words = split(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (words.count == 0) {
            continue;
        }
        const auto fault = parse_line(words);
        const auto added = fault ? script.add(*fault) : std::unexpected{fault.error()};
        if (!added) {
            ScriptRefusal refusal = added.error();
            refusal.line = line;
            return std::unexpected{refusal};
        }
    }
    return script;
}

std::expected<void, ScriptRefusal> Script::add(const Fault& fault) {
    if (fault.occurrence == 0) {
        return refuse(ScriptFlaw::occurrence_is_zero, fault.call);
    }
    if (!row_of(fault.call).actions.has(fault.action)) {
        return refuse(ScriptFlaw::action_of_another_call, fault.call, name_of(fault.action));
    }
    if (fault.status == Status::ok) {
        return refuse(ScriptFlaw::status_is_ok, fault.call, status_name(fault.status));
    }
    if (!is_known(fault.status)) {
        return refuse(ScriptFlaw::unknown_status, fault.call, status_name(fault.status));
    }
    if (find(fault.call, fault.occurrence)) {
        return refuse(ScriptFlaw::duplicate, fault.call);
    }
    if (size_ == entries_.size()) {
        return refuse(ScriptFlaw::too_many, fault.call);
    }
    entries_[size_++] = {.fault = fault};
    return {};
}

void Script::fail_next(Call call, const Failure& failure) {
    const std::uint64_t occurrence = calls(call) + 1;
    if (const auto scripted = find(call, occurrence)) {
        remove(*scripted);
    }
    Action action = Action::error_before;
    if (row_of(call).actions.has(Action::rejected)) {
        action = failure.certainty == backend::Certainty::rejected ? Action::rejected
                                                                   : Action::indeterminate;
    }
    VIRTACCEL_CHECK(size_ < entries_.size());
    entries_[size_++] = {.fault = {.call = call,
                                   .occurrence = occurrence,
                                   .action = action,
                                   .status = failure.status},
                         .state = failure.state,
                         .before = failure.before};
}

std::optional<Fault> Script::take(Call call) {
    const auto index = find(call, ++calls_[static_cast<std::size_t>(call)]);
    if (!index) {
        return std::nullopt;
    }
    const Entry entry = entries_[*index];
    remove(*index);
    if (entry.before != nullptr) {
        entry.before(entry.state);
    }
    return entry.fault.status == Status::ok ? std::nullopt : std::optional{entry.fault};
}

std::string_view Script::print(std::span<char> room) const {
    Text text{room};
    for (const Entry& entry : std::span{entries_}.first(size_)) {
        if (entry.fault.status != Status::ok) {
            std::array<char, script_line_bytes_max> line{};
            text << mock::print(entry.fault, line) << "\n";
        }
    }
    return text.written();
}

std::optional<std::size_t> Script::find(Call call, std::uint64_t occurrence) const {
    for (std::size_t i = 0; i < size_; ++i) {
        if (entries_[i].fault.call == call && entries_[i].fault.occurrence == occurrence) {
            return i;
        }
    }
    return std::nullopt;
}

void Script::remove(std::size_t index) {
    std::copy(entries_.begin() + index + 1, entries_.begin() + size_, entries_.begin() + index);
    --size_;
}

std::string_view print(const Fault& fault, std::span<char> room) {
    Text text{room};
    text << row_of(fault.call).name << " " << fault.occurrence << " " << name_of(fault.action)
         << " " << status_name(fault.status);
    return text.written();
}

std::string_view explain(const ScriptRefusal& refusal, std::span<char> room) {
    Text text{room};
    if (refusal.line != 0) {
        text << "The line (" << refusal.line << ") of the fault script ";
    } else {
        text << "An entry of the fault script ";
    }
    const auto* const row = std::ranges::find(flaw_rows, refusal.flaw, &FlawRow::flaw);
    VIRTACCEL_CHECK(row != flaw_rows.end());
    std::string_view rest = row->sentence;
    for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
        const auto close = rest.find('}');
        text << rest.substr(0, open);
        substitute(text, rest.substr(open + 1, close - open - 1), refusal);
        rest.remove_prefix(close + 1);
    }
    text << rest;
    return text.written();
}

}  // namespace virtaccel::mock

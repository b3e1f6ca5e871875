#pragma once
// What a fault backend does wrong, and when: entries of a call, its occurrence and an action, that
// a person can write down, one line each. The one thing to know: an entry leaves the script when
// its call comes, so that a script always holds what has not happened yet.
//
//     # the second submission may have begun, and the device is lost
//     submit 2 indeterminate DEVICE_LOST
//     allocate 1 error_after OUT_OF_MEMORY

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bits.h"
#include "virtaccel/base/status.h"

namespace virtaccel::mock {

// The calls of the contract that act. A script can say something about all but the last.
enum class Call : std::uint8_t {
    create_context,
    destroy_context,
    allocate,
    free,
    write,
    read,
    prepare,
    load,
    unload,
    create_queue,
    destroy_queue,
    submit,
    poll,
    cancel,
    destroy_event,
    abandon,
};

inline constexpr std::size_t call_count = static_cast<std::size_t>(Call::abandon) + 1;

// How a call goes wrong.
enum class Action : std::uint8_t {
    // Nothing happens, and the status is the answer.
    error_before = 1U << 0U,
    // It happens, is undone, and the status is the answer. A creation that cannot be undone is
    // DEVICE_LOST, a submission indeterminate. Nothing undoes a transfer or a look at an event.
    error_after = 1U << 1U,
    // Nothing happens, and the outcome is rejected.
    rejected = 1U << 2U,
    // It happens, and the outcome does not say so.
    indeterminate = 1U << 3U,
    // The submission is accepted; where its event would complete, it fails with the status.
    event_fails = 1U << 4U,
};

using Actions = BitSet<Action>;

// One row of the table of actions.
struct ActionRow {
    Action action;
    std::string_view name;
};

inline constexpr std::array action_rows{
    ActionRow{Action::error_before, "error_before"},
    ActionRow{Action::error_after, "error_after"},
    ActionRow{Action::rejected, "rejected"},
    ActionRow{Action::indeterminate, "indeterminate"},
    ActionRow{Action::event_fails, "event_fails"},
};

// One row of the table of calls: its name, and how it can go wrong.
struct CallRow {
    Call call;
    std::string_view name;
    Actions actions;
};

// Calls that make something or look at something, and calls that give something up.
inline constexpr Actions actions_of_creation = Actions{Action::error_before} | Action::error_after;
inline constexpr Actions actions_of_release = Actions{Action::rejected} | Action::indeterminate;

// In the order of `Call`.
inline constexpr std::array<CallRow, call_count> call_rows{{
    {Call::create_context, "create_context", actions_of_creation},
    {Call::destroy_context, "destroy_context", actions_of_release},
    {Call::allocate, "allocate", actions_of_creation},
    {Call::free, "free", actions_of_release},
    {Call::write, "write", actions_of_creation},
    {Call::read, "read", actions_of_creation},
    {Call::prepare, "prepare", actions_of_creation},
    {Call::load, "load", actions_of_creation},
    {Call::unload, "unload", actions_of_release},
    {Call::create_queue, "create_queue", actions_of_creation},
    {Call::destroy_queue, "destroy_queue", actions_of_release},
    {Call::submit, "submit", actions_of_release | Action::error_after | Action::event_fails},
    {Call::poll, "poll", actions_of_creation},
    {Call::cancel, "cancel", Action::error_before},  // what is cancelled stays so
    {Call::destroy_event, "destroy_event", actions_of_release},
    {Call::abandon, "abandon", {}},
}};

[[nodiscard]] constexpr const CallRow& row_of(Call call) {
    return call_rows[static_cast<std::size_t>(call)];
}

// One entry of a script: what the `occurrence`th call, counted from 1, does wrong. `status` is what
// it answers with or, for `event_fails`, what its event ends with; never OK.
struct Fault {
    Call call = Call::create_context;
    std::uint64_t occurrence = 1;
    Action action = Action::error_before;
    Status status = Status::internal_error;
    friend constexpr bool operator==(const Fault&, const Fault&) = default;
};

// How the next call goes wrong, for a program that does not count. For calls that know no certainty
// only `status` counts. `before`, if there is one, is called first and can do anything, such as
// taking the guest's memory away; with status OK the call then goes on as if nothing was scripted.
struct Failure {
    Status status = Status::internal_error;
    backend::Certainty certainty = backend::Certainty::rejected;
    void* state = nullptr;
    void (*before)(void* state) = nullptr;
};

// Why an entry, or a line of text, is none.
enum class ScriptFlaw : std::uint8_t {
    word_count,
    unknown_call,
    occurrence_is_no_number,
    occurrence_is_zero,
    unknown_action,
    action_of_another_call,
    unknown_status,
    status_is_ok,
    duplicate,
    too_many,
};

// `line` counts from 1, or is 0 for an entry that did not come from text; `call` and `word` are
// what the flaw is about, and `word` is borrowed from the text.
struct ScriptRefusal {
    ScriptFlaw flaw = ScriptFlaw::word_count;
    std::size_t line = 0;
    Call call = Call::create_context;
    std::string_view word{};
};

// Room that is always enough for `explain`, for a script's text and for one line of it.
inline constexpr std::size_t script_entries_max = 64;
inline constexpr std::size_t script_line_bytes_max = 72;
inline constexpr std::size_t script_text_bytes_max = script_entries_max * script_line_bytes_max;
inline constexpr std::size_t script_refusal_bytes_max = 512;

// Outlives the backends that read it; several may, one after the other, and occurrences are counted
// over all of them. One thread. Copies go their own ways.
class Script {
  public:
    // The script that `text` says: one entry a line, words separated by blanks; what follows a `#`
    // is a comment, and lines without a word are passed over.
    [[nodiscard]] static std::expected<Script, ScriptRefusal> parse(std::string_view text);

    // Puts one entry more into the script, whose call has not come yet.
    [[nodiscard]] std::expected<void, ScriptRefusal> add(const Fault& fault);

    // The next call of `call` fails like that, once, whatever else it was to do.
    void fail_next(Call call, const Failure& failure);

    // While held, every event is pending to whoever polls or destroys it, whatever has become of it
    // in a backend whose events end by themselves.
    void hold_events(bool held) { events_held_ = held; }

    [[nodiscard]] bool events_held() const { return events_held_; }

    // How often a call was made since the script began.
    [[nodiscard]] std::uint64_t calls(Call call) const {
        return calls_[static_cast<std::size_t>(call)];
    }

    // How many entries have not happened yet.
    [[nodiscard]] std::size_t left() const { return size_; }

    // For the backend: counts the call and takes what it does wrong, having called `before`.
    [[nodiscard]] std::optional<Fault> take(Call call);

    // What is left, one line an entry, in the order in which it was put in, as `parse` reads it.
    // Written into `room` (cut off at its end) and returned as the part written. A `before` without
    // a failure is left out.
    [[nodiscard]] std::string_view print(std::span<char> room) const;

  private:
    struct Entry {
        Fault fault;
        void* state = nullptr;
        void (*before)(void* state) = nullptr;
    };

    [[nodiscard]] std::optional<std::size_t> find(Call call, std::uint64_t occurrence) const;
    void remove(std::size_t index);

    std::array<Entry, script_entries_max> entries_{};
    std::size_t size_ = 0;
    std::array<std::uint64_t, call_count> calls_{};
    bool events_held_ = false;
};

// One entry as a line, without its end.
[[nodiscard]] std::string_view print(const Fault& fault, std::span<char> room);

// A full sentence for a person: what is wrong, where, and what to do.
[[nodiscard]] std::string_view explain(const ScriptRefusal& refusal, std::span<char> room);

}  // namespace virtaccel::mock

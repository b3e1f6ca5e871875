#include "virtaccel/model/schedule.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "virtaccel/model/action.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {
namespace {

constexpr std::size_t line_bytes_max = 4096;
constexpr std::size_t actions_max = 1'000'000;
// The most bytes that an action sends or makes room for, and the most of anything in a world.
constexpr std::uint64_t size_max = std::uint64_t{1} << 20U;
constexpr std::uint64_t limit_max = std::uint64_t{1} << 16U;

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line, char gap) {
    Words words;
    while (true) {
        const auto end = line.find(gap);
        if (end != 0 && !line.empty()) {
            words.push_back(line.substr(0, end));
        }
        if (end == std::string_view::npos) {
            return words;
        }
        line.remove_prefix(end + 1);
    }
}

bool is_name(std::string_view word) {
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    return !word.empty() && lower(word.front()) && std::ranges::all_of(word, [&](char c) {
        return lower(c) || (c >= '0' && c <= '9') || c == '_';
    });
}

std::optional<std::uint64_t> number_of(std::string_view word) {
    const bool hex = word.starts_with("0x");
    word.remove_prefix(hex ? 2 : 0);
    std::uint64_t number = 0;
    const auto [end, failure] =
        std::from_chars(word.data(), word.data() + word.size(), number, hex ? 16 : 10);
    return failure == std::errc{} && end == word.data() + word.size() && !word.empty()
               ? std::optional{number}
               : std::nullopt;
}

std::optional<Atom> atom_of(std::string_view word) {
    if (const auto number = number_of(word)) {
        return Atom{.number = *number, .object = {}};
    }
    return is_name(word) ? std::optional{Atom{.number = 0, .object = std::string{word}}}
                         : std::nullopt;
}

// KEY=ATOM, or KEY=ATOM:ATOM and so on.
std::optional<Setting> setting_of(std::string_view word) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || !is_name(word.substr(0, equals))) {
        return std::nullopt;
    }
    Setting setting{.key = std::string{word.substr(0, equals)}, .value = {}};
    for (const auto part : words_of(word.substr(equals + 1), ':')) {
        auto atom = atom_of(part);
        if (!atom) {
            return std::nullopt;
        }
        setting.value.push_back(*std::move(atom));
    }
    return setting.value.empty() ? std::nullopt : std::optional{std::move(setting)};
}

bool is_too_large(const Setting& setting) {
    return (setting.key == "data" || setting.key == "extra" || setting.key == "room") &&
           setting.value.front().number > size_max;
}

std::string text_of(const Atom& atom) {
    return atom.object.empty() ? std::to_string(atom.number) : atom.object;
}

std::unexpected<std::string> wrong(std::size_t line, const std::string& what) {
    return std::unexpected{"The line (" + std::to_string(line) + ") of the schedule " + what + "."};
}

std::expected<Action, std::string> parse_action(Words words, std::size_t line) {
    Action action;
    if (words.size() >= 3 && words[1] == "=") {
        if (!is_name(words[0])) {
            return wrong(line, "gives a name (" + std::string{words[0]} +
                                   ") that is not one: write small letters and digits");
        }
        action.name = words[0];
        words.erase(words.begin(), words.begin() + 2);
    }
    action.verb = words.front();
    if (!is_verb(action.verb)) {
        return wrong(line, "has an action (" + action.verb +
                               ") that there is not: see docs/replay.md for those there are");
    }
    for (const auto word : Words{words.begin() + 1, words.end()}) {
        auto setting = setting_of(word);
        if (!setting || !is_setting(action.verb, setting->key) || is_too_large(*setting)) {
            return wrong(line, "has a setting (" + std::string{word} + ") that the action (" +
                                   action.verb + ") does not take: see docs/replay.md");
        }
        action.settings.push_back(*std::move(setting));
    }
    return action;
}

std::expected<World, std::string> parse_world(const Words& words, std::size_t line) {
    World world;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto setting = setting_of(words[i]);
        const auto* const member =
            std::ranges::find(world_members, setting ? setting->key : std::string{},
                              [](const auto& entry) { return entry.first; });
        if (member == world_members.end() || !setting->value.front().object.empty() ||
            setting->value.front().number > limit_max) {
            return wrong(line, "has a setting (" + std::string{words[i]} +
                                   ") that no world takes: see docs/replay.md");
        }
        world.*(member->second) = setting->value.front().number;
    }
    return world;
}

// A line without its comment and what a text editor may leave at its end.
std::string_view body_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    while (line.ends_with('\r') || line.ends_with(' ')) {
        line.remove_suffix(1);
    }
    return line;
}

}  // namespace

std::string to_text(const Action& action) {
    std::string text = action.name.empty() ? "" : action.name + " = ";
    text += action.verb;
    for (const Setting& setting : action.settings) {
        text += ' ' + setting.key;
        char gap = '=';
        for (const Atom& atom : setting.value) {
            text += gap + text_of(atom);
            gap = ':';
        }
    }
    return text;
}

std::string to_text(const Schedule& schedule, std::string_view comment) {
    std::string text{schedule_magic};
    for (const auto line : words_of(comment, '\n')) {
        text += "# " + std::string{line} + '\n';
    }
    text += "world";
    for (const auto& [name, member] : world_members) {
        text += ' ' + std::string{name} + '=' + std::to_string(schedule.world.*member);
    }
    text += '\n';
    for (const Action& action : schedule.actions) {
        text += to_text(action) + '\n';
    }
    return text;
}

std::expected<Schedule, std::string> parse_schedule(std::string_view text) {
    if (!text.starts_with(schedule_magic)) {
        return wrong(1, "is not (virtaccel-schedule 1): give a file that virtaccel replay wrote");
    }
    Schedule schedule;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto whole = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), whole.size() + 1));
        const auto body = body_of(whole);
        if (body.size() > line_bytes_max) {
            return wrong(line, "is too long");
        }
        const auto words = words_of(body, ' ');
        if (line == 1 || words.empty()) {
            continue;
        }
        if (schedule.actions.size() == actions_max) {
            return wrong(line, "is one action too many");
        }
        if (words.front() == "world") {
            auto world = parse_world(words, line);
            if (!world) {
                return std::unexpected{std::move(world).error()};
            }
            schedule.world = *world;
            continue;
        }
        auto action = parse_action(words, line);
        if (!action) {
            return std::unexpected{std::move(action).error()};
        }
        schedule.actions.push_back(*std::move(action));
    }
    return schedule;
}

}  // namespace virtaccel::model

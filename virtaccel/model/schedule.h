#pragma once
// A schedule and its text: a first line with a version, one line for the world, one line for each
// action, `#` and what follows it for people. docs/replay.md describes it.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/model/action.h"
#include "virtaccel/model/world.h"

namespace virtaccel::model {

struct Schedule {
    World world;
    std::vector<Action> actions;
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

// How the text of a schedule begins.
inline constexpr std::string_view schedule_magic = "virtaccel-schedule 1\n";

// The whole text; each line of `comment` becomes a comment.
[[nodiscard]] std::string to_text(const Schedule& schedule, std::string_view comment);

[[nodiscard]] std::string to_text(const Action& action);

// The schedule, or a full sentence that names the line and what is wrong with it.
[[nodiscard]] std::expected<Schedule, std::string> parse_schedule(std::string_view text);

}  // namespace virtaccel::model

#pragma once
// Looks for a schedule at which a device and the model part, and makes it short. The one thing to
// know: a seed says it all, so that a failure anywhere is a failure everywhere.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"

namespace virtaccel::model {

struct Search {
    std::uint64_t first_seed = 1;
    std::uint64_t seeds = 1;
    std::uint64_t steps = 400;  // of each schedule
};

// What was found: the schedule as it was (its last action is the one that showed it), the same made
// short, and what the short one shows.
struct Finding {
    std::uint64_t seed = 0;
    std::size_t found_at = 0;  // actions of the first schedule
    Schedule schedule;
    std::string what;
};

// What was done without finding anything, or until something was found.
struct Explored {
    std::uint64_t schedules = 0;
    std::uint64_t actions = 0;
    Answers answers;  // of all schedules that ended well
    std::optional<Finding> finding;
};

// Runs a random schedule for each seed, up to the first at which device and model part. The error
// is that of Trial::make.
[[nodiscard]] std::expected<Explored, std::string> explore(const Cast& cast, const Search& search);

// The fewest actions of `schedule`, which parts, at which device and model still part; no action
// and no setting of it can be left out. Cut off after the parting itself.
[[nodiscard]] Schedule minimise(const Cast& cast, Schedule schedule);

// The finding as a replay file.
[[nodiscard]] std::string to_text(const Finding& finding);

}  // namespace virtaccel::model

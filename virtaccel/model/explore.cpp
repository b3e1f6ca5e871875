#include "virtaccel/model/explore.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "virtaccel/model/action.h"
#include "virtaccel/model/generator.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"

namespace virtaccel::model {
namespace {

using Actions = std::vector<Action>;

std::optional<Parting> parting_of(const Cast& cast, const Schedule& schedule) {
    const auto run = run_schedule(cast, schedule);
    return run ? *run : std::nullopt;
}

// Takes over `shorter` if it parts too, without what comes after that.
bool keep_if_parting(const Cast& cast, Schedule& schedule, Actions shorter) {
    Schedule candidate{.world = schedule.world, .actions = std::move(shorter)};
    const auto parting = parting_of(cast, candidate);
    if (!parting) {
        return false;
    }
    candidate.actions.resize(parting->index + 1);
    schedule = std::move(candidate);
    return true;
}

// Leaves out runs of `size` actions where that is possible; true if it was.
bool leave_out_runs(const Cast& cast, Schedule& schedule, std::size_t size) {
    bool any = false;
    std::size_t at = 0;
    while (at < schedule.actions.size()) {
        Actions shorter = schedule.actions;
        const auto end = std::min(at + size, shorter.size());
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                      shorter.begin() + static_cast<std::ptrdiff_t>(end));
        if (keep_if_parting(cast, schedule, std::move(shorter))) {
            any = true;
        } else {
            at += size;
        }
    }
    return any;
}

// Leaves out single settings.
bool leave_out_settings(const Cast& cast, Schedule& schedule) {
    bool any = false;
    for (std::size_t i = 0; i < schedule.actions.size(); ++i) {
        std::size_t at = 0;
        while (i < schedule.actions.size() && at < schedule.actions[i].settings.size()) {
            Actions simpler = schedule.actions;
            auto& settings = simpler[i].settings;
            settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(at));
            if (keep_if_parting(cast, schedule, std::move(simpler))) {
                any = true;
            } else {
                ++at;
            }
        }
    }
    return any;
}

}  // namespace

Schedule minimise(const Cast& cast, Schedule schedule) {
    for (bool any = true; any;) {
        any = false;
        for (auto size = std::max<std::size_t>(schedule.actions.size() / 2, 1); size != 0;
             size /= 2) {
            any = leave_out_runs(cast, schedule, size) || any;
        }
        any = leave_out_settings(cast, schedule) || any;
    }
    return schedule;
}

std::expected<Explored, std::string> explore(const Cast& cast, const Search& search) {
    Explored explored;
    for (std::uint64_t i = 0; i < search.seeds; ++i) {
        const std::uint64_t seed = search.first_seed + i;
        Generator generator{seed};
        Schedule schedule{.world = generator.world(), .actions = {}};
        auto trial = Trial::make(cast, schedule.world);
        if (!trial) {
            return std::unexpected{std::move(trial).error()};
        }
        ++explored.schedules;
        for (std::uint64_t step = 0; step < search.steps; ++step) {
            schedule.actions.push_back(generator.next(**trial));
            ++explored.actions;
            if (auto what = (*trial)->step(schedule.actions.back())) {
                const auto found_at = schedule.actions.size();
                Schedule shortest = minimise(cast, std::move(schedule));
                const auto parting = parting_of(cast, shortest);
                explored.finding = {.seed = seed,
                                    .found_at = found_at,
                                    .schedule = std::move(shortest),
                                    .what = parting ? parting->what : *std::move(what)};
                return explored;
            }
        }
        for (const auto& [answer, count] : (*trial)->answers()) {
            explored.answers[answer] += count;
        }
    }
    return explored;
}

std::string to_text(const Finding& finding) {
    return to_text(finding.schedule, "Seed " + std::to_string(finding.seed) + ", found after " +
                                         std::to_string(finding.found_at) +
                                         " actions and made short.\n" +
                                         "The last action shows it: " + finding.what);
}

}  // namespace virtaccel::model

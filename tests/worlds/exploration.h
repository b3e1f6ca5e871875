#pragma once
// Every state that a world can reach, breadth first, each once. The one thing to know: the first
// rule that a step breaks ends the search, and the shortest schedule that leads there is told.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace virtaccel::worlds {

// One step that a world can take. `label` is the world's own name for it; `broken` is the rule that
// the step breaks, as a sentence, or empty.
template <class State>
struct Step {
    State state;
    std::uint32_t label = 0;
    std::string_view broken;
};

struct Outcome {
    std::uint64_t states = 0;
    std::uint64_t steps = 0;
    // The longest of the shortest schedules, and how many shortest schedules there are over all
    // states: so many interleavings, none with a detour, are known to be right.
    std::uint32_t depth = 0;
    double schedules = 0;
    std::uint64_t finished = 0;
    std::string broken;
    std::string trace;
    // False if the limit of states ended the search.
    bool complete = true;
};

// The states that were seen. `State` is an array of unsigned numbers.
template <class State>
class Seen {
  public:
    struct Record {
        State state;
        std::uint32_t parent;
        std::uint32_t label;
        std::uint32_t depth;
        double schedules;
    };

    // The index of the state's record, which is made if it is new.
    [[nodiscard]] std::uint32_t visit(const Record& record) {
        if (slots_.size() < 2 * (records_.size() + 1)) {
            grow();
        }
        std::size_t slot = slot_of(record.state);
        while (slots_[slot] != 0) {
            if (records_[slots_[slot] - 1].state == record.state) {
                return slots_[slot] - 1;
            }
            slot = (slot + 1) & (slots_.size() - 1);
        }
        records_.push_back(record);
        slots_[slot] = static_cast<std::uint32_t>(records_.size());
        return slots_[slot] - 1;
    }

    [[nodiscard]] std::size_t size() const { return records_.size(); }

    [[nodiscard]] Record& operator[](std::size_t index) { return records_[index]; }

  private:
    [[nodiscard]] std::size_t slot_of(const State& state) const {
        std::uint64_t hash = 0;
        for (const std::uint32_t word : state) {
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 29U;
        }
        return hash & (slots_.size() - 1);
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(1024, slots_.size() * 2), 0);
        for (std::size_t i = 0; i < records_.size(); ++i) {
            std::size_t slot = slot_of(records_[i].state);
            while (slots_[slot] != 0) {
                slot = (slot + 1) & (slots_.size() - 1);
            }
            slots_[slot] = static_cast<std::uint32_t>(i + 1);
        }
    }

    std::vector<Record> records_;
    std::vector<std::uint32_t> slots_;
};

// A world has a type `State`, and
//   State first();
//   void steps(const State&, std::vector<Step<State>>& target);   what can happen next
//   bool is_finished(const State&);                               all that was to be done is
//   std::string describe(const State&, std::uint32_t label);      a step, for a person
template <class World>
[[nodiscard]] Outcome explore(World& world, std::uint64_t states_max = 100'000'000) {
    using State = typename World::State;
    Outcome outcome;
    Seen<State> seen;
    std::vector<Step<State>> steps;
    (void)seen.visit({.state = world.first(), .parent = 0, .label = 0, .depth = 0, .schedules = 1});
    const auto trace_to = [&](std::uint32_t at) {
        std::string trace;
        for (; at != 0; at = seen[at].parent) {
            trace.insert(0, world.describe(seen[seen[at].parent].state, seen[at].label) + '\n');
        }
        return trace;
    };
    for (std::uint32_t at = 0; at < seen.size(); ++at) {
        const auto from = seen[at];
        outcome.depth = from.depth;
        outcome.schedules += from.schedules;
        steps.clear();
        world.steps(from.state, steps);
        if (world.is_finished(from.state)) {
            ++outcome.finished;
        } else if (steps.empty()) {
            outcome.broken = "Nothing can happen any more, and not all is done.";
            outcome.trace = trace_to(at);
            break;
        }
        for (const Step<State>& step : steps) {
            ++outcome.steps;
            if (!step.broken.empty()) {
                outcome.states = seen.size();
                outcome.broken = step.broken;
                outcome.trace = trace_to(at) + world.describe(from.state, step.label) + '\n';
                return outcome;
            }
            const std::size_t before = seen.size();
            const std::uint32_t to = seen.visit({.state = step.state,
                                                 .parent = at,
                                                 .label = step.label,
                                                 .depth = from.depth + 1,
                                                 .schedules = from.schedules});
            if (seen.size() == before && seen[to].depth == from.depth + 1) {
                seen[to].schedules += from.schedules;
            }
        }
        if (seen.size() > states_max) {
            outcome.complete = false;
            break;
        }
    }
    outcome.states = seen.size();
    return outcome;
}

// Three digits and a power of ten.
[[nodiscard]] inline std::string rounded(double number) {
    std::ostringstream text;
    text << std::setprecision(3) << number;
    return text.str();
}

// One line for the log.
[[nodiscard]] inline std::string summary(std::string_view name, const Outcome& outcome) {
    return std::string{name} + ": " + std::to_string(outcome.states) + " states, " +
           std::to_string(outcome.steps) + " steps, " + rounded(outcome.schedules) +
           " shortest schedules of up to " + std::to_string(outcome.depth) + " steps" +
           (outcome.complete ? "" : " (not all)") + '\n' + outcome.broken +
           (outcome.broken.empty() ? "" : "\n") + outcome.trace;
}

}  // namespace virtaccel::worlds

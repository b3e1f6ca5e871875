#pragma once
// Every single fault and every pair of faults that a life can meet, found by leading it: what the
// calls of a run reach can go wrong in the next run. The one thing to know: the second fault of a
// pair is looked for in the run with the first, so that faults in cleaning up and in recovering are
// among them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/faults/hands.h"
#include "tests/faults/life.h"
#include "tests/faults/world.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

// What is led, with whom, and to which end.
struct Scenario {
    std::function<std::unique_ptr<Hands>(World& world)> hands;
    Ending ending = Ending::release;
    Twins twins{};
};

[[nodiscard]] std::unique_ptr<Hands> device_alone(World& world);
[[nodiscard]] std::unique_ptr<Hands> whole_stack(World& world);

// One run. `finding` is empty if everything held; `calls` is how often each call was made.
struct Run {
    std::string finding;
    std::array<std::uint64_t, mock::call_count> calls{};
    std::size_t faults_met = 0;
};

[[nodiscard]] Run run(const Scenario& scenario, std::span<const mock::Fault> faults);

// What an enumeration found: the first few findings, each with its script.
struct Tally {
    std::uint64_t singles = 0;
    std::uint64_t pairs = 0;
    std::uint64_t pairs_met = 0;  // both faults happened; else the first kept the second away
    std::uint64_t wrong = 0;
    std::vector<std::string> findings;
};

void enumerate_singles(const Scenario& scenario, std::span<const Status> statuses, Tally& tally);

// Stops at the first few findings.
void enumerate_pairs(const Scenario& scenario, std::span<const Status> statuses, Tally& tally);

}  // namespace virtaccel::faults

#include "tests/faults/enumeration.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "tests/faults/device_hands.h"
#include "tests/faults/hands.h"
#include "tests/faults/life.h"
#include "tests/faults/stack_hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

namespace {

constexpr std::size_t findings_max = 5;

// Every entry about the `occurrence`th call of `row`, with one of `statuses`.
void add_faults(std::vector<mock::Fault>& faults, const mock::CallRow& row,
                std::uint64_t occurrence, std::span<const Status> statuses) {
    for (const mock::ActionRow& action : mock::action_rows) {
        if (!row.actions.has(action.action)) {
            continue;
        }
        for (const Status status : statuses) {
            faults.push_back({row.call, occurrence, action.action, status});
        }
    }
}

// Every entry about a call that a run made, with one of `statuses`.
std::vector<mock::Fault> faults_of(const Run& run, std::span<const Status> statuses) {
    std::vector<mock::Fault> faults;
    for (const mock::CallRow& row : mock::call_rows) {
        const std::uint64_t calls = run.calls[static_cast<std::size_t>(row.call)];
        for (std::uint64_t occurrence = 1; occurrence <= calls; ++occurrence) {
            add_faults(faults, row, occurrence, statuses);
        }
    }
    return faults;
}

std::string script_of(std::span<const mock::Fault> faults) {
    std::string text;
    for (const mock::Fault& fault : faults) {
        std::array<char, mock::script_line_bytes_max> line{};
        text.append("\n    ").append(print(fault, line));
    }
    return text;
}

void count(Tally& tally, const Run& run, std::span<const mock::Fault> faults) {
    if (run.finding.empty()) {
        return;
    }
    ++tally.wrong;
    if (tally.findings.size() < findings_max) {
        tally.findings.push_back(run.finding + script_of(faults));
    }
}

// The same for a fault, whatever pair it is in.
std::uint64_t number_of(const mock::Fault& fault) {
    return static_cast<std::uint64_t>(fault.call) << 56U |
           static_cast<std::uint64_t>(fault.action) << 48U |
           static_cast<std::uint64_t>(fault.status) << 32U | fault.occurrence;
}

}  // namespace

std::unique_ptr<Hands> device_alone(World& world) {
    return std::make_unique<DeviceHands>(world);
}

std::unique_ptr<Hands> whole_stack(World& world) {
    return std::make_unique<StackHands>(world);
}

Run run(const Scenario& scenario, std::span<const mock::Fault> faults) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    Run result;
    {
        World world{memory.memory(), faults, scenario.twins};
        {
            const auto hands = scenario.hands(world);
            result.finding = Life{world, *hands}.lead(scenario.ending);
        }
        for (std::size_t i = 0; i < mock::call_count; ++i) {
            result.calls[i] = world.script().calls(static_cast<mock::Call>(i));
        }
        result.faults_met = faults.size() - world.script().left();
    }
    if (result.finding.empty() && memory.live_blocks() != 0) {
        result.finding =
            "After everything: memory leaks (" + std::to_string(memory.live_blocks()) + " blocks)";
    }
    return result;
}

void enumerate_singles(const Scenario& scenario, std::span<const Status> statuses, Tally& tally) {
    const Run plain = run(scenario, {});
    count(tally, plain, {});
    for (const mock::Fault& fault : faults_of(plain, statuses)) {
        ++tally.singles;
        count(tally, run(scenario, {&fault, 1}), {&fault, 1});
    }
}

void enumerate_pairs(const Scenario& scenario, std::span<const Status> statuses, Tally& tally) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const mock::Fault& first : faults_of(run(scenario, {}), statuses)) {
        const Run with_first = run(scenario, {&first, 1});
        for (const mock::Fault& second : faults_of(with_first, statuses)) {
            const bool is_same_call =
                first.call == second.call && first.occurrence == second.occurrence;
            const std::pair key = std::minmax({number_of(first), number_of(second)});
            if (is_same_call || !seen.insert(key).second) {
                continue;
            }
            const std::array pair{first, second};
            const Run with_both = run(scenario, pair);
            ++tally.pairs;
            tally.pairs_met += with_both.faults_met == pair.size() ? 1 : 0;
            count(tally, with_both, pair);
            if (tally.findings.size() == findings_max) {
                return;
            }
        }
    }
}

}  // namespace virtaccel::faults

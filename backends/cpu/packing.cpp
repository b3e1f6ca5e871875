// The end of a lowering: where every value of the finished steps lies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "backends/cpu/arena.h"
#include "backends/cpu/block.h"
#include "backends/cpu/known_bytes.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::backends::cpu {

// What has bytes of its own keeps them, what stands in the model is copied.
Block Lowering::keep(ValueId id) {
    const auto bytes = static_cast<std::size_t>(values_[id].bytes);
    charge(bytes);
    Block block = known_bytes_.take(known_[id]);
    if (block.data() == nullptr) {
        block = Block{memory_, bytes};
        std::memcpy(block.data(), known_[id], bytes);
    }
    return block;
}

// Known values that steps read outlive the model's bytes.
void Lowering::keep_constants(Program& program) {
    std::map<const std::byte*, std::byte*> kept;
    for (const auto& touched : touched_) {
        for (const ValueId id : touched) {
            Value& value = values_[id];
            if (known_[id] == nullptr || value.address != nullptr) {
                continue;
            }
            std::byte*& address = kept[known_[id]];
            if (address == nullptr) {
                address = program.constants.emplace_back(keep(id)).data();
            }
            value.address = address;
        }
    }
    known_bytes_.clear();
}

// Their own, and from the first run on what the runs before have left.
void Lowering::keep_states(Program& program) {
    for (const tosa::TensorIndex index : analysis_.states) {
        const tosa::Tensor& first = tensor(index);
        charge(first.bytes);
        const Block& state =
            program.states.emplace_back(memory_, static_cast<std::size_t>(first.bytes));
        if (!first.data.empty()) {
            std::memcpy(state.data(), first.data.data(), first.data.size());
        }
        values_[find(index).root].address = state.data();
    }
}

// A loop's values need no more than others: what goes around is touched before, behind and at the
// end of the loop, and all else is written in each round before it is read.
void Lowering::place_in_arena(Program& program) {
    struct Life {
        std::uint32_t first = tosa::nowhere;
        std::uint32_t last = 0;
        std::uint64_t offset = 0;
    };

    std::vector<Life> lives(values_.size());
    std::vector<std::vector<ValueId>> born(touched_.size());
    std::vector<std::vector<ValueId>> dead(touched_.size());
    for (std::uint32_t step = 0; step < touched_.size(); ++step) {
        for (const ValueId id : touched_[step]) {
            const ValueId root = find(id).root;
            if (values_[root].home != Home::arena) {
                continue;
            }
            lives[root].first = std::min(lives[root].first, step);
            lives[root].last = step;
        }
    }
    for (const std::uint32_t step : routine_steps_) {
        for (const ValueId id : touched_[step]) {
            lives[find(id).root] = {.first = 0, .last = next_step() - 1};
        }
    }
    for (ValueId id = 0; id < lives.size(); ++id) {
        if (values_[id].home == Home::arena && lives[id].first != tosa::nowhere) {
            born[lives[id].first].push_back(id);
            dead[lives[id].last].push_back(id);
        }
    }
    ArenaPlan plan;
    for (std::uint32_t step = 0; step < touched_.size(); ++step) {
        for (const ValueId id : born[step]) {
            lives[id].offset = plan.take(values_[id].bytes);
        }
        for (const ValueId id : dead[step]) {
            plan.give(lives[id].offset, values_[id].bytes);
        }
    }
    charge(plan.size());
    program.arena = Block{memory_, static_cast<std::size_t>(plan.size())};
    for (ValueId id = 0; id < lives.size(); ++id) {
        if (values_[id].home == Home::arena && lives[id].first != tosa::nowhere) {
            values_[id].address = program.arena.data() + lives[id].offset;
        }
    }
}

void Lowering::fill_addresses(Program& program) {
    program.addresses.resize(values_.size());
    for (ValueId id = 0; id < values_.size(); ++id) {
        const Found found = find(id);
        const Value& root = values_[found.root];
        if (root.home == Home::input || root.home == Home::output) {
            program.slot_values.push_back({.value = id, .slot = root.slot, .offset = found.offset});
        } else if (root.address != nullptr) {
            program.addresses[id] = root.address + found.offset;
        }
    }
}

}  // namespace virtaccel::backends::cpu

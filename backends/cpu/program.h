#pragma once
// A compiled model: steps, what they keep, and what a submission has to bind. It knows nothing of
// TOSA any more. Runs one submission at a time. State is what the one before has left, also if that
// one was cancelled between two steps.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::cpu {

// What a submission binds at one position: inputs first, then outputs.
struct ProgramSlot {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 1;
    Access access = Access::read;
};

// Where the bytes that a submission binds to a slot begin.
struct BoundRange {
    std::byte* data = nullptr;
};

// A value that lies somewhere in the bytes bound to a slot.
struct SlotValue {
    ValueId value = 0;
    std::uint32_t slot = 0;
    std::uint64_t offset = 0;
};

struct Program {
    std::vector<ProgramSlot> slots;
    Steps steps;
    // The frame of the next run: constants and arena stand in it, values of slots are filled in.
    std::vector<std::byte*> addresses;
    std::vector<SlotValue> slot_values;
    std::vector<Block> constants;
    std::vector<Block> states;
    Block arena;
    std::uint64_t resident_bytes = 0;

    // Puts a submission's ranges, one for each slot, behind the values that are theirs.
    void bind(std::span<const BoundRange> ranges) {
        for (const SlotValue& bound : slot_values) {
            addresses[bound.value] = ranges[bound.slot].data + bound.offset;
        }
    }

    [[nodiscard]] Frame frame() const { return {.addresses = addresses}; }
};

}  // namespace virtaccel::backends::cpu

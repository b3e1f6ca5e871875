#pragma once
// What fused steps of INT8 ask about the operators around them: RESCALE with operands that are
// known, and CLAMP.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// Whether an operator's inputs from number `first` on are known.
[[nodiscard]] bool are_known(const Lowering& lowering, const tosa::Operator& op, std::size_t first);

// A RESCALE of INT8 or INT32 with signs.
struct KnownRescale {
    std::span<const std::int32_t> multipliers;  // one for each channel, or one
    std::span<const std::int8_t> shifts;
    bool rounds_twice = false;  // where a shift is greater than 31
    std::int32_t input_zero = 0;
    std::int32_t output_zero = 0;

    // Whether multipliers are not negative and shifts lie between two numbers.
    [[nodiscard]] bool is_within(std::int8_t shift_min, std::int8_t shift_max) const;
};

// `op`, if it is one; its first input may be anything.
[[nodiscard]] std::optional<KnownRescale> known_rescale(const Lowering& lowering,
                                                        const tosa::Operator& op);

struct Int8Bounds {
    std::int32_t low = -128;
    std::int32_t high = 127;
};

// The CLAMP of INT8 that alone reads `tensor`: its position. Nowhere if there is none.
[[nodiscard]] std::uint32_t int8_clamp_after(const Lowering& lowering, tosa::TensorIndex tensor);

[[nodiscard]] Int8Bounds int8_bounds_of(const tosa::Operator& clamp);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

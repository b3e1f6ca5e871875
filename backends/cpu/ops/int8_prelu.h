#pragma once
// PRELU of INT8 as quantised models have it: numbers less their zero point are rescaled to INT8
// where they are not negative, and multiplied by their channel's slope and rescaled where they are.
// One step for the six operators.

#include <cstdint>
#include <vector>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// No vector has more lanes.
inline constexpr std::int64_t prelu_lanes_max = 16;

// How one of both branches is scaled.
struct Int8PreluScale {
    std::int32_t multiplier = 1;
    std::int32_t shift = 33;  // 33 to 62
    // What a product is moved away from zero by, before it is shifted.
    std::int32_t away = 0;
};

struct Int8PreluShape {
    Int8PreluScale positive;
    Int8PreluScale negative;
    // What numbers that are not negative are multiplied by before.
    std::int32_t positive_factor = 1;
    std::int32_t input_zero = 0;
    std::int32_t output_zero = 0;
    // One for each channel; they go on from their beginning, `prelu_lanes_max` more of them.
    std::vector<std::int32_t> slopes;
    std::int64_t channels = 1;
};

// Computes `count` elements, of which the first is of channel `channel`.
void compute_int8_prelu(const Int8PreluShape& shape, const std::int8_t* input, std::int8_t* output,
                        std::int64_t count, std::int64_t channel);

// The RESCALE that a PRELU begins with, with all the rest. False if it is none; then nothing has
// happened.
[[nodiscard]] bool lower_int8_prelu(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

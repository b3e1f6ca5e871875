#pragma once
// Sums of two INT8 images as quantised models have them: both are rescaled to INT32, added,
// rescaled to INT8, and perhaps clamped. One step for the four to seven operators.

#include <cstdint>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// A number of one of the images, minus `zero`, shifted left by `left`; then, if it is scaled, times
// `multiplier` / 2^`shift`.
struct Int8Term {
    std::int32_t zero = 0;
    std::int32_t left = 0;
    bool is_scaled = false;
    std::int32_t multiplier = 1;
    std::int32_t shift = 32;  // 32 to 62
};

// The sum of both terms, scaled, plus `zero`, within bounds.
struct Int8SumShape {
    Int8Term terms[2];
    std::int32_t multiplier = 1;
    std::int32_t shift = 32;  // 32 to 62
    // Whether products are rounded at their 31st bit, halves away from zero, before.
    bool rounds_twice = false;
    std::int32_t output_zero = 0;
    std::int32_t low = -128;
    std::int32_t high = 127;
};

// Adds `count` elements.
void compute_int8_sum(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
                      std::int8_t* output, std::int64_t count);

// ADD, with all that is fused with it. False if it is no such sum; then nothing has happened.
[[nodiscard]] bool lower_int8_sum(Lowering& lowering, const tosa::Operator& op);

// Whether the RESCALE `op` is computed by such a sum that alone needs it; what it reads is kept
// until then.
[[nodiscard]] bool is_left_to_int8_sum(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

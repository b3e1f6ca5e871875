#pragma once
// CONV2D and DEPTHWISE_CONV2D of INT8 with weights that are known, fast and exact, together with
// the RESCALE and the CLAMP that make INT8 of their sums.

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// An input of INT8, weights of INT8 or INT4, and all but the input known.
struct Int8Convolution {
    // Its output is INT32, or INT8 if there is `rescale`.
    Convolution convolution;
    std::int32_t input_zero = 0;
    std::int32_t weight_zero = 0;
    std::optional<Int8Rescale> rescale;
};

// Lowers the CONV2D or DEPTHWISE_CONV2D `op`, which is `convolution`. False if it is none that this
// way is for.
[[nodiscard]] bool lower_int8(Lowering& lowering, const Convolution& convolution,
                              const tosa::Operator& op);

// Dense ones and depthwise ones; whether they fit this way is a question before all else.
[[nodiscard]] bool fits_int8_dense(const Lowering& lowering, const Int8Convolution& plan);
[[nodiscard]] bool fits_int8_depthwise(const Lowering& lowering, const Int8Convolution& plan);
void emit_int8_dense(Lowering& lowering, const Int8Convolution& plan);
void emit_int8_depthwise(Lowering& lowering, const Int8Convolution& plan);

// A known tensor of INT8 or INT4, one element to a byte.
[[nodiscard]] std::vector<std::int8_t> known_int8(const Lowering& lowering, ValueId tensor);

// One known bias for each output channel.
[[nodiscard]] std::vector<std::int32_t> known_int32_bias(const Lowering& lowering,
                                                         const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

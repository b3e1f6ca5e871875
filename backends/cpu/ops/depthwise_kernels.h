#pragma once
// The inner loops of depthwise convolutions with one output channel for each input channel,
// compiled for several instruction sets of which the best one is chosen at run time.

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/window.h"

namespace virtaccel::backends::cpu::ops {

struct DepthwiseShape {
    ImageWindow window;
    // Channels of the image that is added; zero for none.
    std::int64_t residual_channels = 0;
    Clamp clamp;
    // Whether negative sums are multiplied by a slope of their channel's instead of being clamped.
    bool has_slopes = false;
};

// One row of output pixels, number `y` of its image.
struct DepthwiseRow {
    const float* image = nullptr;  // the input's
    // If not zero, `image` holds no more rows than these: row i of the input is at i modulo this.
    std::int64_t ring_rows = 0;
    std::int64_t y = 0;
    float* output = nullptr;
    const float* residual = nullptr;
};

// How many floats pack_depthwise() writes for weights, bias and slopes.
[[nodiscard]] std::size_t packed_depthwise_size(const DepthwiseShape& shape);

// Packs `weights` (for each tap, one for each channel), `bias` and `slopes` (one for each channel;
// no slopes if there are none) into zeroed floats.
void pack_depthwise(const DepthwiseShape& shape, std::span<const float> weights,
                    std::span<const float> bias, std::span<const float> slopes, float* packed);

// Computes one row with what pack_depthwise() packed.
void compute_depthwise(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row);

}  // namespace virtaccel::backends::cpu::ops

#pragma once
// The inner loops of dense convolutions, compiled for several instruction sets of which the best
// one is chosen at run time. The one thing to know: output channels are computed in panels, whose
// weights are packed so that a loop reads them from front to end; how wide panels are depends on
// the processor, so packing and computing belong together.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "backends/cpu/ops/clamp.h"

namespace virtaccel::backends::cpu::ops {

// What an output pixel is made of and what happens to it, the same for all pixels of a step.
struct DenseShape {
    std::int64_t output_channels = 1;
    // The window of a pixel lies in the input as runs of floats; all windows have as many runs.
    std::int64_t runs = 1;
    std::int64_t run_length = 1;
    // Channels of the image that is added; zero for none.
    std::int64_t residual_channels = 0;
    Clamp clamp;
    // Whether negative sums are multiplied by a slope of their channel's instead of being clamped.
    bool has_slopes = false;

    [[nodiscard]] std::int64_t window_length() const { return runs * run_length; }
};

// A row of neighbouring output pixels whose windows lie inside the input, but for whole runs.
struct DensePixels {
    const float* input = nullptr;
    std::int64_t window = 0;  // where in `input` the first pixel's window begins; may be negative
    std::int64_t input_step = 0;  // floats from a pixel's window to the next one's
    // Where in a window its runs begin; of the runs, those inside the input only.
    std::span<const std::int64_t> run_offsets;
    std::int64_t first_run = 0;  // how many runs of the window come before these
    float* output = nullptr;
    const float* residual = nullptr;
    std::int64_t count = 0;
    const float* slopes = nullptr;  // compute_dense() sets it
    // Of the panels, from which on and how many to compute, if there are as many.
    std::int64_t first_panel = 0;
    std::int64_t panels_max = std::numeric_limits<std::int64_t>::max();
};

// How many floats pack_dense() writes for weights, bias and slopes.
[[nodiscard]] std::size_t packed_dense_size(const DenseShape& shape);

// Packs `weights` (an output channel's window after the other's), `bias` and `slopes` (one for each
// output channel; no slopes if there are none) into zeroed floats.
void pack_dense(const DenseShape& shape, std::span<const float> weights,
                std::span<const float> bias, std::span<const float> slopes, float* packed);

// How many pixels at a time suit the processor best.
[[nodiscard]] std::int64_t dense_tile(const DenseShape& shape);

// How many panels the output channels are cut into.
[[nodiscard]] std::int64_t dense_panels(const DenseShape& shape);

// Computes `pixels.count` pixels with what pack_dense() packed.
void compute_dense(const DenseShape& shape, const float* packed, const DensePixels& pixels);

}  // namespace virtaccel::backends::cpu::ops

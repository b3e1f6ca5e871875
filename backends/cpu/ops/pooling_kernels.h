#pragma once
// The inner loop of pooling, compiled for several instruction sets of which the best one is chosen
// at run time.

#include <cstdint>

#include "backends/cpu/ops/window.h"

namespace virtaccel::backends::cpu::ops {

enum class Pooling : std::uint8_t {
    largest_or_nan,  // a NaN wins
    largest_number,  // a NaN loses to any number
    average,         // of the pixels inside the image
};

// One row of output pixels, number `y` of its image. Every window has a pixel inside the image.
struct PoolingRow {
    const float* image = nullptr;  // the input's
    std::int64_t y = 0;
    float* output = nullptr;
};

void compute_pooling(Pooling pooling, const ImageWindow& window, const PoolingRow& row);

}  // namespace virtaccel::backends::cpu::ops

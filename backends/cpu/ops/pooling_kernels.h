#pragma once
// The inner loops of pooling, compiled for several instruction sets of which the best one is chosen
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
template <class T>
struct PoolingRow {
    const T* image = nullptr;  // the input's
    std::int64_t y = 0;
    T* output = nullptr;
};

void compute_pooling(Pooling pooling, const ImageWindow& window, const PoolingRow<float>& row);

// The largest number under each window.
void compute_int8_max_pool(const ImageWindow& window, const PoolingRow<std::int8_t>& row);

}  // namespace virtaccel::backends::cpu::ops

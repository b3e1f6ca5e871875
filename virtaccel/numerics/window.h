#pragma once
// A window that slides over an image, as convolutions and pools have it. Internal to this folder.

#include <array>
#include <cstdint>

#include "virtaccel/numerics/tensor.h"

namespace virtaccel::numerics {

// Each pair is y, x; `pad` is what lies before the image.
struct Window {
    std::array<std::int64_t, 2> kernel{1, 1};
    std::array<std::int64_t, 2> stride{1, 1};
    std::array<std::int64_t, 2> dilation{1, 1};
    std::array<std::int64_t, 2> pad{};
};

// A place in the window, and where it lies in the image.
struct Tap {
    std::int64_t kernel_y = 0;
    std::int64_t kernel_x = 0;
    std::int64_t y = 0;
    std::int64_t x = 0;
};

// Calls `visit(Tap)` for all of the window that lies inside `image` (N, H, W, C) when it stands at
// an output position.
template <class Visit>
void for_each_tap(const Window& window, const Tensor& image, const Position& output, Visit visit) {
    for (std::int64_t i = 0; i < window.kernel[0] * window.kernel[1]; ++i) {
        Tap tap{.kernel_y = i / window.kernel[1], .kernel_x = i % window.kernel[1]};
        tap.y =
            (output[1] * window.stride[0]) - window.pad[0] + (tap.kernel_y * window.dilation[0]);
        tap.x =
            (output[2] * window.stride[1]) - window.pad[1] + (tap.kernel_x * window.dilation[1]);
        if (tap.y >= 0 && tap.y < image.dim(1) && tap.x >= 0 && tap.x < image.dim(2)) {
            visit(tap);
        }
    }
}

}  // namespace virtaccel::numerics

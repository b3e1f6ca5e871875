#pragma once
// A window that slides over an NHWC image.

#include <algorithm>
#include <cstdint>

namespace virtaccel::backends::cpu::ops {

// One axis of it. All numbers are in elements; positions of the window may hang over both ends.
struct WindowAxis {
    std::int64_t input = 1;
    std::int64_t output = 1;
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad = 0;  // before the input

    // Where in the input the first tap lies for an output position; may be negative.
    [[nodiscard]] std::int64_t origin(std::int64_t position) const {
        return (position * stride) - pad;
    }

    [[nodiscard]] bool is_every_element() const {
        return kernel == 1 && stride == 1 && pad == 0 && input == output;
    }

    // The taps that lie inside the input for an output position: `first` to `end`.
    struct Taps {
        std::int64_t first = 0;
        std::int64_t end = 0;
    };

    [[nodiscard]] Taps taps_inside(std::int64_t position) const {
        const std::int64_t start = origin(position);
        const std::int64_t before = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
        const std::int64_t first = std::min(before, kernel);
        const std::int64_t end = start >= input ? 0 : ((input - 1 - start) / dilation) + 1;
        return {.first = first, .end = std::clamp(end, first, kernel)};
    }
};

struct ImageWindow {
    std::int64_t batch = 1;
    std::int64_t channels = 1;
    WindowAxis y;
    WindowAxis x;
};

}  // namespace virtaccel::backends::cpu::ops

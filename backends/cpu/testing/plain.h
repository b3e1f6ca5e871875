#pragma once
// Convolutions and pools in the plainest loops there are, to compare with; and numbers to feed
// them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::testing {

// The same numbers every time, between -1 and 1.
class Numbers {
  public:
    explicit Numbers(std::uint32_t seed = 1) : state_(seed) {}

    float next() {
        state_ = (state_ * 1664525U) + 1013904223U;
        return (static_cast<float>(state_ >> 8U) / 8388608.0F) - 1.0F;
    }

    std::vector<float> take(std::size_t count) {
        std::vector<float> numbers(count);
        std::ranges::generate(numbers, [this] { return next(); });
        return numbers;
    }

  private:
    std::uint32_t state_;
};

struct Image {
    std::int32_t batch = 1;
    std::int32_t height = 1;
    std::int32_t width = 1;
    std::int32_t channels = 1;
    std::vector<float> pixels;

    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(batch) * static_cast<std::size_t>(height) *
               static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
    }

    // Zero outside.
    [[nodiscard]] float at(std::int32_t n, std::int32_t y, std::int32_t x, std::int32_t c) const {
        return is_inside(y, x) ? pixels[index(n, y, x, c)] : 0.0F;
    }

    [[nodiscard]] bool is_inside(std::int32_t y, std::int32_t x) const {
        return y >= 0 && y < height && x >= 0 && x < width;
    }

    [[nodiscard]] std::size_t index(std::int32_t n, std::int32_t y, std::int32_t x,
                                    std::int32_t c) const {
        const std::int32_t index = (((((n * height) + y) * width) + x) * channels) + c;
        return static_cast<std::size_t>(index);
    }

    [[nodiscard]] std::vector<std::int32_t> shape() const {
        return {batch, height, width, channels};
    }
};

// One axis of a window.
struct Axis {
    std::int32_t kernel = 1;
    std::int32_t stride = 1;
    std::int32_t dilation = 1;
    std::int32_t before = 0;
    std::int32_t after = 0;

    [[nodiscard]] std::int32_t positions(std::int32_t size) const {
        return ((size + before + after - 1 - ((kernel - 1) * dilation)) / stride) + 1;
    }

    // Whether the positions come out even, as TOSA demands.
    [[nodiscard]] bool fits(std::int32_t size) const {
        const std::int32_t span = size + before + after - 1 - ((kernel - 1) * dilation);
        return span >= 0 && span % stride == 0;
    }
};

// Every kind of window along one axis of `size` that TOSA takes.
[[nodiscard]] inline std::vector<Axis> windows(std::int32_t size) {
    constexpr std::int32_t kernels[] = {1, 2, 3, 5};
    std::vector<Axis> found;
    for (std::int32_t i = 0; i < 4 * 3 * 2 * 3; ++i) {
        const std::int32_t before = i % 3;
        const Axis axis{.kernel = kernels[i / 18],
                        .stride = 1 + (i / 6 % 3),
                        .dilation = 1 + (i / 3 % 2),
                        .before = before,
                        .after = (before + 1) % 3};
        if (axis.fits(size)) {
            found.push_back(axis);
        }
    }
    return found;
}

struct Filter {
    Axis y;
    Axis x;
    std::int32_t channels = 1;  // output channels; for depthwise ones, per input channel
    std::vector<float> weights;
    std::vector<float> bias;

    [[nodiscard]] tosa::Conv2dAttribute attribute() const {
        return {.pad = {y.before, y.after, x.before, x.after},
                .stride = {y.stride, x.stride},
                .dilation = {y.dilation, x.dilation},
                .local_bound = false,
                .accumulator = tosa::DType::fp32};
    }
};

// Where one element of an image is.
struct Position {
    std::int32_t n = 0;
    std::int32_t y = 0;
    std::int32_t x = 0;
    std::int32_t c = 0;
};

[[nodiscard]] inline Position position_of(const Image& image, std::size_t index) {
    const auto i = static_cast<std::int32_t>(index);
    return {.n = i / image.channels / image.width / image.height,
            .y = i / image.channels / image.width % image.height,
            .x = i / image.channels % image.width,
            .c = i % image.channels};
}

// An image of what `value(position)` makes of each of its positions.
template <class Value>
[[nodiscard]] Image filled(Image image, Value value) {
    image.pixels.clear();
    for (std::size_t i = 0; i < image.size(); ++i) {
        image.pixels.push_back(value(position_of(image, i)));
    }
    return image;
}

// The image, without pixels, that `filter` makes of `input`.
[[nodiscard]] inline Image filtered_size(const Image& input, const Filter& filter,
                                         std::int32_t channels) {
    return {.batch = input.batch,
            .height = filter.y.positions(input.height),
            .width = filter.x.positions(input.width),
            .channels = channels,
            .pixels = {}};
}

// What tap `ky`, `kx` of `filter` sees of channel `channel` of `input` at an output position.
struct Tap {
    std::int32_t ky = 0;
    std::int32_t kx = 0;
    std::int32_t channel = 0;
};

[[nodiscard]] inline double seen(const Image& input, const Filter& filter, const Position& at,
                                 const Tap& tap) {
    const std::int32_t y =
        (at.y * filter.y.stride) - filter.y.before + (tap.ky * filter.y.dilation);
    const std::int32_t x =
        (at.x * filter.x.stride) - filter.x.before + (tap.kx * filter.x.dilation);
    return static_cast<double>(input.at(at.n, y, x, tap.channel));
}

[[nodiscard]] inline double bias_of(const Filter& filter, std::int32_t channel) {
    return static_cast<double>(
        filter.bias[filter.bias.size() == 1 ? 0 : static_cast<std::size_t>(channel)]);
}

[[nodiscard]] inline Image plain_conv2d(const Image& input, const Filter& filter) {
    const std::int32_t window = filter.y.kernel * filter.x.kernel * input.channels;
    return filled(filtered_size(input, filter, filter.channels), [&](const Position& at) {
        double sum = bias_of(filter, at.c);
        for (std::int32_t i = 0; i < window; ++i) {
            const Tap tap{.ky = i / input.channels / filter.x.kernel,
                          .kx = i / input.channels % filter.x.kernel,
                          .channel = i % input.channels};
            const std::int32_t weight = (at.c * window) + i;
            sum += seen(input, filter, at, tap) *
                   static_cast<double>(filter.weights[static_cast<std::size_t>(weight)]);
        }
        return static_cast<float>(sum);
    });
}

[[nodiscard]] inline Image plain_depthwise(const Image& input, const Filter& filter) {
    const std::int32_t channels = input.channels * filter.channels;
    return filled(filtered_size(input, filter, channels), [&](const Position& at) {
        double sum = bias_of(filter, at.c);
        for (std::int32_t i = 0; i < filter.y.kernel * filter.x.kernel; ++i) {
            const Tap tap{.ky = i / filter.x.kernel,
                          .kx = i % filter.x.kernel,
                          .channel = at.c / filter.channels};
            const std::int32_t weight = (i * channels) + at.c;
            sum += seen(input, filter, at, tap) *
                   static_cast<double>(filter.weights[static_cast<std::size_t>(weight)]);
        }
        return static_cast<float>(sum);
    });
}

// Within a few roundings of sums of numbers up to one.
inline void expect_near(const std::vector<float>& got, const std::vector<float>& wanted,
                        float tolerance = 2e-5F) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], wanted[i], tolerance) << "element " << i;
    }
}

// The same numbers, where a NaN is like any other.
inline void expect_same(const std::vector<float>& got, const std::vector<float>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(wanted[i])) {
            EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
        } else {
            EXPECT_EQ(got[i], wanted[i]) << "element " << i;
        }
    }
}

}  // namespace virtaccel::backends::cpu::testing

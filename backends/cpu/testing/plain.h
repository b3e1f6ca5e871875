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
        return static_cast<std::size_t>((((((n * height) + y) * width) + x) * channels) + c);
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

[[nodiscard]] inline Image plain_conv2d(const Image& input, const Filter& filter) {
    Image output{.batch = input.batch,
                 .height = filter.y.positions(input.height),
                 .width = filter.x.positions(input.width),
                 .channels = filter.channels,
                 .pixels = {}};
    for (std::int32_t n = 0; n < output.batch; ++n) {
        for (std::int32_t oy = 0; oy < output.height; ++oy) {
            for (std::int32_t ox = 0; ox < output.width; ++ox) {
                for (std::int32_t o = 0; o < output.channels; ++o) {
                    const auto channel = static_cast<std::size_t>(o);
                    double sum = filter.bias[filter.bias.size() == 1 ? 0 : channel];
                    std::size_t weight =
                        channel * static_cast<std::size_t>(filter.y.kernel * filter.x.kernel *
                                                           input.channels);
                    for (std::int32_t ky = 0; ky < filter.y.kernel; ++ky) {
                        for (std::int32_t kx = 0; kx < filter.x.kernel; ++kx) {
                            for (std::int32_t i = 0; i < input.channels; ++i) {
                                const std::int32_t y = (oy * filter.y.stride) - filter.y.before +
                                                       (ky * filter.y.dilation);
                                const std::int32_t x = (ox * filter.x.stride) - filter.x.before +
                                                       (kx * filter.x.dilation);
                                sum += static_cast<double>(input.at(n, y, x, i)) *
                                       static_cast<double>(filter.weights[weight++]);
                            }
                        }
                    }
                    output.pixels.push_back(static_cast<float>(sum));
                }
            }
        }
    }
    return output;
}

[[nodiscard]] inline Image plain_depthwise(const Image& input, const Filter& filter) {
    Image output{.batch = input.batch,
                 .height = filter.y.positions(input.height),
                 .width = filter.x.positions(input.width),
                 .channels = input.channels * filter.channels,
                 .pixels = {}};
    for (std::int32_t n = 0; n < output.batch; ++n) {
        for (std::int32_t oy = 0; oy < output.height; ++oy) {
            for (std::int32_t ox = 0; ox < output.width; ++ox) {
                for (std::int32_t o = 0; o < output.channels; ++o) {
                    const auto channel = static_cast<std::size_t>(o);
                    double sum = filter.bias[filter.bias.size() == 1 ? 0 : channel];
                    for (std::int32_t ky = 0; ky < filter.y.kernel; ++ky) {
                        for (std::int32_t kx = 0; kx < filter.x.kernel; ++kx) {
                            const std::int32_t y =
                                (oy * filter.y.stride) - filter.y.before + (ky * filter.y.dilation);
                            const std::int32_t x =
                                (ox * filter.x.stride) - filter.x.before + (kx * filter.x.dilation);
                            const auto weight = static_cast<std::size_t>(
                                (((ky * filter.x.kernel) + kx) * output.channels) + o);
                            sum += static_cast<double>(input.at(n, y, x, o / filter.channels)) *
                                   static_cast<double>(filter.weights[weight]);
                        }
                    }
                    output.pixels.push_back(static_cast<float>(sum));
                }
            }
        }
    }
    return output;
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

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::Axis;
using testing::expect_near;
using testing::expect_same;
using testing::Image;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using testing::on_each_instruction_set;
using tosa::DType;
using tosa::Op;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

tosa::PoolAttribute attribute_of(const Axis& y, const Axis& x) {
    return {.kernel = {y.kernel, x.kernel},
            .stride = {y.stride, x.stride},
            .pad = {y.before, y.after, x.before, x.after},
            .accumulator = DType::unknown,
            .nan_mode = tosa::NanMode::unknown};
}

std::vector<float> pool(Op op, const Image& input, const tosa::PoolAttribute& attribute,
                        std::uint32_t threads = 1) {
    tosa::Builder builder;
    const tosa::Value x = builder.input("x", DType::fp32, input.shape());
    if (op == Op::avg_pool2d) {
        builder.output(
            builder.op(op, {x, builder.zeros(DType::fp32, {1}), builder.zeros(DType::fp32, {1})},
                       attribute),
            "y");
    } else {
        builder.output(builder.op(op, {x}, attribute), "y");
    }
    ModelRun run{builder, ModelOptions{.threads = threads}};
    return run.input(input.pixels).output<float>();
}

// The pixels under each window that lie inside the image, in order; `end` makes one of them.
template <class End>
std::vector<float> plain_pool(const Image& input, const Axis& y, const Axis& x, End end) {
    const Image size{.batch = input.batch,
                     .height = y.positions(input.height),
                     .width = x.positions(input.width),
                     .channels = input.channels,
                     .pixels = {}};
    return testing::filled(
               size,
               [&](const testing::Position& at) {
                   std::vector<float> inside;
                   for (std::int32_t tap = 0; tap < y.kernel * x.kernel; ++tap) {
                       const std::int32_t iy = (at.y * y.stride) - y.before + (tap / x.kernel);
                       const std::int32_t ix = (at.x * x.stride) - x.before + (tap % x.kernel);
                       if (input.is_inside(iy, ix)) {
                           inside.push_back(input.at(at.n, iy, ix, at.c));
                       }
                   }
                   return end(inside);
               })
        .pixels;
}

float largest(const std::vector<float>& inside) {
    return *std::ranges::max_element(inside);
}

float average(const std::vector<float>& inside) {
    double sum = 0;
    for (const float x : inside) {
        sum += static_cast<double>(x);
    }
    return static_cast<float>(sum / static_cast<double>(inside.size()));
}

TEST(Pool2d, is_right_for_every_number_of_channels) {
    on_each_instruction_set([] {
        const Axis y{.kernel = 2, .stride = 2};
        const Axis x{.kernel = 3, .stride = 1, .before = 1, .after = 1};
        for (std::int32_t channels = 1; channels <= 40; ++channels) {
            Image input{.batch = 2, .height = 4, .width = 3, .channels = channels, .pixels = {}};
            input.pixels = Numbers{3}.take(input.size());
            tosa::PoolAttribute attribute = attribute_of(y, x);
            attribute.nan_mode = tosa::NanMode::propagate;
            expect_same(pool(Op::max_pool2d, input, attribute), plain_pool(input, y, x, largest));
            attribute.nan_mode = tosa::NanMode::ignore;
            expect_same(pool(Op::max_pool2d, input, attribute, 3),
                        plain_pool(input, y, x, largest));
            attribute = attribute_of(y, x);
            attribute.accumulator = DType::fp32;
            expect_near(pool(Op::avg_pool2d, input, attribute), plain_pool(input, y, x, average));
        }
    });
}

// Whole numbers from -128 to 127.
Image bytes_of(Image image) {
    image.pixels = Numbers{5}.take(image.size());
    for (float& x : image.pixels) {
        x = std::floor(x * 128.0F);
    }
    return image;
}

void check_int8(const Image& input, const Axis& y, const Axis& x, std::uint32_t threads) {
    tosa::PoolAttribute attribute = attribute_of(y, x);
    attribute.nan_mode = tosa::NanMode::propagate;
    tosa::Builder builder;
    builder.output(
        builder.op(Op::max_pool2d, {builder.input("x", DType::int8, input.shape())}, attribute),
        "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    run.input(std::vector<std::int8_t>(input.pixels.begin(), input.pixels.end()));
    const auto got = run.output<std::int8_t>();
    expect_same({got.begin(), got.end()}, plain_pool(input, y, x, largest));
}

TEST(MaxPool2d, of_int8_is_right_for_every_number_of_channels) {
    on_each_instruction_set([] {
        const Axis y{.kernel = 2, .stride = 2};
        const Axis x{.kernel = 3, .stride = 1, .before = 1, .after = 1};
        for (std::int32_t channels = 1; channels <= 140; channels += channels < 70 ? 1 : 7) {
            check_int8(
                bytes_of({.batch = 2, .height = 4, .width = 3, .channels = channels, .pixels = {}}),
                y, x, 1 + (static_cast<std::uint32_t>(channels) % 3));
        }
    });
}

TEST(MaxPool2d, of_int8_is_right_for_every_window) {
    const Image input =
        bytes_of({.batch = 2, .height = 5, .width = 9, .channels = 21, .pixels = {}});
    on_each_instruction_set([&] {
        const Axis three{.kernel = 3, .stride = 1, .before = 1, .after = 1};
        for (const Axis& axis : testing::windows(9)) {
            // Every window of a pool has a pixel inside the image, and none has holes.
            if (axis.dilation == 1 && axis.before < axis.kernel && axis.after < axis.kernel) {
                check_int8(input, three, axis, 1);
            }
        }
        check_int8(input, {.kernel = 5, .stride = 2, .before = 2, .after = 2}, three, 2);
    });
}

TEST(MaxPool2d, lets_nan_win_or_lose_wherever_it_stands) {
    on_each_instruction_set([] {
        const Axis two{.kernel = 2, .stride = 2};
        tosa::PoolAttribute attribute = attribute_of(two, two);
        for (const std::int32_t channels : {1, 8, 17}) {
            for (std::size_t corner = 0; corner < 4; ++corner) {
                Image input{
                    .batch = 1, .height = 2, .width = 2, .channels = channels, .pixels = {}};
                const auto count = static_cast<std::size_t>(channels);
                for (std::size_t i = 0; i < 4 * count; ++i) {
                    constexpr float values[] = {1.0F, 3.0F, 2.0F};
                    const std::size_t pixel = i / count;
                    input.pixels.push_back(pixel == corner ? nan
                                                           : values[pixel - (pixel > corner)]);
                }
                attribute.nan_mode = tosa::NanMode::propagate;
                expect_same(pool(Op::max_pool2d, input, attribute), std::vector<float>(count, nan));
                attribute.nan_mode = tosa::NanMode::ignore;
                expect_same(pool(Op::max_pool2d, input, attribute),
                            std::vector<float>(count, 3.0F));
                std::ranges::fill(input.pixels, nan);
                expect_same(pool(Op::max_pool2d, input, attribute), std::vector<float>(count, nan));
            }
        }
    });
}

TEST(AvgPool2d, does_not_count_what_lies_outside) {
    const Axis three{.kernel = 3, .stride = 1, .before = 1, .after = 1};
    tosa::PoolAttribute attribute = attribute_of(three, three);
    attribute.accumulator = DType::fp32;
    const Image nines{
        .batch = 1, .height = 3, .width = 4, .channels = 1, .pixels = std::vector<float>(12, 9.0F)};
    EXPECT_EQ(pool(Op::avg_pool2d, nines, attribute), nines.pixels);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

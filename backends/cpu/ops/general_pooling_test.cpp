// MAX_POOL2D and AVG_POOL2D of every type.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/ops/elements.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/typed.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::combinations_of;
using testing::decoded;
using testing::encoded;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Whole;
using testing::whole_numbers;
using tosa::DType;
using tosa::Op;
using tosa::Value;

struct Types {
    DType element;
    DType accumulator;
};

constexpr Types of_int8{DType::int8, DType::int32};
constexpr Types of_int16{DType::int16, DType::int32};

constexpr std::int32_t height = 4;
constexpr std::int32_t width = 3;
constexpr std::int32_t channels = 67;
const std::vector<std::int32_t> image_shape{2, height, width, channels};

// Windows of two by two, every other row and every column, hanging over the left edge.
constexpr tosa::PoolAttribute two_by_two = {.kernel = {2, 2},
                                            .stride = {2, 1},
                                            .pad = {0, 0, 1, 0},
                                            .accumulator = DType::unknown,
                                            .nan_mode = tosa::NanMode::propagate};

// What `end(numbers)` makes of the pixels under each window.
template <class End>
Whole plain(const Whole& image, End end) {
    Whole output;
    for (std::int32_t i = 0; i < 2 * 2 * width * channels; ++i) {
        const std::int32_t c = i % channels;
        const std::int32_t x = i / channels % width;
        const std::int32_t y = i / channels / width * 2;  // counted over both images
        Whole inside;
        for (const std::int32_t row : {y, y + 1}) {
            for (std::int32_t column = std::max(x - 1, 0); column <= x; ++column) {
                const std::int32_t at = (((row * width) + column) * channels) + c;
                inside.push_back(image[static_cast<std::size_t>(at)]);
            }
        }
        output.push_back(end(inside));
    }
    return output;
}

Whole max_pool(const Whole& image, DType dtype, std::uint32_t threads) {
    tosa::Builder builder;
    builder.output(builder.op(Op::max_pool2d, {builder.input("x", dtype, image_shape)}, two_by_two),
                   "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    return decoded(dtype, run.input(encoded(dtype, image)).output<std::byte>());
}

struct Zeros {
    std::int64_t input = 0;
    std::int64_t output = 0;
    bool are_late = false;
};

Whole avg_pool(const Whole& image, const std::vector<std::int32_t>& shape, const Types& types,
               tosa::PoolAttribute attribute, const Zeros& zeros = {}) {
    const DType dtype = types.element;
    const auto input_zero = encoded(dtype, {zeros.input});
    const auto output_zero = encoded(dtype, {zeros.output});
    tosa::Builder builder;
    const Value x = builder.input("x", dtype, shape);
    const Value xz =
        zeros.are_late ? builder.input("xz", dtype, {1}) : builder.constant(dtype, {1}, input_zero);
    const Value yz = zeros.are_late ? builder.input("yz", dtype, {1})
                                    : builder.constant(dtype, {1}, output_zero);
    attribute.nan_mode = tosa::NanMode::unknown;
    attribute.accumulator = types.accumulator;
    builder.output(builder.op(Op::avg_pool2d, {x, xz, yz}, attribute), "y");
    ModelRun run{builder, ModelOptions{.threads = 3}};
    run.input(encoded(dtype, image));
    if (zeros.are_late) {
        run.input(input_zero).input(output_zero);
    }
    return decoded(dtype, run.output<std::byte>());
}

Whole image_of_fours() {
    Whole image = whole_numbers(std::size_t{2} * height * width * channels, 2, 5);
    for (std::int64_t& x : image) {
        x *= 4;
    }
    return image;
}

TEST(GeneralPool2d, finds_the_largest_of_every_type) {
    const Whole image = image_of_fours();
    const Whole wanted = plain(image, std::ranges::max);
    for (const Types& types : combinations_of<Types>(Op::max_pool2d)) {
        SCOPED_TRACE(tosa::name_of(types.element));
        EXPECT_EQ(max_pool(image, types.element, 1), wanted);
        EXPECT_EQ(max_pool(image, types.element, 3), wanted);
    }
}

TEST(GeneralPool2d, averages_every_type) {
    const Whole image = image_of_fours();
    const Whole wanted = plain(image, [](const Whole& inside) {
        std::int64_t sum = 0;
        for (const std::int64_t x : inside) {
            sum += x;
        }
        return sum / static_cast<std::int64_t>(inside.size());
    });
    for (const Types& types : combinations_of<Types>(Op::avg_pool2d)) {
        SCOPED_TRACE(tosa::name_of(types.element));
        EXPECT_EQ(avg_pool(image, image_shape, types, two_by_two), wanted);
        EXPECT_EQ(avg_pool(image, image_shape, types, two_by_two, {.are_late = true}), wanted);
    }
}

// One window over a row of pixels.
std::int64_t mean(const Whole& pixels, const Zeros& zeros, const Types& types = of_int8) {
    const auto count = static_cast<std::int32_t>(pixels.size());
    const tosa::PoolAttribute attribute{.kernel = {1, count},
                                        .stride = {1, 1},
                                        .pad = {},
                                        .accumulator = DType::unknown,
                                        .nan_mode = tosa::NanMode::unknown};
    return avg_pool(pixels, {1, 1, count, 1}, types, attribute, zeros).front();
}

TEST(AvgPool2d, of_integers_rounds_halves_away_from_zero_and_saturates) {
    EXPECT_EQ(mean({1, 0, 0, 1}, {}), 1);
    EXPECT_EQ(mean({-1, 0, 0, -1}, {}), -1);
    EXPECT_EQ(mean({1, 0, 0, 0}, {}), 0);
    EXPECT_EQ(mean({1, 1, 0}, {}), 1);
    EXPECT_EQ(mean({7, 8, 9}, {.input = 3, .output = 100}), 105);
    EXPECT_EQ(mean({7, 8, 9}, {.input = 3, .output = 100, .are_late = true}), 105);
    EXPECT_EQ(mean({127, 127, 127}, {.input = -128, .output = 0}), 127);
    EXPECT_EQ(mean({-128, -128}, {.input = 127, .output = 0}), -128);
    EXPECT_EQ(mean({32767, 32766, 32767, 32766, 32767}, {}, of_int16), 32767);
}

// Of a window of two NaNs and of one with a number.
template <class T>
void check_nan(DType dtype, std::uint32_t nan) {
    const std::vector<T> image{static_cast<T>(nan), static_cast<T>(nan), narrowed_to<T>(-2.0F),
                               static_cast<T>(nan)};
    for (const bool ignores : {false, true}) {
        tosa::PoolAttribute attribute = two_by_two;
        attribute.kernel = {1, 2};
        attribute.stride = {1, 2};
        attribute.pad = {};
        attribute.nan_mode = ignores ? tosa::NanMode::ignore : tosa::NanMode::propagate;
        tosa::Builder builder;
        builder.output(
            builder.op(Op::max_pool2d, {builder.input("x", dtype, {1, 1, 4, 1})}, attribute), "y");
        const auto y = ModelRun{builder}.input(image).template output<T>();
        EXPECT_TRUE(std::isnan(widened(y[0])));
        EXPECT_EQ(std::isnan(widened(y[1])), !ignores);
        EXPECT_TRUE(!ignores || widened(y[1]) == -2.0F);
    }
}

TEST(GeneralPool2d, lets_nan_win_or_lose) {
    check_nan<Fp16>(DType::fp16, 0x7e00);
    check_nan<Bf16>(DType::bf16, 0x7fc0);
    check_nan<Fp8E4M3>(DType::fp8e4m3, 0x7f);
    check_nan<Fp8E5M2>(DType::fp8e5m2, 0x7e);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

// The oracles against values worked out by hand: those at which implementations are known to fail.
#include "virtaccel/numerics/oracle.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/run_case.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::NanMode;
using tosa::Op;
using tosa::RoundingMode;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Values result_of(const Problem& problem) {
    return rounded(expectation_of(problem).kept).values;
}

std::int32_t length_of(const Values& values) {
    return static_cast<std::int32_t>(values.size());
}

// Equal, where a NaN is like any other.
void expect_same(const Values& got, const Values& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (std::isnan(wanted[i])) {
            EXPECT_TRUE(std::isnan(got[i])) << i;
        } else {
            EXPECT_EQ(got[i], wanted[i]) << i;
        }
    }
}

Values rescaled(const Values& values, double shift, RoundingMode rounding) {
    Sketch sketch;
    const auto x = sketch.input(DType::int32, {length_of(values)}, values);
    return result_of(sketch.finish(
        sketch.op(Op::rescale,
                  {x, sketch.scalar(DType::int32, 1 << 30), sketch.scalar(DType::int8, shift),
                   sketch.scalar(DType::int32, 0), sketch.scalar(DType::int8, 0)},
                  DType::int8, tosa::RescaleAttribute{.scale32 = true, .rounding = rounding})));
}

TEST(Oracle, of_rescale_rounds_halves_up_or_twice) {
    expect_same(rescaled({-5, -3, -1, 1, 3, 5}, 31, RoundingMode::single_round),
                {-2, -1, 0, 1, 2, 3});
    expect_same(rescaled({-6, -2, 2, 6}, 32, RoundingMode::single_round), {-1, 0, 1, 2});
    expect_same(rescaled({-6, -2, 2, 6}, 32, RoundingMode::double_round), {-2, -1, 1, 2});
    expect_same(rescaled({1000, -1000}, 31, RoundingMode::single_round), {127, -128});
}

Values averaged(DType dtype, const Values& values, std::int32_t width,
                const std::array<std::int32_t, 4>& pad = {}) {
    Sketch sketch;
    const auto x = sketch.input(dtype, {1, 1, length_of(values), 1}, values);
    const std::int32_t stride = pad[2] == 0 ? width : 1;
    return result_of(sketch.finish(
        sketch.op(Op::avg_pool2d, {x, sketch.scalar(dtype, 0), sketch.scalar(dtype, 0)}, dtype,
                  tosa::PoolAttribute{.kernel = {1, width},
                                      .stride = {1, stride},
                                      .pad = pad,
                                      .accumulator = DType::int32,
                                      .nan_mode = NanMode::unknown})));
}

TEST(Oracle, of_an_average_uses_a_reciprocal_a_hair_above) {
    expect_same(averaged(DType::int8, {3, 1, 1, 1, -3, -1, -1, -1, 4, 1, 1, 1, -4, -1, -1, -1}, 4),
                {2, -2, 2, -2});
    expect_same(averaged(DType::int8, {1, 2, -1, -2}, 2), {2, -2});
    expect_same(averaged(DType::int8, {9, 9, 9}, 2, {0, 0, 1, 1}), {9, 9, 9, 9});
    expect_same(averaged(DType::int16, Values(256, 32767), 256), {32767});
}

Values cast_to(DType dtype, const Values& values, DType from = DType::fp32) {
    Sketch sketch;
    const auto x = sketch.input(from, {length_of(values)}, values);
    return result_of(sketch.finish(sketch.op(Op::cast, {x}, dtype)));
}

TEST(Oracle, of_cast_rounds_to_even_and_saturates_integers) {
    expect_same(cast_to(DType::int32, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3e9, -3e9, infinity}),
                {0, 2, 2, 0, -2, -2, 2147483647, -2147483648.0, 2147483647});
    expect_same(cast_to(DType::int8, {127.5, 128, -129}), {127, 127, -128});
    expect_same(cast_to(DType::int8, {383, -129, 128}, DType::int32), {127, 127, -128});
    expect_same(cast_to(DType::bf16, {448, -0x1p-9, nan}, DType::fp8e4m3), {448, -0x1p-9, nan});
    expect_same(cast_to(DType::fp8e4m3, {464, 465, -1e9, infinity}), {448, nan, nan, nan});
    expect_same(cast_to(DType::fp8e5m2, {61439, 61440, -1e9}), {57344, infinity, -infinity});
}

Values shifted(const Values& values, double shift) {
    Sketch sketch;
    const auto x = sketch.input(DType::int32, {length_of(values)}, values);
    const auto by = sketch.input(DType::int32, {1}, {shift});
    return result_of(sketch.finish(sketch.op(Op::arithmetic_right_shift, {x, by}, DType::int32,
                                             tosa::ShiftAttribute{.round = true})));
}

TEST(Oracle, of_shifts_and_products_rounds_halves_up) {
    expect_same(shifted({5, -5}, 1), {3, -2});
    expect_same(shifted({5, -5}, 0), {5, -5});
    Sketch sketch;
    const auto x = sketch.input(DType::int32, {4}, {-3, -1, 1, 3});
    const auto y = sketch.input(DType::int32, {4}, {1});
    expect_same(result_of(sketch.finish(
                    sketch.op(Op::mul, {x, y, sketch.scalar(DType::int8, 1)}, DType::int32))),
                {-1, 0, 1, 2});
}

Values negated(DType dtype, const Values& values) {
    Sketch sketch;
    const auto x = sketch.input(dtype, {length_of(values)}, values);
    return result_of(sketch.finish(
        sketch.op(Op::negate, {x, sketch.scalar(dtype, 0), sketch.scalar(dtype, 0)}, dtype)));
}

TEST(Oracle, of_negate_saturates) {
    expect_same(negated(DType::int8, {-128, 127}), {127, -127});
    expect_same(negated(DType::int16, {-32768}), {32767});
}

// Two outputs for each input, the first before the first input.
Values doubled(DType from, DType to, tosa::ResizeMode mode, bool in_y) {
    Sketch sketch;
    const auto x = sketch.input(from, in_y ? Shape{1, 2, 1, 1} : Shape{1, 1, 2, 1}, {10, 20});
    auto& builder = sketch.builder();
    const auto scale = in_y ? builder.shape({4, 2, 1, 1}) : builder.shape({1, 1, 4, 2});
    const auto offset = in_y ? builder.shape({-1, 0}) : builder.shape({0, -1});
    const auto border = in_y ? builder.shape({1, 0}) : builder.shape({0, 1});
    return result_of(sketch.finish(sketch.op(Op::resize, {x, scale, offset, border}, to,
                                             tosa::ResizeAttribute{.mode = mode})));
}

TEST(Oracle, of_resize_divides_down_and_not_towards_zero) {
    for (const bool in_y : {false, true}) {
        expect_same(doubled(DType::int8, DType::int32, tosa::ResizeMode::bilinear, in_y),
                    {40, 50, 70, 80});
        expect_same(doubled(DType::fp32, DType::fp32, tosa::ResizeMode::bilinear, in_y),
                    {10, 12.5, 17.5, 20});
        expect_same(doubled(DType::int8, DType::int8, tosa::ResizeMode::nearest, in_y),
                    {10, 10, 20, 20});
    }
}

Values pooled(const Values& values, NanMode mode) {
    Sketch sketch;
    const auto x = sketch.input(DType::fp32, {1, 2, 2, 1}, values);
    return result_of(sketch.finish(sketch.op(
        Op::max_pool2d, {x}, DType::fp32,
        tosa::PoolAttribute{.kernel = {2, 2}, .stride = {1, 1}, .pad = {}, .nan_mode = mode})));
}

Values index_of_greatest(const Values& values, NanMode mode) {
    Sketch sketch;
    const auto x = sketch.input(DType::fp32, {length_of(values)}, values);
    return result_of(sketch.finish(sketch.op(Op::argmax, {x}, DType::int32,
                                             tosa::AxisAttribute{.axis = 0, .nan_mode = mode})));
}

TEST(Oracle, lets_a_nan_win_or_lose) {
    expect_same(pooled({1, nan, 3, 2}, NanMode::propagate), {nan});
    expect_same(pooled({1, nan, 3, 2}, NanMode::ignore), {3});
    expect_same(pooled({nan, nan, nan, nan}, NanMode::ignore), {nan});
    expect_same(index_of_greatest({1, nan, 5, nan}, NanMode::propagate), {1});
    expect_same(index_of_greatest({1, nan, 5, nan}, NanMode::ignore), {2});
    expect_same(index_of_greatest({nan, 1, 5, 5}, NanMode::ignore), {2});
    for (const bool nan_first : {false, true}) {
        Sketch sketch;
        const auto x = sketch.input(DType::fp32, {1}, {nan_first ? nan : 3});
        const auto y = sketch.input(DType::fp32, {1}, {nan_first ? 3 : nan});
        expect_same(
            result_of(sketch.finish(sketch.op(Op::minimum, {x, y}, DType::fp32,
                                              tosa::NanAttribute{.nan_mode = NanMode::ignore}))),
            {3});
    }
}

TEST(Oracle, of_matmul_keeps_batches_apart) {
    Sketch sketch;
    const auto a = sketch.input(DType::int8, {2, 1, 2}, {1, 2, 3, 4});
    const auto b = sketch.input(DType::int8, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    expect_same(
        result_of(sketch.finish(sketch.op(
            Op::matmul, {a, b, sketch.scalar(DType::int8, 1), sketch.scalar(DType::int8, 0)},
            DType::int32))),
        {3, 4, 31, 36});
}

// A convolution of one tap over an image of two rows, padded above.
Values convolved(DType weight, double weight_value) {
    Sketch sketch;
    const auto x = sketch.input(DType::int8, {1, 2, 1, 1}, {5, -128});
    const auto w = sketch.constant(weight, {1, 1, 1, 1}, {weight_value});
    const auto bias = sketch.constant(DType::int32, {1}, {10});
    return result_of(sketch.finish(
        sketch.op(Op::conv2d, {x, w, bias, sketch.scalar(DType::int8, 3), sketch.scalar(weight, 0)},
                  DType::int32,
                  tosa::Conv2dAttribute{.pad = {1, 0, 0, 0},
                                        .stride = {1, 1},
                                        .dilation = {1, 1},
                                        .local_bound = false,
                                        .accumulator = DType::int32})));
}

TEST(Oracle, of_a_convolution_pads_with_the_zero_point) {
    expect_same(convolved(DType::int8, -100), {10, -190, 13110});
    expect_same(convolved(DType::int4, -7), {10, -4, 927});
}

TEST(Oracle, is_missing_for_what_has_none) {
    tosa::Builder builder;
    builder.output(builder.op(Op::erf, {builder.input("x", DType::fp32, {2})}), "y");
    const auto model = builder.finish();
    ASSERT_TRUE(model);
    EXPECT_EQ(first_without_oracle(tosa::verify(*model).value()), Op::erf);
    EXPECT_EQ(oracle_of(Op::erf), nullptr);
}

}  // namespace

}  // namespace virtaccel::numerics

// REDUCE_* and ARGMAX.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "backends/cpu/testing/typed.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::decoded;
using testing::encoded;
using testing::expect_same;
using testing::ModelOptions;
using testing::ModelRun;
using tosa::AxisAttribute;
using tosa::DType;
using tosa::NanMode;
using tosa::Op;

using Floats = std::vector<float>;
using Numbers = std::vector<std::int32_t>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

// What an operator makes of rows of four numbers, each number an element of `dtype`.
Floats reduced(Op op, DType dtype, const Floats& rows, NanMode mode = NanMode::propagate) {
    const auto count = static_cast<std::int32_t>(rows.size() / 4);
    const bool says_mode = op == Op::argmax || op == Op::reduce_max || op == Op::reduce_min;
    tosa::Builder builder;
    builder.output(
        builder.op(op, {builder.input("x", dtype, {count, 4})},
                   AxisAttribute{.axis = 1, .nan_mode = says_mode ? mode : NanMode::unknown}),
        "y");
    const auto bytes = ModelRun{builder}.input(encoded(dtype, rows)).output<std::byte>();
    return decoded<float>(op == Op::argmax ? DType::int32 : dtype, bytes);
}

TEST(Reduction, takes_every_type_it_is_there_for) {
    constexpr DType integers[] = {DType::int8, DType::int16, DType::int32};
    constexpr DType floats[] = {DType::fp32, DType::fp16, DType::bf16};
    constexpr DType bytes[] = {DType::fp8e4m3, DType::fp8e5m2};
    const Floats rows{3, -2, 7, 7, -1, -5, -5, -3};
    for (const DType dtype : integers) {
        expect_same(reduced(Op::reduce_max, dtype, rows), {7, -1});
        expect_same(reduced(Op::reduce_min, dtype, rows), {-2, -5});
    }
    for (const DType dtype : floats) {
        expect_same(reduced(Op::reduce_max, dtype, rows), {7, -1});
        expect_same(reduced(Op::reduce_min, dtype, rows), {-2, -5});
        expect_same(reduced(Op::reduce_sum, dtype, rows), {15, -14});
        expect_same(reduced(Op::reduce_product, dtype, rows), {-294, 75});
        expect_same(reduced(Op::argmax, dtype, rows), {2, 0});
    }
    for (const DType dtype : bytes) {
        expect_same(reduced(Op::argmax, dtype, rows), {2, 0});
    }
    expect_same(reduced(Op::argmax, DType::int8, rows), {2, 0});
    expect_same(reduced(Op::argmax, DType::int16, rows), {2, 0});
    expect_same(reduced(Op::reduce_sum, DType::int32, rows), {15, -14});
    expect_same(reduced(Op::reduce_all, DType::boolean, {1, 1, 1, 1, 1, 1, 0, 1}), {1, 0});
    expect_same(reduced(Op::reduce_any, DType::boolean, {0, 0, 0, 0, 0, 0, 1, 0}), {0, 1});
}

TEST(Reduction, keeps_or_drops_what_is_not_a_number) {
    const Floats rows{1, nan, 5, nan, nan, nan, nan, nan, nan, -inf, -inf, nan, 0, -0.0F, 0, -0.0F};
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
        expect_same(reduced(Op::reduce_max, dtype, rows), {nan, nan, nan, 0});
        expect_same(reduced(Op::reduce_min, dtype, rows), {nan, nan, nan, 0});
        expect_same(reduced(Op::argmax, dtype, rows), {1, 0, 0, 0});
        expect_same(reduced(Op::reduce_max, dtype, rows, NanMode::ignore), {5, nan, -inf, 0});
        expect_same(reduced(Op::reduce_min, dtype, rows, NanMode::ignore), {1, nan, -inf, 0});
        expect_same(reduced(Op::argmax, dtype, rows, NanMode::ignore), {2, 0, 1, 0});
    }
}

TEST(Reduction, rounds_once_at_the_end) {
    // Each 1 would be lost if the sum so far were rounded.
    expect_same(reduced(Op::reduce_sum, DType::fp16, {2048, 1, 1, 0}), {2050});
    expect_same(reduced(Op::reduce_sum, DType::bf16, {256, 1, 1, 0}), {258});
    expect_same(reduced(Op::reduce_sum, DType::fp32, {16777216.0F, 1, 1, 0}), {16777218.0F});
    // And this product would be infinite.
    expect_same(reduced(Op::reduce_product, DType::fp16, {256, 256, 0.00390625F, -1}), {-256});
}

TEST(Reduction, of_integers_wraps_around) {
    tosa::Builder builder;
    builder.output(builder.op(Op::reduce_sum, {builder.input("x", DType::int32, {3})},
                              AxisAttribute{.axis = 0}),
                   "y");
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(ModelRun{builder}.input(Numbers{most, most, 3}).output<std::int32_t>(), Numbers{1});
}

TEST(Reduction, takes_any_byte_but_zero_for_true) {
    tosa::Builder builder;
    builder.output(builder.op(Op::reduce_all, {builder.input("x", DType::boolean, {3})},
                              AxisAttribute{.axis = 0}),
                   "y");
    const std::vector<std::uint8_t> x{1, 2, 255};
    EXPECT_EQ(ModelRun{builder}.input(x).output<std::uint8_t>(), std::vector<std::uint8_t>{1});
}

TEST(Reduction, runs_along_any_axis_in_any_number_of_parts) {
    const std::vector<std::int32_t> shape{70, 40, 50};
    Numbers x(140000);
    std::iota(x.begin(), x.end(), -70000);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        tosa::Builder builder;
        builder.output(builder.op(Op::reduce_sum, {builder.input("x", DType::int32, shape)},
                                  AxisAttribute{.axis = static_cast<std::int32_t>(axis)}),
                       "y");
        const std::size_t inner = axis == 0 ? 2000 : axis == 1 ? 50 : 1;
        const auto size = static_cast<std::size_t>(shape[axis]);
        Numbers wanted(x.size() / size);
        for (std::size_t i = 0; i < x.size(); ++i) {
            wanted[(i / (inner * size) * inner) + (i % inner)] += x[i];
        }
        ModelRun run{builder, ModelOptions{.threads = 3}};
        EXPECT_EQ(run.input(x).output<std::int32_t>(), wanted) << "axis " << axis;
        EXPECT_GT(run.program().steps.front()->parts(), 1U);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

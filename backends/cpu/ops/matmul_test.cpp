// MATMUL and REDUCE_SUM: sums along an axis.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::expect_near;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using tosa::DType;
using tosa::Op;

using Floats = std::vector<float>;

TEST(Matmul, is_right_for_every_batch) {
    constexpr std::size_t batch = 3;
    constexpr std::size_t rows = 5;
    constexpr std::size_t depth = 17;
    constexpr std::size_t columns = 9;
    const Floats a = Numbers{1}.take(batch * rows * depth);
    const Floats b = Numbers{2}.take(batch * depth * columns);
    Floats wanted;
    for (std::size_t n = 0; n < batch; ++n) {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) {
                float sum = 0;
                for (std::size_t k = 0; k < depth; ++k) {
                    sum += a[(((n * rows) + i) * depth) + k] * b[(((n * depth) + k) * columns) + j];
                }
                wanted.push_back(sum);
            }
        }
    }
    tosa::Builder builder;
    const auto left = builder.input("a", DType::fp32, {3, 5, 17});
    const auto right = builder.input("b", DType::fp32, {3, 17, 9});
    builder.output(builder.matmul(left, right), "y");
    ModelRun run{builder};
    expect_near(run.input(a).input(b).output<float>(), wanted);
    // Nothing of one run stays in the next.
    expect_near(run.output<float>(), wanted);
}

TEST(Matmul, of_constants_is_a_constant) {
    tosa::Builder builder;
    const auto product = builder.matmul(builder.constant({1, 1, 2}, {1.0F, 2.0F}),
                                        builder.constant({1, 2, 1}, {3.0F, 4.0F}));
    builder.output(builder.add(builder.input("x", DType::fp32, {1, 1, 1}), product), "y");
    ModelRun run{builder};
    EXPECT_EQ(run.input({0.5F}).output<float>(), (Floats{11.5F}));
    EXPECT_EQ(run.steps(), 1U);
}

TEST(ReduceSum, goes_along_any_axis) {
    const std::vector<Floats> wanted{{5, 7, 9}, {6, 15}};
    for (std::int32_t axis = 0; axis < 2; ++axis) {
        tosa::Builder builder;
        builder.output(builder.op(Op::reduce_sum, {builder.input("x", DType::fp32, {2, 3})},
                                  tosa::AxisAttribute{.axis = axis}),
                       "y");
        EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).output<float>(),
                  wanted[static_cast<std::size_t>(axis)]);
    }
}

TEST(ReduceSum, of_integers_wraps_around_and_is_the_same_in_parts) {
    for (const std::uint32_t threads : {1U, 3U}) {
        tosa::Builder builder;
        builder.output(builder.op(Op::reduce_sum, {builder.input("x", DType::int32, {4, 40'000})},
                                  tosa::AxisAttribute{.axis = 0}),
                       "y");
        std::vector<std::int32_t> x(160'000, 1 << 30);
        x[0] = 5;
        std::vector<std::int32_t> wanted(40'000, 0);
        wanted[0] = 5 - (1 << 30);
        ModelRun run{builder, ModelOptions{.threads = threads}};
        EXPECT_EQ(run.input(x).output<std::int32_t>(), wanted);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

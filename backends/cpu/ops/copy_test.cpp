// Operators that move elements, and slots that several of them share.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelRun;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Floats = std::vector<float>;

Floats counted(std::size_t count) {
    Floats numbers(count);
    std::ranges::generate(numbers, [next = 0.0F]() mutable { return next++; });
    return numbers;
}

TEST(Reshape, of_what_a_step_computes_costs_nothing) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 3});
    builder.output(builder.reshape(builder.add(x, x), {3, 1, 2}), "y");
    ModelRun run{builder};
    EXPECT_EQ(run.input(counted(6)).output<float>(), (Floats{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(run.steps(), 1U);
    EXPECT_EQ(run.program().arena.size(), 0U);
}

TEST(Reshape, between_the_callers_buffers_is_a_copy) {
    tosa::Builder builder;
    builder.output(builder.reshape(builder.input("x", DType::fp32, {2, 3}), {6}), "y");
    EXPECT_EQ(ModelRun{builder}.input(counted(6)).output<float>(), counted(6));
}

TEST(Outputs, may_be_inputs_constants_and_each_other) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value y = builder.add(x, x);
    builder.output(x, "input");
    builder.output(builder.constant({2}, {7.0F, 8.0F}), "constant");
    builder.output(y, "sum");
    builder.output(y, "sum again");
    builder.output(builder.reshape(y, {1, 2}), "sum in another shape");
    ModelRun run{builder};
    run.input({1.0F, 2.0F}).run();
    EXPECT_EQ(run.slot<float>(1), (Floats{1, 2}));
    EXPECT_EQ(run.slot<float>(2), (Floats{7, 8}));
    EXPECT_EQ(run.slot<float>(3), (Floats{2, 4}));
    EXPECT_EQ(run.slot<float>(4), (Floats{2, 4}));
    EXPECT_EQ(run.slot<float>(5), (Floats{2, 4}));
}

TEST(Identity, of_an_input_is_a_copy_of_it) {
    tosa::Builder builder;
    builder.output(builder.op(Op::identity, {builder.input("x", DType::int8, {3})}), "y");
    const std::vector<std::int8_t> x{1, -2, 3};
    EXPECT_EQ(ModelRun{builder}.input(x).output<std::int8_t>(), x);
}

TEST(Concat, along_the_outermost_axis_computes_its_parts_where_they_belong) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2, 3});
    const Value doubled = builder.reshape(builder.add(x, x), {1, 3, 2});
    const Value squared = builder.reshape(builder.mul(x, x), {1, 3, 2});
    builder.output(builder.concat({doubled, squared}, 1), "y");
    ModelRun run{builder};
    EXPECT_EQ(run.input(counted(6)).output<float>(),
              (Floats{0, 2, 4, 6, 8, 10, 0, 1, 4, 9, 16, 25}));
    EXPECT_EQ(run.steps(), 2U);
    EXPECT_EQ(run.program().arena.size(), 0U);
}

TEST(Concat, copies_what_lies_elsewhere) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2});
    const Value y = builder.add(x, x);
    const Value constant = builder.constant({1, 2}, {-1.0F, -2.0F});
    const Value whole = builder.concat({x, y, constant, y}, 0);
    builder.output(whole, "y");
    builder.output(builder.concat({y, whole}, 0), "nested");
    ModelRun run{builder};
    run.input({1.0F, 2.0F}).run();
    EXPECT_EQ(run.slot<float>(1), (Floats{1, 2, 2, 4, -1, -2, 2, 4}));
    EXPECT_EQ(run.slot<float>(2), (Floats{2, 4, 1, 2, 2, 4, -1, -2, 2, 4}));
}

TEST(Concat, along_an_inner_axis_interleaves) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 1, 2});
    const Value y = builder.input("y", DType::fp32, {2, 2, 2});
    builder.output(builder.concat({x, y}, 1), "z");
    ModelRun run{builder};
    EXPECT_EQ(run.input(counted(4)).input(Floats{10, 11, 12, 13, 14, 15, 16, 17}).output<float>(),
              (Floats{0, 1, 10, 11, 12, 13, 2, 3, 14, 15, 16, 17}));
}

TEST(Concat, of_many_in_a_row_is_one_block) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1});
    Value whole = builder.add(x, x);
    for (int i = 0; i < 50; ++i) {
        whole = builder.concat({whole, builder.mul(x, x)}, 0);
    }
    builder.output(whole, "y");
    ModelRun run{builder};
    Floats wanted(51, 9.0F);
    wanted[0] = 6.0F;
    EXPECT_EQ(run.input({3.0F}).output<float>(), wanted);
    EXPECT_EQ(run.program().arena.size(), 0U);
}

TEST(Pad, puts_its_value_on_every_side) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::int8, {1, 2, 2});
    const std::vector<std::int8_t> value{9};
    builder.output(builder.op(Op::pad, {x, builder.shape({0, 1, 1, 0, 2, 1}),
                                        builder.constant(DType::int8, {1}, value)}),
                   "y");
    using Bytes = std::vector<std::int8_t>;
    EXPECT_EQ(ModelRun{builder}.input(Bytes{1, 2, 3, 4}).output<std::int8_t>(),
              (Bytes{9, 9, 9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 3, 4, 9,
                     9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(Pad, of_floats_without_a_reader_that_pads_is_a_step) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 2, 1});
    builder.output(builder.pad(x, {0, 0, 1, 0, 0, 1, 0, 0}), "y");
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F}).output<float>(), (Floats{0, 0, 0, 1, 2, 0}));
}

TEST(Transpose, permutes_every_axis) {
    // By definition, for all orders of three axes.
    const std::vector<std::int32_t> shape{2, 3, 4};
    std::vector<std::int32_t> perms{0, 1, 2};
    do {
        tosa::TransposeAttribute attribute{.rank = 3};
        std::ranges::copy(perms, attribute.perms.begin());
        tosa::Builder builder;
        builder.output(
            builder.op(Op::transpose, {builder.input("x", DType::fp32, shape)}, attribute), "y");
        Floats wanted;
        std::vector<std::int32_t> at(3);
        const auto axis = [&](std::size_t i) { return static_cast<std::size_t>(perms[i]); };
        for (at[axis(0)] = 0; at[axis(0)] < shape[axis(0)]; ++at[axis(0)]) {
            for (at[axis(1)] = 0; at[axis(1)] < shape[axis(1)]; ++at[axis(1)]) {
                for (at[axis(2)] = 0; at[axis(2)] < shape[axis(2)]; ++at[axis(2)]) {
                    wanted.push_back(static_cast<float>((((at[0] * 3) + at[1]) * 4) + at[2]));
                }
            }
        }
        EXPECT_EQ(ModelRun{builder}.input(counted(24)).output<float>(), wanted)
            << ::testing::PrintToString(perms);
    } while (std::ranges::next_permutation(perms).found);
}

TEST(Transpose, moves_elements_of_every_size) {
    for (const DType dtype : {DType::int8, DType::fp16, DType::int32}) {
        tosa::TransposeAttribute attribute{.rank = 2};
        attribute.perms[0] = 1;
        tosa::Builder builder;
        builder.output(builder.op(Op::transpose, {builder.input("x", dtype, {2, 2})}, attribute),
                       "y");
        ModelRun run{builder};
        const auto size = static_cast<std::size_t>(*tosa::byte_count(dtype, 1));
        std::vector<std::uint8_t> x;
        std::vector<std::uint8_t> wanted;
        for (const int element : {0, 1, 2, 3}) {
            x.insert(x.end(), size, static_cast<std::uint8_t>(element));
            wanted.insert(wanted.end(), size,
                          static_cast<std::uint8_t>(((element & 1) * 2) + (element / 2)));
        }
        EXPECT_EQ(run.input(x).output<std::uint8_t>(), wanted) << tosa::name_of(dtype);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

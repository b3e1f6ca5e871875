// Operators of two inputs on FP16 and BF16: as of floats, rounded once.
#include "backends/cpu/ops/narrow_floats.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/ops/elements.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using tosa::DType;
using tosa::Op;

using Dims = std::vector<std::int32_t>;

struct Function {
    Op op;
    float (*exact)(float a, float b);
};

constexpr Function functions[] = {
    {Op::add, [](float a, float b) { return a + b; }},
    {Op::sub, [](float a, float b) { return a - b; }},
    {Op::mul, [](float a, float b) { return a * b; }},
    {Op::maximum, [](float a, float b) { return a > b ? a : b; }},
    {Op::minimum, [](float a, float b) { return a < b ? a : b; }},
};

template <class T>
std::vector<T> narrowed(const std::vector<float>& values) {
    std::vector<T> elements;
    for (const float value : values) {
        elements.push_back(narrowed_to<T>(value));
    }
    return elements;
}

// Rows longer than a block, of one of which operands walk along, stand still, or both.
template <class T>
void expect_rounded_once(DType dtype, const Function& function, const Dims& a_shape,
                         const Dims& b_shape) {
    const auto a_elements =
        static_cast<std::size_t>(a_shape[0]) * static_cast<std::size_t>(a_shape[1]);
    const auto b_elements =
        static_cast<std::size_t>(b_shape[0]) * static_cast<std::size_t>(b_shape[1]);
    const std::vector<T> a = narrowed<T>(Numbers{3}.take(a_elements));
    const std::vector<T> b = narrowed<T>(Numbers{4}.take(b_elements));
    tosa::Builder builder;
    const tosa::Value x = builder.input("a", dtype, a_shape);
    const tosa::Value y = builder.input("b", dtype, b_shape);
    tosa::Attribute attribute;
    if (function.op == Op::maximum || function.op == Op::minimum) {
        attribute = tosa::NanAttribute{tosa::NanMode::propagate};
    }
    builder.output(
        function.op == Op::mul ? builder.mul(x, y) : builder.op(function.op, {x, y}, attribute),
        "y");
    ModelRun run{builder, ModelOptions{.threads = 2}};
    const std::vector<T> got = run.input(a).input(b).template output<T>();
    ASSERT_EQ(got.size(), 600U);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto at = [&](const std::vector<T>& from, const Dims& shape) {
            const std::size_t row = shape[0] == 1 ? 0 : i / 300;
            const std::size_t column = shape[1] == 1 ? 0 : i % 300;
            return widened(from[(row * static_cast<std::size_t>(shape[1])) + column]);
        };
        ASSERT_EQ(got[i], narrowed_to<T>(function.exact(at(a, a_shape), at(b, b_shape))))
            << tosa::name_of(function.op) << " of " << tosa::name_of(dtype) << ", element " << i;
    }
}

TEST(NarrowFloats, are_rounded_once) {
    for (const Function& function : functions) {
        for (const Dims& b_shape : {Dims{2, 300}, Dims{1, 300}, Dims{2, 1}, Dims{1, 1}}) {
            expect_rounded_once<Fp16>(DType::fp16, function, {2, 300}, b_shape);
            expect_rounded_once<Bf16>(DType::bf16, function, {2, 300}, b_shape);
        }
        expect_rounded_once<Fp16>(DType::fp16, function, {2, 1}, {1, 300});
        expect_rounded_once<Bf16>(DType::bf16, function, {1, 300}, {2, 1});
    }
}

TEST(NarrowFloats, compare_as_floats) {
    for (const DType dtype : {DType::fp16, DType::bf16}) {
        tosa::Builder builder;
        const tosa::Value x = builder.input("a", dtype, {5});
        const tosa::Value y = builder.input("b", dtype, {5});
        builder.output(builder.op(Op::greater, {x, y}), "greater");
        builder.output(builder.op(Op::greater_equal, {x, y}), "greater_equal");
        builder.output(builder.op(Op::equal, {x, y}), "equal");
        ModelRun run{builder};
        const std::vector<float> a{1, -2, 0, NAN, 5};
        const std::vector<float> b{1, -1, -0.0F, NAN, -5};
        if (dtype == DType::fp16) {
            run.input(narrowed<Fp16>(a)).input(narrowed<Fp16>(b)).run();
        } else {
            run.input(narrowed<Bf16>(a)).input(narrowed<Bf16>(b)).run();
        }
        using Bools = std::vector<std::uint8_t>;
        EXPECT_EQ(run.slot<std::uint8_t>(2), (Bools{0, 0, 0, 0, 1}));
        EXPECT_EQ(run.slot<std::uint8_t>(3), (Bools{1, 0, 1, 0, 1}));
        EXPECT_EQ(run.slot<std::uint8_t>(4), (Bools{1, 0, 1, 0, 0}));
    }
}

TEST(NarrowFloats, are_computed_in_place) {
    tosa::Builder builder;
    const tosa::Value x = builder.input("x", DType::fp16, {500});
    const tosa::Value y =
        builder.op(Op::exp, {builder.op(Op::negate, {x, builder.zeros(DType::fp16, {1}),
                                                     builder.zeros(DType::fp16, {1})})});
    builder.output(builder.add(y, y), "y");
    ModelRun run{builder};
    EXPECT_EQ(run.program().arena.size(), 0U);
    EXPECT_EQ(run.input(narrowed<Fp16>(std::vector<float>(500, 0.0F))).output<Fp16>(),
              narrowed<Fp16>(std::vector<float>(500, 2.0F)));
}

TEST(NarrowFloats, are_four_types) {
    for (const DType dtype : {DType::fp32, DType::int8, DType::boolean}) {
        EXPECT_EQ(narrow_float_of(dtype), nullptr);
    }
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2}) {
        ASSERT_NE(narrow_float_of(dtype), nullptr);
        EXPECT_EQ(narrow_float_of(dtype)->bytes * 8, tosa::bits_of(dtype));
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

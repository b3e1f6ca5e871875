// Functions of one number and of two, in every floating-point type; CLAMP, NEGATE and ABS.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/lowering/number_formats.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::expect_same;
using testing::ModelRun;
using testing::Numbers;
using tosa::DType;
using tosa::Op;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Numbers of FP32, FP16 or BF16, which hold them.
std::vector<std::uint8_t> encoded(DType dtype, const std::vector<float>& values) {
    std::vector<std::uint8_t> bytes;
    const auto append = [&](const auto& element) {
        const auto* const first = reinterpret_cast<const std::uint8_t*>(&element);
        bytes.insert(bytes.end(), first, first + sizeof(element));
    };
    for (const float value : values) {
        if (dtype == DType::fp16) {
            append(lowering::to_fp16(value));
        } else if (dtype == DType::bf16) {
            append(lowering::to_bf16(value));
        } else {
            append(value);
        }
    }
    return bytes;
}

std::vector<float> output_of(ModelRun& run, DType dtype) {
    std::vector<float> values;
    if (dtype == DType::fp32) {
        return run.output<float>();
    }
    for (const auto bits : run.output<std::uint16_t>()) {
        values.push_back(dtype == DType::fp16
                             ? lowering::to_float(static_cast<lowering::Fp16>(bits))
                             : lowering::to_float(static_cast<lowering::Bf16>(bits)));
    }
    return values;
}

std::vector<float> unary(Op op, DType dtype, const std::vector<float>& x,
                         const tosa::Attribute& attribute = {}) {
    tosa::Builder builder;
    const auto length = static_cast<std::int32_t>(x.size());
    const tosa::Value input = builder.input("x", dtype, {length});
    if (op == Op::negate) {
        const tosa::Value zero = builder.zeros(dtype, {1});
        builder.output(builder.op(op, {input, zero, zero}), "y");
    } else {
        builder.output(builder.op(op, {input}, attribute), "y");
    }
    ModelRun run{builder};
    run.input(encoded(dtype, x));
    return output_of(run, dtype);
}

// Half of the distance of a number from its neighbours, for one that is not subnormal.
float half_step(DType dtype) {
    switch (dtype) {
        case DType::fp16:
            return 0x1p-11F;
        case DType::bf16:
            return 0x1p-8F;
        default:
            return 0x1p-24F;
    }
}

constexpr DType floats[] = {DType::fp32, DType::fp16, DType::bf16};

struct Function {
    Op op;
    double (*exact)(double x);
    float low;
    float high;
    // The error of what is computed in float, in halves of its steps.
    float error = 2;
};

constexpr Function functions[] = {
    {Op::abs, [](double x) { return std::fabs(x); }, -9, 9, 0},
    {Op::ceil, [](double x) { return std::ceil(x); }, -9, 9, 0},
    {Op::cos, [](double x) { return std::cos(x); }, -9, 9},
    {Op::erf, [](double x) { return std::erf(x); }, -4, 4, 4},
    {Op::exp, [](double x) { return std::exp(x); }, -9, 9},
    {Op::floor, [](double x) { return std::floor(x); }, -9, 9, 0},
    {Op::log, [](double x) { return std::log(x); }, 0.001F, 9},
    {Op::negate, [](double x) { return -x; }, -9, 9, 0},
    {Op::reciprocal, [](double x) { return 1 / x; }, 0.001F, 9},
    {Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.001F, 9, 4},
    {Op::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9, 6},
    {Op::sin, [](double x) { return std::sin(x); }, -9, 9},
    {Op::tanh, [](double x) { return std::tanh(x); }, -9, 9, 4},
};

TEST(Function, is_as_near_as_its_type_allows) {
    for (const Function& function : functions) {
        for (const DType dtype : floats) {
            SCOPED_TRACE(::testing::Message()
                         << tosa::name_of(function.op) << " of " << tosa::name_of(dtype));
            // As many as a block has, and some.
            std::vector<float> x = Numbers{7}.take(1000);
            for (float& value : x) {
                value = function.low + ((value + 1) / 2 * (function.high - function.low));
            }
            x = unary(Op::identity, dtype, x);  // of that type
            const std::vector<float> got = unary(function.op, dtype, x);
            ASSERT_EQ(got.size(), x.size());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double wanted = function.exact(static_cast<double>(x[i]));
                const double error =
                    std::abs(wanted) *
                    static_cast<double>((function.error * 0x1p-24F) + (half_step(dtype) * 1.001F));
                const double least = dtype == DType::fp16 ? 0x1p-25 : 0;
                ASSERT_NEAR(got[i], wanted, error + least) << "of " << x[i];
            }
        }
    }
}

TEST(Function, has_its_limits) {
    for (const DType dtype : floats) {
        SCOPED_TRACE(tosa::name_of(dtype));
        const std::vector<float> x{-infinity, -1.0F, -0.0F, 0.0F, infinity, nan};
        expect_same(unary(Op::exp, dtype, x),
                    {0, unary(Op::exp, dtype, {-1})[0], 1, 1, infinity, nan});
        expect_same(unary(Op::log, dtype, x), {nan, nan, -infinity, -infinity, infinity, nan});
        expect_same(unary(Op::reciprocal, dtype, x), {0, -1, -infinity, infinity, 0, nan});
        expect_same(unary(Op::rsqrt, dtype, x), {nan, nan, -infinity, infinity, 0, nan});
        expect_same(unary(Op::erf, dtype, {-infinity, 0, infinity, nan}), {-1, 0, 1, nan});
        expect_same(unary(Op::tanh, dtype, {-infinity, 0, infinity, nan}), {-1, 0, 1, nan});
        expect_same(unary(Op::sigmoid, dtype, {-infinity, 0, infinity, nan}), {0, 0.5F, 1, nan});
        expect_same(unary(Op::sin, dtype, {-infinity, 0, infinity, nan}), {nan, 0, nan, nan});
        expect_same(unary(Op::cos, dtype, {-infinity, 0, infinity, nan}), {nan, 1, nan, nan});
        expect_same(unary(Op::ceil, dtype, {-infinity, -0.5F, nan}), {-infinity, 0, nan});
        expect_same(unary(Op::floor, dtype, {infinity, -0.5F, nan}), {infinity, -1, nan});
        expect_same(unary(Op::abs, dtype, x), {infinity, 1, 0, 0, infinity, nan});
        expect_same(unary(Op::negate, dtype, x), {infinity, 1, 0, 0, -infinity, nan});
    }
    // Past the largest number of FP16.
    expect_same(unary(Op::exp, DType::fp16, {12}), {infinity});
}

TEST(Pow, is_a_power) {
    for (const DType dtype : floats) {
        tosa::Builder builder;
        const tosa::Value a = builder.input("a", dtype, {2, 4});
        const tosa::Value b = builder.input("b", dtype, {1, 4});
        builder.output(builder.op(Op::pow, {a, b}), "y");
        ModelRun run{builder};
        run.input(encoded(dtype, {2, 4, 9, 0, 3, 0.25F, -2, infinity}));
        run.input(encoded(dtype, {3, 0.5F, 0, 2}));
        expect_same(output_of(run, dtype), {8, 2, 1, 0, 27, 0.5F, 1, infinity});
    }
}

tosa::ClampAttribute bounds(std::span<const std::uint8_t> bytes, tosa::NanMode mode) {
    const auto both = std::as_bytes(bytes);
    return {
        .min = both.first(both.size() / 2), .max = both.last(both.size() / 2), .nan_mode = mode};
}

TEST(Clamp, keeps_numbers_of_every_type_inside) {
    const std::vector<float> x{-infinity, -2, 0.5F, 3, infinity, nan};
    for (const DType dtype : floats) {
        const std::vector<std::uint8_t> bytes = encoded(dtype, {-1.5F, 2.5F});
        expect_same(unary(Op::clamp, dtype, x, bounds(bytes, tosa::NanMode::propagate)),
                    {-1.5F, -1.5F, 0.5F, 2.5F, 2.5F, nan});
        expect_same(unary(Op::clamp, dtype, x, bounds(bytes, tosa::NanMode::ignore)),
                    {-1.5F, -1.5F, 0.5F, 2.5F, 2.5F, -1.5F});
    }
}

template <class T>
std::vector<T> integer_clamp(DType dtype, const std::vector<T>& x, const std::vector<T>& limits) {
    const auto* const first = reinterpret_cast<const std::uint8_t*>(limits.data());
    tosa::Builder builder;
    const auto length = static_cast<std::int32_t>(x.size());
    builder.output(builder.op(Op::clamp, {builder.input("x", dtype, {length})},
                              bounds({first, limits.size() * sizeof(T)}, tosa::NanMode::propagate)),
                   "y");
    return ModelRun{builder}.input(x).template output<T>();
}

TEST(Clamp, keeps_integers_inside) {
    EXPECT_EQ((integer_clamp<std::int8_t>(DType::int8, {-128, -6, -5, 0, 100, 127}, {-5, 100})),
              (std::vector<std::int8_t>{-5, -5, -5, 0, 100, 100}));
    EXPECT_EQ((integer_clamp<std::int16_t>(DType::int16, {-32768, 0, 300, 301}, {-1000, 300})),
              (std::vector<std::int16_t>{-1000, 0, 300, 300}));
}

template <class T>
struct Zeros {
    T input = 0;
    T output = 0;
};

// With zero points that are constant, or come at run time.
template <class T>
std::vector<T> negated(DType dtype, const std::vector<T>& x, Zeros<T> zeros, bool is_known) {
    tosa::Builder builder;
    const std::vector<T> input_zero{zeros.input};
    const std::vector<T> output_zero{zeros.output};
    const auto length = static_cast<std::int32_t>(x.size());
    const tosa::Value value = builder.input("x", dtype, {1, length});
    const tosa::Value from = is_known ? builder.constant(dtype, {1}, input_zero)
                                      : builder.input("input_zero", dtype, {1});
    const tosa::Value to = is_known ? builder.constant(dtype, {1}, output_zero)
                                    : builder.input("output_zero", dtype, {1});
    builder.output(builder.op(Op::negate, {value, from, to}), "y");
    ModelRun run{builder};
    run.input(x);
    if (!is_known) {
        run.input(input_zero).input(output_zero);
    }
    return run.template output<T>();
}

TEST(Negate, of_integers_turns_around_zero_points_and_goes_no_further_than_the_type) {
    for (const bool is_known : {false, true}) {
        EXPECT_EQ((negated<std::int8_t>(DType::int8, {-128, -1, 0, 5, 127},
                                        {.input = 1, .output = 2}, is_known)),
                  (std::vector<std::int8_t>{127, 4, 3, -2, -124}));
        EXPECT_EQ((negated<std::int8_t>(DType::int8, {127, -128}, {.input = -128, .output = -128},
                                        is_known)),
                  (std::vector<std::int8_t>{-128, -128}));
        EXPECT_EQ((negated<std::int16_t>(DType::int16, {-32768, 3}, {}, is_known)),
                  (std::vector<std::int16_t>{32767, -3}));
        EXPECT_EQ((negated<std::int32_t>(
                      DType::int32, {std::numeric_limits<std::int32_t>::min(), 3}, {}, is_known)),
                  (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::max(), -3}));
    }
}

TEST(Abs, of_integers_survives_the_least) {
    constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
    tosa::Builder builder;
    builder.output(builder.op(Op::abs, {builder.input("x", DType::int32, {3})}), "y");
    EXPECT_EQ(ModelRun{builder}.input({-5, 5, least}).output<std::int32_t>(),
              (std::vector<std::int32_t>{5, 5, least}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

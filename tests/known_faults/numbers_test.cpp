// Numbers where others went wrong, through the whole stack to the CPU backend: shifts that round to
// the wrong side, averages that count padding or truncate, casts that wrap, an interpolation that
// extrapolates at the left edge, NaNs that win or lose by their place, and operators that a value
// at run time makes divide by zero or reach past their tensor.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/known_faults/cpu_stack.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::known_faults {
namespace {

using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();

template <class T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, float>) {
        return DType::fp32;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return DType::int32;
    } else if constexpr (std::is_same_v<T, std::int16_t>) {
        return DType::int16;
    } else {
        static_assert(std::is_same_v<T, std::int8_t>);
        return DType::int8;
    }
}

template <class T>
std::vector<T> values_in(const Bytes& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

// A NaN is as good as any other.
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(wanted[i])) {
                EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
                continue;
            }
        }
        EXPECT_EQ(got[i], wanted[i]) << "element " << i;
    }
}

template <class Out>
void expect_numbers(const Builder& builder, const std::vector<Bytes>& inputs,
                    const std::vector<Out>& wanted) {
    CpuStack stack;
    const Ran ran = stack.run(builder, inputs);
    ASSERT_TRUE(ran.loaded) << ran.refusals;
    EXPECT_EQ(ran.status, Status::ok);
    expect_equal(values_in<Out>(ran.output), wanted);
}

// One operator on one input, and constants behind it.
template <class Out, class In>
struct Unary {
    Op op = Op::unknown;
    std::vector<std::int32_t> shape;
    std::vector<In> input;
    std::vector<Out> wanted;
    tosa::Attribute attribute{};

    // `more` gets the builder and gives the constant operands.
    template <class More>
    void check(More&& more) const {
        Builder builder;
        std::vector<Value> operands{builder.input("x", dtype_of<In>(), shape)};
        const std::vector<Value> constants = more(builder);
        operands.insert(operands.end(), constants.begin(), constants.end());
        builder.output(builder.op(op, operands, attribute, {.dtype = dtype_of<Out>(), .shape = {}}),
                       "y");
        expect_numbers(builder, {bytes_of(input)}, wanted);
    }

    void check() const {
        check([](Builder&) { return std::vector<Value>{}; });
    }
};

template <class T>
Value one(Builder& builder, T value) {
    return builder.constant(dtype_of<T>(), {1}, std::array{value});
}

TEST(Shifts, of_products_round_half_up) {
    const Unary<std::int32_t, std::int32_t> mul{
        .op = Op::mul, .shape = {4}, .input = {-3, -1, 1, 3}, .wanted = {-1, 0, 1, 2}};
    mul.check([](Builder& builder) {
        return std::vector{one(builder, std::int32_t{1}), one(builder, std::int8_t{1})};
    });
}

TEST(Shifts, to_the_right_round_half_up_if_they_are_told_to) {
    for (const auto shift : std::to_array<std::int8_t>({1, 0})) {
        Builder builder;
        const Value x = builder.input("x", DType::int32, {2});
        builder.output(
            builder.op(Op::arithmetic_right_shift, {x, one(builder, std::int32_t{shift})},
                       tosa::ShiftAttribute{.round = true}),
            "y");
        expect_numbers<std::int32_t>(
            builder, {bytes_of<std::int32_t>({5, -5})},
            shift == 1 ? std::vector<std::int32_t>{3, -2} : std::vector<std::int32_t>{5, -5});
    }
}

TEST(Rescaling, rounds_half_up_or_away_from_zero) {
    const auto check = [](const std::vector<std::int32_t>& input,
                          const std::vector<std::int32_t>& wanted, std::int8_t shift,
                          tosa::RoundingMode rounding) {
        const Unary<std::int32_t, std::int32_t> rescale{
            .op = Op::rescale,
            .shape = {static_cast<std::int32_t>(input.size())},
            .input = input,
            .wanted = wanted,
            .attribute = tosa::RescaleAttribute{.scale32 = true,
                                                .rounding = rounding,
                                                .per_channel = false,
                                                .input_unsigned = false,
                                                .output_unsigned = false}};
        rescale.check([shift](Builder& builder) {
            return std::vector{one(builder, std::int32_t{1 << 30}), one(builder, shift),
                               one(builder, std::int32_t{0}), one(builder, std::int32_t{0})};
        });
    };
    check({-5, -3, -1, 1, 3, 5}, {-2, -1, 0, 1, 2, 3}, 31, tosa::RoundingMode::single_round);
    check({-6, -2, 2, 6}, {-1, 0, 1, 2}, 32, tosa::RoundingMode::single_round);
    check({-6, -2, 2, 6}, {-2, -1, 1, 2}, 32, tosa::RoundingMode::double_round);
}

// The average of one window, or of windows that hang over the edge, of one channel.
template <class T>
struct Average {
    std::array<std::int32_t, 2> size{};
    std::array<std::int32_t, 2> kernel{};
    std::array<std::int32_t, 4> pad{};

    void check(const std::vector<T>& input, const std::vector<T>& wanted) const {
        const bool is_float = std::is_same_v<T, float>;
        const Unary<T, T> pool{
            .op = Op::avg_pool2d,
            .shape = {1, size[0], size[1], 1},
            .input = input,
            .wanted = wanted,
            .attribute = tosa::PoolAttribute{.kernel = kernel,
                                             .stride = {1, 1},
                                             .pad = pad,
                                             .accumulator = is_float ? DType::fp32 : DType::int32,
                                             .nan_mode = tosa::NanMode::unknown}};
        pool.check(
            [](Builder& builder) { return std::vector{one(builder, T{}), one(builder, T{})}; });
    }
};

TEST(Averages, round_half_away_from_zero_by_the_specifications_reciprocal) {
    const Average<std::int8_t> four{.size = {2, 2}, .kernel = {2, 2}};
    four.check({1, 2, 3, 0}, {2});      // 6 / 4
    four.check({-1, -2, -3, 0}, {-2});  // the reciprocal is a hair above a quarter
    four.check({1, 2, 3, 1}, {2});
    four.check({-1, -2, -3, -1}, {-2});
    const Average<std::int8_t> two{.size = {1, 2}, .kernel = {1, 2}};
    two.check({1, 2}, {2});
    two.check({-1, -2}, {-2});
    const Average<std::int16_t> many{.size = {16, 16}, .kernel = {16, 16}};
    many.check(std::vector<std::int16_t>(256, 32767), {32767});
}

TEST(Averages, do_not_count_what_is_outside) {
    const std::array<std::int32_t, 4> around{1, 1, 1, 1};
    const Average<float> floats{.size = {3, 3}, .kernel = {3, 3}, .pad = around};
    floats.check(std::vector<float>(9, 9.0F), std::vector<float>(9, 9.0F));
    const Average<std::int8_t> integers{.size = {3, 3}, .kernel = {3, 3}, .pad = around};
    integers.check(std::vector<std::int8_t>(9, 9), std::vector<std::int8_t>(9, 9));
}

TEST(Negation, of_the_least_integer_saturates) {
    const Unary<std::int16_t, std::int16_t> wide{
        .op = Op::negate, .shape = {2}, .input = {-32768, 32767}, .wanted = {32767, -32767}};
    wide.check([](Builder& builder) {
        return std::vector{one(builder, std::int16_t{}), one(builder, std::int16_t{})};
    });
    const Unary<std::int8_t, std::int8_t> narrow{
        .op = Op::negate, .shape = {2}, .input = {-128, 127}, .wanted = {127, -127}};
    narrow.check([](Builder& builder) {
        return std::vector{one(builder, std::int8_t{}), one(builder, std::int8_t{})};
    });
}

TEST(Casts, of_floats_round_to_even_and_saturate) {
    const Unary<std::int32_t, float> wide{
        .op = Op::cast,
        .shape = {9},
        .input = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 3e9F, -3e9F, infinity},
        .wanted = {0, 2, 2, 0, -2, -2, highest, lowest, highest}};
    wide.check();
    const Unary<std::int8_t, float> narrow{.op = Op::cast,
                                           .shape = {3},
                                           .input = {127.5F, 128.0F, -129.0F},
                                           .wanted = {127, 127, -128}};
    narrow.check();
}

// A row, or a column, of two pixels doubled.
template <class Out, class In>
void expect_doubled(bool along_y, tosa::ResizeMode mode, const std::vector<In>& input,
                    const std::vector<Out>& wanted) {
    using Values = std::vector<std::int64_t>;
    const Unary<Out, In> resize{
        .op = Op::resize,
        .shape = along_y ? std::vector{1, 2, 1, 1} : std::vector{1, 1, 2, 1},
        .input = input,
        .wanted = wanted,
        .attribute = tosa::ResizeAttribute{.mode = mode}};
    resize.check([along_y](Builder& builder) {
        return std::vector{builder.shape(along_y ? Values{4, 2, 1, 1} : Values{1, 1, 4, 2}),
                           builder.shape(along_y ? Values{-1, 0} : Values{0, -1}),
                           builder.shape(along_y ? Values{1, 0} : Values{0, 1})};
    });
}

TEST(Interpolation, does_not_extrapolate_at_the_left_or_upper_edge) {
    using tosa::ResizeMode;
    for (const bool along_y : {false, true}) {
        expect_doubled<std::int32_t, std::int8_t>(along_y, ResizeMode::bilinear, {10, 20},
                                                  {40, 50, 70, 80});
        expect_doubled<float, float>(along_y, ResizeMode::bilinear, {10, 20},
                                     {10, 12.5F, 17.5F, 20});
        expect_doubled<std::int8_t, std::int8_t>(along_y, ResizeMode::nearest, {10, 20},
                                                 {10, 10, 20, 20});
        expect_doubled<float, float>(along_y, ResizeMode::nearest, {10, 20}, {10, 10, 20, 20});
    }
}

// The two ways to treat a NaN.
constexpr std::array modes{tosa::NanMode::propagate, tosa::NanMode::ignore};

TEST(Nans, win_or_lose_in_a_pool) {
    for (const auto mode : modes) {
        const tosa::PoolAttribute attribute{.kernel = {2, 2},
                                            .stride = {2, 2},
                                            .pad = {},
                                            .accumulator = DType::unknown,
                                            .nan_mode = mode};
        const bool wins = mode == tosa::NanMode::propagate;
        const Unary<float, float> some{.op = Op::max_pool2d,
                                       .shape = {1, 2, 2, 1},
                                       .input = {1, nan, 3, 2},
                                       .wanted = {wins ? nan : 3.0F},
                                       .attribute = attribute};
        some.check();
        const Unary<float, float> all{.op = Op::max_pool2d,
                                      .shape = {1, 2, 2, 1},
                                      .input = {nan, nan, nan, nan},
                                      .wanted = {nan},
                                      .attribute = attribute};
        all.check();
    }
}

// Where vector code has its seams.
constexpr std::array<std::size_t, 4> lanes{0, 7, 8, 16};
constexpr std::size_t lengths_max = 20;

TEST(Nans, win_or_lose_in_a_clamp_of_every_length) {
    static constexpr float zero = 0;
    static constexpr float unit = 1;
    for (const auto mode : modes) {
        for (std::size_t length = 1; length <= lengths_max; ++length) {
            std::vector<float> input(length, 2);
            std::vector<float> wanted(length, 1);
            for (const std::size_t lane : lanes) {
                if (lane < length) {
                    input[lane] = nan;
                    wanted[lane] = mode == tosa::NanMode::propagate ? nan : 0.0F;
                }
            }
            const Unary<float, float> clamp{
                .op = Op::clamp,
                .shape = {static_cast<std::int32_t>(length)},
                .input = input,
                .wanted = wanted,
                .attribute = tosa::ClampAttribute{.min = std::as_bytes(std::span{&zero, 1}),
                                                  .max = std::as_bytes(std::span{&unit, 1}),
                                                  .nan_mode = mode}};
            clamp.check();
        }
    }
}

TEST(Nans, win_or_lose_in_a_maximum_on_both_sides_and_of_every_length) {
    for (const auto mode : modes) {
        for (const Op op : {Op::maximum, Op::minimum}) {
            for (std::size_t length = 1; length <= lengths_max; ++length) {
                const auto shape = std::vector{static_cast<std::int32_t>(length)};
                std::vector<float> some(length, 1);
                const std::vector<float> none(length, 2);
                std::vector<float> wanted(length, op == Op::maximum ? 2.0F : 1.0F);
                for (const std::size_t lane : lanes) {
                    if (lane < length) {
                        some[lane] = nan;
                        wanted[lane] = mode == tosa::NanMode::propagate ? nan : 2.0F;
                    }
                }
                Builder builder;
                const Value a = builder.input("a", DType::fp32, shape);
                const Value b = builder.input("b", DType::fp32, shape);
                builder.output(builder.op(op, {a, b}, tosa::NanAttribute{.nan_mode = mode}), "y");
                expect_numbers(builder, {bytes_of(some), bytes_of(none)}, wanted);
                expect_numbers(builder, {bytes_of(none), bytes_of(some)}, wanted);
            }
        }
    }
}

TEST(Nans, win_or_lose_in_a_reduction) {
    for (const auto mode : modes) {
        for (const std::size_t lane : lanes) {
            std::vector<float> input(lengths_max, 1);
            input[lane] = nan;
            const Unary<float, float> reduce{
                .op = Op::reduce_max,
                .shape = {static_cast<std::int32_t>(lengths_max)},
                .input = input,
                .wanted = {mode == tosa::NanMode::propagate ? nan : 1.0F},
                .attribute = tosa::AxisAttribute{.axis = 0, .nan_mode = mode}};
            reduce.check();
        }
        const Unary<std::int32_t, float> argmax{
            .op = Op::argmax,
            .shape = {4},
            .input = {1, nan, 5, nan},
            .wanted = {mode == tosa::NanMode::propagate ? 1 : 2},
            .attribute = tosa::AxisAttribute{.axis = 0, .nan_mode = mode}};
        argmax.check();
    }
}

// Whatever comes of it, the process lives and the next load is served (CpuStack looks).
TEST(RunTimeValues, that_no_quotient_has_end_without_a_signal) {
    Builder builder;
    const Value x = builder.input("x", DType::int32, {3});
    const Value y = builder.input("y", DType::int32, {3});
    builder.output(builder.op(Op::intdiv, {x, y}), "quotient");
    CpuStack stack;
    const std::vector<Bytes> inputs{bytes_of<std::int32_t>({7, 7, lowest}),
                                    bytes_of<std::int32_t>({0, -1, -1})};
    const Ran ran = stack.run(builder, inputs);
    ASSERT_TRUE(ran.loaded) << ran.refusals;
    EXPECT_TRUE(ran.status != Status::ok || values_in<std::int32_t>(ran.output)[1] == -7);
}

TEST(RunTimeValues, that_are_no_row_reach_no_memory_of_others) {
    constexpr std::int32_t rows = 3;
    for (const std::int32_t index : {-1, rows, highest}) {
        Builder builder;
        const Value values = builder.input("values", DType::int32, {1, rows, 1});
        const Value indices = builder.input("indices", DType::int32, {1, 2});
        builder.output(builder.op(Op::gather, {values, indices}), "y");
        CpuStack stack;
        const std::vector<Bytes> inputs{bytes_of<std::int32_t>({10, 20, 30}),
                                        bytes_of<std::int32_t>({1, index})};
        const Ran ran = stack.run(builder, inputs);
        ASSERT_TRUE(ran.loaded) << ran.refusals;
        EXPECT_TRUE(ran.status != Status::ok || values_in<std::int32_t>(ran.output)[0] == 20);
    }
}

TEST(RunTimeValues, of_rows_past_sixteen_bits_are_that_row) {
    constexpr std::int32_t rows = 70'000;
    constexpr std::int32_t row = rows - 1;
    Builder builder;
    const Value values = builder.input("values", DType::int8, {1, rows, 1});
    const Value indices = builder.input("indices", DType::int32, {1, 1});
    const Value updates = builder.input("updates", DType::int8, {1, 1, 1});
    builder.output(builder.op(Op::scatter, {values, indices, updates}), "y");
    std::vector<std::int8_t> wanted(rows, 1);
    wanted[row] = 9;
    expect_numbers(builder,
                   {bytes_of(std::vector<std::int8_t>(rows, 1)), bytes_of<std::int32_t>({row}),
                    bytes_of<std::int8_t>({9})},
                   wanted);
}

}  // namespace
}  // namespace virtaccel::known_faults

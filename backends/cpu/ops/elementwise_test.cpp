// Elementwise operators of one, two and three inputs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
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
using testing::expect_same;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using tosa::DType;
using tosa::Op;
using tosa::Value;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

using Dims = std::vector<std::int32_t>;

// One operator on two inputs.
template <class Out, class In>
std::vector<Out> binary(Op op, const Dims& a_shape, const std::vector<In>& a, const Dims& b_shape,
                        const std::vector<In>& b, const tosa::Attribute& attribute = {}) {
    constexpr DType dtype = std::is_same_v<In, float> ? DType::fp32 : DType::int32;
    tosa::Builder builder;
    const Value x = builder.input("a", dtype, a_shape);
    const Value y = builder.input("b", dtype, b_shape);
    builder.output(builder.op(op, {x, y}, attribute), "y");
    return ModelRun{builder}.input(a).input(b).template output<Out>();
}

TEST(Add, broadcasts_both_ways) {
    EXPECT_EQ((binary<float, float>(Op::add, {2, 1, 3}, {1, 2, 3, 4, 5, 6}, {1, 2, 1}, {10, 20})),
              (std::vector<float>{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));
    EXPECT_EQ((binary<float, float>(Op::add, {1, 1}, {1}, {2, 2}, {1, 2, 3, 4})),
              (std::vector<float>{2, 3, 4, 5}));
}

TEST(Add, of_integers_wraps_around) {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ((binary<std::int32_t, std::int32_t>(Op::add, {2}, {largest, -5}, {2}, {1, 3})),
              (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), -2}));
}

TEST(Add, is_the_same_in_parts) {
    const std::vector<float> a = Numbers{1}.take(200'000);
    const std::vector<float> b = Numbers{2}.take(1000);
    std::vector<std::vector<float>> results;
    for (const std::uint32_t threads : {1U, 2U, 7U}) {
        for (const Dims& shape : {Dims{200, 1000}, Dims{1, 1000}}) {
            tosa::Builder builder;
            const Value x = builder.input("a", DType::fp32, {200, 1000});
            const Value y = builder.input("b", DType::fp32, {1, 1000});
            builder.output(shape[0] == 1 ? builder.add(x, y) : builder.add(x, x), "y");
            ModelRun run{builder, ModelOptions{.threads = threads}};
            results.push_back(run.input(a).input(b).output<float>());
        }
    }
    for (std::size_t i = 2; i < results.size(); ++i) {
        EXPECT_EQ(results[i], results[i % 2]);
    }
}

TEST(Sub, takes_the_second_from_the_first) {
    EXPECT_EQ((binary<float, float>(Op::sub, {2}, {5, 1}, {1}, {2})), (std::vector<float>{3, -1}));
    EXPECT_EQ((binary<std::int32_t, std::int32_t>(Op::sub, {1}, {5}, {1}, {7})),
              (std::vector<std::int32_t>{-2}));
}

TEST(Mul, of_integers_rounds_its_shift_half_up) {
    tosa::Builder builder;
    const std::vector<std::int32_t> ones{1};
    const std::vector<std::int8_t> one{1};
    const Value x = builder.input("x", DType::int32, {4});
    builder.output(builder.op(Op::mul, {x, builder.constant(DType::int32, {1}, ones),
                                        builder.constant(DType::int8, {1}, one)}),
                   "y");
    EXPECT_EQ(ModelRun{builder}.input({-3, -1, 1, 3}).output<std::int32_t>(),
              (std::vector<std::int32_t>{-1, 0, 1, 2}));
}

TEST(Mul, of_integers_may_be_told_its_shift_at_run_time) {
    for (const int shift : {0, 1, 62, 63}) {
        tosa::Builder builder;
        const Value a = builder.input("a", DType::int32, {2, 2});
        const Value b = builder.input("b", DType::int32, {1, 2});
        const Value c = builder.input("shift", DType::int8, {1});
        builder.output(builder.op(Op::mul, {a, b, c}), "y");
        constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
        ModelRun run{builder};
        run.input({-3, 5, least, least}).input({1, least});
        run.input(std::vector{static_cast<std::int8_t>(shift)});
        const std::vector<std::int32_t> got = run.output<std::int32_t>();
        if (shift < 2) {
            EXPECT_EQ(got[0], shift == 0 ? -3 : -1);
        } else {
            EXPECT_EQ(got, (std::vector<std::int32_t>{0, 0, 0, 1}));
        }
    }
}

TEST(Mul, of_small_integers_fits_int32) {
    tosa::Builder builder;
    const Value a = builder.input("a", DType::int8, {3});
    const Value b = builder.input("b", DType::int16, {3});
    const Value none = builder.zeros(DType::int8, {1});
    builder.output(builder.op(Op::mul, {a, a, none}), "a_squared");
    builder.output(builder.op(Op::mul, {b, b, none}), "b_squared");
    ModelRun run{builder};
    run.input(std::vector<std::int8_t>{-128, 3, 127});
    run.input(std::vector<std::int16_t>{-32768, -3, 32767}).run();
    EXPECT_EQ(run.slot<std::int32_t>(2), (std::vector<std::int32_t>{16384, 9, 16129}));
    EXPECT_EQ(run.slot<std::int32_t>(3), (std::vector<std::int32_t>{1073741824, 9, 1073676289}));
}

TEST(Mul, of_floats_is_a_product) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {3});
    builder.output(builder.mul(x, builder.constant({1}, {-2.0F})), "y");
    EXPECT_EQ(ModelRun{builder}.input({1.5F, 0.0F, -4.0F}).output<float>(),
              (std::vector<float>{-3.0F, -0.0F, 8.0F}));
}

// The larger and the smaller of pairs, at every lane of a vector, on both sides.
TEST(MaximumAndMinimum, let_nan_win_or_lose_as_they_are_told) {
    for (const bool ignores : {false, true}) {
        const tosa::NanAttribute mode{ignores ? tosa::NanMode::ignore : tosa::NanMode::propagate};
        const float kept = ignores ? 2.0F : nan;
        for (std::size_t lane = 0; lane < 20; ++lane) {
            std::vector<float> a(20, 1.0F);
            const std::vector<float> b(20, 2.0F);
            std::vector<float> larger(20, 2.0F);
            std::vector<float> smaller(20, 1.0F);
            a[lane] = nan;
            larger[lane] = kept;
            smaller[lane] = kept;
            expect_same(binary<float, float>(Op::maximum, {20}, a, {20}, b, mode), larger);
            expect_same(binary<float, float>(Op::maximum, {20}, b, {20}, a, mode), larger);
            expect_same(binary<float, float>(Op::minimum, {20}, a, {20}, b, mode), smaller);
            expect_same(binary<float, float>(Op::minimum, {20}, b, {20}, a, mode), smaller);
            expect_same(binary<float, float>(Op::maximum, {20}, a, {20}, a, mode), [&] {
                std::vector<float> both(20, 1.0F);
                both[lane] = nan;
                return both;
            }());
        }
    }
}

TEST(Comparisons, are_false_for_nan) {
    const std::vector<float> a{1, 2, 3, nan, nan};
    const std::vector<float> b{2, 2, 2, 2, nan};
    using Bools = std::vector<std::uint8_t>;
    EXPECT_EQ((binary<std::uint8_t, float>(Op::equal, {5}, a, {5}, b)), (Bools{0, 1, 0, 0, 0}));
    EXPECT_EQ((binary<std::uint8_t, float>(Op::greater, {5}, a, {5}, b)), (Bools{0, 0, 1, 0, 0}));
    EXPECT_EQ((binary<std::uint8_t, float>(Op::greater_equal, {5}, a, {5}, b)),
              (Bools{0, 1, 1, 0, 0}));
    EXPECT_EQ((binary<std::uint8_t, std::int32_t>(Op::greater_equal, {2}, {-1, 1}, {1}, {0})),
              (Bools{0, 1}));
}

TEST(Select, takes_any_nonzero_byte_for_yes) {
    tosa::Builder builder;
    const Value choice = builder.input("choice", DType::boolean, {2, 1});
    const Value yes = builder.input("yes", DType::fp32, {2, 2});
    const Value no = builder.input("no", DType::fp32, {1, 2});
    builder.output(builder.op(Op::select, {choice, yes, no}), "y");
    ModelRun run{builder};
    run.input(std::vector<std::uint8_t>{0, 2}).input({1.0F, 2.0F, 3.0F, 4.0F});
    EXPECT_EQ(run.input({-1.0F, -2.0F}).output<float>(), (std::vector<float>{-1, -2, 3, 4}));
}

TEST(Select, moves_elements_of_every_size) {
    for (const DType dtype : {DType::boolean, DType::int8, DType::int16, DType::bf16}) {
        tosa::Builder builder;
        const Value choice = builder.input("choice", DType::boolean, {4});
        const Value yes = builder.input("yes", dtype, {4});
        const Value no = builder.input("no", dtype, {4});
        builder.output(builder.op(Op::select, {choice, yes, no}), "y");
        ModelRun run{builder};
        const auto bytes = static_cast<std::size_t>(*tosa::byte_count(dtype, 4));
        const std::size_t size = bytes / 4;
        const std::vector<std::uint8_t> yes_bytes(bytes, 1);
        const std::vector<std::uint8_t> no_bytes(bytes, 0);
        run.input(std::vector<std::uint8_t>{1, 0, 0, 1}).input(yes_bytes).input(no_bytes);
        std::vector<std::uint8_t> wanted(bytes, 0);
        std::fill_n(wanted.begin(), size, std::uint8_t{1});
        std::fill_n(wanted.end() - static_cast<std::ptrdiff_t>(size), size, std::uint8_t{1});
        EXPECT_EQ(run.output<std::uint8_t>(), wanted) << tosa::name_of(dtype);
    }
}

TEST(Clamp, keeps_nan_or_makes_it_the_least_as_it_is_told) {
    for (const std::size_t lane : {0U, 7U, 8U, 16U}) {
        for (const auto mode : {tosa::NanMode::propagate, tosa::NanMode::ignore}) {
            static constexpr float bounds[] = {-1.0F, 1.0F};
            const auto bytes = std::as_bytes(std::span{bounds});
            tosa::Builder builder;
            builder.output(
                builder.op(Op::clamp, {builder.input("x", DType::fp32, {17})},
                           tosa::ClampAttribute{
                               .min = bytes.first(4), .max = bytes.last(4), .nan_mode = mode}),
                "y");
            std::vector<float> x(17, 0.5F);
            x[1] = infinity;
            x[2] = -infinity;
            x[lane] = nan;
            std::vector<float> wanted(17, 0.5F);
            wanted[1] = 1.0F;
            wanted[2] = -1.0F;
            wanted[lane] = mode == tosa::NanMode::ignore ? -1.0F : nan;
            expect_same(ModelRun{builder}.input(x).output<float>(), wanted);
        }
    }
}

TEST(Sigmoid, goes_from_zero_to_one) {
    tosa::Builder builder;
    builder.output(builder.op(Op::sigmoid, {builder.input("x", DType::fp32, {6})}), "y");
    const std::vector<float> x{-infinity, -100.0F, -1.0F, 0.0F, 2.0F, 1000.0F};
    expect_near(ModelRun{builder}.input(x).output<float>(),
                {0.0F, 0.0F, 0.26894143F, 0.5F, 0.8807971F, 1.0F}, 1e-7F);
}

TEST(Elementwise, computes_in_place_what_nobody_needs_any_more) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1024});
    const Value y = builder.clamp(builder.add(builder.add(x, x), x), 0.0F, 9.0F);
    builder.output(builder.mul(y, y), "y");
    ModelRun run{builder};
    EXPECT_EQ(run.program().arena.size(), 0U);
    EXPECT_EQ(run.input(std::vector<float>(1024, 2.0F)).output<float>(),
              std::vector<float>(1024, 36.0F));
}

TEST(Elementwise, does_not_write_over_an_operand_that_lies_inside_another) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2});
    const Value part = builder.add(x, x);
    const Value whole = builder.concat({part, builder.mul(x, x)}, 0);
    builder.output(builder.add(whole, part), "y");
    // part = {2, 6}; whole = {2, 6, 1, 9}
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 3.0F}).output<float>(),
              (std::vector<float>{4, 12, 3, 15}));
}

TEST(Elementwise, does_not_write_over_what_is_read_later) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value y = builder.add(x, x);
    const Value again = builder.reshape(y, {1, 2});
    const Value z = builder.mul(y, y);
    builder.output(builder.add(builder.reshape(z, {1, 2}), again), "y");
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F}).output<float>(), (std::vector<float>{6, 20}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

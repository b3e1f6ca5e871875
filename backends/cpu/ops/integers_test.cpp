// Operators of integers' bits and of truth values.
#include <concepts>
#include <cstdint>
#include <limits>
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

constexpr std::int32_t int32_min = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t int32_max = std::numeric_limits<std::int32_t>::max();

template <class T>
constexpr DType dtype_of() {
    if constexpr (std::same_as<T, std::int8_t>) {
        return DType::int8;
    } else if constexpr (std::same_as<T, std::int16_t>) {
        return DType::int16;
    } else if constexpr (std::same_as<T, std::int32_t>) {
        return DType::int32;
    } else {
        return DType::boolean;
    }
}

template <class T>
std::vector<T> unary(Op op, const std::vector<T>& a) {
    tosa::Builder builder;
    const auto length = static_cast<std::int32_t>(a.size());
    builder.output(builder.op(op, {builder.input("a", dtype_of<T>(), {length})}), "y");
    return ModelRun{builder}.input(a).template output<T>();
}

template <class T>
std::vector<T> binary(Op op, const std::vector<T>& a, const std::vector<T>& b,
                      const tosa::Attribute& attribute = {}) {
    tosa::Builder builder;
    const auto a_length = static_cast<std::int32_t>(a.size());
    const auto b_length = static_cast<std::int32_t>(b.size());
    const tosa::Value x = builder.input("a", dtype_of<T>(), {a_length});
    const tosa::Value y = builder.input("b", dtype_of<T>(), {b_length});
    builder.output(builder.op(op, {x, y}, attribute), "y");
    return ModelRun{builder}.input(a).input(b).template output<T>();
}

using Int8s = std::vector<std::int8_t>;
using Int16s = std::vector<std::int16_t>;
using Int32s = std::vector<std::int32_t>;
using Bools = std::vector<std::uint8_t>;

TEST(Bitwise, works_on_each_bit_of_each_type) {
    const Int8s a{0x0f, -1, 0x55};
    const Int8s b{0x3c, 0x10, -128};
    EXPECT_EQ(binary(Op::bitwise_and, a, b), (Int8s{0x0c, 0x10, 0}));
    EXPECT_EQ(binary(Op::bitwise_or, a, b), (Int8s{0x3f, -1, -43}));
    EXPECT_EQ(binary(Op::bitwise_xor, a, b), (Int8s{0x33, -17, -43}));
    EXPECT_EQ(unary(Op::bitwise_not, a), (Int8s{-16, 0, -86}));
    EXPECT_EQ(binary(Op::bitwise_and, Int16s{0x1234, -1}, Int16s{0x0ff0}),
              (Int16s{0x0230, 0x0ff0}));
    EXPECT_EQ(binary(Op::bitwise_or, Int16s{0x1234, 1}, Int16s{-32768}), (Int16s{-28108, -32767}));
    EXPECT_EQ(binary(Op::bitwise_xor, Int32s{0x12345678}, Int32s{int32_min, -1}),
              (Int32s{-1842063752, ~0x12345678}));
    EXPECT_EQ(unary(Op::bitwise_not, Int16s{0, 0x1234}), (Int16s{-1, -4661}));
    EXPECT_EQ(unary(Op::bitwise_not, Int32s{int32_max}), (Int32s{int32_min}));
}

TEST(Shift, to_the_left_drops_the_highest_bits) {
    EXPECT_EQ(binary(Op::logical_left_shift, Int8s{1, 1, -1, 0x41}, Int8s{0, 7, 4, 1}),
              (Int8s{1, -128, -16, -126}));
    EXPECT_EQ(binary(Op::logical_left_shift, Int16s{-1, 3}, Int16s{15}), (Int16s{-32768, -32768}));
    EXPECT_EQ(binary(Op::logical_left_shift, Int32s{1, -1, 5}, Int32s{31, 1, 0}),
              (Int32s{int32_min, -2, 5}));
}

TEST(Shift, to_the_right_fills_up_with_zeros) {
    EXPECT_EQ(binary(Op::logical_right_shift, Int8s{-1, -128, 127}, Int8s{1, 7, 0}),
              (Int8s{127, 1, 127}));
    EXPECT_EQ(binary(Op::logical_right_shift, Int16s{-1, -32768}, Int16s{1, 15}),
              (Int16s{32767, 1}));
    EXPECT_EQ(binary(Op::logical_right_shift, Int32s{-1, int32_min}, Int32s{31, 1}),
              (Int32s{1, 0x40000000}));
}

TEST(Shift, with_the_sign_rounds_down_or_halves_up) {
    const tosa::ShiftAttribute down{.round = false};
    const tosa::ShiftAttribute half_up{.round = true};
    const Int8s a{5, -5, 6, -6, -128, 127};
    const Int8s b{1, 1, 2, 2, 7, 0};
    EXPECT_EQ(binary(Op::arithmetic_right_shift, a, b, down), (Int8s{2, -3, 1, -2, -1, 127}));
    EXPECT_EQ(binary(Op::arithmetic_right_shift, a, b, half_up), (Int8s{3, -2, 2, -1, -1, 127}));
    EXPECT_EQ(binary(Op::arithmetic_right_shift, Int16s{-32768, 32767}, Int16s{15, 1}, half_up),
              (Int16s{-1, 16384}));
    EXPECT_EQ(
        binary(Op::arithmetic_right_shift, Int32s{int32_max, int32_min, -3}, Int32s{1}, half_up),
        (Int32s{0x40000000, -0x40000000, -1}));
}

// Sanitizers watch.
TEST(Shift, by_what_makes_no_sense_has_some_result) {
    for (const Op op :
         {Op::logical_left_shift, Op::logical_right_shift, Op::arithmetic_right_shift}) {
        tosa::Attribute attribute;
        if (op == Op::arithmetic_right_shift) {
            attribute = tosa::ShiftAttribute{.round = true};
        }
        EXPECT_EQ(binary(op, Int8s{1, -1, 5}, Int8s{8, -1, 127}, attribute).size(), 3U);
        EXPECT_EQ(binary(op, Int16s{1, -1, 5}, Int16s{16, -1, 32767}, attribute).size(), 3U);
        EXPECT_EQ(binary(op, Int32s{1, -1, 5}, Int32s{32, -1, int32_min}, attribute).size(), 3U);
    }
}

TEST(Clz, counts_from_the_sign_on) {
    EXPECT_EQ(unary(Op::clz, Int32s{0, 1, -1, int32_max, 0x00ffffff}), (Int32s{32, 31, 0, 1, 8}));
}

TEST(Intdiv, cuts_off_and_survives_what_has_no_quotient) {
    EXPECT_EQ(binary(Op::intdiv, Int32s{7, -7, 7, -7, int32_min}, Int32s{2, 2, -2, -2, 2}),
              (Int32s{3, -3, -3, 3, -0x40000000}));
    EXPECT_EQ(binary(Op::intdiv, Int32s{5, int32_min}, Int32s{0, -1}).size(), 2U);
}

TEST(Logical, takes_any_nonzero_byte_for_true) {
    const Bools a{0, 0, 1, 2, 0};
    const Bools b{0, 1, 0, 1, 255};
    EXPECT_EQ(binary(Op::logical_and, a, b), (Bools{0, 0, 0, 1, 0}));
    EXPECT_EQ(binary(Op::logical_or, a, b), (Bools{0, 1, 1, 1, 1}));
    EXPECT_EQ(binary(Op::logical_xor, a, b), (Bools{0, 1, 1, 0, 1}));
    EXPECT_EQ(unary(Op::logical_not, b), (Bools{1, 0, 1, 0, 0}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

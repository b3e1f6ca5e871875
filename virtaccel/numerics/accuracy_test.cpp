#include "virtaccel/numerics/accuracy.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::Op;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor one(DType dtype, double value, double magnitude = 0, double terms = 1) {
    return {
        .dtype = dtype, .shape = {1}, .values = {value}, .magnitudes = {magnitude}, .terms = terms};
}

Comparison judge(const Tensor& wanted, double got, const Accuracy& accuracy) {
    return compare({.kept = wanted, .flushed = wanted}, pack(one(wanted.dtype, got)), accuracy);
}

bool is_right(const Tensor& wanted, double got, const Accuracy& accuracy) {
    return judge(wanted, got, accuracy).is_right;
}

constexpr Accuracy half = {.rule = Rule::ulps, .ulps = 0.5};

TEST(Accuracy, of_bits_tells_zeros_apart_and_no_nans) {
    const Accuracy bits{.rule = Rule::bits};
    EXPECT_TRUE(is_right(one(DType::fp32, -0.0), -0.0, bits));
    EXPECT_FALSE(is_right(one(DType::fp32, -0.0), 0.0, bits));
    EXPECT_TRUE(is_right(one(DType::fp32, nan), -nan, bits));
    EXPECT_FALSE(is_right(one(DType::fp32, nan), 1, bits));
    EXPECT_FALSE(is_right(one(DType::fp32, 0x1p-149), 0, bits));
}

TEST(Accuracy, that_is_exact_takes_zeros_of_either_sign_and_for_subnormal_numbers) {
    const Accuracy exact{.rule = Rule::exact};
    EXPECT_TRUE(is_right(one(DType::fp32, -0.0), 0.0, exact));
    EXPECT_TRUE(is_right(one(DType::fp32, 0x1p-149), 0, exact));
    EXPECT_TRUE(is_right(one(DType::fp16, 1.0001), 1, exact));
    EXPECT_FALSE(is_right(one(DType::fp16, 1.0006), 1, exact));
    EXPECT_FALSE(is_right(one(DType::fp32, infinity), largest(*float_format(DType::fp32)), exact));
    // FP8 has its subnormal numbers on every host.
    EXPECT_FALSE(is_right(one(DType::fp8e4m3, 0x1p-9), 0, exact));
}

TEST(Accuracy, in_ulps_is_measured_from_the_true_value) {
    EXPECT_TRUE(is_right(one(DType::fp32, 1 + 0x1p-24), 1, half));
    EXPECT_TRUE(is_right(one(DType::fp32, 1 + 0x1p-24), 1 + 0x1p-23, half));
    EXPECT_FALSE(is_right(one(DType::fp32, 1 + 0x1.8p-24), 1, half));
    EXPECT_DOUBLE_EQ(judge(one(DType::fp32, 1 + 0x1.8p-24), 1, half).ulps, 0.75);
    EXPECT_FALSE(is_right(one(DType::fp32, 1), nan, half));
    EXPECT_FALSE(is_right(one(DType::fp32, nan), 1, half));
    EXPECT_TRUE(is_right(one(DType::fp32, 0x1p-140), 0, half));
    EXPECT_FALSE(is_right(one(DType::fp8e5m2, 0x1p-15), 0, half));
}

TEST(Accuracy, in_ulps_lets_what_is_too_large_be_infinite) {
    EXPECT_TRUE(is_right(one(DType::fp16, 70000), infinity, half));
    EXPECT_FALSE(is_right(one(DType::fp16, 70000), -infinity, half));
    EXPECT_FALSE(is_right(one(DType::fp16, 60000), infinity, half));
    EXPECT_TRUE(is_right(one(DType::fp8e4m3, 1000), nan, half));
    EXPECT_FALSE(is_right(one(DType::fp8e4m3, 400), nan, half));
}

TEST(Accuracy, of_a_sum_of_products_is_measured_against_their_magnitude) {
    const Accuracy product = accuracy_of(Op::matmul, DType::fp32);
    // Ten terms of a magnitude of 1024 may be off by ten ULPs of 1024, though the sum is 0.
    const double unit = 0x1p-13;
    EXPECT_TRUE(is_right(one(DType::fp32, 0, 1024, 10), 10 * unit, product));
    EXPECT_FALSE(is_right(one(DType::fp32, 0, 1024, 10), 10.5 * unit, product));
    EXPECT_DOUBLE_EQ(judge(one(DType::fp32, 0, 1024, 10), 4 * unit, product).ulps, 4);
    // Nothing but zeros makes nothing but zero.
    EXPECT_FALSE(is_right(one(DType::fp32, 0, 0, 10), 0x1p-100, product));
    EXPECT_TRUE(is_right(one(DType::fp16, 1, 70000, 10), infinity, product));
    EXPECT_FALSE(is_right(one(DType::fp16, nan, nan, 10), 1, product));
}

TEST(Accuracy, of_an_interpolation_is_a_share_of_the_largest_input) {
    const Accuracy share = accuracy_of(Op::resize, DType::fp32);
    EXPECT_TRUE(is_right(one(DType::fp32, 10, 100), 10.5, share));
    EXPECT_FALSE(is_right(one(DType::fp32, 10, 100), 10.7, share));
    EXPECT_TRUE(is_right(one(DType::bf16, 10, 0), 11, accuracy_of(Op::resize, DType::bf16)));
}

TEST(Accuracy, of_integers_is_exact_whatever_the_operator_says) {
    EXPECT_EQ(accuracy_of(Op::matmul, DType::int32).rule, Rule::exact);
    EXPECT_TRUE(is_right(one(DType::int32, 5, 100, 10), 5, {}));
    EXPECT_FALSE(is_right(one(DType::int32, 5, 100, 10), 6, {}));
}

TEST(Accuracy, takes_flushed_inputs_for_an_excuse_unless_elements_only_move) {
    const Expectation either{.kept = one(DType::fp32, 0x1p-120), .flushed = one(DType::fp32, 0)};
    const Bytes zero = pack(one(DType::fp32, 0));
    EXPECT_TRUE(compare(either, zero, half).is_right);
    EXPECT_FALSE(compare(either, zero, {.rule = Rule::bits}).is_right);
}

TEST(Accuracy, names_the_element_that_is_farthest_off) {
    const Tensor wanted{
        .dtype = DType::fp32, .shape = {2, 2}, .values = {1, 2, 3, 4}, .magnitudes = {}};
    const Tensor got{
        .dtype = DType::fp32, .shape = {2, 2}, .values = {1, 2.5, 5, 4}, .magnitudes = {}};
    const auto comparison = compare({.kept = wanted, .flushed = wanted}, pack(got), {});
    EXPECT_EQ(comparison.reason,
              "The element (1, 0) is (5) and should be (3), which is off by (8388608 ULP); allowed "
              "is (exact).");
    EXPECT_EQ(comparison.ulps, 8388608);
}

}  // namespace

}  // namespace virtaccel::numerics

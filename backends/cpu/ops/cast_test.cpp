#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelRun;
using tosa::DType;

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class To, class From>
std::vector<To> cast(DType from, DType to, const std::vector<From>& values) {
    tosa::Builder builder;
    const auto length = static_cast<std::int32_t>(values.size());
    builder.output(builder.cast(builder.input("x", from, {length}), to), "y");
    return ModelRun{builder}.input(values).template output<To>();
}

TEST(Cast, of_a_float_goes_to_the_nearest_even_integer_and_no_further_than_there_is_one) {
    const std::vector<float> x{0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 3e9F, -3e9F, infinity};
    EXPECT_EQ((cast<std::int32_t>(DType::fp32, DType::int32, x)),
              (std::vector<std::int32_t>{0, 2, 2, 0, -2, -2, 2147483647,
                                         std::numeric_limits<std::int32_t>::min(), 2147483647}));
    EXPECT_EQ((cast<std::int8_t>(DType::fp32, DType::int8,
                                 std::vector<float>{127.5F, 128.0F, -129.0F, -128.5F, 3.4F})),
              (std::vector<std::int8_t>{127, 127, -128, -128, 3}));
    EXPECT_EQ((cast<std::int16_t>(DType::fp32, DType::int16,
                                  std::vector<float>{32767.5F, -40000.0F, -infinity})),
              (std::vector<std::int16_t>{32767, -32768, -32768}));
    EXPECT_EQ((cast<std::int32_t>(DType::fp32, DType::int32,
                                  std::vector{std::numeric_limits<float>::quiet_NaN()})),
              (std::vector<std::int32_t>{0}));
    // Just below 2^31, the largest float that is an int32.
    EXPECT_EQ((cast<std::int32_t>(DType::fp32, DType::int32, std::vector{2147483520.0F})),
              (std::vector<std::int32_t>{2147483520}));
}

TEST(Cast, of_an_integer_goes_to_the_nearest_float) {
    EXPECT_EQ((cast<float>(DType::int32, DType::fp32,
                           std::vector<std::int32_t>{16777217, -5, 2147483647})),
              (std::vector<float>{16777216.0F, -5.0F, 2147483648.0F}));
    EXPECT_EQ((cast<float>(DType::int8, DType::fp32, std::vector<std::int8_t>{-128, 127})),
              (std::vector<float>{-128.0F, 127.0F}));
    EXPECT_EQ((cast<float>(DType::int16, DType::fp32, std::vector<std::int16_t>{-32768})),
              (std::vector<float>{-32768.0F}));
}

TEST(Cast, between_integers_keeps_the_low_bits) {
    EXPECT_EQ(
        (cast<std::int8_t>(DType::int32, DType::int8, std::vector<std::int32_t>{0x17f, -1, 128})),
        (std::vector<std::int8_t>{127, -1, -128}));
    EXPECT_EQ((cast<std::int32_t>(DType::int8, DType::int32, std::vector<std::int8_t>{-7})),
              (std::vector<std::int32_t>{-7}));
    EXPECT_EQ((cast<std::int16_t>(DType::int8, DType::int16, std::vector<std::int8_t>{-7})),
              (std::vector<std::int16_t>{-7}));
    EXPECT_EQ((cast<std::int16_t>(DType::int32, DType::int16, std::vector<std::int32_t>{65537})),
              (std::vector<std::int16_t>{1}));
    EXPECT_EQ((cast<std::int8_t>(DType::int16, DType::int8, std::vector<std::int16_t>{-129})),
              (std::vector<std::int8_t>{127}));
    EXPECT_EQ((cast<std::int32_t>(DType::int16, DType::int32, std::vector<std::int16_t>{-2})),
              (std::vector<std::int32_t>{-2}));
}

TEST(Cast, of_truth_values_is_zero_and_one) {
    const std::vector<std::uint8_t> bools{0, 1, 5};
    EXPECT_EQ((cast<std::int32_t>(DType::boolean, DType::int32, bools)),
              (std::vector<std::int32_t>{0, 1, 1}));
    EXPECT_EQ((cast<std::int16_t>(DType::boolean, DType::int16, bools)),
              (std::vector<std::int16_t>{0, 1, 1}));
    EXPECT_EQ((cast<std::int8_t>(DType::boolean, DType::int8, bools)),
              (std::vector<std::int8_t>{0, 1, 1}));
    EXPECT_EQ(
        (cast<std::uint8_t>(DType::int32, DType::boolean, std::vector<std::int32_t>{0, -9, 256})),
        (std::vector<std::uint8_t>{0, 1, 1}));
    EXPECT_EQ((cast<std::uint8_t>(DType::int8, DType::boolean, std::vector<std::int8_t>{0, -9})),
              (std::vector<std::uint8_t>{0, 1}));
    EXPECT_EQ((cast<std::uint8_t>(DType::int16, DType::boolean, std::vector<std::int16_t>{256})),
              (std::vector<std::uint8_t>{1}));
}

TEST(Cast, between_floats_rounds_to_even) {
    EXPECT_EQ((cast<float>(DType::fp16, DType::fp32, std::vector<std::uint16_t>{0x3c00, 0x0001})),
              (std::vector<float>{1.0F, 0x1p-24F}));
    EXPECT_EQ((cast<float>(DType::bf16, DType::fp32, std::vector<std::uint16_t>{0x3f80, 0xc000})),
              (std::vector<float>{1.0F, -2.0F}));
    EXPECT_EQ((cast<std::uint16_t>(DType::fp32, DType::fp16,
                                   std::vector<float>{1.0F, 65520.0F, 1.00048828125F})),
              (std::vector<std::uint16_t>{0x3c00, 0x7c00, 0x3c00}));
    EXPECT_EQ((cast<std::uint16_t>(DType::fp32, DType::bf16,
                                   std::vector<float>{1.0F, std::bit_cast<float>(0x3f818000U)})),
              (std::vector<std::uint16_t>{0x3f80, 0x3f82}));
}

// Integers and floats go to and from the narrow types as they do to and from float.
TEST(Cast, of_narrow_floats_is_that_of_the_floats_they_are) {
    const std::vector<std::int32_t> integers{0, -5, 127, 3000, -70000};
    EXPECT_EQ((cast<std::uint16_t>(DType::int32, DType::fp16, integers)),
              (std::vector<std::uint16_t>{0, 0xc500, 0x57f0, 0x69dc, 0xfc00}));
    EXPECT_EQ((cast<std::uint16_t>(DType::int32, DType::bf16, integers)),
              (std::vector<std::uint16_t>{0, 0xc0a0, 0x42fe, 0x453c, 0xc789}));
    const std::vector<std::uint16_t> halves{0x3e00, 0xc100, 0x7c00, 0x7e00};  // 1.5, -2.5, inf, NaN
    EXPECT_EQ((cast<std::int8_t>(DType::fp16, DType::int8, halves)),
              (std::vector<std::int8_t>{2, -2, 127, 0}));
    EXPECT_EQ((cast<std::int16_t>(DType::fp16, DType::int16, halves)),
              (std::vector<std::int16_t>{2, -2, 32767, 0}));
    EXPECT_EQ(
        (cast<std::int32_t>(DType::bf16, DType::int32, std::vector<std::uint16_t>{0x3fc0, 0xff80})),
        (std::vector<std::int32_t>{2, std::numeric_limits<std::int32_t>::min()}));
    EXPECT_EQ((cast<std::uint16_t>(DType::int8, DType::bf16, std::vector<std::int8_t>{-128})),
              (std::vector<std::uint16_t>{0xc300}));
    EXPECT_EQ((cast<std::uint16_t>(DType::int16, DType::fp16, std::vector<std::int16_t>{2049})),
              (std::vector<std::uint16_t>{0x6800}));
}

TEST(Cast, to_and_from_fp8_rounds_to_even) {
    const std::vector<float> x{1.0F, 1.0625F, 1.1875F, 448.0F, 1e9F, -0x1p-9F};
    EXPECT_EQ((cast<std::uint8_t>(DType::fp32, DType::fp8e4m3, x)),
              (std::vector<std::uint8_t>{0x38, 0x38, 0x3a, 0x7e, 0x7f, 0x81}));
    EXPECT_EQ((cast<std::uint8_t>(DType::fp32, DType::fp8e5m2, x)),
              (std::vector<std::uint8_t>{0x3c, 0x3c, 0x3d, 0x5f, 0x7c, 0x98}));
    EXPECT_EQ((cast<std::uint8_t>(DType::fp16, DType::fp8e4m3,
                                  std::vector<std::uint16_t>{0x3c00, 0xbc40})),
              (std::vector<std::uint8_t>{0x38, 0xb8}));
    EXPECT_EQ((cast<std::uint8_t>(DType::bf16, DType::fp8e5m2, std::vector<std::uint16_t>{0x3f80})),
              (std::vector<std::uint8_t>{0x3c}));
    EXPECT_EQ((cast<float>(DType::fp8e4m3, DType::fp32, std::vector<std::uint8_t>{0x7e, 0x01})),
              (std::vector<float>{448.0F, 0x1p-9F}));
    EXPECT_EQ((cast<std::uint16_t>(DType::fp8e5m2, DType::fp16, std::vector<std::uint8_t>{0xbc})),
              (std::vector<std::uint16_t>{0xbc00}));
    EXPECT_EQ((cast<std::uint16_t>(DType::fp8e4m3, DType::bf16, std::vector<std::uint8_t>{0x38})),
              (std::vector<std::uint16_t>{0x3f80}));
}

// One above and one below the middle between two numbers of BF16, which float cannot tell from it.
TEST(Cast, of_int32_to_bf16_rounds_once) {
    EXPECT_EQ((cast<std::uint16_t>(
                  DType::int32, DType::bf16,
                  std::vector<std::int32_t>{0x40400001, 0x40400000, 0x40bfffff, 0x40c00000,
                                            -0x40400001, -0x40400000, -0x40bfffff})),
              (std::vector<std::uint16_t>{0x4e81, 0x4e80, 0x4e81, 0x4e82, 0xce81, 0xce80, 0xce81}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

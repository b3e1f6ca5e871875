#include "virtaccel/lowering/number_formats.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace virtaccel::lowering {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Number>
std::uint32_t bits_of(Number value) {
    return static_cast<std::uint32_t>(value);
}

// Every number comes back as it went, and so does the middle between two: to the even one.
template <class Number, class To>
void expect_narrow_format(std::uint32_t largest, const To& to) {
    const auto number = [](std::uint32_t bits) {
        return to_float(Number{static_cast<std::uint8_t>(bits)});
    };
    for (std::uint32_t bits = 0; bits <= largest; ++bits) {
        EXPECT_EQ(bits_of(to(number(bits))), bits);
        EXPECT_EQ(bits_of(to(number(bits | 0x80U))), bits | 0x80U);
        if (bits == largest) {
            break;
        }
        const float middle = (number(bits) + number(bits + 1)) / 2;
        EXPECT_EQ(bits_of(to(middle)), bits + (bits & 1U)) << bits;
        EXPECT_EQ(bits_of(to(std::nextafter(middle, 0.0F))), bits) << bits;
        EXPECT_EQ(bits_of(to(std::nextafter(middle, infinity))), bits + 1) << bits;
    }
}

TEST(Fp16, means_what_ieee_754_says) {
    EXPECT_EQ(to_float(Fp16{0x3c00}), 1.0F);
    EXPECT_EQ(to_float(Fp16{0xc000}), -2.0F);
    EXPECT_EQ(to_float(Fp16{0x7bff}), 65504.0F);
    EXPECT_EQ(to_float(Fp16{0x0400}), 0x1p-14F);
    EXPECT_EQ(to_float(Fp16{0x0001}), 0x1p-24F);
    EXPECT_EQ(to_float(Fp16{0x83ff}), -1023 * 0x1p-24F);
    EXPECT_EQ(to_float(Fp16{0x7c00}), infinity);
    EXPECT_EQ(to_float(Fp16{0xfc00}), -infinity);
    EXPECT_TRUE(std::isnan(to_float(Fp16{0x7e01})));
    EXPECT_TRUE(std::signbit(to_float(Fp16{0x8000})));
}

TEST(Fp16, comes_back_as_it_went_for_every_bit_pattern) {
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const Fp16 value{static_cast<std::uint16_t>(bits)};
        if (std::isnan(to_float(value))) {
            EXPECT_TRUE(std::isnan(to_float(to_fp16(to_float(value))))) << bits;
        } else {
            EXPECT_EQ(to_fp16(to_float(value)), value) << bits;
        }
    }
}

TEST(Fp16, rounds_the_middle_between_two_neighbours_to_the_even_one) {
    for (std::uint32_t bits = 0; bits < 0x7bffU; ++bits) {
        const float below = to_float(Fp16{static_cast<std::uint16_t>(bits)});
        const float above = to_float(Fp16{static_cast<std::uint16_t>(bits + 1)});
        const float middle = below + ((above - below) / 2);
        EXPECT_EQ(bits_of(to_fp16(middle)), bits + (bits & 1U)) << bits;
        EXPECT_EQ(bits_of(to_fp16(std::nextafter(middle, 0.0F))), bits) << bits;
        EXPECT_EQ(bits_of(to_fp16(std::nextafter(middle, infinity))), bits + 1) << bits;
        EXPECT_EQ(bits_of(to_fp16(-middle)), 0x8000U | (bits + (bits & 1U))) << bits;
    }
}

TEST(Fp16, goes_to_infinity_past_the_largest_number) {
    EXPECT_EQ(bits_of(to_fp16(65519.996F)), 0x7bffU);
    EXPECT_EQ(bits_of(to_fp16(65520.0F)), 0x7c00U);
    EXPECT_EQ(bits_of(to_fp16(-infinity)), 0xfc00U);
    EXPECT_EQ(bits_of(to_fp16(0x1p-26F)), 0U);
    // A NaN whose payload lies in the bits that are dropped is no infinity afterwards.
    EXPECT_TRUE(std::isnan(to_float(to_fp16(std::bit_cast<float>(0x7f800001U)))));
}

TEST(Bf16, is_the_upper_half_of_a_float_rounded_to_even) {
    EXPECT_EQ(to_float(Bf16{0x3f80}), 1.0F);
    EXPECT_EQ(bits_of(to_bf16(std::bit_cast<float>(0x3f808000U))), 0x3f80U);
    EXPECT_EQ(bits_of(to_bf16(std::bit_cast<float>(0x3f808001U))), 0x3f81U);
    EXPECT_EQ(bits_of(to_bf16(std::bit_cast<float>(0x3f818000U))), 0x3f82U);
    EXPECT_EQ(bits_of(to_bf16(std::numeric_limits<float>::max())), 0x7f80U);
    EXPECT_EQ(bits_of(to_bf16(-infinity)), 0xff80U);
    EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001U)))));
}

TEST(Fp8E4M3, means_what_ofp8_says) {
    EXPECT_EQ(to_float(Fp8E4M3{0x38}), 1.0F);
    EXPECT_EQ(to_float(Fp8E4M3{0xc0}), -2.0F);
    EXPECT_EQ(to_float(Fp8E4M3{0x7e}), 448.0F);
    EXPECT_EQ(to_float(Fp8E4M3{0x08}), 0x1p-6F);
    EXPECT_EQ(to_float(Fp8E4M3{0x01}), 0x1p-9F);
    EXPECT_TRUE(std::isnan(to_float(Fp8E4M3{0x7f})));
    EXPECT_TRUE(std::isnan(to_float(Fp8E4M3{0xff})));
    EXPECT_TRUE(std::signbit(to_float(Fp8E4M3{0x80})));
    expect_narrow_format<Fp8E4M3>(0x7eU, to_fp8e4m3);
}

TEST(Fp8E4M3, has_no_infinity_and_is_nan_past_its_largest_number) {
    EXPECT_EQ(bits_of(to_fp8e4m3(464.0F)), 0x7eU);
    EXPECT_EQ(bits_of(to_fp8e4m3(464.001F)), 0x7fU);
    EXPECT_EQ(bits_of(to_fp8e4m3(-infinity)), 0xffU);
    EXPECT_EQ(bits_of(to_fp8e4m3(std::nanf(""))), 0x7fU);
}

TEST(Fp8E5M2, is_half_of_a_half) {
    EXPECT_EQ(to_float(Fp8E5M2{0x3c}), 1.0F);
    EXPECT_EQ(to_float(Fp8E5M2{0x7b}), 57344.0F);
    EXPECT_EQ(to_float(Fp8E5M2{0x01}), 0x1p-16F);
    EXPECT_EQ(to_float(Fp8E5M2{0xfc}), -infinity);
    EXPECT_TRUE(std::isnan(to_float(Fp8E5M2{0x7d})));
    expect_narrow_format<Fp8E5M2>(0x7bU, to_fp8e5m2);
    EXPECT_EQ(bits_of(to_fp8e5m2(61439.9F)), 0x7bU);
    EXPECT_EQ(bits_of(to_fp8e5m2(61440.0F)), 0x7cU);
    EXPECT_EQ(bits_of(to_fp8e5m2(std::nanf(""))), 0x7eU);
}

}  // namespace

}  // namespace virtaccel::lowering

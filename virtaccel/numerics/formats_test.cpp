#include "virtaccel/numerics/formats.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "virtaccel/lowering/number_formats.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr DType narrow[] = {DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2};

FloatFormat format_of(DType dtype) {
    return float_format(dtype).value();
}

TEST(Formats, mean_what_their_standards_say) {
    const FloatFormat fp16 = format_of(DType::fp16);
    EXPECT_EQ(decode(fp16, 0x3c00), 1);
    EXPECT_EQ(decode(fp16, 0xfbff), -65504);
    EXPECT_EQ(decode(fp16, 0x0001), 0x1p-24);
    EXPECT_EQ(decode(fp16, 0x7c00), infinity);
    const FloatFormat bf16 = format_of(DType::bf16);
    EXPECT_EQ(decode(bf16, 0x3f80), 1);
    EXPECT_EQ(decode(bf16, 0x7f7f), 0x1.fep127);
    EXPECT_EQ(decode(bf16, 0x0001), 0x1p-133);
    EXPECT_EQ(decode(bf16, 0xff80), -infinity);
    // OFP8: E4M3 has numbers where others have infinities, and one NaN of each sign.
    const FloatFormat e4m3 = format_of(DType::fp8e4m3);
    EXPECT_EQ(decode(e4m3, 0x38), 1);
    EXPECT_EQ(decode(e4m3, 0x78), 256);
    EXPECT_EQ(decode(e4m3, 0x7e), 448);
    EXPECT_TRUE(std::isnan(decode(e4m3, 0x7f)));
    EXPECT_TRUE(std::isnan(decode(e4m3, 0xff)));
    EXPECT_EQ(decode(e4m3, 0x01), 0x1p-9);
    EXPECT_EQ(decode(e4m3, 0x08), 0x1p-6);
    const FloatFormat e5m2 = format_of(DType::fp8e5m2);
    EXPECT_EQ(decode(e5m2, 0x3c), 1);
    EXPECT_EQ(decode(e5m2, 0x7b), 57344);
    EXPECT_EQ(decode(e5m2, 0x7c), infinity);
    EXPECT_TRUE(std::isnan(decode(e5m2, 0x7d)));
    EXPECT_EQ(decode(e5m2, 0x01), 0x1p-16);
    EXPECT_EQ(decode(e5m2, 0x04), 0x1p-14);
}

TEST(Formats, are_nothing_for_other_types) {
    for (const DType dtype : {DType::int4, DType::int8, DType::boolean, DType::shape}) {
        EXPECT_FALSE(float_format(dtype));
    }
}

TEST(Formats, come_back_as_they_went_for_every_bit_pattern) {
    for (const DType dtype : narrow) {
        const FloatFormat format = format_of(dtype);
        for (std::uint32_t bits = 0; bits < 1U << static_cast<unsigned>(format.bits()); ++bits) {
            const double value = decode(format, bits);
            if (std::isnan(value)) {
                ASSERT_TRUE(std::isnan(rounded(format, value))) << bits;
            } else {
                ASSERT_EQ(encode(format, value), bits) << tosa::name_of(dtype);
            }
        }
    }
}

TEST(Formats, round_the_middle_between_two_neighbours_to_the_even_one) {
    for (const DType dtype : narrow) {
        const FloatFormat format = format_of(dtype);
        const std::uint32_t end = encode(format, largest(format));
        for (std::uint32_t bits = 0; bits < end; ++bits) {
            const double below = decode(format, bits);
            const double middle = below + ((decode(format, bits + 1) - below) / 2);
            ASSERT_EQ(encode(format, middle), bits + (bits & 1U)) << tosa::name_of(dtype);
            ASSERT_EQ(encode(format, std::nextafter(middle, 0)), bits);
            ASSERT_EQ(encode(format, std::nextafter(middle, infinity)), bits + 1);
            ASSERT_EQ(rounded(format, -middle), -rounded(format, middle));
        }
    }
}

TEST(Formats, do_not_saturate) {
    for (const DType dtype : narrow) {
        const FloatFormat format = format_of(dtype);
        const double last = largest(format);
        const double limit = last + (ulp(format, last) / 2);
        EXPECT_EQ(rounded(format, std::nextafter(limit, 0)), last) << tosa::name_of(dtype);
        // The last fraction of E4M3 is even, so that the middle stays a number.
        const bool has_infinity = format.has_infinity;
        EXPECT_EQ(rounded(format, limit) == last, !has_infinity) << tosa::name_of(dtype);
        for (const double past : {std::nextafter(limit, infinity), 1e300, infinity}) {
            const double result = rounded(format, -past);
            EXPECT_TRUE(has_infinity ? result == -infinity : std::isnan(result)) << past;
        }
        EXPECT_TRUE(std::isnan(rounded(format, std::numeric_limits<double>::quiet_NaN())));
    }
}

TEST(Formats, keep_the_sign_of_zero) {
    for (const DType dtype : narrow) {
        const FloatFormat format = format_of(dtype);
        EXPECT_TRUE(std::signbit(rounded(format, -0.0)));
        EXPECT_EQ(encode(format, 1e-300), 0U);
        EXPECT_TRUE(std::signbit(rounded(format, -1e-300)));
    }
}

TEST(Formats, know_their_ulps) {
    const FloatFormat fp32 = format_of(DType::fp32);
    EXPECT_EQ(ulp(fp32, 1), 0x1p-23);
    EXPECT_EQ(ulp(fp32, -1.5), 0x1p-23);
    EXPECT_EQ(ulp(fp32, 2), 0x1p-22);
    EXPECT_EQ(ulp(fp32, 0), 0x1p-149);
    EXPECT_EQ(ulp(fp32, 0x1p-126), 0x1p-149);
    EXPECT_EQ(smallest_normal(fp32), 0x1p-126);
    EXPECT_EQ(largest(fp32), static_cast<double>(std::numeric_limits<float>::max()));
    EXPECT_EQ(ulp(format_of(DType::fp8e4m3), 448), 32);
}

// The machine's own single precision is another witness.
TEST(Formats, agree_with_this_machine_on_fp32) {
    const FloatFormat fp32 = format_of(DType::fp32);
    for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 104729) {
        const auto pattern = static_cast<std::uint32_t>(bits);
        const auto value = std::bit_cast<float>(pattern);
        if (std::isnan(value)) {
            EXPECT_TRUE(std::isnan(decode(fp32, pattern)));
            continue;
        }
        ASSERT_EQ(decode(fp32, pattern), static_cast<double>(value));
        const double other = static_cast<double>(value) * 1.00000012345;
        ASSERT_EQ(encode(fp32, other), std::bit_cast<std::uint32_t>(static_cast<float>(other)));
    }
}

// What backends convert with is held against the definition.
TEST(Formats, agree_with_what_backends_share) {
    const FloatFormat fp16 = format_of(DType::fp16);
    const FloatFormat bf16 = format_of(DType::bf16);
    for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 32749) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (std::isnan(value)) {
            continue;
        }
        ASSERT_EQ(static_cast<std::uint32_t>(lowering::to_fp16(value)),
                  encode(fp16, static_cast<double>(value)));
        ASSERT_EQ(static_cast<std::uint32_t>(lowering::to_bf16(value)),
                  encode(bf16, static_cast<double>(value)));
    }
}

}  // namespace

}  // namespace virtaccel::numerics

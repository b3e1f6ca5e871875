#include "virtaccel/tosa/types.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::tosa {
namespace {

using Dims = std::vector<std::int32_t>;

TEST(ByteCount, packs_elements_as_constants_are_stored) {
    EXPECT_EQ(byte_count(DType::boolean, 3), 3);
    EXPECT_EQ(byte_count(DType::int4, 4), 2);
    EXPECT_EQ(byte_count(DType::int4, 5), 3);
    EXPECT_EQ(byte_count(DType::int48, 2), 12);
    EXPECT_EQ(byte_count(DType::bf16, 3), 6);
    EXPECT_EQ(byte_count(DType::fp8e5m2, 3), 3);
    EXPECT_EQ(byte_count(DType::shape, 3), 24);
    EXPECT_EQ(byte_count(DType::fp32, 0), 0);
}

TEST(ByteCount, has_none_for_unknown_types_and_numbers_that_do_not_exist) {
    EXPECT_EQ(byte_count(DType::unknown, 1), std::nullopt);
    EXPECT_EQ(byte_count(static_cast<DType>(17), 1), std::nullopt);
    EXPECT_EQ(byte_count(DType::fp32, std::numeric_limits<std::uint64_t>::max()), std::nullopt);
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(byte_count(DType::int4, most), (most / 2) + 1);
}

TEST(ElementCount, multiplies_dimensions) {
    EXPECT_EQ(element_count(Dims{}), 1);
    EXPECT_EQ(element_count(Dims{2, 3, 4}), 24);
}

TEST(ElementCount, refuses_dimensions_below_one) {
    EXPECT_EQ(element_count(Dims{2, 0}), std::nullopt);
    EXPECT_EQ(element_count(Dims{-1, 4}), std::nullopt);
}

TEST(ElementCount, refuses_a_product_past_64_bits) {
    EXPECT_EQ(element_count(Dims{65536, 65536, 65536, 65536}), std::nullopt);
    EXPECT_EQ(element_count(Dims{65536, 65536, 65536, 65535}), 18446462598732840960U);
}

TEST(Names, are_the_specifications_spelling) {
    EXPECT_EQ(name_of(DType::fp8e4m3), "FP8E4M3");
    EXPECT_EQ(name_of(static_cast<DType>(18)), "UNKNOWN");
    EXPECT_EQ(name_of(Op::constant), "CONST");
    EXPECT_EQ(name_of(Op::const_shape), "CONST_SHAPE");
    EXPECT_EQ(name_of(static_cast<Op>(9999)), "UNKNOWN");
}

}  // namespace
}  // namespace virtaccel::tosa

#include "virtaccel/numerics/tensor.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using Numbers = std::vector<double>;

Bytes bytes_of(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

Numbers unpacked(DType dtype, std::int32_t count, const Bytes& bytes) {
    return unpack(dtype, Shape{count}, bytes).values;
}

Bytes packed(DType dtype, const Numbers& values) {
    return pack({.dtype = dtype,
                 .shape = {static_cast<std::int32_t>(values.size())},
                 .values = values,
                 .magnitudes = {}});
}

TEST(Tensor, packs_two_int4_to_a_byte_low_half_first) {
    EXPECT_EQ(packed(DType::int4, {1, -8, -1}), bytes_of({0x81, 0x0f}));
    EXPECT_EQ(unpacked(DType::int4, 3, bytes_of({0x81, 0x0f})), (Numbers{1, -8, -1}));
    // What lies in the spare half is nobody's.
    EXPECT_EQ(unpacked(DType::int4, 1, bytes_of({0x7f})), (Numbers{-1}));
}

TEST(Tensor, keeps_every_pair_of_int4) {
    for (int a = -8; a < 8; ++a) {
        for (int b = -8; b < 8; ++b) {
            const Numbers pair{static_cast<double>(a), static_cast<double>(b)};
            EXPECT_EQ(unpacked(DType::int4, 2, packed(DType::int4, pair)), pair);
        }
    }
}

TEST(Tensor, is_little_endian_and_in_twos_complement) {
    EXPECT_EQ(packed(DType::int16, {-2, 258}), bytes_of({0xfe, 0xff, 0x02, 0x01}));
    EXPECT_EQ(unpacked(DType::int32, 1, bytes_of({0, 0, 0, 0x80})), (Numbers{-2147483648.0}));
    EXPECT_EQ(packed(DType::int48, {-1, 0x123456789a}),
              bytes_of({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x9a, 0x78, 0x56, 0x34, 0x12, 0}));
    EXPECT_EQ(unpacked(DType::int48, 1, bytes_of({0, 0, 0, 0, 0, 0x80})),
              (Numbers{-140737488355328.0}));
    EXPECT_EQ(unpacked(DType::shape, 1, bytes_of({5, 0, 0, 0, 0, 0, 0, 0})), (Numbers{5}));
    EXPECT_EQ(packed(DType::fp32, {1}), bytes_of({0, 0, 0x80, 0x3f}));
    EXPECT_EQ(packed(DType::fp8e4m3, {448}), bytes_of({0x7e}));
}

TEST(Tensor, takes_any_byte_but_zero_for_true) {
    EXPECT_EQ(unpacked(DType::boolean, 3, bytes_of({0, 1, 0x80})), (Numbers{0, 1, 1}));
    EXPECT_EQ(packed(DType::boolean, {0, 1}), bytes_of({0, 1}));
}

TEST(Tensor, keeps_low_bits_of_integers_and_rounds_other_numbers) {
    EXPECT_EQ(packed(DType::int8, {383, -129}), bytes_of({0x7f, 0x7f}));
    const Tensor third{
        .dtype = DType::fp8e5m2, .shape = {1}, .values = {1.0 / 3}, .magnitudes = {}};
    EXPECT_EQ(rounded(third).values, (Numbers{0.3125}));
}

TEST(Tensor, finds_positions_and_indexes) {
    const Shape shape{2, 3, 4};
    for (std::size_t i = 0; i < 24; ++i) {
        EXPECT_EQ(index_of(shape, position_of(shape, i)), i);
    }
    EXPECT_EQ(position_of(shape, 23), (Position{1, 2, 3}));
    EXPECT_EQ(index_of({}, position_of({}, 0)), 0U);
}

}  // namespace

}  // namespace virtaccel::numerics

#include "tools/virtaccel/tensor_file.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/error.h"
#include "tools/virtaccel/npy.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {
namespace {

using tosa::DType;

TensorSlot slot(DType dtype, std::vector<std::uint64_t> shape) {
    return {.name = "x", .dtype = dtype, .shape = std::move(shape), .bytes = 0};
}

template <class T>
std::vector<std::byte> bytes_of(std::initializer_list<T> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

// What the buffer holds after reading a file of `descr` and `data`, or the message.
host::OrError<std::vector<std::byte>> decode(const TensorSlot& input, std::string_view descr,
                                             const std::vector<std::byte>& data) {
    return decode_input(input, format_npy(descr, input.shape, data), "a.npy");
}

void expect_same_bytes(DType dtype, std::string_view descr, const std::vector<std::byte>& data) {
    const auto input = slot(dtype, {2});
    const auto buffer = decode(input, descr, data);
    ASSERT_TRUE(buffer.has_value()) << buffer.error().message;
    EXPECT_EQ(*buffer, data);
    EXPECT_EQ(encode_output(input, data), format_npy(npy_descr(dtype), input.shape, data));
}

void expect_refusal(const host::OrError<std::vector<std::byte>>& buffer, std::string_view message) {
    ASSERT_FALSE(buffer.has_value());
    EXPECT_EQ(buffer.error().message, message);
}

TEST(TensorFile, spells_types_as_the_reference_model_does) {
    EXPECT_EQ(npy_descr(DType::boolean), "|b1");
    EXPECT_EQ(npy_descr(DType::int4), "|i1");
    EXPECT_EQ(npy_descr(DType::int8), "|i1");
    EXPECT_EQ(npy_descr(DType::int16), "<i2");
    EXPECT_EQ(npy_descr(DType::int32), "<i4");
    EXPECT_EQ(npy_descr(DType::int48), "<i8");
    EXPECT_EQ(npy_descr(DType::shape), "<i8");
    EXPECT_EQ(npy_descr(DType::fp32), "<f4");
    EXPECT_EQ(npy_descr(DType::fp16), "<f2");
    EXPECT_EQ(npy_descr(DType::bf16), "<V2");
    EXPECT_EQ(npy_descr(DType::fp8e4m3), "<V1");
    EXPECT_EQ(npy_descr(DType::fp8e5m2), "|u1");
    EXPECT_EQ(npy_descr(DType::unknown), "");
}

TEST(TensorFile, moves_most_types_as_they_are) {
    expect_same_bytes(DType::boolean, "|b1", bytes_of<std::int8_t>({0, 1}));
    expect_same_bytes(DType::int8, "|i1", bytes_of<std::int8_t>({-128, 127}));
    expect_same_bytes(DType::int16, "<i2", bytes_of<std::int16_t>({-2, 3}));
    expect_same_bytes(DType::int32, "<i4", bytes_of<std::int32_t>({-2, 3}));
    expect_same_bytes(DType::shape, "<i8", bytes_of<std::int64_t>({-2, 3}));
    expect_same_bytes(DType::fp32, "<f4", bytes_of<float>({-2.5F, 3}));
    expect_same_bytes(DType::fp16, "<f2", bytes_of<std::uint16_t>({0x3c00, 0x8000}));
    expect_same_bytes(DType::bf16, "<V2", bytes_of<std::uint16_t>({0x3f80, 0x8000}));
    expect_same_bytes(DType::bf16, "|V2", bytes_of<std::uint16_t>({0x3f80, 0x8000}));
    expect_same_bytes(DType::fp8e4m3, "<V1", bytes_of<std::uint8_t>({0x38, 0x80}));
    expect_same_bytes(DType::fp8e4m3, "|V1", bytes_of<std::uint8_t>({0x38, 0x80}));
    expect_same_bytes(DType::fp8e5m2, "|u1", bytes_of<std::uint8_t>({0x38, 0x80}));
}

TEST(TensorFile, packs_int4_two_to_a_byte_with_the_first_low) {
    const auto input = slot(DType::int4, {3});
    const auto values = bytes_of<std::int8_t>({-8, 7, -1});
    const auto buffer = decode(input, "|i1", values);
    ASSERT_TRUE(buffer.has_value()) << buffer.error().message;
    EXPECT_EQ(*buffer, bytes_of<std::uint8_t>({0x78, 0x0f}));
    EXPECT_EQ(encode_output(input, *buffer), format_npy("|i1", input.shape, values));
    expect_refusal(decode(input, "|i1", bytes_of<std::int8_t>({0, 8, 0})),
                   "The file (a.npy) for input (x) holds a value (8) that INT4 does not have; save "
                   "values of that type.");
}

TEST(TensorFile, keeps_six_bytes_of_int48) {
    constexpr std::int64_t end = std::int64_t{1} << 47U;
    const auto input = slot(DType::int48, {3});
    const auto values = bytes_of<std::int64_t>({-end, end - 1, -2});
    const auto buffer = decode(input, "<i8", values);
    ASSERT_TRUE(buffer.has_value()) << buffer.error().message;
    EXPECT_EQ(*buffer, bytes_of<std::uint8_t>({0, 0, 0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff,
                                               0x7f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff}));
    EXPECT_EQ(encode_output(input, *buffer), format_npy("<i8", input.shape, values));
    expect_refusal(decode(input, "<i8", bytes_of<std::int64_t>({0, end, 0})),
                   "The file (a.npy) for input (x) holds a value (140737488355328) that INT48 does "
                   "not have; save values of that type.");
}

TEST(TensorFile, has_room_for_the_widest_type_and_the_longest_header) {
    constexpr std::uint64_t header_bytes = (std::uint64_t{1} << 20U) + 12;
    EXPECT_EQ(file_bytes_max(slot(DType::int8, {})), header_bytes + 8);
    EXPECT_EQ(file_bytes_max(slot(DType::int48, {3, 5})), header_bytes + 120);
}

TEST(TensorFile, refuses_booleans_that_are_neither) {
    expect_refusal(decode(slot(DType::boolean, {2}), "|b1", bytes_of<std::uint8_t>({1, 2})),
                   "The file (a.npy) for input (x) holds a value (2) that BOOL does not have; save "
                   "values of that type.");
}

TEST(TensorFile, refuses_another_type_saying_expected_and_found) {
    expect_refusal(decode(slot(DType::fp32, {1}), "<f8", bytes_of<double>({1})),
                   "The file (a.npy) for input (x) holds elements of type (<f8) where (<f4, FP32) "
                   "is expected; save the array with that type.");
    expect_refusal(decode(slot(DType::bf16, {1}), "<f2", bytes_of<std::uint16_t>({1})),
                   "The file (a.npy) for input (x) holds elements of type (<f2) where (<V2, BF16) "
                   "is expected; save the array with that type.");
}

TEST(TensorFile, refuses_another_shape_saying_expected_and_found) {
    const auto file = format_npy("<f4", std::vector<std::uint64_t>{3}, bytes_of<float>({1, 2, 3}));
    expect_refusal(decode_input(slot(DType::fp32, {1, 3}), file, "a.npy"),
                   "The file (a.npy) for input (x) has shape (3,) where (1, 3) is expected; "
                   "reshape the array.");
}

}  // namespace
}  // namespace virtaccel::cli

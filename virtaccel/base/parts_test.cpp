#include "virtaccel/base/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <gtest/gtest.h>

namespace virtaccel::parts {
namespace {

// The bytes 0x10 to 0x1f.
Key some_key() {
    Key key{};
    for (std::size_t i = 0; i < key.size(); ++i) {
        key.at(i) = static_cast<std::byte>(0x10 + i);
    }
    return key;
}

template <std::size_t size>
std::array<std::byte, size> bytes_of(const std::array<std::uint8_t, size>& numbers) {
    std::array<std::byte, size> bytes{};
    std::ranges::transform(numbers, bytes.begin(),
                           [](std::uint8_t number) { return std::byte{number}; });
    return bytes;
}

TEST(Parts, begin_as_the_text_says) {
    const auto golden =
        bytes_of<part_head_bytes>({0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a,
                                   0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03,
                                   0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11});
    const PartHead head{
        .key = some_key(), .total_bytes = 0x0102030405060708, .offset = 0x1112131415161718};
    std::array<std::byte, part_head_bytes> bytes{};
    encode(head, bytes);
    EXPECT_EQ(bytes, golden);
    EXPECT_EQ(decode_part(golden), head);
}

TEST(Parts, are_joined_as_the_text_says) {
    const auto golden = bytes_of<join_head_bytes>({0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
                                                   0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
                                                   0x41, 0x53, 0x4f, 0x54, 0x04, 0x03, 0x02, 0x01});
    const JoinHead head{.key = some_key(), .format = 0x544f5341, .reserved = 0x01020304};
    std::array<std::byte, join_head_bytes> bytes{};
    encode(head, bytes);
    EXPECT_EQ(bytes, golden);
    EXPECT_EQ(decode_join(golden), head);
}

TEST(Parts, cost_their_artifact_in_blocks_and_a_block_each) {
    EXPECT_EQ(resident_bytes_of(1), 128U);
    EXPECT_EQ(resident_bytes_of(64), 128U);
    EXPECT_EQ(resident_bytes_of(65), 192U);
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(resident_bytes_of(largest), largest);
    EXPECT_EQ(resident_bytes_of(largest - 128), largest - 63);
    EXPECT_EQ(resident_bytes_of(largest - 127), largest);
}

}  // namespace
}  // namespace virtaccel::parts

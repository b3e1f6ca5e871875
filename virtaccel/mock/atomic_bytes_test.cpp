#include "virtaccel/mock/atomic_bytes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

namespace virtaccel::mock {

namespace {

constexpr std::size_t room = 4096;
using Bytes = std::array<std::byte, room>;

Bytes counted() {
    Bytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>((i * 7) + (i >> 8U));
    }
    return bytes;
}

// Calls `check(offset, other_offset, size)` for every alignment of two ranges and sizes on both
// sides of a word and of a part of `move_bytes`.
template <class Check>
void each_shape(Check&& check) {
    for (std::size_t offset = 0; offset < 9; ++offset) {
        for (std::size_t other = 0; other < 9; ++other) {
            for (const std::size_t size :
                 {0U, 1U, 2U, 7U, 8U, 9U, 15U, 17U, 64U, 1023U, 1024U, 1025U, 2500U}) {
                check(offset, other, size);
            }
        }
    }
}

TEST(AtomicBytes, load_and_store_as_memcpy_does) {
    const Bytes source = counted();
    each_shape([&](std::size_t offset, std::size_t other, std::size_t size) {
        Bytes expected{};
        std::memcpy(expected.data() + other, source.data() + offset, size);
        Bytes loaded{};
        load_bytes(loaded.data() + other, source.data() + offset, size);
        EXPECT_EQ(loaded, expected);
        Bytes stored{};
        store_bytes(stored.data() + other, source.data() + offset, size);
        EXPECT_EQ(stored, expected);
    });
}

TEST(AtomicBytes, move_as_memmove_does_in_both_directions) {
    for (const std::size_t gap : {0U, 1U, 8U, 13U, 1000U, 1024U, 1500U}) {
        each_shape([&](std::size_t offset, std::size_t, std::size_t size) {
            Bytes expected = counted();
            Bytes moved = expected;
            std::memmove(expected.data() + offset + gap, expected.data() + offset, size);
            move_bytes(moved.data() + offset + gap, moved.data() + offset, size);
            ASSERT_EQ(moved, expected);
            std::memmove(expected.data() + offset, expected.data() + offset + gap, size);
            move_bytes(moved.data() + offset, moved.data() + offset + gap, size);
            ASSERT_EQ(moved, expected);
        });
    }
}

TEST(AtomicBytes, fill_and_combine_their_range_and_nothing_else) {
    each_shape([&](std::size_t offset, std::size_t, std::size_t size) {
        Bytes expected = counted();
        Bytes bytes = expected;
        std::fill_n(expected.data() + offset, size, std::byte{0xc3});
        fill_bytes(bytes.data() + offset, std::byte{0xc3}, size);
        ASSERT_EQ(bytes, expected);
        std::for_each_n(expected.data() + offset, size, [](std::byte& b) { b ^= std::byte{0x91}; });
        xor_bytes(bytes.data() + offset, std::byte{0x91}, size);
        ASSERT_EQ(bytes, expected);
    });
}

// A race between two fills leaves bytes of one or the other; ThreadSanitizer has nothing to say.
TEST(AtomicBytes, race_without_damage) {
    alignas(8) Bytes bytes{};
    for (int round = 0; round < 50; ++round) {
        bytes.fill(std::byte{0});
        {
            const std::jthread one{[&] { fill_bytes(bytes.data() + 1, std::byte{1}, 3000); }};
            const std::jthread two{[&] { fill_bytes(bytes.data() + 5, std::byte{2}, 3000); }};
            Bytes seen{};
            load_bytes(seen.data(), bytes.data(), seen.size());
            EXPECT_TRUE(std::ranges::all_of(seen, [](std::byte b) { return b <= std::byte{2}; }));
        }
        EXPECT_EQ(bytes[0], std::byte{0});
        EXPECT_EQ(bytes[1], std::byte{1});
        EXPECT_EQ(bytes[3004], std::byte{2});
        EXPECT_EQ(bytes[3005], std::byte{0});
    }
}

}  // namespace

}  // namespace virtaccel::mock

#include "virtaccel/queue/ring_layout.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace virtaccel::queue {
namespace {

TEST(RingLayout, has_the_sizes_of_virtio) {
    EXPECT_EQ(descriptors_bytes(256), 16U * 256);
    EXPECT_EQ(available_bytes(256), 6U + 2 * 256);
    EXPECT_EQ(used_bytes(256), 6U + 8 * 256);
}

TEST(RingLayout, places_the_parts_one_behind_the_other) {
    const RingLayout layout = lay_out_ring(8);
    EXPECT_EQ(layout.available_offset, 128U);
    EXPECT_EQ(layout.used_offset, 152U);  // 128 + 22, rounded up to 4
    EXPECT_EQ(layout.bytes, 224U);        // 152 + 70, rounded up to 4
}

TEST(RingLayout, keeps_parts_on_lines_of_their_own_when_asked) {
    for (std::uint32_t size = ring_size_min; size <= ring_size_max; size *= 2) {
        const RingLayout layout = lay_out_ring(size, 64);
        EXPECT_EQ(layout.available_offset % 64, 0U);
        EXPECT_EQ(layout.used_offset % 64, 0U);
        EXPECT_GE(layout.available_offset, descriptors_bytes(size));
        EXPECT_GE(layout.used_offset, layout.available_offset + available_bytes(size));
        EXPECT_GE(layout.bytes, layout.used_offset + used_bytes(size));
    }
}

TEST(RingLayout, takes_powers_of_two_from_2_to_32768) {
    for (const std::uint32_t size : {2U, 4U, 8U, 1024U, 32768U}) {
        EXPECT_TRUE(is_ring_size(size)) << size;
    }
    for (const std::uint32_t size : {0U, 1U, 3U, 1023U, 32769U, 65536U, 0x80000000U}) {
        EXPECT_FALSE(is_ring_size(size)) << size;
        RingPlacement placement = place_ring(lay_out_ring(8), 0x1000);
        placement.size = size;
        EXPECT_EQ(check_placement(placement).error(), RingRefusal::bad_size) << size;
    }
}

TEST(RingLayout, refuses_misaligned_parts) {
    const RingPlacement good{.size = 8, .descriptors = 0x1000, .available = 0x2002, .used = 0x3004};
    EXPECT_TRUE(check_placement(good).has_value());
    for (const std::uint64_t off : {1U, 2U, 4U, 8U}) {
        RingPlacement bad = good;
        bad.descriptors += off;
        EXPECT_EQ(check_placement(bad).error(), RingRefusal::misaligned) << off;
    }
    RingPlacement bad = good;
    bad.available += 1;
    EXPECT_EQ(check_placement(bad).error(), RingRefusal::misaligned);
    for (const std::uint64_t off : {1U, 2U, 3U}) {
        bad = good;
        bad.used += off;
        EXPECT_EQ(check_placement(bad).error(), RingRefusal::misaligned) << off;
    }
}

TEST(RingLayout, refuses_parts_that_wrap_around) {
    const RingPlacement good{.size = 8, .descriptors = 0x1000, .available = 0x2000, .used = 0x3000};
    constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max() - 15;
    RingPlacement bad = good;
    bad.descriptors = top;
    EXPECT_EQ(check_placement(bad).error(), RingRefusal::outside_memory);
    bad = good;
    bad.available = top;
    EXPECT_EQ(check_placement(bad).error(), RingRefusal::outside_memory);
    bad = good;
    bad.used = top;
    EXPECT_EQ(check_placement(bad).error(), RingRefusal::outside_memory);
}

TEST(RingLayout, explains_each_refusal_in_its_own_sentence) {
    for (const RingRefusal refusal :
         {RingRefusal::bad_size, RingRefusal::misaligned, RingRefusal::outside_memory,
          RingRefusal::bad_chain_limit, RingRefusal::out_of_memory}) {
        EXPECT_TRUE(explain(refusal).ends_with('.'));
        EXPECT_NE(explain(refusal), "The ring is refused.");
    }
}

}  // namespace
}  // namespace virtaccel::queue

#include "virtaccel/queue/memory_map.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::queue {
namespace {

constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

// Three regions: 0x1000 and 0x2000 are adjacent, 0x4000 stands alone.
class ThreeRegions : public ::testing::Test {
  protected:
    ThreeRegions() : map(host::heap(), 3) {
        // Out of order, so that the map has to sort.
        EXPECT_TRUE(map.add(region(0x4000, third)).has_value());
        EXPECT_TRUE(map.add(region(0x1000, first)).has_value());
        EXPECT_TRUE(map.add(region(0x2000, second)).has_value());
    }

    static MemoryRegion region(std::uint64_t address, std::vector<std::byte>& bytes) {
        return {.address = address, .bytes = bytes.size(), .host = bytes.data()};
    }

    std::vector<Piece> pieces_of(ByteRange range) {
        std::array<Piece, 3> pieces;
        const Piece* const end = map.translate(range, pieces.data());
        return end == nullptr ? std::vector<Piece>{}
                              : std::vector<Piece>{static_cast<const Piece*>(pieces.data()), end};
    }

    std::vector<std::byte> first = std::vector<std::byte>(0x1000);
    std::vector<std::byte> second = std::vector<std::byte>(0x1000);
    std::vector<std::byte> third = std::vector<std::byte>(0x1000);
    MemoryMap map;
};

TEST_F(ThreeRegions, are_found_wherever_the_last_search_ended) {
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(map.find({0x1000, 1}), first.data());
        EXPECT_EQ(map.find({0x1fff, 1}), first.data() + 0xfff);
        EXPECT_EQ(map.find({0x4010, 0xff0}), third.data() + 0x10);
        EXPECT_EQ(map.find({0x2000, 0x1000}), second.data());
    }
}

TEST_F(ThreeRegions, hold_no_range_that_touches_a_hole) {
    for (const ByteRange range :
         {ByteRange{0xfff, 1}, ByteRange{0xfff, 2}, ByteRange{0x3000, 1}, ByteRange{0x2fff, 2},
          ByteRange{0x5000, 1}, ByteRange{0x4fff, 2}, ByteRange{0x4ff8, std::uint64_t{1} << 30U},
          ByteRange{0, 0x8000}, ByteRange{0x1000, 0x4000}, ByteRange{0x1000, top},
          ByteRange{top - 7, 16}, ByteRange{top, 1}, ByteRange{0, 1}}) {
        for (const std::uint64_t found_last : {0x1000U, 0x2000U, 0x4000U}) {
            EXPECT_NE(map.find({found_last, 1}), nullptr);
            EXPECT_EQ(map.find(range), nullptr) << range.offset;
            EXPECT_NE(map.find({found_last, 1}), nullptr);
            EXPECT_TRUE(pieces_of(range).empty()) << range.offset;
        }
    }
}

TEST_F(ThreeRegions, hold_no_empty_range) {
    EXPECT_TRUE(pieces_of({0x1000, 0}).empty());
    EXPECT_TRUE(pieces_of({0x1800, 0}).empty());
    EXPECT_TRUE(pieces_of({0x3000, 0}).empty());
}

TEST_F(ThreeRegions, are_crossed_in_pieces_where_they_touch) {
    const auto pieces = pieces_of({0x1ff0, 0x20});
    ASSERT_EQ(pieces.size(), 2U);
    EXPECT_EQ(pieces[0].data, first.data() + 0xff0);
    EXPECT_EQ(pieces[0].size, 0x10U);
    EXPECT_EQ(pieces[1].data, second.data());
    EXPECT_EQ(pieces[1].size, 0x10U);
    EXPECT_EQ(pieces_of({0x1000, 0x2000}).size(), 2U);
    EXPECT_EQ(map.find({0x1ff0, 0x20}), nullptr);
}

TEST_F(ThreeRegions, are_one_piece_where_one_is_enough) {
    const auto pieces = pieces_of({0x4001, 0xfff});
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].data, third.data() + 1);
    EXPECT_EQ(pieces[0].size, 0xfffU);
}

TEST_F(ThreeRegions, are_forgotten_when_removed) {
    EXPECT_NE(map.find({0x2000, 1}), nullptr);
    EXPECT_TRUE(map.remove(0x2000));
    EXPECT_EQ(map.find({0x2000, 1}), nullptr);
    EXPECT_TRUE(pieces_of({0x1ff0, 0x20}).empty());
    EXPECT_FALSE(map.remove(0x2000));
    EXPECT_FALSE(map.remove(0x1001));
    EXPECT_FALSE(map.remove(0));
    EXPECT_EQ(map.regions().size(), 2U);
    EXPECT_EQ(map.find({0x4000, 1}), third.data());
    EXPECT_EQ(map.find({0x1000, 1}), first.data());
    map.clear();
    EXPECT_EQ(map.find({0x1000, 1}), nullptr);
    EXPECT_TRUE(map.regions().empty());
}

TEST_F(ThreeRegions, leave_no_room_for_a_fourth) {
    EXPECT_EQ(map.add(region(0x8000, first)).error(), MapRefusal::full);
    EXPECT_TRUE(map.remove(0x1000));
    EXPECT_TRUE(map.add(region(0x8000, first)).has_value());
}

TEST(MemoryMap, refuses_regions_that_overlap_wrap_or_are_empty) {
    std::vector<std::byte> bytes(0x1000);
    MemoryMap map{host::heap(), 8};
    const auto add = [&](std::uint64_t address, std::uint64_t size) {
        return map.add({.address = address, .bytes = size, .host = bytes.data()});
    };
    ASSERT_TRUE(add(0x2000, 0x1000).has_value());
    EXPECT_EQ(add(0x2000, 0x1000).error(), MapRefusal::overlaps);
    EXPECT_EQ(add(0x2fff, 1).error(), MapRefusal::overlaps);
    EXPECT_EQ(add(0x1fff, 2).error(), MapRefusal::overlaps);
    EXPECT_EQ(add(0, top).error(), MapRefusal::overlaps);
    EXPECT_EQ(add(0x8000, 0).error(), MapRefusal::empty);
    EXPECT_EQ(map.add({.address = 0x8000, .bytes = 1, .host = nullptr}).error(), MapRefusal::empty);
    EXPECT_EQ(add(top - 0xfff, 0x1000).error(), MapRefusal::wraps);
    EXPECT_EQ(add(top, top).error(), MapRefusal::wraps);
    EXPECT_TRUE(add(0x3000, 0x1000).has_value());
    EXPECT_TRUE(add(0x1000, 0x1000).has_value());
    EXPECT_TRUE(add(0, 0x1000).has_value());
    EXPECT_EQ(map.regions().size(), 4U);
    EXPECT_EQ(map.find({0, 1}), bytes.data());
}

TEST(MemoryMap, takes_no_region_when_there_is_no_memory_for_it) {
    ::virtaccel::testing::CountingMemory memory{host::heap()};
    memory.refuse_after(0);
    std::byte byte{};
    MemoryMap map{memory.memory(), 8};
    EXPECT_EQ(map.add({.address = 1, .bytes = 1, .host = &byte}).error(), MapRefusal::full);
    EXPECT_EQ(map.find({1, 1}), nullptr);
}

TEST(MemoryMap, of_identity_takes_a_pointer_for_its_address) {
    MemoryMap map = MemoryMap::identity();
    std::array<std::byte, 16> bytes{};
    const auto address = std::bit_cast<std::uintptr_t>(bytes.data());
    EXPECT_EQ(map.find({address, 16}), bytes.data());
    EXPECT_EQ(map.find({0, 16}), nullptr);
    EXPECT_EQ(map.find({top - 7, 16}), nullptr);
    Piece piece;
    ASSERT_NE(map.translate({address + 3, 5}, &piece), nullptr);
    EXPECT_EQ(piece.data, bytes.data() + 3);
    EXPECT_EQ(piece.size, 5U);
    EXPECT_EQ(map.translate({0, 16}, &piece), nullptr);
    EXPECT_EQ(map.translate({top - 7, 16}, &piece), nullptr);
}

TEST(MemoryMap, explains_each_refusal_in_its_own_sentence) {
    for (const MapRefusal refusal :
         {MapRefusal::empty, MapRefusal::wraps, MapRefusal::overlaps, MapRefusal::full}) {
        EXPECT_TRUE(explain(refusal).ends_with('.'));
        EXPECT_NE(explain(refusal), "The memory region is refused.");
    }
}

}  // namespace
}  // namespace virtaccel::queue

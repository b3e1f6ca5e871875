#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel {
namespace {

constexpr std::uint64_t u64_max = ~std::uint64_t{0};

struct Shared {
    std::vector<std::byte> bytes;
    std::vector<Piece> pieces;

    // 0, 1, 2, … cut into pieces of the given sizes.
    explicit Shared(const std::vector<std::size_t>& sizes) {
        std::size_t total = 0;
        for (const std::size_t size : sizes) {
            total += size;
        }
        for (std::size_t i = 0; i < total; ++i) {
            bytes.push_back(static_cast<std::byte>(i));
        }
        std::byte* at = bytes.data();
        for (const std::size_t size : sizes) {
            pieces.push_back({.data = at, .size = size});
            at += size;
        }
    }

    [[nodiscard]] PieceList list(Lease lease = {}) const { return PieceList::of(pieces, lease); }
};

TEST(Checked, says_when_a_sum_or_product_does_not_exist) {
    EXPECT_EQ(checked_add<std::uint64_t>(u64_max, 0), u64_max);
    EXPECT_EQ(checked_add<std::uint64_t>(u64_max, 1), std::nullopt);
    EXPECT_EQ(checked_add<std::uint16_t>(65535, 1), std::nullopt);
    EXPECT_EQ(checked_mul<std::uint32_t>(65536, 65535), 65536U * 65535U);
    EXPECT_EQ(checked_mul<std::uint32_t>(65536, 65536), std::nullopt);
    EXPECT_EQ(checked_align_up<std::uint64_t>(65, 64), 128U);
    EXPECT_EQ(checked_align_up<std::uint64_t>(u64_max - 5, 64), std::nullopt);
}

TEST(Checked, judges_ranges_without_wrapping) {
    EXPECT_FALSE(is_range({.offset = 0, .bytes = 0}));
    EXPECT_TRUE(is_range({.offset = u64_max - 1, .bytes = 1}));
    EXPECT_FALSE(is_range({.offset = u64_max, .bytes = 1}));
    EXPECT_TRUE(fits({.offset = 6, .bytes = 4}, 10));
    EXPECT_FALSE(fits({.offset = 7, .bytes = 4}, 10));
    EXPECT_FALSE(fits({.offset = u64_max, .bytes = 2}, 10));
    EXPECT_FALSE(fits({.offset = 1, .bytes = u64_max}, 10));
}

TEST(Reader, joins_pieces_without_padding_and_never_passes_the_end) {
    const Shared shared({1, 0, 3, 2});
    Reader reader{shared.list()};
    std::array<std::uint8_t, 6> got{};
    EXPECT_TRUE(reader.copy_to(got.data(), 2));
    EXPECT_EQ(reader.remaining(), 4U);
    EXPECT_FALSE(reader.copy_to(got.data(), 5)) << "only four bytes are left";
    EXPECT_EQ(reader.remaining(), 4U);
    EXPECT_TRUE(reader.copy_to(got.data() + 2, 4));
    EXPECT_EQ(got, (std::array<std::uint8_t, 6>{0, 1, 2, 3, 4, 5}));
    EXPECT_FALSE(reader.skip(1));
}

TEST(Reader, copies_runs_of_every_length_and_no_byte_beside_them) {
    std::array<std::byte, 200> source{};
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<std::byte>(i + 1);
    }
    for (std::size_t size = 0; size < 150; ++size) {
        std::array<std::byte, 200> target{};
        const std::array<Piece, 1> pieces{Piece{.data = source.data(), .size = source.size()}};
        Reader reader{PieceList::of(pieces)};
        ASSERT_TRUE(reader.skip(3));
        ASSERT_TRUE(reader.copy_to(target.data() + 5, size));
        for (std::size_t i = 0; i < target.size(); ++i) {
            const bool inside = i >= 5 && i < 5 + size;
            ASSERT_EQ(target[i], inside ? source[i - 2] : std::byte{}) << size << ", " << i;
        }
    }
}

TEST(Reader, limits_a_part_without_moving_itself) {
    const Shared shared({2, 4});
    Reader whole{shared.list()};
    EXPECT_TRUE(whole.skip(1));
    Reader part = whole.first(3);
    std::array<std::uint8_t, 3> got{};
    EXPECT_TRUE(part.copy_to(got.data(), 3));
    EXPECT_EQ(got, (std::array<std::uint8_t, 3>{1, 2, 3}));
    EXPECT_FALSE(part.skip(1));
    EXPECT_EQ(whole.remaining(), 5U);
    EXPECT_EQ(whole.first(100).remaining(), 5U);
}

TEST(Reader, refuses_a_list_whose_total_promises_more_than_its_pieces) {
    const Shared shared({2});
    PieceList list = shared.list();
    list.bytes = 3;
    Reader reader{list};
    std::array<std::uint8_t, 3> got{};
    EXPECT_FALSE(reader.copy_to(got.data(), 3));
}

TEST(Writer, writes_exactly_what_it_is_told_across_pieces) {
    const Shared shared({2, 3});
    Writer writer{shared.list()};
    const std::array<std::uint8_t, 3> data{9, 8, 7};
    EXPECT_TRUE(writer.skip(1));
    EXPECT_TRUE(writer.copy_from(data.data(), 3));
    const std::vector<std::byte> expected{std::byte{0}, std::byte{9}, std::byte{8}, std::byte{7},
                                          std::byte{4}};
    EXPECT_EQ(shared.bytes, expected);
}

TEST(Lease, stops_reads_and_writes_after_the_epoch_moved_on) {
    std::uint32_t live = 5;
    const Shared shared({2, 2});
    Reader reader{shared.list({.live = &live, .epoch = 5})};
    Writer writer{shared.list({.live = &live, .epoch = 5})};
    std::uint8_t byte = 0;
    EXPECT_TRUE(reader.copy_to(&byte, 1));
    EXPECT_TRUE(writer.copy_from(&byte, 1));
    live = 6;
    EXPECT_FALSE(reader.copy_to(&byte, 1));
    EXPECT_FALSE(writer.copy_from(&byte, 1));
}

TEST(Status, names_every_row_and_knows_no_other) {
    for (const StatusRow& row : status_rows) {
        EXPECT_TRUE(is_known(row.status)) << row.name;
        EXPECT_EQ(status_name(row.status), row.name);
    }
    EXPECT_FALSE(is_known(static_cast<Status>(12)));
    EXPECT_EQ(status_name(static_cast<Status>(12)), "UNKNOWN");
}

TEST(Vocabulary, gives_each_domain_and_access_what_it_needs) {
    EXPECT_EQ(capability_of(MemoryDomain::host).bits, 1U);
    EXPECT_EQ(capability_of(MemoryDomain::device).bits, 2U);
    EXPECT_EQ(capability_of(MemoryDomain::shared).bits, 32U);
    EXPECT_EQ(usage_allowing(Access::read).bits, 4U | 16U);
    EXPECT_EQ(usage_allowing(Access::write).bits, 8U | 16U);
    EXPECT_EQ(usage_allowing(Access::read_write).bits, 16U);
}

// Counts what is out, and refuses when told to.
struct Heap {
    int out = 0;
    bool refuse = false;

    [[nodiscard]] Memory memory() {
        return {.state = this,
                .allocate = [](void* state, std::size_t bytes, std::size_t alignment) -> void* {
                    auto& heap = *static_cast<Heap*>(state);
                    if (heap.refuse) {
                        return nullptr;
                    }
                    ++heap.out;
                    const std::size_t step = std::max(alignment, sizeof(void*));
                    return std::aligned_alloc(step, (bytes + step - 1) / step * step);
                },
                .release =
                    [](void* state, void* block, std::size_t, std::size_t) {
                        --static_cast<Heap*>(state)->out;
                        std::free(block);
                    }};
    }
};

TEST(Array, is_zeroed_and_freed_once_however_it_is_moved) {
    Heap heap;
    {
        Array<std::uint32_t> first(heap.memory(), 100);
        ASSERT_EQ(first.size(), 100U);
        EXPECT_EQ(first[99], 0U);
        first[99] = 7;
        Array<std::uint32_t> second(std::move(first));
        Array<std::uint32_t> third(heap.memory(), 3);
        third = std::move(second);
        EXPECT_EQ(third[99], 7U);
        EXPECT_EQ(heap.out, 1);
    }
    EXPECT_EQ(heap.out, 0);
}

TEST(Array, is_empty_when_the_memory_refuses_or_the_size_does_not_exist) {
    Heap heap;
    EXPECT_TRUE(Array<std::uint64_t>(heap.memory(), u64_max / 4).empty());
    EXPECT_TRUE(Array<std::uint64_t>(heap.memory(), 0).empty());
    heap.refuse = true;
    EXPECT_TRUE(Array<std::uint64_t>(heap.memory(), 4).empty());
    EXPECT_EQ(heap.out, 0);
}

Result<int> half(int value) {
    if (value % 2 != 0) {
        return fail(Status::invalid_argument);
    }
    return value / 2;
}

Result<int> quarter(int value) {
    VIRTACCEL_TRY_ASSIGN(const int once, half(value));
    VIRTACCEL_TRY(half(once));
    return half(once);
}

TEST(Result, carries_the_first_failure_upwards) {
    EXPECT_EQ(quarter(12), 3);
    EXPECT_EQ(quarter(6), fail(Status::invalid_argument));
    EXPECT_EQ(quarter(5), fail(Status::invalid_argument));
}

}  // namespace
}  // namespace virtaccel

#include "virtaccel/backend/host_buffer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

namespace {

BufferRequest request_of(std::uint64_t bytes, std::uint64_t alignment = 1) {
    return {.bytes = bytes, .alignment = alignment, .usage = usage_known};
}

std::span<std::byte> storage(BufferHandle handle) {
    const HostBuffer& buffer = HostBuffers::at(handle);
    return {buffer.data, static_cast<std::size_t>(buffer.backing_bytes)};
}

bool all_zero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(HostBuffers, report_what_an_allocation_really_is) {
    HostBuffers buffers{host::heap(),
                        {.properties = {.host_visible = true, .direct_binding = true}}};
    for (const std::uint64_t bytes :
         {1U, 63U, 64U, 65U, 256U, 257U, 513U, 4096U, 1U << 20U, (1U << 20U) + 1}) {
        for (const std::uint64_t alignment : {1U, 2U, 64U, 128U, 4096U, 1U << 16U}) {
            const auto made = buffers.allocate(request_of(bytes, alignment));
            ASSERT_TRUE(made);
            EXPECT_EQ(made->descriptor, request_of(bytes, alignment));
            EXPECT_GE(made->backing_bytes, bytes);
            EXPECT_LT(made->backing_bytes, bytes + (bytes / 4) + 64);
            EXPECT_GE(made->alignment, alignment);
            EXPECT_EQ(made->properties,
                      (MemoryProperties{.host_visible = true, .direct_binding = true}));
            const auto address = std::bit_cast<std::uintptr_t>(storage(made->buffer).data());
            EXPECT_EQ(address % made->alignment, 0U);
            EXPECT_EQ(buffers.backing_bytes(), made->backing_bytes);
            EXPECT_EQ(buffers.free(made->buffer).certainty, Certainty::done);
        }
    }
    EXPECT_EQ(buffers.live(), 0U);
    EXPECT_EQ(buffers.backing_bytes(), 0U);
}

TEST(HostBuffers, never_show_what_an_earlier_owner_wrote) {
    HostBuffers buffers{host::heap()};
    for (std::uint64_t bytes = 1; bytes <= 5000; bytes += 7) {
        const auto first = buffers.allocate(request_of(bytes));
        ASSERT_TRUE(first);
        EXPECT_TRUE(all_zero(storage(first->buffer)));
        std::ranges::fill(storage(first->buffer), std::byte{0x5a});
        EXPECT_EQ(buffers.free(first->buffer).certainty, Certainty::done);
        const auto second = buffers.allocate(request_of(bytes));
        ASSERT_TRUE(second);
        EXPECT_TRUE(all_zero(storage(second->buffer)));
        EXPECT_EQ(buffers.free(second->buffer).certainty, Certainty::done);
    }
}

TEST(HostBuffers, allocate_nothing_in_steady_state) {
    testing::CountingMemory memory{host::heap()};
    HostBuffers buffers{memory.memory()};
    for (const std::uint64_t bytes : {64U, 4096U, 65536U}) {
        const auto made = buffers.allocate(request_of(bytes));
        EXPECT_EQ(buffers.free(made->buffer).certainty, Certainty::done);
    }
    const auto granted = memory.granted();
    for (int i = 0; i < 100; ++i) {
        for (const std::uint64_t bytes : {64U, 4096U, 65536U}) {
            const auto made = buffers.allocate(request_of(bytes));
            EXPECT_EQ(buffers.free(made->buffer).certainty, Certainty::done);
        }
    }
    EXPECT_EQ(memory.granted(), granted);
}

// The released sizes are those allocated, whatever the class; CountingMemory and the sanitizer see
// to that.
TEST(HostBuffers, give_back_every_block_of_every_size) {
    testing::CountingMemory memory{host::heap()};
    {
        HostBuffers buffers{memory.memory()};
        std::vector<BufferHandle> handles;
        for (std::uint64_t bytes = 1; bytes <= (std::uint64_t{1} << 21U); bytes += bytes / 7 + 1) {
            handles.push_back(buffers.allocate(request_of(bytes))->buffer);
            handles.push_back(buffers.allocate(request_of(bytes, 4096))->buffer);
        }
        for (const BufferHandle handle : handles) {
            EXPECT_EQ(buffers.free(handle).certainty, Certainty::done);
        }
        EXPECT_GT(buffers.cached_bytes(), 0U);
        handles.clear();
        EXPECT_TRUE(buffers.allocate(request_of(100)));  // is live at the end
        EXPECT_TRUE(buffers.allocate(request_of(100, 4096)));
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
    EXPECT_EQ(memory.live_bytes(), 0U);
}

TEST(HostBuffers, keep_no_more_than_they_may) {
    HostBuffers buffers{host::heap(), {.cached_bytes_max = 10000}};
    std::vector<BufferHandle> handles(5);
    for (BufferHandle& handle : handles) {
        handle = buffers.allocate(request_of(4096))->buffer;
    }
    for (const BufferHandle handle : handles) {
        EXPECT_EQ(buffers.free(handle).certainty, Certainty::done);
    }
    EXPECT_EQ(buffers.cached_bytes(), 8192U);
}

TEST(HostBuffers, use_what_they_keep_before_they_refuse) {
    testing::CountingMemory memory{host::heap()};
    HostBuffers buffers{memory.memory()};
    const auto kept = buffers.allocate(request_of(4096));
    EXPECT_EQ(buffers.free(kept->buffer).certainty, Certainty::done);
    const auto blocks = memory.live_blocks();
    memory.refuse_after(0);
    const auto refused = buffers.allocate(request_of(100));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), Status::out_of_memory);
    EXPECT_EQ(buffers.cached_bytes(), 0U);
    EXPECT_EQ(memory.live_blocks(), blocks - 1);
    memory.refuse_nothing();
    EXPECT_TRUE(buffers.allocate(request_of(100)));
}

TEST(HostBuffers, refuse_a_size_no_host_has) {
    HostBuffers buffers{host::heap()};
    for (const std::uint64_t bytes :
         {std::uint64_t{1} << 63U, ~std::uint64_t{0}, ~std::uint64_t{0} - 63}) {
        const auto made = buffers.allocate(request_of(bytes));
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error(), Status::out_of_memory);
    }
    EXPECT_EQ(buffers.live(), 0U);
}

TEST(HostBuffers, refuse_an_alignment_past_their_limit) {
    HostBuffers buffers{host::heap()};
    EXPECT_TRUE(buffers.allocate(request_of(1, HostBuffers::alignment_max)));
    EXPECT_EQ(buffers.allocate(request_of(1, HostBuffers::alignment_max * 2)).error(),
              Status::resource_limit);
    EXPECT_EQ(buffers.allocate(request_of(1, std::uint64_t{1} << 63U)).error(),
              Status::resource_limit);
}

TEST(HostBuffers, move_pieces_to_their_place_and_back) {
    HostBuffers buffers{host::heap()};
    const auto made = buffers.allocate(request_of(16));
    std::array<std::byte, 10> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    const std::array pieces{Piece{.data = bytes.data(), .size = 3}, Piece{},
                            Piece{.data = bytes.data() + 3, .size = 7}};
    Reader source{PieceList::of(pieces)};
    EXPECT_EQ(buffers.write(made->buffer, 6, source), Status::ok);
    EXPECT_TRUE(all_zero(storage(made->buffer).first(6)));
    EXPECT_TRUE(std::ranges::equal(storage(made->buffer).subspan(6, 10), bytes));

    const auto written = bytes;
    bytes = {};
    Writer target{PieceList::of(pieces)};
    EXPECT_EQ(buffers.read(made->buffer, 6, target), Status::ok);
    EXPECT_EQ(bytes, written);
    EXPECT_EQ(buffers.transferred_bytes(), 20U);
}

TEST(HostBuffers, touch_nothing_once_the_lease_has_ended) {
    HostBuffers buffers{host::heap()};
    const auto made = buffers.allocate(request_of(16));
    std::array<std::byte, 4> bytes{};
    bytes.fill(std::byte{9});
    const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
    const std::uint32_t epoch = 1;
    const Lease ended{.live = &epoch, .epoch = 0};
    Reader source{PieceList::of(pieces, ended)};
    EXPECT_EQ(buffers.write(made->buffer, 0, source), Status::internal_error);
    EXPECT_TRUE(all_zero(storage(made->buffer)));
    Writer target{PieceList::of(pieces, ended)};
    EXPECT_EQ(buffers.read(made->buffer, 0, target), Status::internal_error);
    EXPECT_EQ(bytes[0], std::byte{9});
    EXPECT_EQ(buffers.transferred_bytes(), 0U);
}

TEST(HostBuffersDeathTest, stop_the_program_at_a_range_the_device_should_have_refused) {
    HostBuffers buffers{host::heap()};
    const auto made = buffers.allocate(request_of(16));
    std::array<std::byte, 4> bytes{};
    const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
    EXPECT_DEATH(
        {
            Reader source{PieceList::of(pieces)};
            (void)buffers.write(made->buffer, 13, source);
        },
        "fits");
}

}  // namespace

}  // namespace virtaccel::backend

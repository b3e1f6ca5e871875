// One bad request must cost its sender that request, and nobody anything else. Elsewhere a bad
// chain ended the loop that drains the queue, so that its head never came back and the device was
// dead; a request was only understood in the pieces its author had tried; and a response was
// written as far as it fitted into memory that was not all there.

#include "virtaccel/queue/testing/chains.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/known_faults/machine.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::known_faults {
namespace {

using queue::UsedEntry;
using queue::testing::ChainFault;
using queue::testing::ChainPlan;
using queue::testing::Link;

TEST(BadChains, come_back_empty_a_hundred_times_and_never_stop_good_ones) {
    for (const ChainFault fault : queue::testing::chain_faults) {
        // The longest bad chain has one descriptor more than four, so a good one fits beside it.
        Machine machine{{.queue_size = 8, .chain_descriptors_max = 4, .backend = {}}};
        const Frame bad = machine.info_frame();
        const Frame good = machine.info_frame();
        for (int round = 0; round < 100; ++round) {
            machine.rig.ram.fill(good.response, 0xa5);
            machine.rig.offer_bad(0, bad, fault);
            machine.rig.offer(5, queue::testing::whole(good));
            ASSERT_TRUE(machine.look());
            ASSERT_EQ(machine.rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = 0}))
                << name_of(fault) << " in round " << round;
            ASSERT_EQ(machine.rig.driver.next_used(), (UsedEntry{.id = 5, .bytes = info_bytes}));
            ASSERT_EQ(machine.status_of(bad), std::nullopt) << name_of(fault);
            ASSERT_EQ(machine.status_of(good), Status::ok);
        }
        EXPECT_EQ(machine.rig.device.outstanding(), 0U);
        EXPECT_EQ(machine.rig.device.malformed(), 100U);
        EXPECT_FALSE(machine.processor->needs_reset());
        EXPECT_FALSE(machine.rig.device.broken());
    }
}

// A whole life of 70 000 requests, whose indexes wrap.
TEST(Indexes, may_wrap_and_nobody_stops) {
    Machine machine;
    const Frame frame = machine.info_frame();
    for (std::uint32_t i = 0; i < 70'000; ++i) {
        machine.rig.offer(static_cast<std::uint16_t>(i % 4 * 2), queue::testing::whole(frame));
        ASSERT_TRUE(machine.look());
        ASSERT_EQ(machine.rig.driver.next_used(),
                  (UsedEntry{.id = i % 4 * 2, .bytes = info_bytes}));
    }
    EXPECT_EQ(machine.rig.device.outstanding(), 0U);
}

TEST(Indexes, that_jump_are_idle_work_until_a_reset) {
    for (const auto jump : std::to_array<std::uint16_t>({9, 255, 32'768, 40'000, 65'535})) {
        Machine machine;
        const Frame frame = machine.info_frame();
        EXPECT_EQ(machine.serve(frame), info_bytes);
        const auto& ring = machine.rig.ring;
        ring.publish_available_index(static_cast<std::uint16_t>(ring.available_index() + jump));
        for (int look = 0; look < 100; ++look) {
            ASSERT_TRUE(machine.look()) << "the device is never idle after a jump by " << jump;
        }
        EXPECT_FALSE(machine.rig.driver.next_used().has_value()) << jump;
        EXPECT_EQ(machine.rig.device.malformed() + machine.rig.device.ignored(), 0U);
        machine.reset();
        machine.rig.ram.fill(frame.response, 0xa5);
        EXPECT_EQ(machine.serve(frame), info_bytes) << jump;
    }
}

TEST(Indexes, that_jump_no_further_than_the_queue_cost_that_many_heads) {
    Machine machine;
    const Frame frame = machine.info_frame();
    machine.rig.driver.lay(0, queue::testing::whole(frame).links());
    machine.rig.ring.publish_available_index(8);  // every entry says head 0
    std::uint32_t used = 0;
    ASSERT_TRUE(machine.look());
    while (machine.rig.driver.next_used()) {
        ++used;
    }
    EXPECT_EQ(used, 8U);
}

TEST(Indexes, of_heads_outside_the_table_are_passed_over) {
    Machine machine;
    const Frame frame = machine.info_frame();
    for (const auto head : std::to_array<std::uint16_t>({8, 255, 65'535})) {
        machine.rig.driver.offer(head);
        ASSERT_TRUE(machine.look());
        EXPECT_FALSE(machine.rig.driver.next_used().has_value()) << head;
        machine.rig.ram.fill(frame.response, 0xa5);
        EXPECT_EQ(machine.serve(frame), info_bytes) << head;
    }
    EXPECT_EQ(machine.rig.device.ignored(), 3U);
    EXPECT_FALSE(machine.rig.device.broken());
}

TEST(QueueSizes, that_no_ring_has_are_refused_before_use) {
    Machine machine;
    for (const std::uint32_t size : {0U, 1U, 3U, 12U, 65'535U, 65'536U}) {
        queue::RingMemory ring = machine.rig.ring;
        ring.size = size;
        const auto started = machine.rig.device.start(ring);
        ASSERT_FALSE(started.has_value()) << size;
        EXPECT_EQ(started.error(), queue::RingRefusal::bad_size);
        EXPECT_FALSE(machine.rig.device.pop().has_value());
    }
    ASSERT_TRUE(machine.rig.device.start(machine.rig.ring).has_value());
    EXPECT_EQ(machine.serve(machine.info_frame()), info_bytes);
}

// A context with a buffer that holds 0, 1, 2, ..., and a READ_BUFFER of its first 64 bytes with
// room for 4096 more.
class CutRequests : public ::testing::Test {
  protected:
    static constexpr std::uint32_t read_bytes = 64;
    static constexpr std::uint32_t used_bytes = sizeof(wire::ResponseHeader) + read_bytes;
    static constexpr std::uint32_t spare_bytes = 4096;

    CutRequests() {
        const Frame made = machine_.frame<Opcode::create_context>({}, 24);
        EXPECT_EQ(machine_.serve(made), 24U);
        const Frame allocated = machine_.frame<Opcode::allocate_buffer>(
            buffer_in(machine_.id_in<ContextKind>(made), 256), 24);
        EXPECT_EQ(machine_.serve(allocated), 24U);
        const auto id = machine_.id_in<BufferKind>(allocated);
        const Frame written = machine_.frame<Opcode::write_buffer>({id, 0U, 256U}, 16, 256);
        const auto data = machine_.rig.ram.at(written.request).last(256);
        for (std::size_t i = 0; i < data.size(); ++i) {
            data[i] = static_cast<std::byte>(i);
        }
        EXPECT_EQ(machine_.serve(written), 16U);
        read_ = machine_.frame<Opcode::read_buffer>({id, 0U, read_bytes}, used_bytes + spare_bytes);
    }

    [[nodiscard]] const Frame& read() const { return read_; }

    [[nodiscard]] Machine& machine() { return machine_; }

    // Serves the read, cut as `plan` says. The answer is the one and only.
    void expect_the_answer(const ChainPlan& plan) {
        auto& rig = machine_.rig;
        rig.ram.fill(read_.response, 0xa5);
        rig.offer(0, plan);
        ASSERT_TRUE(machine_.look());
        ASSERT_EQ(rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = used_bytes}));
        ASSERT_EQ(machine_.status_of(read_), Status::ok);
        const auto response = rig.ram.at(read_.response);
        for (std::size_t i = 0; i < read_bytes; ++i) {
            ASSERT_EQ(response[sizeof(wire::ResponseHeader) + i], static_cast<std::byte>(i));
        }
        ASSERT_TRUE(rig.ram.holds({read_.response.offset + used_bytes, spare_bytes}, 0xa5));
    }

  private:
    Machine machine_{{.queue_size = 64, .chain_descriptors_max = 64, .pages = 16, .backend = {}}};
    Frame read_;
};

TEST_F(CutRequests, are_the_same_request_at_every_cut) {
    for (std::uint64_t cut = 1; cut < read().request.bytes; ++cut) {
        expect_the_answer(queue::testing::request_cut(read(), cut));
    }
}

TEST_F(CutRequests, are_the_same_request_in_descriptors_of_one_byte) {
    // All of the request, and the header of the response.
    expect_the_answer(queue::testing::crumbled(read(), read().request.bytes, 17));
    expect_the_answer(queue::testing::crumbled(read(), 2, 62));
}

TEST_F(CutRequests, get_the_same_response_at_every_cut) {
    for (std::uint64_t cut = 1; cut < used_bytes + 2; ++cut) {
        expect_the_answer(queue::testing::response_cut(read(), cut));
    }
}

TEST_F(CutRequests, that_are_cut_more_often_than_the_device_walks_come_back_empty) {
    Machine narrow{{.queue_size = 64, .chain_descriptors_max = 16, .backend = {}}};
    const Frame info = narrow.info_frame();
    narrow.rig.offer(0, queue::testing::crumbled(info, 8, 8));
    narrow.rig.offer(16, queue::testing::crumbled(info, 9, 8));
    ASSERT_TRUE(narrow.look());
    EXPECT_EQ(narrow.rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = info_bytes}));
    EXPECT_EQ(narrow.rig.driver.next_used(), (UsedEntry{.id = 16, .bytes = 0}));
}

struct BadRange {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};

// Descriptors that leave the guest's memory, in either direction, behind a good piece of it.
TEST(Descriptors, that_leave_the_memory_write_not_one_byte_of_it) {
    Machine machine;
    auto& rig = machine.rig;
    const Frame frame = machine.info_frame();
    constexpr auto end = std::numeric_limits<std::uint64_t>::max();
    const BadRange ranges[] = {{rig.ram.end() - 8, 1U << 30U},
                               {end - 7, 16},
                               {rig.ram.end(), 1},
                               {rig.ram.end() + (1U << 20U), 4096},
                               {rig.ram.address() - 1, 2},
                               {0, 0xffff'ffff}};
    for (const BadRange& range : ranges) {
        for (const bool writable : {false, true}) {
            const Link bad{.address = range.address,
                           .bytes = range.bytes,
                           .flags = writable ? queue::descriptor_write : std::uint16_t{0}};
            ChainPlan plan;
            plan.readable(frame.request);
            if (!writable) {
                plan.add(bad);
            }
            plan.writable({frame.response.offset, 20});
            if (writable) {
                plan.add(bad);
            }
            rig.offer(0, plan);
            const auto ram = rig.ram.bytes();
            const auto used_offset = static_cast<std::size_t>(rig.ring.used - ram.data());
            const auto used_end = static_cast<std::size_t>(rig.layout.bytes);
            const std::vector<std::byte> before(ram.begin(), ram.end());
            ASSERT_TRUE(machine.look());
            ASSERT_EQ(rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = 0}))
                << range.address << " + " << range.bytes;
            EXPECT_TRUE(
                std::ranges::equal(ram.first(used_offset), std::span{before}.first(used_offset)));
            EXPECT_TRUE(
                std::ranges::equal(ram.subspan(used_end), std::span{before}.subspan(used_end)));
        }
    }
    rig.ram.fill(frame.response, 0xa5);
    EXPECT_EQ(machine.serve(frame), info_bytes);
}

}  // namespace
}  // namespace virtaccel::known_faults

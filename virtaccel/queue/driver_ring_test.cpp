#include "virtaccel/queue/driver_ring.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace virtaccel::queue {
namespace {

// A driver's end over eight descriptors, and a device that does what it is told.
class DriverRingOfEight : public ::testing::Test {
  protected:
    DriverRingOfEight()
        : ram(host::heap(), 1),
          ring(ring_at(ram.bytes().data(), lay_out_ring(8))),
          driver(host::heap(), {.chain_descriptors_max = 6}),
          device(ring) {
        EXPECT_TRUE(driver.start(ring).has_value());
    }

    Posted post(std::uint64_t cookie, std::size_t readable = 1, std::size_t writable = 1) {
        const std::vector<Piece> requests(readable, Piece{.data = bytes.data(), .size = 16});
        const std::vector<Piece> responses(writable, Piece{.data = bytes.data() + 16, .size = 46});
        return driver.post(requests, responses, cookie);
    }

    // Posts one chain and returns its head.
    std::uint16_t posted(std::uint64_t cookie) {
        EXPECT_EQ(post(cookie), Posted::ok);
        return device.next_available().value();
    }

    void expect_broken() {
        EXPECT_FALSE(driver.next().has_value());
        EXPECT_TRUE(driver.broken());
        EXPECT_FALSE(driver.next().has_value());
        EXPECT_EQ(post(99), Posted::broken);
        EXPECT_FALSE(driver.want_notifications(true));
    }

    testing::GuestRam ram;
    RingMemory ring;
    DriverRing driver;
    testing::RawDevice device;
    std::array<std::byte, 64> bytes{};
};

TEST_F(DriverRingOfEight, writes_descriptors_as_virtio_has_them) {
    std::array<std::byte, 4> more{};
    const std::array readable{Piece{.data = bytes.data(), .size = 16},
                              Piece{.data = more.data(), .size = 4}};
    const std::array writable{Piece{.data = bytes.data() + 16, .size = 40},
                              Piece{.data = bytes.data() + 56, .size = 8}};
    ASSERT_EQ(driver.post(readable, writable, 1), Posted::ok);
    const auto head = device.next_available();
    ASSERT_TRUE(head.has_value());
    const Descriptor first = ring.load_descriptor(*head);
    EXPECT_EQ(first.address, std::bit_cast<std::uintptr_t>(bytes.data()));
    EXPECT_EQ(first.bytes, 16U);
    EXPECT_EQ(first.flags, descriptor_next);
    const Descriptor second = ring.load_descriptor(first.next);
    EXPECT_EQ(second.address, std::bit_cast<std::uintptr_t>(more.data()));
    EXPECT_EQ(second.bytes, 4U);
    EXPECT_EQ(second.flags, descriptor_next);
    const Descriptor third = ring.load_descriptor(second.next);
    EXPECT_EQ(third.address, std::bit_cast<std::uintptr_t>(bytes.data() + 16));
    EXPECT_EQ(third.bytes, 40U);
    EXPECT_EQ(third.flags, descriptor_write | descriptor_next);
    const Descriptor fourth = ring.load_descriptor(third.next);
    EXPECT_EQ(fourth.address, std::bit_cast<std::uintptr_t>(bytes.data() + 56));
    EXPECT_EQ(fourth.bytes, 8U);
    EXPECT_EQ(fourth.flags, descriptor_write);
    EXPECT_EQ(driver.in_flight(), 1U);
    EXPECT_EQ(driver.free_descriptors(), 4U);
}

TEST_F(DriverRingOfEight, writes_words_in_little_endian) {
    ring.store_descriptor(
        1, {.address = 0x0807060504030201, .bytes = 0x0c0b0a09, .flags = 0x0e0d, .next = 0x100f});
    for (int i = 0; i < 16; ++i) {
        EXPECT_EQ(ring.descriptors[16 + i], static_cast<std::byte>(i + 1));
    }
    ring.publish_available_index(0x0201);
    EXPECT_EQ(ring.available[2], std::byte{1});
    EXPECT_EQ(ring.available[3], std::byte{2});
    ring.store_used(1, {.id = 0x04030201, .bytes = 0x08070605});
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(ring.used[12 + i], static_cast<std::byte>(i + 1));
    }
}

TEST_F(DriverRingOfEight, names_an_arena_by_the_addresses_it_was_given) {
    testing::GuestRam arena{host::heap(), 1};
    DriverRing mapped{host::heap(), {.addresses = AddressMap::of(arena.bytes(), 0x7000)}};
    ASSERT_TRUE(mapped.start(ring).has_value());
    const std::array readable{Piece{.data = arena.bytes().data(), .size = 16}};
    const std::array writable{Piece{.data = arena.bytes().data() + 4000, .size = 96}};
    ASSERT_EQ(mapped.post(readable, writable, 1), Posted::ok);
    const Descriptor first = ring.load_descriptor(ring.load_available(0));
    EXPECT_EQ(first.address, 0x7000U);
    EXPECT_EQ(ring.load_descriptor(first.next).address, 0x7000U + 4000);
}

TEST_F(DriverRingOfEight, gives_each_cookie_back_once_in_the_devices_order) {
    const std::array heads{posted(100), posted(101), posted(102)};
    device.use({.id = heads[2], .bytes = 46});
    device.use({.id = heads[0], .bytes = 0});
    const auto first = driver.next();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->cookie, 102U);
    EXPECT_EQ(first->used_bytes, 46U);
    const auto second = driver.next();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->cookie, 100U);
    EXPECT_EQ(second->used_bytes, 0U);
    EXPECT_FALSE(driver.next().has_value());
    EXPECT_FALSE(driver.broken());
    EXPECT_EQ(driver.in_flight(), 1U);
}

// VQ-016
TEST_F(DriverRingOfEight, says_full_and_takes_nothing_until_something_completes) {
    std::vector<std::uint16_t> heads;
    heads.reserve(driver.depth_max());
    for (std::uint64_t cookie = 0; cookie < driver.depth_max(); ++cookie) {
        heads.push_back(posted(cookie));
    }
    EXPECT_EQ(driver.free_descriptors(), 0U);
    const std::uint16_t index = ring.available_index();
    EXPECT_EQ(post(9), Posted::full);
    EXPECT_EQ(ring.available_index(), index);
    device.use({.id = heads[1], .bytes = 16});
    EXPECT_EQ(driver.next()->cookie, 1U);
    EXPECT_EQ(post(10, 2, 1), Posted::full);
    EXPECT_EQ(post(11), Posted::ok);
    EXPECT_EQ(post(12), Posted::full);
    EXPECT_FALSE(driver.broken());
}

TEST_F(DriverRingOfEight, uses_every_descriptor_again_whatever_the_order) {
    for (int round = 0; round < 50; ++round) {
        ASSERT_EQ(post(1, 2, 3), Posted::ok);
        ASSERT_EQ(post(2, 1, 2), Posted::ok);
        ASSERT_EQ(driver.free_descriptors(), 0U);
        const std::array heads{device.next_available().value(), device.next_available().value()};
        std::array<bool, 8> seen{};
        for (const std::uint16_t head : heads) {
            Descriptor at{.flags = descriptor_next, .next = head};
            while ((at.flags & descriptor_next) != 0) {
                ASSERT_LT(at.next, 8);
                EXPECT_FALSE(seen.at(at.next));
                seen.at(at.next) = true;
                at = ring.load_descriptor(at.next);
            }
        }
        const auto late = static_cast<std::size_t>(round % 2);
        device.use({.id = heads.at(late), .bytes = 16});
        device.use({.id = heads.at(1 - late), .bytes = 16});
        EXPECT_EQ(driver.next()->cookie, late + 1);
        EXPECT_EQ(driver.next()->cookie, 2 - late);
    }
}

TEST_F(DriverRingOfEight, says_how_deep_and_how_long_it_goes) {
    EXPECT_EQ(driver.depth_max(), 4U);
    EXPECT_EQ(driver.chain_pieces_max(), 6U);
    DriverRing wide{host::heap(), {.chain_descriptors_max = 256}};
    ASSERT_TRUE(wide.start(ring).has_value());
    EXPECT_EQ(wide.chain_pieces_max(), 8U);
}

// H7
TEST_F(DriverRingOfEight, breaks_at_a_used_id_outside_the_table) {
    for (const std::uint32_t id : {8U, 65535U, 0xffffffffU, 0x10000U}) {
        posted(1);
        device.use({.id = id, .bytes = 16});
        expect_broken();
        driver.reset();
        device = testing::RawDevice{ring};
    }
}

TEST_F(DriverRingOfEight, breaks_at_the_id_of_a_head_that_was_never_posted) {
    const std::uint16_t head = posted(1);
    device.use({.id = (head + 4U) % 8, .bytes = 16});
    expect_broken();
}

TEST_F(DriverRingOfEight, breaks_at_the_id_of_a_descriptor_inside_a_chain) {
    const std::uint16_t head = posted(1);
    device.use({.id = ring.load_descriptor(head).next, .bytes = 16});
    expect_broken();
}

TEST_F(DriverRingOfEight, breaks_at_an_id_used_twice) {
    const std::uint16_t head = posted(1);
    posted(2);
    device.use({.id = head, .bytes = 16});
    device.use({.id = head, .bytes = 16});
    EXPECT_EQ(driver.next()->cookie, 1U);
    expect_broken();
}

TEST_F(DriverRingOfEight, breaks_at_an_id_used_again_after_its_completion) {
    const std::uint16_t head = posted(1);
    device.use({.id = head, .bytes = 16});
    EXPECT_EQ(driver.next()->cookie, 1U);
    device.use({.id = head, .bytes = 16});
    expect_broken();
}

TEST_F(DriverRingOfEight, breaks_at_a_length_longer_than_the_chain_can_hold) {
    for (const std::uint32_t length : {47U, 0x80000000U, 0xffffffffU}) {
        device.use({.id = posted(1), .bytes = length});
        expect_broken();
        driver.reset();
        device = testing::RawDevice{ring};
    }
}

TEST_F(DriverRingOfEight, passes_on_lengths_that_only_the_protocol_forbids) {
    for (const std::uint32_t length : {0U, 15U, 46U}) {
        device.use({.id = posted(1), .bytes = length});
        EXPECT_EQ(driver.next()->used_bytes, length);
    }
    EXPECT_FALSE(driver.broken());
}

TEST_F(DriverRingOfEight, breaks_at_a_used_index_that_jumps) {
    for (const std::uint16_t jump :
         {std::uint16_t{2}, std::uint16_t{40000}, std::uint16_t{65535}}) {
        posted(1);
        ring.publish_used_index(jump);
        expect_broken();
        driver.reset();
        device = testing::RawDevice{ring};
    }
}

TEST_F(DriverRingOfEight, keeps_its_free_list_out_of_the_devices_reach) {
    const std::uint16_t head = posted(1);
    for (std::uint16_t i = 0; i < 8; ++i) {
        ring.store_descriptor(i, {.address = 1, .bytes = 1, .flags = 0xffff, .next = i});
    }
    device.use({.id = head, .bytes = 16});
    EXPECT_EQ(driver.next()->cookie, 1U);
    for (std::uint64_t cookie = 2; cookie < 6; ++cookie) {
        EXPECT_EQ(post(cookie), Posted::ok);
    }
    EXPECT_EQ(post(6), Posted::full);
    const Descriptor first = ring.load_descriptor(device.next_available().value());
    EXPECT_NE(first.address, 1U);
    EXPECT_LT(first.next, 8);
}

// VQ-018, VQ-019
TEST_F(DriverRingOfEight, forgets_old_chains_at_reset) {
    const std::uint16_t head = posted(1);
    driver.want_notifications(false);
    device.use({.id = head, .bytes = 16});
    driver.reset();
    EXPECT_FALSE(driver.next().has_value());
    EXPECT_EQ(driver.in_flight(), 0U);
    EXPECT_EQ(driver.free_descriptors(), 8U);
    EXPECT_EQ(ring.available_index(), 0);
    EXPECT_EQ(ring.used_index(), 0);
    EXPECT_TRUE(ring.interrupts_wanted());
    device = testing::RawDevice{ring};
    device.use({.id = posted(2), .bytes = 16});
    EXPECT_EQ(driver.next()->cookie, 2U);
}

TEST_F(DriverRingOfEight, works_again_after_a_reset_of_a_broken_ring) {
    posted(1);
    device.use({.id = 65535, .bytes = 16});
    expect_broken();
    driver.reset();
    EXPECT_FALSE(driver.broken());
    device = testing::RawDevice{ring};
    for (std::uint64_t cookie = 0; cookie < 4; ++cookie) {
        device.use({.id = posted(cookie), .bytes = 16});
    }
    for (std::uint64_t cookie = 0; cookie < 4; ++cookie) {
        EXPECT_EQ(driver.next()->cookie, cookie);
    }
}

// VQ-017
TEST_F(DriverRingOfEight, kicks_a_device_that_wants_to_be_notified) {
    int kicks = 0;
    const Notify notify{.state = &kicks, .call = [](void* count) { ++*static_cast<int*>(count); }};
    DriverRing loud{host::heap(), {.device = notify}};
    loud.kick();
    EXPECT_EQ(kicks, 0);
    ASSERT_TRUE(loud.start(ring).has_value());
    loud.kick();
    EXPECT_EQ(kicks, 1);
    ring.want_notifications(false);
    loud.kick();
    EXPECT_EQ(kicks, 1);
    ring.want_notifications(true);
    loud.kick();
    EXPECT_EQ(kicks, 2);
}

TEST_F(DriverRingOfEight, finds_what_completed_before_it_asked_to_be_told) {
    const std::uint16_t head = posted(1);
    EXPECT_FALSE(driver.want_notifications(false));
    EXPECT_FALSE(ring.interrupts_wanted());
    device.use({.id = head, .bytes = 16});
    EXPECT_TRUE(driver.want_notifications(true));
    EXPECT_TRUE(ring.interrupts_wanted());
    EXPECT_EQ(driver.next()->cookie, 1U);
    EXPECT_FALSE(driver.want_notifications(true));
}

TEST(DriverRing, refuses_a_ring_it_cannot_use) {
    testing::GuestRam ram{host::heap(), 64};
    const RingMemory good = ring_at(ram.bytes().data(), lay_out_ring(8));
    DriverRing driver{host::heap(), {}};
    for (const std::uint32_t size : {0U, 3U, 65536U}) {
        RingMemory bad = good;
        bad.size = size;
        EXPECT_EQ(driver.start(bad).error(), RingRefusal::bad_size);
    }
    DriverRing limited{host::heap(), {.chain_descriptors_max = 1}};
    EXPECT_EQ(limited.start(good).error(), RingRefusal::bad_chain_limit);
    EXPECT_FALSE(driver.next().has_value());
    EXPECT_FALSE(driver.want_notifications(true));
    EXPECT_EQ(driver.depth_max(), 0U);
}

TEST(DriverRing, takes_no_chain_before_it_is_started) {
    DriverRing driver{host::heap(), {}};
    std::byte byte{};
    const std::array pieces{Piece{.data = &byte, .size = 1}};
    EXPECT_EQ(driver.post(pieces, pieces, 1), Posted::broken);
    EXPECT_TRUE(driver.broken());
    driver.reset();
    EXPECT_TRUE(driver.broken());
}

TEST(DriverRing, says_so_when_there_is_no_memory_and_leaves_none_behind) {
    ::virtaccel::testing::CountingMemory memory{host::heap()};
    testing::GuestRam ram{host::heap(), 1};
    const RingMemory ring = ring_at(ram.bytes().data(), lay_out_ring(8));
    std::uint64_t refused = 0;
    for (bool done = false; !done; ++refused) {
        memory.refuse_after(refused);
        DriverRing driver{memory.memory(), {}};
        const auto started = driver.start(ring);
        done = started.has_value();
        if (!done) {
            EXPECT_EQ(started.error(), RingRefusal::out_of_memory);
            memory.refuse_nothing();
            EXPECT_TRUE(driver.start(ring).has_value());
        }
    }
    EXPECT_GT(refused, 1U);
    EXPECT_EQ(memory.live_blocks(), 0U);
}

using DriverRingDeathTest = DriverRingOfEight;

TEST_F(DriverRingDeathTest, stops_a_caller_that_breaks_the_contract) {
    const std::array good{Piece{.data = bytes.data(), .size = 16}};
    const std::array empty{Piece{.data = bytes.data(), .size = 0}};
    const std::array huge{Piece{.data = bytes.data(), .size = std::size_t{1} << 32U}};
    EXPECT_DEATH((void)driver.post({}, good, 1), "empty");
    EXPECT_DEATH((void)driver.post(good, {}, 1), "empty");
    EXPECT_DEATH((void)driver.post(good, empty, 1), "size");
    EXPECT_DEATH((void)driver.post(huge, good, 1), "size");
    EXPECT_DEATH((void)post(1, 3, 4), "chain_max");
    DriverRing mapped{host::heap(), {.addresses = AddressMap::of(ram.bytes(), 0)}};
    ASSERT_TRUE(mapped.start(ring).has_value());
    EXPECT_DEATH((void)mapped.post(good, good, 1), "fits");
}

}  // namespace
}  // namespace virtaccel::queue

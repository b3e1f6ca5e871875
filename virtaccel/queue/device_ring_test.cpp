#include "virtaccel/queue/device_ring.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/chains.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/queue/testing/ring_rig.h"

namespace virtaccel::queue {
namespace {

using testing::ChainFault;
using testing::ChainPlan;
using testing::Frame;
using testing::RingRig;

constexpr std::uint64_t request_bytes = 40;
constexpr std::uint64_t response_bytes = 92;

// A request of 0, 1, 2, ... and room for a response.
Frame counting_frame(RingRig& rig) {
    const Frame frame = rig.take_frame(request_bytes, response_bytes);
    std::uint8_t next = 0;
    std::ranges::generate(rig.ram.at(frame.request),
                          [&next] { return static_cast<std::byte>(next++); });
    return frame;
}

std::vector<std::byte> bytes_of(const PieceList& list) {
    std::vector<std::byte> bytes(list.bytes);
    EXPECT_TRUE(Reader{list}.copy_to(bytes.data(), bytes.size()));
    return bytes;
}

void answer(DeviceRing& device, const Chain& chain, std::uint8_t value, std::uint32_t bytes) {
    const std::vector<std::uint8_t> response(bytes, value);
    EXPECT_TRUE(Writer{chain.writable}.copy_from(response.data(), response.size()));
    EXPECT_TRUE(device.complete(chain.head, bytes));
}

// Pops one chain, expects the counting request in it and answers it with `bytes` bytes of 0x11.
void serve_counting(RingRig& rig, const Frame& frame, std::uint32_t bytes = response_bytes) {
    const auto chain = rig.device.pop();
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(chain->readable.bytes, request_bytes);
    EXPECT_EQ(chain->writable.bytes, response_bytes);
    const auto wanted = rig.ram.at(frame.request);
    EXPECT_TRUE(std::ranges::equal(bytes_of(chain->readable), wanted));
    answer(rig.device, *chain, 0x11, bytes);
    EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = chain->head, .bytes = bytes}));
    EXPECT_TRUE(rig.ram.holds({frame.response.offset, bytes}, 0x11));
    EXPECT_TRUE(rig.ram.holds({frame.response.offset + bytes, frame.response.bytes - bytes}, 0xa5));
    rig.ram.fill(frame.response, 0xa5);
}

// VQ-001
TEST(DeviceRing, takes_one_readable_and_one_writable_descriptor) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    EXPECT_FALSE(rig.device.pop().has_value());
    rig.offer(7, testing::whole(frame));
    serve_counting(rig, frame);
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_FALSE(rig.driver.next_used().has_value());
}

// VQ-002, VQ-003
TEST(DeviceRing, reads_the_same_request_however_it_is_cut) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    for (std::uint64_t cut = 1; cut < request_bytes; ++cut) {
        rig.offer(static_cast<std::uint16_t>(cut), testing::request_cut(frame, cut));
        serve_counting(rig, frame, 16);
    }
}

TEST(DeviceRing, writes_the_same_response_however_it_is_cut) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    for (std::uint64_t cut = 1; cut < response_bytes; ++cut) {
        rig.offer(static_cast<std::uint16_t>(cut), testing::response_cut(frame, cut));
        serve_counting(rig, frame, 24);
    }
}

TEST(DeviceRing, takes_descriptors_of_one_byte_up_to_the_limit) {
    RingRig rig{host::heap(), {.device = {.chain_descriptors_max = 32}}};
    const Frame frame = counting_frame(rig);
    rig.offer(60, testing::crumbled(frame, 15, 17));
    serve_counting(rig, frame, 24);
    rig.offer(0, testing::crumbled(frame, 16, 17));
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = 0}));
    EXPECT_TRUE(rig.ram.holds(frame.response, 0xa5));
}

TEST(DeviceRing, takes_no_more_descriptors_than_the_queue_has) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 256}}};
    const Frame frame = counting_frame(rig);
    rig.offer(3, testing::crumbled(frame, 4, 4));
    serve_counting(rig, frame);
}

// VQ-004, VQ-005, VQ-006
class BadChain : public ::testing::TestWithParam<ChainFault> {};

TEST_P(BadChain, is_completed_with_length_0_and_not_one_byte_written) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    rig.offer_bad(5, frame, GetParam());
    const auto before = rig.ram.bytes();
    std::vector<std::byte> copy(before.begin(), before.end());
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = 5, .bytes = 0}));
    EXPECT_FALSE(rig.driver.next_used().has_value());
    EXPECT_EQ(rig.device.outstanding(), 0U);
    EXPECT_FALSE(rig.device.complete(5, 0));
    // The used ring is the one place where memory may differ.
    const auto offset = static_cast<std::size_t>(rig.ring.used - before.data());
    std::memcpy(copy.data() + offset, rig.ring.used, used_bytes(rig.ring.size));
    EXPECT_EQ(std::memcmp(copy.data(), before.data(), copy.size()), 0);
}

// H1
TEST_P(BadChain, never_stops_the_good_ones) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 4}}};
    const Frame frame = counting_frame(rig);
    for (int i = 0; i < 100; ++i) {
        rig.offer_bad(0, frame, GetParam());
        rig.offer(6, testing::whole(frame));
        const auto chain = rig.device.pop();
        ASSERT_TRUE(chain.has_value());
        EXPECT_EQ(chain->head, 6);
        answer(rig.device, *chain, 0x22, response_bytes);
        EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = 0}));
        EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = 6, .bytes = response_bytes}));
    }
    EXPECT_FALSE(rig.device.broken());
    EXPECT_EQ(rig.device.malformed(), 100U);
}

INSTANTIATE_TEST_SUITE_P(EveryFault, BadChain, ::testing::ValuesIn(testing::chain_faults),
                         [](const auto& fault) { return std::string{name_of(fault.param)}; });

TEST(DeviceRing, takes_flags_that_virtio_does_not_assign) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    rig.driver.lay(0, testing::whole(frame).links());
    for (const std::uint16_t index : {std::uint16_t{0}, std::uint16_t{1}}) {
        rig.driver.change(index, [](Descriptor& descriptor) { descriptor.flags |= 0xfff8; });
    }
    rig.driver.offer(0);
    serve_counting(rig, frame);
}

TEST(DeviceRing, ignores_the_successor_of_a_last_descriptor) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    rig.driver.lay(0, testing::whole(frame).links());
    rig.driver.change(1, [](Descriptor& descriptor) { descriptor.next = 65535; });
    rig.driver.offer(0);
    serve_counting(rig, frame);
}

// What lies behind the table looks like a good descriptor.
TEST(DeviceRing, reads_no_descriptor_outside_the_table) {
    RingRig rig{host::heap(), {.size = 64, .device = {.chain_descriptors_max = 8}}};
    const Frame frame = counting_frame(rig);
    rig.offer(0, testing::whole(frame));
    rig.offer(8, testing::whole(frame));
    RingMemory half = rig.ring;
    half.size = 8;
    ASSERT_TRUE(rig.device.start(half).has_value());
    ASSERT_TRUE(rig.device.pop().has_value());
    rig.driver.make_empty();
    rig.device.reset();
    for (const std::uint16_t outside : {std::uint16_t{9}, std::uint16_t{8}}) {
        rig.driver.lay(0, testing::whole(frame).links());
        rig.driver.change(0, [outside](Descriptor& descriptor) { descriptor.next = outside; });
        rig.driver.offer(0);
        EXPECT_FALSE(rig.device.pop().has_value());
        EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = 0, .bytes = 0}));
    }
}

// H4: 16 descriptors of 4 GiB each sum past 32 bits, not past 64.
TEST(DeviceRing, sums_lengths_without_wrapping) {
    MemoryMap map = MemoryMap::identity();
    const RingLayout layout = lay_out_ring(16);
    testing::GuestRam ram{host::heap(), 1};
    const RingMemory ring = ring_at(ram.bytes().data(), layout);
    DeviceRing device{host::heap(), map, {}};
    ASSERT_TRUE(device.start(ring).has_value());
    testing::RawDriver driver{ring};
    ChainPlan plan;
    for (int i = 0; i < 16; ++i) {
        plan.add({.address = 4096,
                  .bytes = 0xffffffff,
                  .flags = i < 8 ? std::uint16_t{0} : descriptor_write});
    }
    driver.offer(driver.lay(0, plan.links()));
    const auto chain = device.pop();
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(chain->readable.bytes, 8 * std::uint64_t{0xffffffff});
    EXPECT_EQ(chain->writable.bytes, 8 * std::uint64_t{0xffffffff});
}

TEST(DeviceRing, makes_several_pieces_of_a_descriptor_that_crosses_regions) {
    RingRig rig{host::heap()};
    testing::GuestRam more{host::heap(), 1, rig.ram.end()};
    ASSERT_TRUE(rig.map.add(more.region()).has_value());
    const std::uint64_t border = rig.ram.end();
    more.fill({border, 4}, 0x44);
    ChainPlan plan;
    plan.readable({border - 4, 8});
    plan.writable({border - 100, 200});
    plan.writable({border - 1, 2});
    rig.offer(0, plan);
    const auto chain = rig.device.pop();
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(chain->readable.pieces.size(), 2U);
    EXPECT_EQ(chain->writable.pieces.size(), 4U);
    EXPECT_EQ(chain->writable.bytes, 202U);
    EXPECT_EQ(bytes_of(chain->readable).back(), std::byte{0x44});
    answer(rig.device, *chain, 0x33, 150);
    EXPECT_TRUE(rig.ram.holds({border - 100, 100}, 0x33));
    EXPECT_TRUE(more.holds({border, 50}, 0x33));
    EXPECT_TRUE(more.holds({border + 50, 50}, 0));
}

TEST(DeviceRing, has_room_for_a_chain_whose_every_descriptor_crosses_regions) {
    RingRig rig{host::heap(), {.device = {.chain_descriptors_max = 4}}};
    testing::GuestRam second{host::heap(), 1, rig.ram.end()};
    testing::GuestRam third{host::heap(), 1, second.end()};
    testing::GuestRam fourth{host::heap(), 1, third.end()};
    for (testing::GuestRam* const ram : {&second, &third, &fourth}) {
        ASSERT_TRUE(rig.map.add(ram->region()).has_value());
    }
    const ByteRange across{.offset = second.address() - 8, .bytes = 2 * 4096 + 16};
    ChainPlan plan;
    plan.readable(across);
    plan.readable(across);
    plan.writable(across);
    plan.writable(across);
    rig.offer(0, plan);
    const auto chain = rig.device.pop();
    ASSERT_TRUE(chain.has_value());
    EXPECT_EQ(chain->readable.pieces.size(), 8U);
    EXPECT_EQ(chain->writable.pieces.size(), 8U);
    EXPECT_EQ(bytes_of(chain->readable).size(), 2 * across.bytes);
}

// H2 (a)
TEST(DeviceRing, stops_for_the_epoch_when_the_available_index_jumps) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 8}}};
    const Frame frame = counting_frame(rig);
    for (const std::uint16_t jump :
         {std::uint16_t{9}, std::uint16_t{40000}, std::uint16_t{65535}}) {
        rig.offer(0, testing::whole(frame));
        serve_counting(rig, frame);
        rig.ring.publish_available_index(
            static_cast<std::uint16_t>(rig.ring.available_index() + jump));
        EXPECT_FALSE(rig.device.pop().has_value());
        EXPECT_TRUE(rig.device.broken());
        // Nothing to do, and nobody is asked to come back for more.
        EXPECT_FALSE(rig.device.want_notifications(true));
        EXPECT_FALSE(rig.device.pop().has_value());
        EXPECT_FALSE(rig.driver.next_used().has_value());
        // Taking it back does not help.
        rig.ring.publish_available_index(1);
        rig.offer(0, testing::whole(frame));
        EXPECT_FALSE(rig.device.pop().has_value());
        rig.device.reset();
        rig.driver.make_empty();
        EXPECT_FALSE(rig.device.broken());
    }
}

TEST(DeviceRing, takes_as_many_chains_at_once_as_the_queue_has_descriptors) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 8}}};
    const Frame frame = counting_frame(rig);
    // One chain a descriptor cannot be well formed, so all eight are bad; none breaks the ring.
    for (std::uint16_t head = 0; head < 8; ++head) {
        rig.driver.lay(head,
                       std::array{testing::Link{.address = frame.request.offset, .bytes = 1}});
    }
    for (std::uint16_t head = 0; head < 8; ++head) {
        rig.driver.offer(head);
    }
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_FALSE(rig.device.broken());
    EXPECT_EQ(rig.device.malformed(), 8U);
}

// H2 (b)
TEST(DeviceRing, passes_over_available_entries_outside_the_table) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 8}}};
    const Frame frame = counting_frame(rig);
    for (const std::uint16_t entry : {std::uint16_t{8}, std::uint16_t{255}, std::uint16_t{65535}}) {
        rig.driver.offer(entry);
        EXPECT_FALSE(rig.device.pop().has_value());
        EXPECT_FALSE(rig.driver.next_used().has_value());
        EXPECT_FALSE(rig.device.want_notifications(true));
        rig.driver.offer(entry);
        rig.offer(2, testing::whole(frame));
        serve_counting(rig, frame);
    }
    EXPECT_EQ(rig.device.ignored(), 6U);
    EXPECT_FALSE(rig.device.broken());
}

TEST(DeviceRing, refuses_a_head_that_is_outstanding) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    rig.offer(4, testing::whole(frame));
    const auto chain = rig.device.pop();
    ASSERT_TRUE(chain.has_value());
    rig.driver.offer(4);
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_EQ(rig.device.outstanding(), 1U);
    EXPECT_EQ(rig.device.ignored(), 1U);
    EXPECT_FALSE(rig.driver.next_used().has_value());
    answer(rig.device, *chain, 0x11, 16);
    EXPECT_TRUE(rig.driver.next_used().has_value());
    EXPECT_FALSE(rig.driver.next_used().has_value());
    rig.driver.offer(4);
    EXPECT_TRUE(rig.device.pop().has_value());
}

TEST(DeviceRing, completes_in_any_order_and_each_head_once) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    std::vector<std::uint16_t> heads;
    for (std::uint16_t first = 0; first < 8; first += 2) {
        rig.offer(first, testing::whole(frame));
        const auto chain = rig.device.pop();
        ASSERT_TRUE(chain.has_value());
        heads.push_back(chain->head);
    }
    for (const std::size_t which : {2U, 0U, 3U, 1U}) {
        EXPECT_TRUE(rig.device.complete(heads[which], 16));
        EXPECT_FALSE(rig.device.complete(heads[which], 16));
        EXPECT_EQ(rig.driver.next_used(), (UsedEntry{.id = heads[which], .bytes = 16}));
    }
    EXPECT_FALSE(rig.driver.next_used().has_value());
    EXPECT_FALSE(rig.device.complete(1, 16));
    EXPECT_FALSE(rig.device.complete(65535, 16));
}

// VQ-018
TEST(DeviceRing, lets_nothing_of_an_old_epoch_be_read_written_or_completed) {
    for (const bool stop : {false, true}) {
        RingRig rig{host::heap()};
        const Frame frame = counting_frame(rig);
        rig.offer(4, testing::whole(frame));
        auto chain = rig.device.pop();
        ASSERT_TRUE(chain.has_value());
        Writer half{chain->writable};
        EXPECT_TRUE(half.copy_from("ab", 2));
        if (stop) {
            rig.device.stop();
        } else {
            rig.device.reset();
        }
        rig.ram.fill(frame.response, 0xa5);
        std::byte byte{};
        EXPECT_FALSE(Reader{chain->readable}.copy_to(&byte, 1));
        EXPECT_FALSE(Writer{chain->writable}.copy_from(&byte, 1));
        EXPECT_FALSE(half.copy_from(&byte, 1));
        EXPECT_TRUE(rig.ram.holds(frame.response, 0xa5));
        EXPECT_FALSE(rig.device.complete(chain->head, 16));
        EXPECT_EQ(rig.ring.used_index(), 0);
        EXPECT_EQ(rig.device.outstanding(), 0U);
    }
}

TEST(DeviceRing, starts_an_epoch_empty_on_the_same_memory) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    rig.offer(0, testing::whole(frame));
    serve_counting(rig, frame);
    rig.offer(2, testing::whole(frame));
    ASSERT_TRUE(rig.device.pop().has_value());
    rig.device.want_notifications(false);
    rig.device.reset();
    EXPECT_TRUE(rig.ring.notifications_wanted());
    EXPECT_EQ(rig.ring.used_index(), 0);
    rig.driver.make_empty();
    EXPECT_FALSE(rig.device.pop().has_value());
    rig.offer(2, testing::whole(frame));
    serve_counting(rig, frame);
}

// H11, as far as the ring goes
TEST(DeviceRing, goes_on_where_it_stopped) {
    RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 8}}};
    const Frame frame = counting_frame(rig);
    for (int i = 0; i < 5; ++i) {
        rig.offer(0, testing::whole(frame));
        serve_counting(rig, frame);
    }
    EXPECT_EQ(rig.device.stop(), 5);
    EXPECT_EQ(rig.device.stop(), 5);
    rig.offer(0, testing::whole(frame));
    EXPECT_FALSE(rig.device.pop().has_value());
    EXPECT_FALSE(rig.driver.next_used().has_value());
    EXPECT_FALSE(rig.device.want_notifications(true));
    rig.device.flush();
    rig.device.reset();
    EXPECT_FALSE(rig.device.pop().has_value());
    ASSERT_TRUE(rig.device.start(rig.ring, 5).has_value());
    serve_counting(rig, frame);
    EXPECT_EQ(rig.device.stop(), 6);
    rig.driver.make_empty();
    ASSERT_TRUE(rig.device.start(rig.ring, 0).has_value());
    rig.offer(0, testing::whole(frame));
    serve_counting(rig, frame);
}

TEST(DeviceRing, refuses_a_ring_it_cannot_use_and_says_why) {
    testing::GuestRam ram{host::heap(), 64};
    MemoryMap map{host::heap(), 1};
    ASSERT_TRUE(map.add(ram.region()).has_value());
    DeviceRing device{host::heap(), map, {}};
    const RingMemory good = ring_at(ram.bytes().data(), lay_out_ring(8));
    for (const std::uint32_t size : {0U, 3U, 65536U}) {
        RingMemory bad = good;
        bad.size = size;
        EXPECT_EQ(device.start(bad).error(), RingRefusal::bad_size);
    }
    RingMemory bad = good;
    bad.descriptors += 8;
    EXPECT_EQ(device.start(bad).error(), RingRefusal::misaligned);
    bad = good;
    bad.used = nullptr;
    EXPECT_EQ(device.start(bad).error(), RingRefusal::outside_memory);
    EXPECT_FALSE(device.pop().has_value());
    EXPECT_FALSE(device.complete(0, 0));
    for (const std::uint32_t limit : {0U, 1U, 32769U}) {
        DeviceRing limited{host::heap(), map, {.chain_descriptors_max = limit}};
        EXPECT_EQ(limited.start(good).error(), RingRefusal::bad_chain_limit);
    }
    EXPECT_TRUE(device.start(good).has_value());
}

TEST(DeviceRing, finds_a_ring_only_inside_the_guests_memory) {
    testing::GuestRam ram{host::heap(), 1};
    MemoryMap map{host::heap(), 1};
    ASSERT_TRUE(map.add(ram.region()).has_value());
    const RingPlacement good = place_ring(lay_out_ring(8), ram.address());
    EXPECT_TRUE(find_ring(map, good).has_value());
    RingPlacement bad = good;
    bad.descriptors = ram.end() - 16;
    EXPECT_EQ(find_ring(map, bad).error(), RingRefusal::outside_memory);
    bad = good;
    bad.available = ram.end();
    EXPECT_EQ(find_ring(map, bad).error(), RingRefusal::outside_memory);
    bad = good;
    bad.used = ram.end() - 8;
    EXPECT_EQ(find_ring(map, bad).error(), RingRefusal::outside_memory);
    bad = good;
    bad.size = 3;
    EXPECT_EQ(find_ring(map, bad).error(), RingRefusal::bad_size);
}

TEST(DeviceRing, says_so_when_there_is_no_memory_and_leaves_none_behind) {
    ::virtaccel::testing::CountingMemory memory{host::heap()};
    testing::GuestRam ram{host::heap(), 1};
    const RingMemory ring = ring_at(ram.bytes().data(), lay_out_ring(8));
    std::uint64_t refused = 0;
    for (bool done = false; !done; ++refused) {
        memory.refuse_after(refused);
        MemoryMap map = MemoryMap::identity();
        DeviceRing device{memory.memory(), map, {}};
        const auto started = device.start(ring);
        done = started.has_value();
        if (!done) {
            EXPECT_EQ(started.error(), RingRefusal::out_of_memory);
            EXPECT_FALSE(device.pop().has_value());
            memory.refuse_nothing();
            EXPECT_TRUE(device.start(ring).has_value());
        }
    }
    EXPECT_GT(refused, 1U);
    EXPECT_EQ(memory.live_blocks(), 0U);
}

struct Bell {
    int rung = 0;
    Notify notify{.state = &rung, .call = [](void* count) { ++*static_cast<int*>(count); }};
};

// VQ-017
TEST(DeviceRing, tells_the_driver_once_a_flush_and_only_if_it_wants_to_know) {
    Bell bell;
    RingRig rig{host::heap(), {.device = {.chain_descriptors_max = 16, .driver = bell.notify}}};
    const Frame frame = counting_frame(rig);
    rig.device.flush();
    EXPECT_EQ(bell.rung, 0);
    for (std::uint16_t first = 0; first < 6; first += 2) {
        rig.offer(first, testing::whole(frame));
        serve_counting(rig, frame);
    }
    EXPECT_EQ(bell.rung, 0);
    rig.device.flush();
    rig.device.flush();
    EXPECT_EQ(bell.rung, 1);
    rig.ring.want_interrupts(false);
    rig.offer(0, testing::whole(frame));
    serve_counting(rig, frame);
    rig.device.flush();
    EXPECT_EQ(bell.rung, 1);
    rig.ring.want_interrupts(true);
    rig.device.flush();
    EXPECT_EQ(bell.rung, 1);
}

TEST(DeviceRing, tells_the_driver_of_malformed_chains_too) {
    Bell bell;
    RingRig rig{host::heap(), {.device = {.chain_descriptors_max = 16, .driver = bell.notify}}};
    const Frame frame = counting_frame(rig);
    rig.offer_bad(0, frame, ChainFault::no_writable);
    EXPECT_FALSE(rig.device.pop().has_value());
    rig.device.flush();
    EXPECT_EQ(bell.rung, 1);
}

TEST(DeviceRing, finds_what_arrived_before_it_asked_to_be_notified) {
    RingRig rig{host::heap()};
    const Frame frame = counting_frame(rig);
    EXPECT_FALSE(rig.device.want_notifications(false));
    EXPECT_FALSE(rig.ring.notifications_wanted());
    rig.offer(0, testing::whole(frame));
    EXPECT_TRUE(rig.device.want_notifications(true));
    EXPECT_TRUE(rig.ring.notifications_wanted());
    serve_counting(rig, frame);
    EXPECT_FALSE(rig.device.want_notifications(true));
}

}  // namespace
}  // namespace virtaccel::queue

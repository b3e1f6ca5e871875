// Both ends of a split ring together: one thread, then two.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/queue/testing/ring_rig.h"

namespace virtaccel::queue {
namespace {

// Both ends on one ring; frames lie behind it.
struct BothEnds {
    BothEnds(const Memory& memory, std::uint32_t size, RingThreads threads, Notify to_device = {},
             Notify to_driver = {})
        : ram(host::heap(), 64),
          map(host::heap(), 1),
          device(memory, map, {.threads = threads, .driver = to_driver}),
          driver(memory, {.threads = threads,
                          .addresses = AddressMap::of(ram.bytes(), ram.address()),
                          .device = to_device}) {
        const RingLayout layout = lay_out_ring(size, 64);
        const auto place = ram.take(layout.bytes, 64);
        EXPECT_TRUE(map.add(ram.region()).has_value());
        const auto ring = find_ring(map, place_ring(layout, place.offset));
        EXPECT_TRUE(driver.start(ring.value()).has_value());
        EXPECT_TRUE(device.start(ring.value()).has_value());
    }

    testing::GuestRam ram;
    MemoryMap map;
    DeviceRing device;
    DriverRing driver;
};

// A device's work: twice the number in the request.
void serve(DeviceRing& device, const Chain& chain) {
    std::uint64_t number = 0;
    EXPECT_TRUE(Reader{chain.readable}.copy_to(&number, sizeof number));
    number *= 2;
    EXPECT_TRUE(Writer{chain.writable}.copy_from(&number, sizeof number));
    EXPECT_TRUE(device.complete(chain.head, sizeof number));
}

struct Slot {
    std::uint64_t request;
    std::uint64_t response;
};

Posted post(DriverRing& driver, Slot& slot, std::uint64_t cookie) {
    const std::array readable{
        Piece{.data = reinterpret_cast<std::byte*>(&slot.request), .size = sizeof slot.request}};
    const std::array writable{
        Piece{.data = reinterpret_cast<std::byte*>(&slot.response), .size = sizeof slot.response}};
    return driver.post(readable, writable, cookie);
}

std::span<Slot> take_slots(testing::GuestRam& ram, std::size_t count) {
    const auto range = ram.take(count * sizeof(Slot), alignof(Slot));
    return {reinterpret_cast<Slot*>(ram.at(range).data()), count};
}

// H2 (d)
TEST(SplitRing, answers_70000_requests_on_a_queue_of_8) {
    BothEnds ends{host::heap(), 8, RingThreads::one};
    Slot& slot = take_slots(ends.ram, 1)[0];
    for (std::uint64_t i = 0; i < 70000; ++i) {
        slot.request = i;
        ASSERT_EQ(post(ends.driver, slot, i), Posted::ok);
        const auto chain = ends.device.pop();
        ASSERT_TRUE(chain.has_value());
        serve(ends.device, *chain);
        const auto completion = ends.driver.next();
        ASSERT_TRUE(completion.has_value());
        ASSERT_EQ(completion->cookie, i);
        ASSERT_EQ(completion->used_bytes, sizeof slot.response);
        ASSERT_EQ(slot.response, 2 * i);
    }
    EXPECT_FALSE(ends.driver.broken());
    EXPECT_FALSE(ends.device.broken());
}

TEST(SplitRing, answers_full_batches_on_the_largest_queue_without_allocating) {
    ::virtaccel::testing::CountingMemory memory{host::heap()};
    testing::GuestRam ram{host::heap(), 256};
    const RingLayout layout = lay_out_ring(ring_size_max, 64);
    const RingMemory ring = ring_at(ram.bytes().data(), layout);
    MemoryMap map = MemoryMap::identity();
    DeviceRing device{memory.memory(), map, {.threads = RingThreads::one}};
    DriverRing driver{memory.memory(), {.threads = RingThreads::one}};
    ASSERT_TRUE(driver.start(ring).has_value());
    ASSERT_TRUE(device.start(ring).has_value());
    const std::uint64_t granted = memory.granted();
    std::vector<Slot> slots(driver.depth_max());
    for (int round = 0; round < 6; ++round) {
        for (std::uint64_t i = 0; i < slots.size(); ++i) {
            slots[i] = {.request = i + 1, .response = 0};
            ASSERT_EQ(post(driver, slots[i], i), Posted::ok);
        }
        ASSERT_EQ(post(driver, slots[0], 0), Posted::full);
        while (const auto chain = device.pop()) {
            serve(device, *chain);
        }
        std::uint64_t answered = 0;
        while (const auto completion = driver.next()) {
            ASSERT_EQ(slots[completion->cookie].response, 2 * (completion->cookie + 1));
            ++answered;
        }
        ASSERT_EQ(answered, slots.size());
    }
    EXPECT_EQ(memory.granted(), granted);
}

// VQ-014 at ring level, with every chain in flight at once.
TEST(SplitRing, keeps_cookies_when_completions_are_out_of_order) {
    BothEnds ends{host::heap(), 64, RingThreads::one};
    const std::span<Slot> slots = take_slots(ends.ram, 32);
    for (std::uint64_t round = 0; round < 100; ++round) {
        std::vector<std::uint16_t> heads;
        for (std::uint64_t i = 0; i < slots.size(); ++i) {
            slots[i] = {.request = i, .response = 0};
            ASSERT_EQ(post(ends.driver, slots[i], i), Posted::ok);
        }
        while (const auto chain = ends.device.pop()) {
            heads.push_back(chain->head);
        }
        ASSERT_EQ(heads.size(), slots.size());
        // 11 has no common factor with 32, so each is visited once.
        for (std::uint64_t i = 0; i < heads.size(); ++i) {
            const auto which = (i * 11 + round) % heads.size();
            ASSERT_TRUE(ends.device.complete(heads[which], static_cast<std::uint32_t>(i % 9)));
            const auto completion = ends.driver.next();
            ASSERT_TRUE(completion.has_value());
            ASSERT_EQ(completion->cookie, which);
            ASSERT_EQ(completion->used_bytes, i % 9);
        }
    }
}

// A flag that one thread raises and another waits for.
class Alarm {
  public:
    [[nodiscard]] Notify notify() {
        return {.state = this, .call = [](void* self) { static_cast<Alarm*>(self)->raise(); }};
    }

    void raise() {
        raised_.store(true, std::memory_order_release);
        raised_.notify_one();
    }

    void wait() {
        raised_.wait(false, std::memory_order_acquire);
        raised_.store(false, std::memory_order_relaxed);
    }

  private:
    std::atomic<bool> raised_ = false;
};

// VQ-017: both sides sleep when they find nothing, so one lost notification hangs the test.
TEST(SplitRing, loses_no_work_between_two_threads_that_sleep) {
    constexpr std::uint64_t requests = 10000;
    Alarm to_device;
    Alarm to_driver;
    BothEnds ends{host::heap(), 16, RingThreads::two, to_device.notify(), to_driver.notify()};
    const std::span<Slot> slots = take_slots(ends.ram, 8);
    std::thread device_thread{[&ends, &to_device] {
        std::uint64_t served = 0;
        while (served < requests) {
            ends.device.want_notifications(false);
            while (const auto chain = ends.device.pop()) {
                serve(ends.device, *chain);
                ++served;
            }
            ends.device.flush();
            if (served < requests && !ends.device.want_notifications(true)) {
                to_device.wait();
            }
        }
    }};
    std::vector<std::uint64_t> free{0, 1, 2, 3, 4, 5, 6, 7};
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    while (completed < requests) {
        ends.driver.want_notifications(false);
        while (posted < requests && !free.empty()) {
            slots[free.back()].request = posted++;
            ASSERT_EQ(post(ends.driver, slots[free.back()], free.back()), Posted::ok);
            free.pop_back();
        }
        ends.driver.kick();
        bool found = false;
        while (const auto completion = ends.driver.next()) {
            const Slot& slot = slots[completion->cookie];
            ASSERT_EQ(slot.response, 2 * slot.request);
            free.push_back(completion->cookie);
            ++completed;
            found = true;
        }
        if (!found && completed < requests && !ends.driver.want_notifications(true)) {
            to_driver.wait();
        }
    }
    device_thread.join();
    EXPECT_FALSE(ends.driver.broken());
    EXPECT_FALSE(ends.device.broken());
    EXPECT_EQ(ends.driver.in_flight(), 0U);
}

// H2: a driver that refills the ring as fast as the device empties it does not keep one `pop` busy.
TEST(SplitRing, ends_a_pass_after_as_many_heads_as_the_queue_has) {
    constexpr std::uint64_t chains = 5000;
    testing::RingRig rig{host::heap(), {.size = 8, .device = {.chain_descriptors_max = 8}}};
    for (std::uint16_t head = 0; head < 8; ++head) {
        rig.driver.lay(head, std::array{testing::Link{.address = rig.ram.address(), .bytes = 1}});
    }
    std::thread driver_thread{[&rig] {
        std::uint64_t offered = 0;
        std::uint64_t used = 0;
        while (used < chains) {
            while (rig.driver.next_used()) {
                ++used;
            }
            while (offered < chains && offered - used < 8) {
                rig.driver.offer(static_cast<std::uint16_t>(offered++ % 8));
            }
            std::this_thread::yield();
        }
    }};
    while (rig.device.malformed() < chains) {
        const std::uint64_t before = rig.device.malformed();
        EXPECT_FALSE(rig.device.pop().has_value());
        EXPECT_LE(rig.device.malformed() - before, 8U);
        std::this_thread::yield();
    }
    driver_thread.join();
    EXPECT_FALSE(rig.device.broken());
}

}  // namespace
}  // namespace virtaccel::queue

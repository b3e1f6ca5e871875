#pragma once
// A guest's memory with a ring in it, a device's end on that ring and a driver without manners:
// what a test of anything behind a queue starts from. The one thing to know: the memory ends right
// behind the last page, so addresses from `surroundings().ram_end` on are a hole.

#include <cstddef>
#include <cstdint>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/chains.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace virtaccel::queue::testing {

struct RingRigOptions {
    std::uint32_t size = 64;
    std::size_t pages = 64;
    DeviceRingOptions device = {.chain_descriptors_max = 16};
};

struct RingRig {
    explicit RingRig(const Memory& memory, const RingRigOptions& options = {})
        : layout(lay_out_ring(options.size)),
          ram(memory, options.pages),
          map(memory, 4),
          ring(place(layout, ram, map)),
          device(memory, map, options.device),
          driver(ring),
          chain_descriptors_max(options.device.chain_descriptors_max) {
        VIRTACCEL_CHECK(device.start(ring).has_value());
    }

    RingRig(const RingRig&) = delete;
    RingRig& operator=(const RingRig&) = delete;
    ~RingRig() = default;

    // Room for a request and a response, the response filled with 0xA5.
    [[nodiscard]] Frame take_frame(std::uint64_t request_bytes, std::uint64_t response_bytes) {
        const Frame frame{.request = ram.take(request_bytes), .response = ram.take(response_bytes)};
        ram.fill(frame.response, 0xa5);
        return frame;
    }

    // Lays and offers a good chain.
    void offer(std::uint16_t first, const ChainPlan& plan) {
        driver.offer(driver.lay(first, plan.links()));
    }

    // Lays and offers a bad one.
    void offer_bad(std::uint16_t first, const Frame& frame, ChainFault fault) {
        driver.offer(lay_bad_chain(driver, first, frame, fault, surroundings()));
    }

    [[nodiscard]] Surroundings surroundings() const {
        return {.ram_end = ram.end(), .chain_descriptors_max = chain_descriptors_max};
    }

    RingLayout layout;
    GuestRam ram;
    MemoryMap map;
    RingMemory ring;
    DeviceRing device;
    RawDriver driver;
    std::uint32_t chain_descriptors_max;

  private:
    static RingMemory place(const RingLayout& layout, GuestRam& ram, MemoryMap& map) {
        VIRTACCEL_CHECK(map.add(ram.region()).has_value());
        const ByteRange range = ram.take(layout.bytes, descriptors_alignment);
        const auto found = find_ring(map, place_ring(layout, range.offset));
        VIRTACCEL_CHECK(found.has_value());
        return *found;
    }
};

}  // namespace virtaccel::queue::testing

// A hostile driver against the device's end: whatever it writes into the ring, every chain that is
// popped lies in guest memory, heads complete once, and work is bounded.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/choices.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/ring_rig.h"

namespace {

using virtaccel::PieceList;
using virtaccel::Reader;
using virtaccel::Writer;
using virtaccel::queue::Chain;
using virtaccel::queue::testing::Choices;
using virtaccel::queue::testing::GuestRam;
using virtaccel::queue::testing::RingRig;

constexpr std::uint32_t size = 16;
constexpr std::uint32_t chain_max = 8;

class Fuzz {
  public:
    explicit Fuzz(Choices choices) : choices_(choices) {
        VIRTACCEL_CHECK(rig_.map.add(more_.region()).has_value());
    }

    void run() {
        while (!choices_.done()) {
            step();
        }
    }

  private:
    void step() {
        switch (choices_.byte() % 7) {
            case 0:
                return rig_.ring.store_descriptor(
                    choices_.byte() % size,
                    {.address = address(),
                     .bytes =
                         static_cast<std::uint32_t>(choices_.number(1U << choices_.byte() % 3U)),
                     .flags = static_cast<std::uint16_t>(choices_.byte() % 8U),
                     .next = static_cast<std::uint16_t>(choices_.byte() % (size + 2))});
            case 1:
                return rig_.driver.offer(static_cast<std::uint16_t>(choices_.byte() % (size + 2)));
            case 2:
                return rig_.ring.publish_available_index(
                    static_cast<std::uint16_t>(choices_.number(2)));
            case 3:
                return complete(static_cast<std::uint16_t>(choices_.byte() % (size + 2)));
            case 4:
                return reset();
            default:
                return pop();
        }
    }

    // Near the borders of the memory, where it is interesting.
    std::uint64_t address() {
        const std::array<std::uint64_t, 4> bases{rig_.ram.address(), rig_.ram.end(), more_.end(),
                                                 0};
        return bases.at(choices_.byte() % bases.size()) + choices_.byte() - 128;
    }

    void pop() {
        const std::uint16_t used = rig_.ring.used_index();
        const std::uint64_t malformed = rig_.device.malformed();
        const auto chain = rig_.device.pop();
        VIRTACCEL_CHECK(rig_.device.malformed() - malformed <= size);
        if (chain) {
            VIRTACCEL_CHECK(chain->head < size && !outstanding_.at(chain->head));
            outstanding_.at(chain->head) = true;
            touch(*chain);
        }
        // A write may have hit the ring itself, so only an untouched index tells something.
        if (!chain) {
            VIRTACCEL_CHECK(static_cast<std::uint16_t>(rig_.ring.used_index() - used) <= size);
        }
    }

    void touch(const Chain& chain) {
        VIRTACCEL_CHECK(chain.readable.bytes != 0 && chain.writable.bytes != 0);
        inside(chain.readable);
        inside(chain.writable);
        std::array<std::byte, 64> bytes{};
        Reader reader{chain.readable};
        while (reader.remaining() != 0) {
            const auto part = std::min<std::uint64_t>(reader.remaining(), bytes.size());
            VIRTACCEL_CHECK(reader.copy_to(bytes.data(), part));
        }
        Writer writer{chain.writable};
        while (writer.remaining() != 0) {
            const auto part = std::min<std::uint64_t>(writer.remaining(), bytes.size());
            VIRTACCEL_CHECK(writer.copy_from(bytes.data(), part));
        }
    }

    void inside(const PieceList& list) {
        std::uint64_t bytes = 0;
        VIRTACCEL_CHECK(list.pieces.size() <= chain_max * rig_.map.pieces_max());
        for (const virtaccel::Piece& piece : list.pieces) {
            bytes += piece.size;
            VIRTACCEL_CHECK(piece.size != 0);
            VIRTACCEL_CHECK(lies_in(piece, rig_.ram) || lies_in(piece, more_));
        }
        VIRTACCEL_CHECK(bytes == list.bytes);
    }

    static bool lies_in(const virtaccel::Piece& piece, GuestRam& ram) {
        const std::span<std::byte> all = ram.bytes();
        return piece.data >= all.data() && piece.data < all.data() + all.size() &&
               piece.size <= static_cast<std::size_t>(all.data() + all.size() - piece.data);
    }

    void complete(std::uint16_t head) {
        const bool expected = head < size && outstanding_.at(head);
        VIRTACCEL_CHECK(rig_.device.complete(head, 16) == expected);
        if (expected) {
            outstanding_.at(head) = false;
        }
        rig_.device.flush();
    }

    void reset() {
        rig_.driver.make_empty();
        rig_.device.reset();
        outstanding_ = {};
        VIRTACCEL_CHECK(!rig_.device.broken() && rig_.device.outstanding() == 0);
    }

    Choices choices_;
    RingRig rig_{virtaccel::host::heap(),
                 {.size = size, .pages = 1, .device = {.chain_descriptors_max = chain_max}}};
    GuestRam more_{virtaccel::host::heap(), 1, rig_.ram.end()};
    std::array<bool, size> outstanding_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Fuzz{Choices{{data, bytes}}}.run();
    return 0;
}

// A hostile driver against the device's end: whatever it writes into the ring, also between any two
// of the device's looks at it, every chain that is popped lies in guest memory, heads complete
// once, and work is bounded.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/meddling.h"
#include "virtaccel/queue/testing/ring_rig.h"

namespace {

using virtaccel::PieceList;
using virtaccel::Reader;
using virtaccel::Writer;
using virtaccel::queue::Chain;
using virtaccel::queue::testing::GuestRam;
using virtaccel::queue::testing::Meddling;
using virtaccel::queue::testing::RingRig;
using virtaccel::testing::Choices;

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
        const std::uint8_t choice = choices_.byte();
        meddles_ = choice >= 0x80;
        switch (choice % 0x80 % 9) {
            case 0:
                return rig_.ring.store_descriptor(
                    choices_.below(size),
                    {.address = address(),
                     .bytes = static_cast<std::uint32_t>(choices_.number(1U << choices_.below(3))),
                     .flags = static_cast<std::uint16_t>(choices_.below(8)),
                     .next = static_cast<std::uint16_t>(choices_.below(size + 2))});
            case 1:
                return rig_.driver.offer(static_cast<std::uint16_t>(choices_.below(size + 2)));
            case 2:
                return rig_.ring.publish_available_index(
                    static_cast<std::uint16_t>(choices_.number(2)));
            case 3:
                return complete(static_cast<std::uint16_t>(choices_.below(size + 2)));
            case 4:
                return reset();
            case 5:
                return restart();
            case 6:
                return ask_for_notifications();
            default:
                return pop();
        }
    }

    // A call of the device's end, meanwhile meddled with if this step is to be.
    template <class Call>
    auto with_meddling(Call call) {
        std::optional<Meddling> meddling;
        if (meddles_) {
            meddling.emplace(choices_, rig_.ram.bytes());
        }
        return call();
    }

    // Near the borders of the memory, where it is interesting.
    std::uint64_t address() {
        const std::array<std::uint64_t, 4> bases{rig_.ram.address(), rig_.ram.end(), more_.end(),
                                                 0};
        return bases.at(choices_.below(bases.size())) + choices_.byte() - 128;
    }

    void pop() {
        const std::uint64_t before = rig_.device.malformed() + rig_.device.ignored();
        const auto chain = with_meddling([&] { return rig_.device.pop(); });
        VIRTACCEL_CHECK(rig_.device.malformed() + rig_.device.ignored() - before <= size);
        if (chain) {
            VIRTACCEL_CHECK(chain->head < size && !outstanding_.at(chain->head));
            outstanding_.at(chain->head) = true;
            touch(*chain);
        }
        VIRTACCEL_CHECK(rig_.device.outstanding() ==
                        static_cast<std::uint32_t>(std::ranges::count(outstanding_, true)));
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
        with_meddling([&] { rig_.device.flush(); });
    }

    void ask_for_notifications() {
        const bool wanted = choices_.one_in(2);
        const bool arrived = with_meddling([&] { return rig_.device.want_notifications(wanted); });
        VIRTACCEL_CHECK(wanted || !arrived);
        VIRTACCEL_CHECK(!arrived || !rig_.device.broken());
    }

    void reset() {
        rig_.driver.make_empty();
        rig_.device.reset();
        end_epoch();
    }

    // As a transport does that stops a ring and goes on with it later, or somewhere else.
    void restart() {
        const auto next = rig_.device.stop();
        VIRTACCEL_CHECK(!rig_.device.pop() && !rig_.device.complete(0, 16));
        const auto from =
            choices_.one_in(4) ? static_cast<std::uint16_t>(choices_.number(2)) : next;
        VIRTACCEL_CHECK(
            with_meddling([&] { return rig_.device.start(rig_.ring, from); }).has_value());
        end_epoch();
    }

    void end_epoch() {
        outstanding_ = {};
        VIRTACCEL_CHECK(!rig_.device.broken() && rig_.device.outstanding() == 0);
    }

    Choices choices_;
    RingRig rig_{virtaccel::host::heap(),
                 {.size = size, .pages = 1, .device = {.chain_descriptors_max = chain_max}}};
    GuestRam more_{virtaccel::host::heap(), 1, rig_.ram.end()};
    std::array<bool, size> outstanding_{};
    bool meddles_ = false;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Fuzz{Choices{{data, bytes}}}.run();
    return 0;
}

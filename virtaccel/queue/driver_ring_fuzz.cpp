// A hostile device against the driver's end: whatever it writes into the ring, also between any two
// of the driver's looks at it, a cookie comes back at most once, with a length its chain can hold,
// and no descriptor is lost or given out twice.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "host/memory.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/guest_ram.h"
#include "virtaccel/queue/testing/meddling.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace {

using virtaccel::Piece;
using virtaccel::queue::DriverRing;
using virtaccel::queue::Posted;
using virtaccel::queue::RingMemory;
using virtaccel::queue::testing::GuestRam;
using virtaccel::queue::testing::Meddling;
using virtaccel::queue::testing::RawDevice;
using virtaccel::testing::Choices;

constexpr std::uint32_t size = 16;
constexpr std::uint32_t chain_max = 6;
constexpr std::size_t piece_bytes = 10;

class Fuzz {
  public:
    explicit Fuzz(Choices choices) : choices_(choices) {
        VIRTACCEL_CHECK(driver_.start(ring_).has_value());
    }

    void run() {
        while (!choices_.done()) {
            step();
            VIRTACCEL_CHECK(driver_.in_flight() == posted_.size());
            VIRTACCEL_CHECK(driver_.free_descriptors() == size - descriptors_);
        }
    }

  private:
    struct Expected {
        std::size_t pieces;
        std::uint64_t writable_bytes;
    };

    void step() {
        const std::uint8_t choice = choices_.byte();
        meddles_ = choice >= 0x80;
        switch (choice % 0x80 % 9) {
            case 0:
                return device_.use({.id = choices_.below(size + 4), .bytes = choices_.byte()});
            case 1:
                return device_.use({.id = static_cast<std::uint32_t>(choices_.number(4)),
                                    .bytes = static_cast<std::uint32_t>(choices_.number(4))});
            case 2:
                return ring_.publish_used_index(static_cast<std::uint16_t>(choices_.number(2)));
            case 3:
                return scribble();
            case 4:
                return answer();
            case 5:
                return reset();
            case 6:
                return next();
            case 7:
                return ask_for_notifications();
            default:
                return post();
        }
    }

    // A call of the driver's end, meanwhile meddled with if this step is to be.
    template <class Call>
    auto with_meddling(Call call) {
        std::optional<Meddling> meddling;
        if (meddles_) {
            meddling.emplace(choices_, ram_.bytes());
        }
        return call();
    }

    void post() {
        const std::size_t readable = 1 + choices_.below(3);
        const std::size_t writable = 1 + choices_.below(3);
        const std::array<Piece, 3> pieces{Piece{.data = bytes_.data(), .size = piece_bytes},
                                          Piece{.data = bytes_.data(), .size = piece_bytes},
                                          Piece{.data = bytes_.data(), .size = piece_bytes}};
        const bool broken = driver_.broken();
        const bool fits = readable + writable <= size - descriptors_;
        const Posted posted = with_meddling([&] {
            return driver_.post(std::span{pieces}.first(readable),
                                std::span{pieces}.first(writable), ++cookie_);
        });
        const Posted expected = broken ? Posted::broken : fits ? Posted::ok : Posted::full;
        VIRTACCEL_CHECK(posted == expected);
        if (posted == Posted::ok) {
            posted_[cookie_] = {.pieces = readable + writable,
                                .writable_bytes = writable * piece_bytes};
            descriptors_ += readable + writable;
        }
        with_meddling([&] { driver_.kick(); });
    }

    void ask_for_notifications() {
        const bool wanted = choices_.one_in(2);
        const bool arrived = with_meddling([&] { return driver_.want_notifications(wanted); });
        VIRTACCEL_CHECK(wanted || !arrived);
    }

    void next() {
        const bool broken = driver_.broken();
        const auto completion = with_meddling([&] { return driver_.next(); });
        VIRTACCEL_CHECK(!broken || !completion);
        if (!completion) {
            return;
        }
        const auto known = posted_.find(completion->cookie);
        VIRTACCEL_CHECK(known != posted_.end());
        VIRTACCEL_CHECK(completion->used_bytes <= known->second.writable_bytes);
        descriptors_ -= known->second.pieces;
        posted_.erase(known);
    }

    // What a good device would do, so that the interesting states are reached.
    void answer() {
        if (const auto head = device_.next_available()) {
            device_.use({.id = *head, .bytes = piece_bytes});
        }
    }

    // All of the descriptors and the available ring, which a device can write but must not.
    void scribble() {
        const auto value = static_cast<std::byte>(choices_.byte());
        for (std::byte* at = ring_.descriptors; at != ring_.used; ++at) {
            *at = value;
        }
    }

    void reset() {
        driver_.reset();
        device_ = RawDevice{ring_};
        posted_.clear();
        descriptors_ = 0;
        VIRTACCEL_CHECK(!driver_.broken() && !driver_.next());
    }

    Choices choices_;
    GuestRam ram_{virtaccel::host::heap(), 1};
    RingMemory ring_ = ring_at(ram_.bytes().data(), virtaccel::queue::lay_out_ring(size));
    DriverRing driver_{virtaccel::host::heap(), {.chain_descriptors_max = chain_max}};
    RawDevice device_{ring_};
    std::map<std::uint64_t, Expected> posted_;
    std::uint64_t cookie_ = 0;
    std::size_t descriptors_ = 0;
    std::array<std::byte, piece_bytes> bytes_{};
    bool meddles_ = false;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Fuzz{Choices{{data, bytes}}}.run();
    return 0;
}

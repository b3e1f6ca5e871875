#pragma once
// A small driver's end that breaks one rule on purpose, or none. The one thing to know: it is plain
// rather than good; only what it gets wrong matters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tests/worlds/ring_ends.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::worlds {

class BrokenDriver final : public queue::DriverPort {
  public:
    BrokenDriver(const queue::RingMemory& ring, Flaw flaw, queue::AddressMap addresses,
                 queue::Notify device)
        : ring_(ring), flaw_(flaw), addresses_(addresses), device_(device) {
        reset();
    }

    void reset();
    [[nodiscard]] queue::Posted post(std::span<const Piece> readable,
                                     std::span<const Piece> writable,
                                     std::uint64_t cookie) override;
    void kick() override;
    [[nodiscard]] std::optional<queue::Completion> next() override;
    bool want_notifications(bool wanted) override;

    [[nodiscard]] bool broken() const override { return false; }

    [[nodiscard]] std::uint32_t chain_pieces_max() const override { return ring_.size; }

    [[nodiscard]] std::uint32_t depth_max() const override { return ring_.size / 2; }

    [[nodiscard]] std::uint32_t free_descriptors() const { return free_count_; }

    [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }

  private:
    static constexpr std::size_t descriptors_max = 4;

    struct Record {
        std::uint64_t cookie = 0;
        std::array<std::uint8_t, descriptors_max> descriptors{};
        std::uint32_t count = 0;
    };

    [[nodiscard]] bool has_arrived() const;

    queue::RingMemory ring_;
    Flaw flaw_;
    queue::AddressMap addresses_;
    queue::Notify device_;
    std::array<Record, descriptors_max> records_{};
    // Twice the room, for what comes back twice.
    std::array<std::uint8_t, 2 * descriptors_max> free_{};
    std::uint32_t free_count_ = 0;
    std::uint32_t in_flight_ = 0;
    std::uint16_t next_available_ = 0;
    std::uint16_t next_used_ = 0;
    bool wanted_ = true;
};

}  // namespace virtaccel::worlds

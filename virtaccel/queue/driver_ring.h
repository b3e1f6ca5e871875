#pragma once
// The driver's end of a split ring. All bookkeeping is in the driver's own memory: of what a device
// can write, only the used ring is read, each entry once, and checked. The one thing to know: a
// device that breaks a rule breaks the ring until `reset`, after which old chains never complete.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue {

// How the driver names its memory to the device: `bytes` bytes at `host` are called `address` and
// on. By default a pointer is its own address, for a device in the same process.
struct AddressMap {
    std::uintptr_t host = 0;
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t address = 0;

    // One arena, which the device knows from `address` on.
    [[nodiscard]] static AddressMap of(std::span<std::byte> arena, std::uint64_t address) {
        return {.host = std::bit_cast<std::uintptr_t>(arena.data()),
                .bytes = arena.size(),
                .address = address};
    }
};

struct DriverRingOptions {
    // The longest chain that the device walks, from its configuration.
    std::uint32_t chain_descriptors_max = 256;
    RingThreads threads = RingThreads::two;
    AddressMap addresses{};
    // Makes the device look.
    Notify device{};
};

// Until `start` it is as good as broken. One thread uses it.
class DriverRing final : public DriverPort {
  public:
    // `memory` outlives the ring.
    DriverRing(const Memory& memory, const DriverRingOptions& options)
        : memory_(memory), options_(options) {}

    // Takes `ring`, whose memory stays in place while this does, and makes it empty. Allocates only
    // for a larger queue than before.
    [[nodiscard]] std::expected<void, RingRefusal> start(const RingMemory& ring);

    // Forgets every chain and makes the ring memory empty again, after the device was reset.
    void reset();

    // A piece that is empty, longer than 2^32 - 1 or outside `AddressMap`, and a chain without
    // readable or without writable pieces or with more than `chain_pieces_max()`, are bugs of the
    // caller.
    [[nodiscard]] Posted post(std::span<const Piece> readable, std::span<const Piece> writable,
                              std::uint64_t cookie) override;
    void kick() override;
    [[nodiscard]] std::optional<Completion> next() override;

    [[nodiscard]] bool broken() const override { return broken_; }

    bool want_notifications(bool wanted) override;

    [[nodiscard]] std::uint32_t chain_pieces_max() const override { return chain_max_; }

    [[nodiscard]] std::uint32_t depth_max() const override { return ring_.size / 2; }

    // Chains posted and not yet returned by `next`.
    [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }

    [[nodiscard]] std::uint32_t free_descriptors() const { return free_count_; }

  private:
    // What the driver knows of the chain that starts at a descriptor; no pieces means none does.
    struct Record {
        std::uint64_t cookie = 0;
        std::uint32_t writable_bytes = 0;
        std::uint16_t pieces = 0;
        std::uint16_t last = 0;
    };

    // The end of a chain being written. Indices are wider than they need be: compilers spill half
    // words and reload whole ones, which stalls.
    struct Tail {
        std::uint32_t last = 0;
        std::uint32_t next = 0;
        std::uint64_t bytes = 0;
    };

    Tail put(const Piece& piece, std::uint16_t flags, Tail tail);
    [[nodiscard]] bool look();
    std::nullopt_t fail();
    void make_empty();

    RingMemory ring_;
    std::uint16_t next_available_ = 0;
    std::uint16_t next_used_ = 0;
    std::uint16_t seen_used_ = 0;
    std::uint16_t free_head_ = 0;
    std::uint32_t free_count_ = 0;
    std::uint32_t in_flight_ = 0;
    std::uint32_t chain_max_ = 0;
    bool broken_ = true;
    Array<Record> records_;
    // The free list, and the order of each posted chain's descriptors.
    Array<std::uint16_t> following_;
    Memory memory_;
    DriverRingOptions options_;
};

}  // namespace virtaccel::queue

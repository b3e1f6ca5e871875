#pragma once
// The device's end of a split ring. It walks chains that a hostile driver wrote, so each word is
// read once, a walk is bounded, and a bad chain is completed with length 0. The one thing to know:
// an epoch begins with `start` or `reset` and ends with `reset` or `stop`; what was popped in an
// epoch that ended can neither be read, written nor completed.

#include <cstdint>
#include <expected>
#include <optional>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/notify.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue {

struct DeviceRingOptions {
    // The longest chain that is walked (spec §2); a smaller queue shortens it.
    std::uint32_t chain_descriptors_max = 256;
    RingThreads threads = RingThreads::two;
    // Wakes the driver after completions.
    Notify driver{};
};

// Not started until `start`: an unstarted ring pops nothing and completes nothing. One thread uses
// it; its leases may be watched from any thread and must not outlive it.
class DeviceRing final : public DevicePort {
  public:
    // `memory` and `map` outlive the ring.
    DeviceRing(const Memory& memory, MemoryMap& map, const DeviceRingOptions& options)
        : map_(&map), memory_(memory), options_(options) {}

    // Begins an epoch on `ring`, whose memory stays in place until `stop`. The first chain is the
    // one at available index `next_available`; used entries go on where the used index stands.
    // Allocates only for a larger queue than before. Refused: unchanged, if it was stopped.
    [[nodiscard]] std::expected<void, RingRefusal> start(const RingMemory& ring,
                                                         std::uint16_t next_available = 0);

    // Ends the epoch and lets go of the memory. Returns the available index of the first chain
    // that was not popped, where a later `start` continues.
    std::uint16_t stop();

    // Ends the epoch and begins the next one on the same memory, both indices at 0, as after a
    // transport's reset. Does nothing if stopped.
    void reset();

    [[nodiscard]] std::optional<Chain> pop() override;
    bool complete(std::uint16_t head, std::uint32_t used_bytes) override;
    void flush() override;
    bool want_notifications(bool wanted) override;

    // True once the driver moved the available index further than the queue is long: nothing more
    // is popped in this epoch.
    [[nodiscard]] bool broken() const { return broken_; }

    // Chains popped and not completed.
    [[nodiscard]] std::uint32_t outstanding() const { return outstanding_count_; }

    // Since construction: chains completed with length 0 here, and available entries that named no
    // free head and were passed over.
    [[nodiscard]] std::uint64_t malformed() const { return malformed_; }

    [[nodiscard]] std::uint64_t ignored() const { return ignored_; }

  private:
    struct Walk;

    [[nodiscard]] bool look();
    [[nodiscard]] bool claim(std::uint16_t head);
    [[nodiscard]] Walk walk(std::uint16_t head);
    [[nodiscard]] std::optional<Chain> pop_seen();
    void begin_epoch(std::uint16_t next_available, std::uint16_t next_used);

    RingMemory ring_;
    std::uint16_t next_available_ = 0;
    std::uint16_t seen_available_ = 0;
    std::uint16_t next_used_ = 0;
    bool unflushed_ = false;
    bool broken_ = false;
    std::uint32_t epoch_ = 0;
    std::uint32_t outstanding_count_ = 0;
    std::uint32_t chain_max_ = 0;
    MemoryMap* map_;
    Array<Piece> pieces_;
    // By head: popped and not completed.
    Array<bool> outstanding_;
    std::uint64_t malformed_ = 0;
    std::uint64_t ignored_ = 0;
    Memory memory_;
    DeviceRingOptions options_;
};

}  // namespace virtaccel::queue

#pragma once
// The two ends of a split ring as a world runs them: the real ends, and broken ones, each with the
// little that its user remembers. The one thing to know: an end and its user live in one `Block`,
// so a copy of the block is their whole state.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/worlds/block.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::worlds {

enum class Side : std::uint8_t { driver, device };

// The calls of both ends. `which` of an operation is a shape, or the place of a chain among those
// that the device holds.
enum class Act : std::uint8_t {
    none,
    post,         // driver
    kick,         // driver
    take,         // driver: DriverPort::next
    pop,          // device
    complete,     // device: writes into the chain, then completes it
    flush,        // device
    touch_stale,  // device: the same with a chain of an epoch that ended
    silence,      // want_notifications(false)
    listen,       // want_notifications(true)
    reset,
};

struct Operation {
    Act act = Act::none;
    std::uint8_t which = 0;
    friend bool operator==(const Operation&, const Operation&) = default;
};

// The chains that are posted: descriptors to read and to write.
enum class Shape : std::uint8_t { pair, triple, quad, unreachable };

inline constexpr std::uint8_t shapes = 4;

// Descriptors of a chain.
[[nodiscard]] constexpr std::uint8_t length_of(Shape shape) {
    constexpr std::uint8_t lengths[shapes] = {2, 3, 4, 2};
    return lengths[static_cast<std::size_t>(shape)];
}

// What the device says it wrote into the chain with this serial.
[[nodiscard]] constexpr std::uint32_t used_of(std::uint8_t serial) {
    return serial % 8U + 1;
}

// The bytes that chains point at: a request and a response for each serial, and as many bytes again
// that the device does not know.
class Ram {
  public:
    static constexpr std::uint8_t serials = 16;
    static constexpr std::uint64_t address = 0x1000;
    static constexpr std::size_t known_bytes = serials * std::size_t{64};

    [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }

    // Whether the chain that `readable` and `writable` show has this serial and shape.
    [[nodiscard]] bool holds(const PieceList& readable, const PieceList& writable,
                             std::uint8_t serial, Shape shape);

    [[nodiscard]] std::uint8_t serial_at(const std::byte* at) const {
        return static_cast<std::uint8_t>((at - bytes_.data()) / 64);
    }

    // The pieces of a chain, readable ones first, in `target`; how many are readable.
    std::size_t lay(std::uint8_t serial, Shape shape, std::span<Piece, 4> target);

    // The first byte of the response.
    [[nodiscard]] std::byte& answer(std::uint8_t serial) { return bytes_[serial * 64U + 32U]; }

  private:
    alignas(64) std::array<std::byte, 2 * known_bytes> bytes_{};
};

// What a call gave, and how the end stands after it. The members that a call does not speak of are
// zero.
struct Answer {
    bool yes = false;         // posted, taken, popped, completed; what `listen` said
    bool is_sound = true;     // pieces were as posted; leases were as they should be
    bool is_broken = false;   // the end calls its ring broken
    std::uint8_t serial = 0;  // of the chain taken or popped
    std::uint8_t head = 0;    // popped
    std::uint8_t shape = 0;   // popped
    std::uint8_t free = 0;    // driver: descriptors
    std::uint8_t flying = 0;  // driver: chains
    std::uint32_t used = 0;   // taken
};

// One end and its user.
class RingEnd {
  public:
    RingEnd() = default;
    RingEnd(const RingEnd&) = delete;
    RingEnd& operator=(const RingEnd&) = delete;
    [[nodiscard]] virtual Answer perform(Operation operation) = 0;

    // Forgets how many chains were posted: the next has serial 0.
    virtual void count_from_zero() {}

  protected:
    ~RingEnd() = default;
};

// Which rule an end breaks. The ends of `none` and `without_fences` are the real ones.
enum class Flaw : std::uint8_t {
    none,
    without_fences,        // both ends believe that they share one thread
    plain,                 // driver: the one that the broken ones are made of, unbroken
    never_looks_again,     // driver: no recheck after asking for interrupts
    frees_twice,           // driver: a completed head comes back to the free list twice
    publishes_first,       // driver: the available index before the entry
    compares_indexes,      // driver: a used index is greater, not other, where one arrived
    kicks_by_memory,       // driver: asks whether to kick before it publishes
    device_never_looks,    // device: no recheck after asking for notifications
    completes_twice,       // device: each completion is published twice
    ignores_reset,         // device: writes and completes after a reset
    interrupts_by_memory,  // device: asks whether to interrupt before it publishes
    counts_used_wrong,     // device: says that it wrote one byte more
};

struct EndSetup {
    queue::RingMemory ring;
    Ram* ram = nullptr;
    Flaw flaw = Flaw::none;
};

// The ends for a setup, started. The driver is made first: it makes the ring empty.
[[nodiscard]] RingEnd* make_driver(Block& block, const EndSetup& setup);
[[nodiscard]] RingEnd* make_device(Block& block, const EndSetup& setup);

}  // namespace virtaccel::worlds

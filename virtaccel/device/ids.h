#pragma once
// How object IDs are made: `serial:44 | slot:20`. One serial counts through all kinds and resets
// and is never issued twice, so that an old ID cannot name a new object; slots start at 1, so that
// no ID is zero in its low half.

#include <cstdint>

#include "virtaccel/base/panic.h"
#include "virtaccel/device/options.h"

namespace virtaccel::device {

inline constexpr unsigned slot_bits = 20;
inline constexpr std::uint32_t slots_max = (1U << slot_bits) - 1;

[[nodiscard]] constexpr std::uint64_t make_raw_id(std::uint64_t serial, std::uint32_t slot) {
    return serial << slot_bits | slot;
}

[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t raw_id) {
    return static_cast<std::uint32_t>(raw_id) & slots_max;
}

// Serials in order, from `first` until they end.
class SerialCounter {
  public:
    explicit SerialCounter(std::uint64_t first) : next_(first) {}

    [[nodiscard]] bool exhausted() const { return next_ >= serial_end; }

    [[nodiscard]] std::uint64_t next() const { return next_; }

    // The next serial; there must be one.
    [[nodiscard]] std::uint64_t take() {
        VIRTACCEL_CHECK(!exhausted());
        return next_++;
    }

  private:
    std::uint64_t next_;
};

}  // namespace virtaccel::device

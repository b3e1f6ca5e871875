#pragma once
// The two ends of a command virtqueue, as a driver and a device see them (spec §8). The split ring
// (device_ring.h, driver_ring.h) is one implementation; a pipe or a kernel node is another. The one
// thing to know: each end trusts nothing that the other side can write.

#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"

namespace virtaccel::queue {

// One request's chain as the device sees it: what may be read, then what may be written. `readable`
// and `writable` borrow from the port until its next `pop` or reset; both are nonempty. The leases
// end at reset, so that a late read or write is refused instead of reaching memory that is no
// longer ours.
struct Chain {
    std::uint16_t head = 0;
    PieceList readable;
    PieceList writable;
};

// The device's end.
class DevicePort {
  public:
    DevicePort() = default;
    DevicePort(const DevicePort&) = delete;
    DevicePort& operator=(const DevicePort&) = delete;

    // The next well-formed chain in available order, or nothing. Malformed chains are completed
    // here with used length 0 (spec §5 step 1); one call looks at no more heads than the queue has.
    [[nodiscard]] virtual std::optional<Chain> pop() = 0;

    // Completes `head` with `used_bytes` bytes written. Completions may come in any order. False,
    // with nothing written, if that head is not outstanding in this epoch.
    virtual bool complete(std::uint16_t head, std::uint32_t used_bytes) = 0;

    // Tells the driver about completions made since the last flush, unless it asked not to be told.
    virtual void flush() = 0;

    // Asks the driver to notify (or not to). After enabling, returns true if a chain arrived
    // meanwhile, so that the caller pops again instead of waiting.
    virtual bool want_notifications(bool wanted) = 0;

  protected:
    // Whoever owns an end knows its class; deleting through this one would ask for operator delete.
    ~DevicePort() = default;
};

// A completed request: the cookie it was posted with and the bytes the device says it wrote.
struct Completion {
    std::uint64_t cookie = 0;
    std::uint32_t used_bytes = 0;
};

enum class Posted : std::uint8_t {
    ok,      // the device will see it
    full,    // backpressure: complete something and try again; nothing was taken
    broken,  // the device broke the ring's rules: recovery required
};

// The driver's end. Bookkeeping lives in the driver's own memory, never in what the device can
// write.
class DriverPort {
  public:
    DriverPort() = default;
    DriverPort(const DriverPort&) = delete;
    DriverPort& operator=(const DriverPort&) = delete;

    // Posts one chain: `readable` pieces, then `writable` ones, none empty, all staying in place
    // and reachable by the device until completion. `cookie` comes back with it.
    [[nodiscard]] virtual Posted post(std::span<const Piece> readable,
                                      std::span<const Piece> writable, std::uint64_t cookie) = 0;

    // Makes the device look, unless it asked not to be told. Once per batch is enough.
    virtual void kick() = 0;

    // The next completion, in the device's order, or nothing.
    [[nodiscard]] virtual std::optional<Completion> next() = 0;

    // True once the device broke the ring's rules: nothing more completes until a reset.
    [[nodiscard]] virtual bool broken() const = 0;

    // Asks the device to notify (or not). After enabling, returns true if a completion arrived
    // meanwhile.
    virtual bool want_notifications(bool wanted) = 0;

    // The most pieces one chain may have, and the most chains in flight (at two descriptors each).
    [[nodiscard]] virtual std::uint32_t chain_pieces_max() const = 0;
    [[nodiscard]] virtual std::uint32_t depth_max() const = 0;

  protected:
    ~DriverPort() = default;
};

}  // namespace virtaccel::queue

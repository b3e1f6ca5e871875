#pragma once
// A device as a conformance run sees it: something that takes request frames and answers them. The
// one thing to know: what a transport cannot express it does not offer, and the cases that need it
// are skipped and say so.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

// The driver's side of a split ring, laid bare: cases write descriptors and entries themselves. No
// chain of an exchange is in flight meanwhile.
class RingAccess {
  public:
    RingAccess() = default;
    RingAccess(const RingAccess&) = delete;
    RingAccess& operator=(const RingAccess&) = delete;
    virtual ~RingAccess() = default;

    // Starts over, with an empty ring, at each reset of the device.
    [[nodiscard]] virtual queue::testing::RawDriver& driver() = 0;

    // How the device names memory.
    [[nodiscard]] virtual queue::AddressMap addresses() const = 0;

    // Bytes that the device can reach and nobody else uses, filled with the canary; kept as long as
    // the device is.
    [[nodiscard]] virtual std::span<std::byte> room(std::size_t bytes) = 0;

    // Tells the device that there is something to do, and waits until it has done what it will.
    virtual void kick() = 0;

    // How often the device has told the driver of completions.
    [[nodiscard]] virtual std::uint64_t interrupts() const = 0;
};

// What only a harness that runs the device itself can arrange. Each call says whether it did.
class Control {
  public:
    Control() = default;
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    // While held, events stay pending, or LOAD_PROGRAM unanswered. Let go, what was held happens:
    // events at the next poll, the answers of loads before this returns.
    virtual bool hold_events(bool /*held*/) { return false; }

    virtual bool hold_loads(bool /*held*/) { return false; }

    // Calls `act` once, at the moment that matters: the device has found the queue empty and has
    // not yet asked to be told of more. In the next `kick`.
    virtual bool before_it_sleeps(void (* /*act*/)(void* state), void* /*state*/) { return false; }

    // The next release of a buffer is indeterminate.
    virtual bool lose_next_release() { return false; }

    // The response of the next CREATE_CONTEXT cannot be written any more once there is a context.
    virtual bool lose_next_response() { return false; }
};

class DeviceUnderTest {
  public:
    DeviceUnderTest() = default;
    DeviceUnderTest(const DeviceUnderTest&) = delete;
    DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;
    virtual ~DeviceUnderTest() = default;

    // What config space says, or, for a transport without one, what the device was started with.
    [[nodiscard]] virtual wire::Config config() const = 0;

    // Sends the request that `readable` holds and waits for its answer in `writable`; either may be
    // empty. Returns the used length, or nothing if no answer came in the time that the transport
    // grants. A transport without descriptors joins the pieces.
    [[nodiscard]] virtual std::optional<std::uint32_t> exchange(
        std::span<const Piece> readable, std::span<const Piece> writable) = 0;

    // Resets the device (spec §7) into a new namespace; false if it cannot be reset.
    [[nodiscard]] virtual bool reset() { return false; }

    // Whether the device shows DEVICE_NEEDS_RESET; nothing if its transport has no place for it.
    [[nodiscard]] virtual std::optional<bool> needs_reset() const { return std::nullopt; }

    // Null for a transport that is no split ring. With a ring, `exchange` keeps the pieces.
    [[nodiscard]] virtual RingAccess* ring() { return nullptr; }

    // Null for a device that runs elsewhere.
    [[nodiscard]] virtual Control* control() { return nullptr; }
};

}  // namespace virtaccel::conformance

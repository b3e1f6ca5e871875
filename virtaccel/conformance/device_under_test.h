#pragma once
// A device as a conformance run sees it: something that takes request frames and answers them. The
// one thing to know: what a transport cannot express it says, with the reason, and the cases that
// need it are skipped with that reason.

#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

class DeviceUnderTest {
  public:
    DeviceUnderTest() = default;
    DeviceUnderTest(const DeviceUnderTest&) = delete;
    DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;
    virtual ~DeviceUnderTest() = default;

    // What config space says, or, for a transport without one, what the device was started with.
    [[nodiscard]] virtual wire::Config config() const = 0;

    // Sends the request that `readable` holds and waits for its answer in `writable`. Returns the
    // used length, or nothing if no answer came in the time that the transport grants. A transport
    // without descriptors joins the pieces.
    [[nodiscard]] virtual std::optional<std::uint32_t> exchange(
        std::span<const Piece> readable, std::span<const Piece> writable) = 0;
};

}  // namespace virtaccel::conformance

#pragma once
// A driver's queue with the device behind it, in one process and one thread: ring memory, both ends
// of the ring, and an endpoint. The one thing to know: `kick` serves what was posted before it
// returns, so completions are there at once and nothing has to be waited for.

#include <cstdint>

#include "host/error.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::adapters::loopback {

struct Options {
    // Descriptors of the ring, a power of two; half as many requests can be in flight.
    std::uint32_t queue_size = 1024;
    // The device's configuration and budget; both have no default that would do.
    device::Options device;
    // The first object namespace.
    std::uint64_t seed = 1;
};

// Movable; what it hands out stays where it is. One thread uses it, and all of it.
class Loopback {
  public:
    // `memory` and the factory's state outlive it. Everything but what commands create is allocated
    // here. The error says which option is wrong and what to do.
    [[nodiscard]] static host::OrError<Loopback> make(const Memory& memory,
                                                      backend::BackendFactory factory,
                                                      const Options& options);

    Loopback(Loopback&& other) noexcept;
    Loopback& operator=(Loopback&& other) noexcept;
    Loopback(const Loopback&) = delete;
    Loopback& operator=(const Loopback&) = delete;
    ~Loopback();

    // The driver's end. Posted memory is used where it is.
    [[nodiscard]] queue::DriverPort& port();

    // What configuration space says.
    [[nodiscard]] wire::Config config() const;

    // The transport's reset (spec §7) into the namespace of `seed`: old IDs are stale, chains in
    // flight never complete. Refused, with nothing changed, if the seed is zero or the current one.
    device::ResetAnswer reset(std::uint64_t seed);

    // The same into a namespace of its own choice.
    device::ResetAnswer reset();

    // What the blocking layer needs. From then on the backend's notifier ends pauses early. The
    // transport refers to this and is dead after it.
    [[nodiscard]] guest::Transport transport();

    // For diagnostics; not to be served or reset behind the ring's back.
    [[nodiscard]] device::Endpoint& endpoint();

  private:
    struct State;

    explicit Loopback(State* state) : state_(state) {}

    State* state_ = nullptr;
};

}  // namespace virtaccel::adapters::loopback

#pragma once
// What the blocking layer needs from an adapter: a port, a way to wait and to tell the time, and a
// way to reset. Plain functions over one state, so that the portable core has no clock, thread or
// lock.

#include <cstdint>

#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {

// All functions get `state`; all of it outlives every object of the session.
struct Waiter {
    void* state = nullptr;

    // Waits until the port may have a completion. May return early, also without reason; false if
    // `timeout_ns` passed first. Asks the port for notifications, and rechecks, itself. An adapter
    // whose device runs in the caller's thread runs it here (or in the port's `kick`).
    bool (*wait)(void* state, std::uint64_t timeout_ns) = nullptr;

    // Lets `duration_ns` pass, or less if something may have changed on the device meanwhile.
    void (*pause)(void* state, std::uint64_t duration_ns) = nullptr;

    // A steady clock.
    std::uint64_t (*now_ns)(void* state) = nullptr;
};

struct Transport {
    queue::DriverPort* port = nullptr;
    Waiter waiter;

    // The device's configuration space as it is now.
    wire::Config config;

    // Memory the device can reach, for chains.
    Memory frames;

    // True if the device can reach all of the caller's memory, so that bulk data go without a copy;
    // else they are staged in memory from `frames`.
    bool reaches_caller_memory = true;

    // Resets the device and empties the port (spec §7), and returns the new configuration; or cuts
    // the device off for good and returns a status. When it returns, nobody touches memory of
    // earlier requests any more.
    Result<wire::Config> (*reset)(void* state) = nullptr;
    void* reset_state = nullptr;
};

}  // namespace virtaccel::guest

#pragma once
// The one clock that latencies and timeouts are measured with, and the one way to let time pass.

#include <cstdint>

namespace virtaccel::host {

// Nanoseconds since some fixed moment; never goes back, whatever the user does to the wall clock.
[[nodiscard]] std::uint64_t now_ns();

// Lets `duration_ns` pass, to the system's own precision (about 0.05 ms more for a sleep).
void pause_ns(std::uint64_t duration_ns);

}  // namespace virtaccel::host

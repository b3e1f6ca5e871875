#pragma once
// The one clock that latencies and timeouts are measured with.

#include <cstdint>

namespace virtaccel::host {

// Nanoseconds since some fixed moment; never goes back, whatever the user does to the wall clock.
[[nodiscard]] std::uint64_t now_ns();

}  // namespace virtaccel::host

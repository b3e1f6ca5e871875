#include "host/clock.h"

#include <chrono>
#include <cstdint>

namespace virtaccel::host {

std::uint64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace virtaccel::host

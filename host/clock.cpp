#include "host/clock.h"

#include <chrono>
#include <cstdint>
#include <thread>

namespace virtaccel::host {

std::uint64_t now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

void pause_ns(std::uint64_t duration_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds{duration_ns});
}

}  // namespace virtaccel::host

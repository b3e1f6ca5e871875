#include "adapters/loopback/alarm.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "host/clock.h"

namespace virtaccel::adapters::loopback {

namespace {

// Beyond this, adding to a time point would overflow; nobody sleeps for so long.
constexpr std::uint64_t sleep_max_ns = std::uint64_t{1} << 60U;

// Waking a thread takes as long as this, so a shorter sleep is spent awake.
constexpr std::uint64_t awake_max_ns = 50'000;

}  // namespace

void Alarm::raise() {
    // Either the sleeper sees this, or this sees the sleeper: both accesses are in one order.
    if (raised_.exchange(true) || !sleeping_.load()) {
        return;
    }
    // The sleeper looks once more under the lock before it sleeps.
    const std::scoped_lock lock{mutex_};
    condition_.notify_one();
}

void Alarm::stay_awake(std::uint64_t duration_ns) const {
    const std::uint64_t start_ns = host::now_ns();
    while (!raised_.load(std::memory_order_relaxed) && host::now_ns() - start_ns < duration_ns) {
    }
}

void Alarm::sleep(std::uint64_t duration_ns) {
    stay_awake(std::min(duration_ns, awake_max_ns));
    if (duration_ns > awake_max_ns && !raised_.load()) {
        const std::chrono::nanoseconds duration{std::min(duration_ns - awake_max_ns, sleep_max_ns)};
        std::unique_lock lock{mutex_};
        sleeping_.store(true);
        condition_.wait_for(lock, duration, [this] { return raised_.load(); });
        sleeping_.store(false);
    }
    raised_.store(false);
}

}  // namespace virtaccel::adapters::loopback

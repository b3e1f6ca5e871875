#include "adapters/loopback/alarm.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "host/clock.h"

namespace virtaccel::adapters::loopback {

namespace {

// Beyond this, adding to a time point would overflow; nobody sleeps for so long.
constexpr std::uint64_t sleep_max_ns = std::uint64_t{1} << 60U;

// What comes within this time of the last news is waited for awake: waking a thread takes so long
// that the run of a small model would show it.
constexpr std::uint64_t awake_max_ns = 2'000'000;

// A shorter sleep is not worth it: whoever wakes takes the processor from somebody, perhaps from
// the one that works on the news, and news ends any sleep.
constexpr std::uint64_t sleep_min_ns = 1'000'000;

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

// How long it took, which is up to when it was raised.
std::uint64_t Alarm::stay_awake(std::uint64_t duration_ns) const {
    const std::uint64_t start_ns = host::now_ns();
    std::uint64_t passed_ns = 0;
    while (!raised_.load(std::memory_order_relaxed) && passed_ns < duration_ns) {
        // There may be more threads at work than processors.
        std::this_thread::yield();
        passed_ns = host::now_ns() - start_ns;
    }
    return passed_ns;
}

void Alarm::sleep(std::uint64_t duration_ns) {
    const std::uint64_t passed_ns =
        stay_awake(std::min(duration_ns, awake_max_ns - std::min(awake_ns_, awake_max_ns)));
    awake_ns_ += passed_ns;
    if (passed_ns < duration_ns && !raised_.load()) {
        const std::chrono::nanoseconds duration{
            std::clamp(duration_ns - passed_ns, sleep_min_ns, sleep_max_ns)};
        std::unique_lock lock{mutex_};
        sleeping_.store(true);
        condition_.wait_for(lock, duration, [this] { return raised_.load(); });
        sleeping_.store(false);
    }
    if (raised_.exchange(false)) {
        awake_ns_ = 0;
    }
}

}  // namespace virtaccel::adapters::loopback

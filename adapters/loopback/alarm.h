#pragma once
// Lets one thread sleep until another one has news, or until its time is over. The one thing to
// know: raising it costs one atomic exchange while nobody sleeps, so a backend may do so for every
// event.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace virtaccel::adapters::loopback {

class Alarm {
  public:
    // From any thread.
    void raise();

    // Sleeps for `duration_ns` or a millisecond longer, or until it is raised, or not at all if it
    // was raised since the last sleep. One thread only.
    void sleep(std::uint64_t duration_ns);

  private:
    [[nodiscard]] std::uint64_t stay_awake(std::uint64_t duration_ns) const;

    std::atomic<bool> raised_ = false;
    std::atomic<bool> sleeping_ = false;
    std::uint64_t awake_ns_ = 0;  // since it was raised last
    std::mutex mutex_;
    std::condition_variable condition_;
};

}  // namespace virtaccel::adapters::loopback

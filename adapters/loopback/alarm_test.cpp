#include "adapters/loopback/alarm.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace virtaccel::adapters::loopback {
namespace {

constexpr std::uint64_t forever_ns = std::uint64_t{3600} * 1'000'000'000;

TEST(Alarm, does_not_sleep_when_it_was_raised_before) {
    Alarm alarm;
    alarm.raise();
    alarm.raise();
    const auto before = std::chrono::steady_clock::now();
    alarm.sleep(forever_ns);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::nanoseconds{forever_ns});
}

TEST(Alarm, sleeps_until_the_time_is_over_when_nobody_raises_it) {
    Alarm alarm;
    alarm.raise();
    alarm.sleep(forever_ns);
    const auto before = std::chrono::steady_clock::now();
    alarm.sleep(2'000'000);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds{2});
}

TEST(Alarm, loses_no_call_of_another_thread) {
    constexpr int rounds = 500;
    Alarm alarm;
    Alarm answer;
    std::atomic<int> turn = 0;
    std::thread other{[&] {
        for (int i = 0; i < rounds; ++i) {
            while (turn.load() != 2 * i + 1) {
                alarm.sleep(forever_ns);
            }
            turn.store(2 * i + 2);
            answer.raise();
        }
    }};
    for (int i = 0; i < rounds; ++i) {
        turn.store(2 * i + 1);
        alarm.raise();
        while (turn.load() != 2 * i + 2) {
            answer.sleep(forever_ns);
        }
    }
    other.join();
    EXPECT_EQ(turn.load(), 2 * rounds);
}

}  // namespace
}  // namespace virtaccel::adapters::loopback

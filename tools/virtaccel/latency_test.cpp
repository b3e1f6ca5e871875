#include "tools/virtaccel/latency.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::cli {
namespace {

TEST(Latency, of_one_run_is_that_run) {
    const auto latency = summarize(std::vector<std::uint64_t>{1'500'000});
    EXPECT_EQ(latency.min_ms, 1.5);
    EXPECT_EQ(latency.p50_ms, 1.5);
    EXPECT_EQ(latency.p90_ms, 1.5);
    EXPECT_EQ(latency.p99_ms, 1.5);
}

TEST(Latency, takes_the_nearest_rank_of_unsorted_runs) {
    std::vector<std::uint64_t> runs;
    for (std::uint64_t i = 0; i < 200; ++i) {
        runs.push_back(((i * 37 % 200) + 1) * 1'000'000);  // 1 to 200 ms, shuffled
    }
    const auto latency = summarize(runs);
    EXPECT_EQ(latency.min_ms, 1);
    EXPECT_EQ(latency.p50_ms, 100);
    EXPECT_EQ(latency.p90_ms, 180);
    EXPECT_EQ(latency.p99_ms, 198);
}

}  // namespace
}  // namespace virtaccel::cli

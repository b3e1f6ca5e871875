#include "backends/cpu/arena.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::backends::cpu {

namespace {

TEST(ArenaPlan, never_gives_the_same_bytes_twice) {
    struct Taken {
        std::uint64_t offset;
        std::uint64_t bytes;
    };

    ArenaPlan plan;
    std::vector<Taken> taken;
    std::uint32_t random = 1;
    for (int i = 0; i < 3000; ++i) {
        random = (random * 1664525U) + 1013904223U;
        if (taken.size() > 20 || (random & 0x40000000U) != 0) {
            if (!taken.empty()) {
                const std::size_t which = (random >> 8U) % taken.size();
                plan.give(taken[which].offset, taken[which].bytes);
                taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
            }
            continue;
        }
        const Taken next{plan.take((random >> 8U) % 1000), (random >> 8U) % 1000};
        EXPECT_EQ(next.offset % 64, 0U);
        EXPECT_LE(next.offset + next.bytes, plan.size());
        for (const Taken& other : taken) {
            EXPECT_TRUE(next.offset + next.bytes <= other.offset ||
                        other.offset + other.bytes <= next.offset);
        }
        taken.push_back(next);
    }
}

TEST(ArenaPlan, takes_the_gap_that_fits_best_and_joins_what_comes_back) {
    ArenaPlan plan;
    const auto large = plan.take(640);
    static_cast<void>(plan.take(64));
    const auto small = plan.take(128);
    static_cast<void>(plan.take(64));
    plan.give(large, 640);
    plan.give(small, 128);
    EXPECT_EQ(plan.take(100), small);
    EXPECT_EQ(plan.take(320), large);
    EXPECT_EQ(plan.take(320), large + 320);
    EXPECT_EQ(plan.size(), 896U);
    plan.give(large, 320);
    plan.give(large + 320, 320);
    EXPECT_EQ(plan.take(640), large);
}

TEST(ArenaPlan, makes_a_gap_at_its_end_longer) {
    ArenaPlan plan;
    plan.give(plan.take(64), 64);
    EXPECT_EQ(plan.take(256), 0U);
    EXPECT_EQ(plan.size(), 256U);
}

TEST(ArenaPlan, refuses_what_no_address_space_has) {
    ArenaPlan plan;
    static_cast<void>(plan.take(64));
    EXPECT_THROW(static_cast<void>(plan.take(std::numeric_limits<std::uint64_t>::max() - 100)),
                 std::bad_alloc);
    EXPECT_THROW(static_cast<void>(plan.take(std::numeric_limits<std::uint64_t>::max())),
                 std::bad_alloc);
}

}  // namespace

}  // namespace virtaccel::backends::cpu

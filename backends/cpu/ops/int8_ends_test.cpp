// RESCALE of sums to INT8, on every instruction set.
#include "backends/cpu/ops/int8_ends.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// As the specification has it.
std::int64_t scaled(std::int64_t value, std::int64_t multiplier, std::int64_t shift,
                    bool rounds_twice) {
    std::int64_t round = std::int64_t{1} << (shift - 1);
    if (rounds_twice && shift > 31) {
        round += value >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    }
    return ((value * multiplier) + round) >> shift;
}

constexpr std::int32_t sums_of_a_channel[] = {0, 1, -1, 77, -77, 12'345, -12'345, 1'000'000};
constexpr std::int32_t multipliers[] = {1 << 30, 2'147'483'647, 1'234'567'890, 3};

void check(std::int64_t channels, bool rounds_twice) {
    Int8Rescale rescale{.multipliers = {},
                        .shifts = {},
                        .channels = channels,
                        .rounds_twice = rounds_twice,
                        .output_zero = -3,
                        .low = -100,
                        .high = 90};
    for (std::int64_t c = 0; c < channels + static_cast<std::int64_t>(lanes_after); ++c) {
        rescale.multipliers.push_back(multipliers[c % 4]);
        rescale.shifts.push_back(static_cast<std::int32_t>(30 + (c % 9)));
    }
    constexpr std::size_t pixels = std::size(sums_of_a_channel);
    std::vector<std::int32_t> sums;
    std::vector<std::int8_t> wanted;
    for (const std::int32_t sum : sums_of_a_channel) {
        for (std::int64_t c = 0; c < channels; ++c) {
            sums.push_back(sum + static_cast<std::int32_t>(c % 3));
            const auto i = static_cast<std::size_t>(c);
            const std::int64_t value =
                scaled(sums.back(), rescale.multipliers[i], rescale.shifts[i], rounds_twice) - 3;
            wanted.push_back(static_cast<std::int8_t>(std::clamp<std::int64_t>(value, -100, 90)));
        }
    }
    sums.resize(sums.size() + lanes_after);
    std::vector<std::int8_t> got(pixels * static_cast<std::size_t>(channels));
    rescale_to_int8(rescale, sums.data(), pixels, got.data());
    EXPECT_EQ(got, wanted) << channels << " channels";
}

TEST(Int8Ends, rescale_as_the_specification_says) {
    testing::on_each_instruction_set([] {
        for (std::int64_t channels = 1; channels <= 40; ++channels) {
            check(channels, false);
            check(channels, true);
        }
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

#pragma once
// How steps over INT8 end: sums of INT32 are made INT8 by the RESCALE that follows. Compiled for
// several instruction sets of which the best one is chosen at run time.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace virtaccel::backends::cpu::ops {

// How many elements after the last one the function below may read, of sums and of what there is
// one of for each channel.
inline constexpr std::size_t lanes_after = 16;

// A RESCALE from INT32 to INT8, and the CLAMP after it: (sum * multiplier) / 2^shift, rounded,
// plus `zero`, at least `low` and at most `high`.
struct Int8Rescale {
    // For each channel, and `lanes_after` more.
    std::vector<std::int32_t> multipliers;
    std::vector<std::int32_t> shifts;  // 2 to 62
    std::int64_t channels = 1;
    // DOUBLE_ROUND.
    bool rounds_twice = false;
    std::int32_t zero = 0;
    std::int32_t low = -128;
    std::int32_t high = 127;
};

// INT8 of the sums of `count` pixels.
void rescale_to_int8(const Int8Rescale& rescale, const std::int32_t* sums, std::int64_t count,
                     std::int8_t* target);

}  // namespace virtaccel::backends::cpu::ops

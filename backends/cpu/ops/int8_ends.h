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
// plus `output_zero`, at least `low` and at most `high`.
struct Int8Rescale {
    // For each channel, and `lanes_after` more.
    std::vector<std::int32_t> multipliers;
    std::vector<std::int32_t> shifts;  // 2 to 62
    std::int64_t channels = 1;
    // DOUBLE_ROUND.
    bool rounds_twice = false;
    std::int32_t output_zero = 0;
    std::int32_t low = -128;
    std::int32_t high = 127;
};

// Whether kernels can make INT8 of their sums before they write them: where the upper halves of
// products are all that is looked at, and rounded.
[[nodiscard]] bool rescales_in_registers(const Int8Rescale& rescale);

// Where sums go: as they are, or made INT8 in registers if there is `rescale`.
struct Int8Target {
    std::int32_t* sums = nullptr;
    const Int8Rescale* rescale = nullptr;
    std::int8_t* bytes = nullptr;

    // `count` elements further on.
    [[nodiscard]] Int8Target after(std::int64_t count) const {
        return rescale == nullptr
                   ? Int8Target{.sums = sums + count, .rescale = nullptr, .bytes = nullptr}
                   : Int8Target{.sums = nullptr, .rescale = rescale, .bytes = bytes + count};
    }
};

// INT8 of the sums of `count` pixels.
void rescale_to_int8(const Int8Rescale& rescale, const std::int32_t* sums, std::int64_t count,
                     std::int8_t* target);

}  // namespace virtaccel::backends::cpu::ops

#pragma once
// RESCALE's arithmetic, for its own step and for those that rescale what they write.

#include <algorithm>
#include <cstdint>

namespace virtaccel::backends::cpu::ops {

// The shifts that the specification knows.
inline constexpr std::int32_t shift_min = 2;
inline constexpr std::int32_t shift_max = 62;

// `value` times `multiplier` / 2^`shift`, to nearest, halves up. If it `rounds_twice`, a shift of
// more than 31 bits first adds half of the 31st away from zero. A shift that there is not is the
// nearest that there is, and a product that does not fit wraps around; a result is always less than
// 2^62.
[[nodiscard]] constexpr std::int64_t scaled(std::int64_t value, std::int32_t multiplier,
                                            std::int32_t shift, bool rounds_twice) {
    shift = std::clamp(shift, shift_min, shift_max);
    std::uint64_t round = std::uint64_t{1} << static_cast<std::uint32_t>(shift - 1);
    if (rounds_twice && shift > 31) {
        constexpr std::uint64_t half = std::uint64_t{1} << 30U;
        round += value >= 0 ? half : 0 - half;
    }
    const std::uint64_t product = static_cast<std::uint64_t>(value) *
                                  static_cast<std::uint64_t>(static_cast<std::int64_t>(multiplier));
    return static_cast<std::int64_t>(product + round) >> static_cast<std::uint32_t>(shift);
}

static_assert(scaled(3, 1 << 30, 31, false) == 2 && scaled(-3, 1 << 30, 31, false) == -1);
static_assert(scaled(-3, 1 << 30, 32, true) == -1 && scaled(-2, 1 << 30, 32, true) == -1);

}  // namespace virtaccel::backends::cpu::ops

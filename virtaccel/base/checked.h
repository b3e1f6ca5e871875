#pragma once
// Arithmetic on numbers the other side chose. Each function says by its result whether the true
// value exists; none wraps.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel {

// a + b, or nothing if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
    T sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        return std::nullopt;
    }
    return sum;
}

// a * b, or nothing if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
    T product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        return std::nullopt;
    }
    return product;
}

// True if exactly one bit of `value` is set. std::has_single_bit counts bits, which asks for a
// library call where the processor has no instruction for it.
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool is_power_of_two(T value) {
    return value != 0 && (value & static_cast<T>(value - 1)) == 0;
}

// `value` rounded up to a multiple of `alignment` (a power of two), or nothing if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_align_up(T value, T alignment) {
    const auto sum = checked_add(value, static_cast<T>(alignment - 1));
    if (!sum) {
        return std::nullopt;
    }
    return static_cast<T>(*sum & static_cast<T>(~(alignment - 1)));
}

// True if `range` is nonempty and its end is representable (spec §4, "Ranges").
[[nodiscard]] constexpr bool is_range(ByteRange range) {
    return range.bytes != 0 &&
           range.offset <= std::numeric_limits<std::uint64_t>::max() - range.bytes;
}

// True if `range` lies inside [0, size). Never wraps.
[[nodiscard]] constexpr bool fits(ByteRange range, std::uint64_t size) {
    return range.bytes <= size && range.offset <= size - range.bytes;
}

}  // namespace virtaccel

#pragma once
// What kernels of products add up in, and how they read elements of any type, INT4 included.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/ops/elements.h"

namespace virtaccel::backends::cpu::ops {

// What products add up to before they become an Out. Integers are unsigned: a sum that leaves its
// type, which TOSA leaves undefined, wraps around.
template <class Out>
using Sum =
    std::conditional_t<FloatElement<Out>, float,
                       std::conditional_t<std::same_as<Out, Int48>, std::uint64_t, std::uint32_t>>;

template <class Out>
[[nodiscard]] constexpr Out element_of(Sum<Out> sum) {
    return narrowed_to<Out>(static_cast<Wide<Out>>(sum));
}

// Stands for INT4 where an element type is asked for.
struct Int4 {};

// The numbers of a tensor of T.
template <class T>
class Elements {
  public:
    explicit Elements(const std::byte* data) : data_(reinterpret_cast<const T*>(data)) {}

    [[nodiscard]] Wide<T> operator[](std::int64_t i) const { return widened(data_[i]); }

  private:
    const T* data_;
};

// Two to a byte, the low half first.
template <>
class Elements<Int4> {
  public:
    explicit Elements(const std::byte* data) : data_(reinterpret_cast<const std::uint8_t*>(data)) {}

    [[nodiscard]] std::int32_t operator[](std::int64_t i) const {
        const std::int32_t half = (data_[i / 2] >> (i % 2 == 0 ? 0U : 4U)) & 0xf;
        return (half ^ 8) - 8;
    }

  private:
    const std::uint8_t* data_;
};

}  // namespace virtaccel::backends::cpu::ops

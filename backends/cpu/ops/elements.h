#pragma once
// The types that kernels see elements as: one for each of TOSA's, as tensors have them in memory,
// and the wider type that a kernel computes in. INT4 has none: two share a byte, so whoever takes
// INT4 unpacks it first.

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "virtaccel/lowering/number_formats.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

using lowering::Bf16;
using lowering::Fp16;
using lowering::Fp8E4M3;
using lowering::Fp8E5M2;

// A BOOL's byte: 0 or 1, and from a guest anything, of which all but 0 is true.
enum class Bool : std::uint8_t {};

// Six bytes, the lowest first.
struct Int48 {
    std::array<std::uint8_t, 6> bytes{};
};

template <class T>
concept FloatElement = std::same_as<T, float> || std::same_as<T, Fp16> || std::same_as<T, Bf16> ||
                       std::same_as<T, Fp8E4M3> || std::same_as<T, Fp8E5M2>;

// What an element is computed in. INT48 needs 64 bits, other integers 32.
template <class T>
using Wide = std::conditional_t<
    FloatElement<T>, float,
    std::conditional_t<std::same_as<T, Int48> || std::same_as<T, std::int64_t>, std::int64_t,
                       std::conditional_t<std::same_as<T, Bool>, bool, std::int32_t>>>;

// The number that an element means. Exact.
template <class T>
[[nodiscard]] constexpr Wide<T> widened(T element) {
    if constexpr (std::same_as<T, Bool>) {
        return element != Bool{0};
    } else if constexpr (std::same_as<T, Int48>) {
        std::uint64_t bits = 0;
        for (std::uint32_t i = 0; i < 6; ++i) {
            bits |= std::uint64_t{element.bytes[i]} << (8U * i);
        }
        return static_cast<std::int64_t>(bits << 16U) >> 16U;
    } else if constexpr (std::is_enum_v<T>) {
        return lowering::to_float(element);
    } else {
        return element;
    }
}

// The element for a number: the nearest one of a floating-point type, the low bits of an integer.
template <class T>
[[nodiscard]] constexpr T narrowed_to(Wide<T> number) {
    if constexpr (std::same_as<T, Bool>) {
        return number ? Bool{1} : Bool{0};
    } else if constexpr (std::same_as<T, Int48>) {
        Int48 element;
        for (std::uint32_t i = 0; i < 6; ++i) {
            element.bytes[i] =
                static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> (8U * i));
        }
        return element;
    } else if constexpr (std::same_as<T, Fp16>) {
        return lowering::to_fp16(number);
    } else if constexpr (std::same_as<T, Bf16>) {
        return lowering::to_bf16(number);
    } else if constexpr (std::same_as<T, Fp8E4M3>) {
        return lowering::to_fp8e4m3(number);
    } else if constexpr (std::same_as<T, Fp8E5M2>) {
        return lowering::to_fp8e5m2(number);
    } else {
        return static_cast<T>(number);
    }
}

// A type as a value.
template <class T>
struct ElementType {
    using type = T;
};

template <tosa::DType dtype>
struct ElementOf;

template <>
struct ElementOf<tosa::DType::boolean> : ElementType<Bool> {};

template <>
struct ElementOf<tosa::DType::int8> : ElementType<std::int8_t> {};

template <>
struct ElementOf<tosa::DType::int16> : ElementType<std::int16_t> {};

template <>
struct ElementOf<tosa::DType::int32> : ElementType<std::int32_t> {};

template <>
struct ElementOf<tosa::DType::int48> : ElementType<Int48> {};

template <>
struct ElementOf<tosa::DType::shape> : ElementType<std::int64_t> {};

template <>
struct ElementOf<tosa::DType::fp32> : ElementType<float> {};

template <>
struct ElementOf<tosa::DType::fp16> : ElementType<Fp16> {};

template <>
struct ElementOf<tosa::DType::bf16> : ElementType<Bf16> {};

template <>
struct ElementOf<tosa::DType::fp8e4m3> : ElementType<Fp8E4M3> {};

template <>
struct ElementOf<tosa::DType::fp8e5m2> : ElementType<Fp8E5M2> {};

// Calls `visit(ElementType<T>{})` with the type of the one of `dtypes` that is `dtype`. Whether
// there was one. The list bounds how often `visit` is compiled.
template <tosa::DType... dtypes, class Visit>
bool visit_element(tosa::DType dtype, const Visit& visit) {
    return ((dtype == dtypes && (visit(ElementType<typename ElementOf<dtypes>::type>{}), true)) ||
            ...);
}

}  // namespace virtaccel::backends::cpu::ops

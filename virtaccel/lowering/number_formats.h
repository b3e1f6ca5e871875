#pragma once
// Number formats that C++ has no type for, to and from float: IEEE half precision (FP16), bfloat16
// (BF16) and the two formats of OFP8 (FP8E4M3, FP8E5M2), as bits. Conversions to float are exact;
// those from float round to nearest, ties to even, keep NaN a NaN, and go to infinity past the
// largest number, or to NaN where there is no infinity (FP8E4M3).

#include <algorithm>
#include <bit>
#include <cstdint>

namespace virtaccel::lowering {

// The bits of a number, in a type of its own so that a kernel cannot mistake them for an integer.
enum class Fp16 : std::uint16_t {};
enum class Bf16 : std::uint16_t {};
enum class Fp8E4M3 : std::uint8_t {};
enum class Fp8E5M2 : std::uint8_t {};

[[nodiscard]] constexpr float to_float(Fp16 value) {
    const auto bits = static_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7fffU;
    if (magnitude >= 0x7c00U) {  // infinity, NaN
        return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13U));
    }
    if (magnitude < 0x400U) {  // zero, subnormal: a multiple of 2^-24
        const float scaled = static_cast<float>(magnitude) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
    }
    return std::bit_cast<float>(sign | ((magnitude << 13U) + (112U << 23U)));
}

[[nodiscard]] constexpr float to_float(Bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

[[nodiscard]] constexpr float to_float(Fp8E4M3 value) {
    const auto bits = static_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits & 0x80U) << 24U;
    const std::uint32_t magnitude = bits & 0x7fU;
    if (magnitude == 0x7fU) {
        return std::bit_cast<float>(sign | 0x7fc00000U);
    }
    if (magnitude < 8U) {  // zero, subnormal: a multiple of 2^-9
        const float scaled = static_cast<float>(magnitude) * 0x1p-9F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
    }
    return std::bit_cast<float>(sign | ((magnitude << 20U) + (120U << 23U)));
}

// The upper half of an FP16.
[[nodiscard]] constexpr float to_float(Fp8E5M2 value) {
    return to_float(static_cast<Fp16>(static_cast<std::uint32_t>(value) << 8U));
}

// `bits` without its low `count` bits (1 to 31), rounded to nearest, ties to even.
[[nodiscard]] constexpr std::uint32_t round_off(std::uint32_t bits, std::uint32_t count) {
    const std::uint32_t half = (1U << (count - 1U)) - 1U;
    return (bits + half + ((bits >> count) & 1U)) >> count;
}

// A float's magnitude (its bits without the sign, no NaN) in a narrower format: its pattern without
// a sign. Past the largest number it is a pattern past that number's.
template <std::uint32_t bias, std::uint32_t fraction_bits>
[[nodiscard]] constexpr std::uint32_t narrowed(std::uint32_t magnitude) {
    const std::uint32_t exponent = magnitude >> 23U;
    if (exponent > 127U - bias) {
        return round_off(magnitude - ((127U - bias) << 23U), 23U - fraction_bits);
    }
    const std::uint32_t count = 151U - bias - fraction_bits - exponent;
    if (count > 24U) {  // less than half of the smallest number
        return 0;
    }
    return round_off((magnitude & 0x7fffffU) | 0x800000U, count);
}

[[nodiscard]] constexpr Fp16 to_fp16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return static_cast<Fp16>(sign | 0x7e00U | ((magnitude >> 13U) & 0x3ffU));
    }
    return static_cast<Fp16>(sign | std::min(narrowed<15, 10>(magnitude), 0x7c00U));
}

[[nodiscard]] constexpr Bf16 to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<Bf16>((bits >> 16U) | 0x40U);
    }
    return static_cast<Bf16>(round_off(bits, 16));
}

[[nodiscard]] constexpr Fp8E4M3 to_fp8e4m3(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 24U) & 0x80U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    // Everything past the largest number, infinity and NaN: the only NaN there is.
    const std::uint32_t narrow =
        magnitude > 0x7f800000U ? 0x7fU : std::min(narrowed<7, 3>(magnitude), 0x7fU);
    return static_cast<Fp8E4M3>(sign | narrow);
}

[[nodiscard]] constexpr Fp8E5M2 to_fp8e5m2(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 24U) & 0x80U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const std::uint32_t narrow =
        magnitude > 0x7f800000U ? 0x7eU : std::min(narrowed<15, 2>(magnitude), 0x7cU);
    return static_cast<Fp8E5M2>(sign | narrow);
}

}  // namespace virtaccel::lowering

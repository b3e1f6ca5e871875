#pragma once
// Number formats that C++ has no type for, to and from float: IEEE half precision (FP16) and
// bfloat16 (BF16), as bits. Conversions to float are exact; those from float round to nearest, ties
// to even, keep NaN a NaN, and go to infinity past the largest number.

#include <bit>
#include <cstdint>

namespace virtaccel::lowering {

// The bits of a number, in a type of its own so that a kernel cannot mistake them for an integer.
enum class Fp16 : std::uint16_t {};
enum class Bf16 : std::uint16_t {};

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

// `bits` without its low `count` bits (1 to 31), rounded to nearest, ties to even.
[[nodiscard]] constexpr std::uint32_t round_off(std::uint32_t bits, std::uint32_t count) {
    const std::uint32_t half = (1U << (count - 1U)) - 1U;
    return (bits + half + ((bits >> count) & 1U)) >> count;
}

[[nodiscard]] constexpr Fp16 to_fp16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return static_cast<Fp16>(sign | 0x7e00U | ((magnitude >> 13U) & 0x3ffU));
    }
    if (magnitude >= 0x477ff000U) {  // halfway from 65504 to 65536, and beyond
        return static_cast<Fp16>(sign | 0x7c00U);
    }
    if (magnitude >= 0x38800000U) {  // 2^-14, the smallest normal number
        return static_cast<Fp16>(sign | round_off(magnitude - (112U << 23U), 13));
    }
    if (magnitude < 0x33000000U) {  // below 2^-25
        return static_cast<Fp16>(sign);
    }
    const std::uint32_t fraction = (magnitude & 0x7fffffU) | 0x800000U;
    return static_cast<Fp16>(sign | round_off(fraction, 126U - (magnitude >> 23U)));
}

[[nodiscard]] constexpr Bf16 to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<Bf16>((bits >> 16U) | 0x40U);
    }
    return static_cast<Bf16>(round_off(bits, 16));
}

}  // namespace virtaccel::lowering

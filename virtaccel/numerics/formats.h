#pragma once
// The floating-point formats of TOSA 1.0 (FP32, FP16, BF16, FP8E4M3, FP8E5M2) by their definition:
// slow, short, and the same few lines for all of them. The one thing to know: this is what results
// are judged by, so no backend uses it; what backends use is compared with it.

#include <cstdint>
#include <optional>

#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

// A sign, `exponent_bits` of exponent and `fraction_bits` of fraction, from the highest bit down,
// as IEEE 754 has it. Without infinities (FP8E4M3) the highest exponent holds numbers like any
// other, and only its last fraction is NaN.
struct FloatFormat {
    int exponent_bits = 0;
    int fraction_bits = 0;
    bool has_infinity = true;

    [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }

    [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }

    friend constexpr bool operator==(const FloatFormat&, const FloatFormat&) = default;
};

// Nothing for a type that is not floating-point.
[[nodiscard]] std::optional<FloatFormat> float_format(tosa::DType dtype);

// The nearest integer, the even one of two that are as near. Infinities and NaN stay what they are.
[[nodiscard]] double round_to_even(double value);

// The number that `bits` mean. Exact: a double holds all of them.
[[nodiscard]] double decode(const FloatFormat& format, std::uint32_t bits);

// The nearest number, to even where two are as near. What is nearer to the next number past the
// largest than to the largest itself is infinity, or NaN where there is no infinity (OFP8, without
// saturation). A NaN is a quiet NaN of its sign.
[[nodiscard]] std::uint32_t encode(const FloatFormat& format, double value);

// decode(encode(value)).
[[nodiscard]] double rounded(const FloatFormat& format, double value);

[[nodiscard]] double largest(const FloatFormat& format);
[[nodiscard]] double smallest_normal(const FloatFormat& format);

// The distance between neighbours from `value` outwards; below the smallest normal number, that of
// the subnormal ones. `value` is finite.
[[nodiscard]] double ulp(const FloatFormat& format, double value);

}  // namespace virtaccel::numerics

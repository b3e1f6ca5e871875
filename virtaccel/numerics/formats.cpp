#include "virtaccel/numerics/formats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

std::uint32_t ones(int count) {
    return (1U << static_cast<unsigned>(count)) - 1U;
}

// `exponent` and `fraction` as a pattern's fields.
std::uint32_t fields(const FloatFormat& format, std::uint32_t exponent, std::uint32_t fraction) {
    return (exponent << static_cast<unsigned>(format.fraction_bits)) | fraction;
}

// The pattern of a number of the format, at least zero.
std::uint32_t pattern_of(const FloatFormat& format, double magnitude) {
    if (magnitude < smallest_normal(format)) {
        return static_cast<std::uint32_t>(magnitude / ulp(format, 0));
    }
    const int exponent = std::ilogb(magnitude);
    const double fraction = std::ldexp(magnitude, format.fraction_bits - exponent);
    return fields(format, static_cast<std::uint32_t>(exponent + format.bias()),
                  static_cast<std::uint32_t>(fraction) & ones(format.fraction_bits));
}

std::uint32_t pattern_past_the_largest(const FloatFormat& format) {
    return fields(format, ones(format.exponent_bits),
                  format.has_infinity ? 0 : ones(format.fraction_bits));
}

std::uint32_t quiet_nan(const FloatFormat& format) {
    const std::uint32_t quiet = 1U << static_cast<unsigned>(format.fraction_bits - 1);
    return fields(format, ones(format.exponent_bits),
                  format.has_infinity ? quiet : ones(format.fraction_bits));
}

}  // namespace

std::optional<FloatFormat> float_format(tosa::DType dtype) {
    switch (dtype) {
        case tosa::DType::fp32:
            return FloatFormat{.exponent_bits = 8, .fraction_bits = 23};
        case tosa::DType::fp16:
            return FloatFormat{.exponent_bits = 5, .fraction_bits = 10};
        case tosa::DType::bf16:
            return FloatFormat{.exponent_bits = 8, .fraction_bits = 7};
        case tosa::DType::fp8e4m3:
            return FloatFormat{.exponent_bits = 4, .fraction_bits = 3, .has_infinity = false};
        case tosa::DType::fp8e5m2:
            return FloatFormat{.exponent_bits = 5, .fraction_bits = 2};
        default:
            return std::nullopt;
    }
}

double round_to_even(double value) {
    if (!std::isfinite(value)) {
        return value;
    }
    const double whole = std::floor(value);
    const double rest = value - whole;
    const bool is_odd = std::fmod(whole, 2) != 0;
    return rest > 0.5 || (rest == 0.5 && is_odd) ? whole + 1 : whole;
}

double decode(const FloatFormat& format, std::uint32_t bits) {
    const auto fraction_bits = static_cast<unsigned>(format.fraction_bits);
    const std::uint32_t fraction = bits & ones(format.fraction_bits);
    const std::uint32_t exponent = (bits >> fraction_bits) & ones(format.exponent_bits);
    const bool is_negative = ((bits >> static_cast<unsigned>(format.bits() - 1)) & 1U) != 0;
    double magnitude = 0;
    if (exponent == 0) {
        magnitude = std::ldexp(fraction, 1 - format.bias() - format.fraction_bits);
    } else {
        magnitude = std::ldexp(fraction | (1U << fraction_bits),
                               static_cast<int>(exponent) - format.bias() - format.fraction_bits);
    }
    if (exponent == ones(format.exponent_bits)) {
        if (format.has_infinity) {
            magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                                      : std::numeric_limits<double>::quiet_NaN();
        } else if (fraction == ones(format.fraction_bits)) {
            magnitude = std::numeric_limits<double>::quiet_NaN();
        }
    }
    return is_negative ? -magnitude : magnitude;
}

std::uint32_t encode(const FloatFormat& format, double value) {
    const std::uint32_t sign =
        std::signbit(value) ? 1U << static_cast<unsigned>(format.bits() - 1) : 0;
    if (std::isnan(value)) {
        return sign | quiet_nan(format);
    }
    const double magnitude = std::abs(value);
    if (std::isinf(magnitude)) {
        return sign | pattern_past_the_largest(format);
    }
    const double step = ulp(format, magnitude);
    const double nearest = round_to_even(magnitude / step) * step;
    return sign | (nearest > largest(format) ? pattern_past_the_largest(format)
                                             : pattern_of(format, nearest));
}

double rounded(const FloatFormat& format, double value) {
    return decode(format, encode(format, value));
}

double largest(const FloatFormat& format) {
    return decode(format, pattern_past_the_largest(format) - 1);
}

double smallest_normal(const FloatFormat& format) {
    return std::ldexp(1, 1 - format.bias());
}

double ulp(const FloatFormat& format, double value) {
    const double magnitude = std::max(std::abs(value), smallest_normal(format));
    return std::ldexp(1, std::ilogb(magnitude) - format.fraction_bits);
}

}  // namespace virtaccel::numerics

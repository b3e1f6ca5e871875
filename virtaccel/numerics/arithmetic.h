#pragma once
// Steps that several oracles share. Internal to this folder.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

// A sum, and the sum of its terms' magnitudes: what its error is measured against.
struct Sum {
    double value = 0;
    double magnitude = 0;

    void add(double term) {
        value += term;
        magnitude += std::abs(term);
    }
};

inline void append(Tensor& output, const Sum& sum) {
    output.values.push_back(sum.value);
    output.magnitudes.push_back(sum.magnitude);
}

// How many terms a sum's error counts for, if it was summed up in a wider type and then rounded
// (TOSA 1.0, dot product accuracy).
[[nodiscard]] inline double counted_terms(std::int64_t terms, tosa::DType accumulator,
                                          tosa::DType output) {
    const auto wide = float_format(accumulator);
    const auto narrow = float_format(output);
    const int spare = wide && narrow ? wide->fraction_bits - narrow->fraction_bits : 0;
    return std::ceil(static_cast<double>(terms) / std::exp2(spare / 2.0));
}

// Each element of `output` as `value(position)`.
template <class Value>
void fill(Tensor& output, Value value) {
    const std::size_t count = tosa::element_count(output.shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        output.values.push_back(value(position_of(output.shape, i)));
    }
}

// The greater (or the lesser) of two numbers, where a NaN wins or loses.
struct Choice {
    bool greatest = true;
    bool ignores_nan = false;

    [[nodiscard]] double operator()(double a, double b) const {
        if (std::isnan(a) || std::isnan(b)) {
            return std::isnan(a) == ignores_nan ? b : a;
        }
        return (greatest ? a > b : a < b) ? a : b;
    }
};

// The least and the greatest number of a signed or unsigned integer type. INT4 has no -8 (TOSA 1.0:
// it is symmetric).
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of(tosa::DType dtype,
                                                                    bool is_unsigned = false) {
    const std::uint32_t width = tosa::bits_of(dtype).value_or(1);
    const std::int64_t half = std::int64_t{1} << (width - 1);
    if (dtype == tosa::DType::int4) {
        return {1 - half, half - 1};
    }
    return is_unsigned ? std::pair{std::int64_t{0}, (2 * half) - 1} : std::pair{-half, half - 1};
}

// A fixed-point factor: multiplier / 2^shift.
struct Scale {
    std::int64_t multiplier = 0;
    std::int64_t shift = 0;
};

// `value` times the factor: half is rounded up, or with `double_round` first away from zero at the
// 31st bit.
[[nodiscard]] inline std::int64_t scaled(std::int64_t value, const Scale& scale,
                                         bool double_round = false) {
    std::int64_t round = std::int64_t{1} << (scale.shift - 1);
    if (double_round && scale.shift > 31) {
        constexpr std::int64_t half_of_31 = std::int64_t{1} << 30U;
        round += value >= 0 ? half_of_31 : -half_of_31;
    }
    return ((value * scale.multiplier) + round) >> scale.shift;
}

}  // namespace virtaccel::numerics

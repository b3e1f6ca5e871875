// CAST, RESCALE.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics::oracles {

namespace {

// To nearest, half to even, and no further than the type goes. Nothing is said of NaN.
double to_integer(double value, tosa::DType dtype) {
    if (std::isnan(value)) {
        return 0;
    }
    const auto [least, most] = range_of(dtype);
    return std::clamp(round_to_even(value), static_cast<double>(least), static_cast<double>(most));
}

// A number of RESCALE's, which may be meant without a sign.
std::int64_t integer_of(const Tensor& tensor, std::size_t i, bool is_unsigned) {
    const auto value = static_cast<std::int64_t>(tensor.values[i]);
    const std::uint32_t width = tosa::bits_of(tensor.dtype).value_or(1);
    return is_unsigned && value < 0 ? value + (std::int64_t{1} << width) : value;
}

}  // namespace

// Between floating-point types to nearest, which the bytes of the output take care of; integers
// keep their low bits.
void cast(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    for (const double value : input.values) {
        if (output.dtype == tosa::DType::boolean) {
            output.values.push_back(value != 0 ? 1 : 0);
        } else if (float_format(input.dtype) && !float_format(output.dtype)) {
            output.values.push_back(to_integer(value, output.dtype));
        } else {
            output.values.push_back(value);
        }
    }
}

// (input - zero point) * multiplier / 2^shift + zero point, for the tensor or for each channel.
void rescale(const Step& step, Tensor& output) {
    const auto& attribute = step.op.as<tosa::RescaleAttribute>();
    const Tensor& input = step.inputs[0];
    const std::int64_t input_zero = integer_of(step.inputs[3], 0, attribute.input_unsigned);
    const std::int64_t output_zero = integer_of(step.inputs[4], 0, attribute.output_unsigned);
    const auto [least, most] = range_of(output.dtype, attribute.output_unsigned);
    const auto channels =
        attribute.per_channel ? static_cast<std::size_t>(input.shape.back()) : std::size_t{1};
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        const Scale scale{
            .multiplier = static_cast<std::int64_t>(step.inputs[1].values[i % channels]),
            .shift = static_cast<std::int64_t>(step.inputs[2].values[i % channels])};
        const std::int64_t value = integer_of(input, i, attribute.input_unsigned) - input_zero;
        const bool twice = attribute.rounding == tosa::RoundingMode::double_round;
        output.values.push_back(static_cast<double>(
            std::clamp(scaled(value, scale, twice) + output_zero, least, most)));
    }
}

}  // namespace virtaccel::numerics::oracles

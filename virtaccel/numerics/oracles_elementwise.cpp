// Operators that make one element of one element of each input, which broadcast.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

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

// The element that an output's position stands for: dimensions of one repeat.
double element(const Tensor& tensor, Position at) {
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        at[axis] = tensor.shape[axis] == 1 ? 0 : at[axis];
    }
    return tensor.at(at);
}

template <class Function>
void unary(const Step& step, Tensor& output, Function function) {
    fill(output, [&](const Position& at) { return function(step.inputs[0].at(at)); });
}

template <class Function>
void binary(const Step& step, Tensor& output, Function function) {
    fill(output, [&](const Position& at) {
        return function(element(step.inputs[0], at), element(step.inputs[1], at));
    });
}

// The same for integers of up to 32 bits, whose products 64 bits hold.
template <class Function>
void integer_binary(const Step& step, Tensor& output, Function function) {
    binary(step, output, [&](double a, double b) {
        return static_cast<double>(
            function(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    });
}

bool ignores_nan(const Step& step) {
    return step.op.as<tosa::NanAttribute>().nan_mode == tosa::NanMode::ignore;
}

}  // namespace

// A NaN stays one, or becomes the least if NaNs are ignored.
void clamp(const Step& step, Tensor& output) {
    const auto& attribute = step.op.as<tosa::ClampAttribute>();
    const std::int32_t one[] = {1};
    const double least = unpack(output.dtype, one, attribute.min).values[0];
    const double most = unpack(output.dtype, one, attribute.max).values[0];
    const bool ignores = attribute.nan_mode == tosa::NanMode::ignore;
    const Choice greater{.greatest = true, .ignores_nan = ignores};
    const Choice lesser{.greatest = false, .ignores_nan = ignores};
    unary(step, output, [&](double x) { return lesser(greater(x, least), most); });
}

// The allowed error is that of the exponential in it.
void sigmoid(const Step& step, Tensor& output) {
    unary(step, output, [](double x) { return 1 / (1 + std::exp(-x)); });
    for (std::size_t i = 0; i < output.values.size(); ++i) {
        const double x = step.inputs[0].values[i];
        output.magnitudes.push_back(std::isinf(x) ? 1 : output.values[i] * (1 + std::abs(x)));
    }
}

void add(const Step& step, Tensor& output) {
    binary(step, output, [](double a, double b) { return a + b; });
}

void sub(const Step& step, Tensor& output) {
    binary(step, output, [](double a, double b) { return a - b; });
}

// Of integers the product is shifted right, and half rounded up.
void mul(const Step& step, Tensor& output) {
    if (float_format(output.dtype)) {
        binary(step, output, [](double a, double b) { return a * b; });
        return;
    }
    const auto shift = static_cast<std::int64_t>(step.inputs[2].values[0]);
    integer_binary(step, output, [shift](std::int64_t a, std::int64_t b) {
        return shift == 0 ? a * b : scaled(a, {.multiplier = b, .shift = shift});
    });
}

// Towards zero. Nothing is said of division by zero and of a quotient that does not fit.
void intdiv(const Step& step, Tensor& output) {
    integer_binary(step, output, [](std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a / b; });
}

void arithmetic_right_shift(const Step& step, Tensor& output) {
    const bool round = step.op.as<tosa::ShiftAttribute>().round;
    integer_binary(step, output, [round](std::int64_t value, std::int64_t shift) {
        const std::int64_t half = round && shift > 0 ? (value >> (shift - 1)) & 1 : 0;
        return (value >> shift) + half;
    });
}

void maximum(const Step& step, Tensor& output) {
    binary(step, output, Choice{.greatest = true, .ignores_nan = ignores_nan(step)});
}

void minimum(const Step& step, Tensor& output) {
    binary(step, output, Choice{.greatest = false, .ignores_nan = ignores_nan(step)});
}

// Less the input's zero point, plus the output's; integers go no further than their type.
void negate(const Step& step, Tensor& output) {
    if (float_format(output.dtype)) {
        unary(step, output, [](double x) { return -x; });
        return;
    }
    const double input_zero = step.inputs[1].values[0];
    const double output_zero = step.inputs[2].values[0];
    const auto [least, most] = range_of(output.dtype);
    unary(step, output, [&](double x) {
        return std::clamp(input_zero - x + output_zero, static_cast<double>(least),
                          static_cast<double>(most));
    });
}

void select(const Step& step, Tensor& output) {
    fill(output, [&](const Position& at) {
        return element(step.inputs[element(step.inputs[0], at) != 0 ? 1 : 2], at);
    });
}

void equal(const Step& step, Tensor& output) {
    binary(step, output, [](double a, double b) { return a == b ? 1.0 : 0.0; });
}

void greater(const Step& step, Tensor& output) {
    binary(step, output, [](double a, double b) { return a > b ? 1.0 : 0.0; });
}

void greater_equal(const Step& step, Tensor& output) {
    binary(step, output, [](double a, double b) { return a >= b ? 1.0 : 0.0; });
}

}  // namespace virtaccel::numerics::oracles

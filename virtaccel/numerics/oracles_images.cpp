// MAX_POOL2D, AVG_POOL2D, RESIZE.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/numerics/window.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics::oracles {

namespace {

Window window_of(const tosa::PoolAttribute& attribute) {
    return {.kernel = {attribute.kernel[0], attribute.kernel[1]},
            .stride = {attribute.stride[0], attribute.stride[1]},
            .dilation = {1, 1},
            .pad = {attribute.pad[0], attribute.pad[2]}};
}

// A little above 1 / count, so that an exact quotient below zero stays what it is.
Scale reciprocal_of(std::int64_t count) {
    const auto bits =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
    const std::int64_t numerator = ((std::int64_t{1} << 30U) + 1) << bits;
    return {.multiplier = numerator / count, .shift = 30 + bits};
}

// One axis of RESIZE: output `o` lies at (o * d + offset) / n of the input.
struct ResizeAxis {
    std::int64_t n = 1;
    std::int64_t d = 1;
    std::int64_t offset = 0;
    std::int64_t size = 1;
};

// Where an output lies: between two inputs, so many n-ths past the first.
struct Place {
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::int64_t rest = 0;
};

Place place_of(const ResizeAxis& axis, std::int64_t output) {
    const std::int64_t numerator = (output * axis.d) + axis.offset;
    const auto whole = static_cast<std::int64_t>(
        std::floor(static_cast<double>(numerator) / static_cast<double>(axis.n)));
    return {.before = std::clamp<std::int64_t>(whole, 0, axis.size - 1),
            .after = std::clamp<std::int64_t>(whole + 1, 0, axis.size - 1),
            .rest = numerator - (whole * axis.n)};
}

ResizeAxis axis_of(const Step& step, std::size_t axis) {
    const auto value = [&step](std::size_t input, std::size_t i) {
        return static_cast<std::int64_t>(step.inputs[input].values[i]);
    };
    return {.n = value(1, 2 * axis),
            .d = value(1, (2 * axis) + 1),
            .offset = value(2, axis),
            .size = step.inputs[0].dim(axis + 1)};
}

// The mean of four neighbours by their nearness, times n_y * n_x.
double interpolated(const Tensor& image, const Position& at, const std::array<Place, 2>& places,
                    const std::array<ResizeAxis, 2>& axes) {
    double sum = 0;
    for (const unsigned corner : {0U, 1U, 2U, 3U}) {
        const bool below = corner >= 2;
        const bool right = corner % 2 == 1;
        const std::int64_t y_share = below ? places[0].rest : axes[0].n - places[0].rest;
        const std::int64_t x_share = right ? places[1].rest : axes[1].n - places[1].rest;
        const Position from{at[0], below ? places[0].after : places[0].before,
                            right ? places[1].after : places[1].before, at[3]};
        sum += image.at(from) * static_cast<double>(y_share * x_share);
    }
    return sum;
}

}  // namespace

// What lies outside the input is not looked at.
void max_pool2d(const Step& step, Tensor& output) {
    const auto& attribute = step.op.as<tosa::PoolAttribute>();
    const Tensor& input = step.inputs[0];
    const Window window = window_of(attribute);
    const Choice greater{.greatest = true,
                         .ignores_nan = attribute.nan_mode == tosa::NanMode::ignore};
    fill(output, [&](const Position& at) {
        std::optional<double> best;
        for_each_tap(window, input, at, [&](const Tap& tap) {
            const double value = input.at({at[0], tap.y, tap.x, at[3]});
            best = best ? greater(*best, value) : value;
        });
        return *best;
    });
}

// What lies outside the input is not counted.
void avg_pool2d(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    const double input_zero = step.inputs[1].values[0];
    const auto output_zero = static_cast<std::int64_t>(step.inputs[2].values[0]);
    const auto& attribute = step.op.as<tosa::PoolAttribute>();
    const Window window = window_of(attribute);
    output.terms =
        counted_terms(window.kernel[0] * window.kernel[1], attribute.accumulator, output.dtype);
    const std::size_t elements = tosa::element_count(output.shape).value_or(0);
    for (std::size_t i = 0; i < elements; ++i) {
        const Position at = position_of(output.shape, i);
        Sum sum;
        std::int64_t count = 0;
        for_each_tap(window, input, at, [&](const Tap& tap) {
            sum.add(input.at({at[0], tap.y, tap.x, at[3]}) - input_zero);
            ++count;
        });
        if (float_format(output.dtype)) {
            const auto divisor = static_cast<double>(count);
            append(output, {.value = sum.value / divisor, .magnitude = sum.magnitude / divisor});
            continue;
        }
        const auto [least, most] = range_of(output.dtype);
        const std::int64_t mean =
            scaled(static_cast<std::int64_t>(sum.value), reciprocal_of(count)) + output_zero;
        output.values.push_back(static_cast<double>(std::clamp(mean, least, most)));
    }
}

// Interpolated integers stay multiplied by both numerators; floating-point numbers do not.
void resize(const Step& step, Tensor& output) {
    const Tensor& image = step.inputs[0];
    const std::array<ResizeAxis, 2> axes{axis_of(step, 0), axis_of(step, 1)};
    const bool is_nearest = step.op.as<tosa::ResizeAttribute>().mode == tosa::ResizeMode::nearest;
    const double whole =
        float_format(output.dtype) ? static_cast<double>(axes[0].n * axes[1].n) : 1;
    fill(output, [&](const Position& at) {
        const std::array<Place, 2> places{place_of(axes[0], at[1]), place_of(axes[1], at[2])};
        if (!is_nearest) {
            return interpolated(image, at, places, axes) / whole;
        }
        const auto nearer = [&](std::size_t axis) {
            return 2 * places[axis].rest >= axes[axis].n ? places[axis].after : places[axis].before;
        };
        return image.at({at[0], nearer(0), nearer(1), at[3]});
    });
    if (!is_nearest && float_format(output.dtype)) {
        double most = 0;
        for (const double value : image.values) {
            most = std::max(most, std::abs(value));
        }
        output.magnitudes.assign(output.values.size(), most);
    }
}

}  // namespace virtaccel::numerics::oracles

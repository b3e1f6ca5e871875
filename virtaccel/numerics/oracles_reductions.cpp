// ARGMAX, REDUCE_MAX, REDUCE_MIN, REDUCE_SUM.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics::oracles {

namespace {

std::size_t axis_of(const Step& step) {
    return static_cast<std::size_t>(step.op.as<tosa::AxisAttribute>().axis);
}

bool ignores_nan(const Step& step) {
    return step.op.as<tosa::AxisAttribute>().nan_mode == tosa::NanMode::ignore;
}

void reduce_to(const Step& step, Tensor& output, const Choice& choice) {
    const Tensor& input = step.inputs[0];
    const std::size_t axis = axis_of(step);
    fill(output, [&](Position at) {
        double best = input.at(at);
        while (++at[axis] < input.dim(axis)) {
            best = choice(best, input.at(at));
        }
        return best;
    });
}

}  // namespace

// The first of the greatest; a NaN is the greatest, or is not looked at.
void argmax(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    const std::size_t axis = axis_of(step);
    const bool ignores = ignores_nan(step);
    const auto is_better = [ignores](double value, double best) {
        if (std::isnan(value) || std::isnan(best)) {
            return std::isnan(best) ? ignores && !std::isnan(value) : !ignores;
        }
        return value > best;
    };
    fill(output, [&](const Position& at) {
        Position from{};
        for (std::size_t i = 0; i < input.shape.size(); ++i) {
            from[i] = i < axis ? at[i] : i == axis ? 0 : at[i - 1];
        }
        std::int64_t best = 0;
        Position best_at = from;
        while (++from[axis] < input.dim(axis)) {
            if (is_better(input.at(from), input.at(best_at))) {
                best = from[axis];
                best_at = from;
            }
        }
        return static_cast<double>(best);
    });
}

void reduce_max(const Step& step, Tensor& output) {
    reduce_to(step, output, {.greatest = true, .ignores_nan = ignores_nan(step)});
}

void reduce_min(const Step& step, Tensor& output) {
    reduce_to(step, output, {.greatest = false, .ignores_nan = ignores_nan(step)});
}

void reduce_sum(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    const std::size_t axis = axis_of(step);
    output.terms = static_cast<double>(input.dim(axis));
    const std::size_t count = tosa::element_count(output.shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        Sum sum;
        for (Position at = position_of(output.shape, i); at[axis] < input.dim(axis); ++at[axis]) {
            sum.add(input.at(at));
        }
        append(output, sum);
    }
}

}  // namespace virtaccel::numerics::oracles

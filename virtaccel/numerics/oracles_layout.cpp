// Operators that move elements and compute nothing.
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::numerics::oracles {

// IDENTITY, RESHAPE.
void as_it_is(const Step& step, Tensor& output) {
    output.values = step.inputs[0].values;
}

void concat(const Step& step, Tensor& output) {
    const auto axis = static_cast<std::size_t>(step.op.as<tosa::AxisAttribute>().axis);
    fill(output, [&](Position at) {
        std::size_t part = 0;
        while (at[axis] >= step.inputs[part].dim(axis)) {
            at[axis] -= step.inputs[part].dim(axis);
            ++part;
        }
        return step.inputs[part].at(at);
    });
}

// Two amounts for each dimension: before and after.
void pad(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    fill(output, [&](Position at) {
        for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
            at[axis] -= static_cast<std::int64_t>(step.inputs[1].values[2 * axis]);
            if (at[axis] < 0 || at[axis] >= input.dim(axis)) {
                return step.inputs[2].values[0];
            }
        }
        return input.at(at);
    });
}

void reverse(const Step& step, Tensor& output) {
    const auto axis = static_cast<std::size_t>(step.op.as<tosa::AxisAttribute>().axis);
    fill(output, [&](Position at) {
        at[axis] = step.inputs[0].dim(axis) - 1 - at[axis];
        return step.inputs[0].at(at);
    });
}

// Dimension i of the output is dimension perms[i] of the input.
void transpose(const Step& step, Tensor& output) {
    const auto& perms = step.op.as<tosa::TransposeAttribute>().perms;
    fill(output, [&](const Position& at) {
        Position from{};
        for (std::size_t i = 0; i < output.shape.size(); ++i) {
            from[static_cast<std::size_t>(perms[i])] = at[i];
        }
        return step.inputs[0].at(from);
    });
}

// Values N, K, C; indices N, W; output N, W, C.
void gather(const Step& step, Tensor& output) {
    fill(output, [&](const Position& at) {
        const auto row = static_cast<std::int64_t>(step.inputs[1].at({at[0], at[1]}));
        return step.inputs[0].at({at[0], row, at[2]});
    });
}

// Values N, K, C; indices N, W; input N, W, C; output as the values.
void scatter(const Step& step, Tensor& output) {
    output.values = step.inputs[0].values;
    const Tensor& input = step.inputs[2];
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        const Position at = position_of(input.shape, i);
        const auto row = static_cast<std::int64_t>(step.inputs[1].at({at[0], at[1]}));
        output.values[index_of(output.shape, {at[0], row, at[2]})] = input.values[i];
    }
}

}  // namespace virtaccel::numerics::oracles

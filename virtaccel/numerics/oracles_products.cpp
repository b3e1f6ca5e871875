// MATMUL, CONV2D, DEPTHWISE_CONV2D.
#include <cstddef>
#include <cstdint>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/numerics/window.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics::oracles {

namespace {

Window window_of(const tosa::Conv2dAttribute& attribute, std::int64_t height, std::int64_t width) {
    return {.kernel = {height, width},
            .stride = {attribute.stride[0], attribute.stride[1]},
            .dilation = {attribute.dilation[0], attribute.dilation[1]},
            .pad = {attribute.pad[0], attribute.pad[2]}};
}

// Each element of a convolution: the bias, one for all channels or one for each, and what
// `add_terms(sum, position, tap)` adds for each place of the window. What lies outside the input
// adds nothing.
template <class AddTerms>
void convolve(const Step& step, Tensor& output, const Window& window, AddTerms add_terms) {
    const Tensor& bias = step.inputs[2];
    const std::size_t count = tosa::element_count(output.shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        const Position at = position_of(output.shape, i);
        Sum sum;
        sum.add(bias.values[bias.values.size() == 1 ? 0 : static_cast<std::size_t>(at[3])]);
        for_each_tap(window, step.inputs[0], at, [&](const Tap& tap) { add_terms(sum, at, tap); });
        append(output, sum);
    }
}

}  // namespace

// A is N, H, C; B is N, C, W; both less their zero points.
void matmul(const Step& step, Tensor& output) {
    const Tensor& a = step.inputs[0];
    const Tensor& b = step.inputs[1];
    const double a_zero = step.inputs[2].values[0];
    const double b_zero = step.inputs[3].values[0];
    output.terms = static_cast<double>(a.dim(2));
    const std::size_t count = tosa::element_count(output.shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        const Position at = position_of(output.shape, i);
        Sum sum;
        for (std::int64_t c = 0; c < a.dim(2); ++c) {
            sum.add((a.at({at[0], at[1], c}) - a_zero) * (b.at({at[0], c, at[2]}) - b_zero));
        }
        append(output, sum);
    }
}

// Input N, IH, IW, IC; weight OC, KH, KW, IC.
void conv2d(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    const Tensor& weight = step.inputs[1];
    const double input_zero = step.inputs[3].values[0];
    const double weight_zero = step.inputs[4].values[0];
    const auto& attribute = step.op.as<tosa::Conv2dAttribute>();
    const std::int64_t channels = weight.dim(3);
    output.terms = 1 + counted_terms(weight.dim(1) * weight.dim(2) * channels,
                                     attribute.accumulator, output.dtype);
    convolve(step, output, window_of(attribute, weight.dim(1), weight.dim(2)),
             [&](Sum& sum, const Position& at, const Tap& tap) {
                 for (std::int64_t c = 0; c < channels; ++c) {
                     sum.add((input.at({at[0], tap.y, tap.x, c}) - input_zero) *
                             (weight.at({at[3], tap.kernel_y, tap.kernel_x, c}) - weight_zero));
                 }
             });
}

// Input N, IH, IW, C; weight KH, KW, C, M; output channel c * M + m.
void depthwise_conv2d(const Step& step, Tensor& output) {
    const Tensor& input = step.inputs[0];
    const Tensor& weight = step.inputs[1];
    const double input_zero = step.inputs[3].values[0];
    const double weight_zero = step.inputs[4].values[0];
    const auto& attribute = step.op.as<tosa::Conv2dAttribute>();
    output.terms =
        1 + counted_terms(weight.dim(0) * weight.dim(1), attribute.accumulator, output.dtype);
    convolve(step, output, window_of(attribute, weight.dim(0), weight.dim(1)),
             [&](Sum& sum, const Position& at, const Tap& tap) {
                 const std::int64_t c = at[3] / weight.dim(3);
                 const std::int64_t m = at[3] % weight.dim(3);
                 sum.add((input.at({at[0], tap.y, tap.x, c}) - input_zero) *
                         (weight.at({tap.kernel_y, tap.kernel_x, c, m}) - weight_zero));
             });
}

}  // namespace virtaccel::numerics::oracles

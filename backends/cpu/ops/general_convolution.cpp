#include "backends/cpu/ops/general_convolution.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/sums.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

constexpr std::int64_t outside = -1;

// One axis of a window. A transposed one spreads out of the input instead of gathering from it:
// stride and padding are then the output's.
struct TapAxis {
    WindowAxis window;
    bool is_transposed = false;

    // What a tap sees of the input at an output position, or `outside`.
    [[nodiscard]] std::int64_t seen(std::int64_t position, std::int64_t tap) const {
        if (is_transposed) {
            const std::int64_t at = position - window.pad - tap;
            const bool is_inside =
                at >= 0 && at % window.stride == 0 && at / window.stride < window.input;
            return is_inside ? at / window.stride : outside;
        }
        const std::int64_t at = window.origin(position) + (tap * window.dilation);
        return at >= 0 && at < window.input ? at : outside;
    }
};

// Depth, y, x; a flat image has a depth of 1.
using Axes = std::array<TapAxis, 3>;
using Position = std::array<std::int64_t, 3>;

struct Shape {
    Axes axes;
    std::int64_t batch = 1;
    std::int64_t input_channels = 1;
    std::int64_t output_channels = 1;
    bool is_depthwise = false;
    bool has_one_bias = false;

    [[nodiscard]] std::int64_t taps() const {
        return axes[0].window.kernel * axes[1].window.kernel * axes[2].window.kernel;
    }

    // Output channels for each input channel.
    [[nodiscard]] std::int64_t multiplier() const { return output_channels / input_channels; }

    [[nodiscard]] std::uint64_t outputs() const {
        return static_cast<std::uint64_t>(batch * axes[0].window.output * axes[1].window.output *
                                          axes[2].window.output * output_channels);
    }

    [[nodiscard]] std::uint64_t operations() const {
        return outputs() * static_cast<std::uint64_t>(taps() * (is_depthwise ? 1 : input_channels));
    }

    // Which pixel of the input, counted over all images, a tap sees at an output pixel.
    [[nodiscard]] std::int64_t seen(std::int64_t pixel, std::int64_t tap) const {
        Position at{};
        for (std::size_t axis = 3; axis-- > 0;) {
            const WindowAxis& window = axes[axis].window;
            at[axis] = axes[axis].seen(pixel % window.output, tap % window.kernel);
            if (at[axis] == outside) {
                return outside;
            }
            pixel /= window.output;
            tap /= window.kernel;
        }
        std::int64_t source = pixel;  // what is left is the image's number
        for (std::size_t axis = 0; axis < 3; ++axis) {
            source = (source * axes[axis].window.input) + at[axis];
        }
        return source;
    }
};

struct Values {
    ValueId input = 0;
    ValueId weights = 0;
    ValueId bias = 0;
    ValueId input_zero = 0;
    ValueId weight_zero = 0;
    ValueId output = 0;
};

// Weights are OC, taps, IC; taps, OC if depthwise.
template <class In, class Weight, class Out>
class GeneralConvolution final : public Step {
  public:
    GeneralConvolution(const Shape& shape, const Values& values, std::uint32_t parts)
        : shape_(shape), values_(values), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Operands operands{
            .input = Elements<In>{frame.at<const std::byte>(values_.input)},
            .weights = Elements<Weight>{frame.at<const std::byte>(values_.weights)},
            .bias = Elements<Out>{frame.at<const std::byte>(values_.bias)},
            .input_zero = Elements<In>{frame.at<const std::byte>(values_.input_zero)}[0],
            .weight_zero = Elements<Weight>{frame.at<const std::byte>(values_.weight_zero)}[0],
            .output = frame.at<Out>(values_.output)};
        const Range range = range_of(shape_.outputs(), parts_, part);
        const auto channels = static_cast<std::uint64_t>(shape_.output_channels);
        for (std::uint64_t i = range.first; i < range.end;) {
            const std::uint64_t channel = i % channels;
            const std::uint64_t count = std::min({block, channels - channel, range.end - i});
            compute(operands, static_cast<std::int64_t>(i / channels),
                    {static_cast<std::int64_t>(channel), static_cast<std::int64_t>(count)});
            i += count;
        }
        return true;
    }

  private:
    using Total = Sum<Out>;

    // Output channels that are computed at a time.
    static constexpr std::uint64_t block = 64;
    using Totals = std::array<Total, block>;

    struct Operands {
        Elements<In> input;
        Elements<Weight> weights;
        Elements<Out> bias;
        decltype(Elements<In>{nullptr}[0]) input_zero;
        decltype(Elements<Weight>{nullptr}[0]) weight_zero;
        Out* output;

        [[nodiscard]] Total product(std::int64_t at, std::int64_t weight) const {
            return static_cast<Total>(input[at] - input_zero) *
                   static_cast<Total>(weights[weight] - weight_zero);
        }
    };

    struct Channels {
        std::int64_t first = 0;
        std::int64_t count = 0;
    };

    void compute(const Operands& operands, std::int64_t pixel, const Channels& channels) const {
        Totals totals{};
        for (std::int64_t tap = 0; tap < shape_.taps(); ++tap) {
            const std::int64_t seen = shape_.seen(pixel, tap);
            if (seen == outside) {
                continue;
            }
            if (shape_.is_depthwise) {
                add_depthwise(operands, seen, tap, channels, totals);
            } else {
                add_dense(operands, seen, tap, channels, totals);
            }
        }
        Out* const output = operands.output + (pixel * shape_.output_channels) + channels.first;
        for (std::int64_t i = 0; i < channels.count; ++i) {
            const auto bias = operands.bias[shape_.has_one_bias ? 0 : channels.first + i];
            output[i] =
                element_of<Out>(totals[static_cast<std::size_t>(i)] + static_cast<Total>(bias));
        }
    }

    void add_dense(const Operands& operands, std::int64_t seen, std::int64_t tap,
                   const Channels& channels, Totals& totals) const {
        const std::int64_t depth = shape_.input_channels;
        for (std::int64_t i = 0; i < channels.count; ++i) {
            const std::int64_t weights = (((channels.first + i) * shape_.taps()) + tap) * depth;
            totals[static_cast<std::size_t>(i)] += dot(operands, seen * depth, weights, depth);
        }
    }

    // Several sums, so that they need not wait for each other.
    static Total dot(const Operands& operands, std::int64_t at, std::int64_t weights,
                     std::int64_t depth) {
        constexpr std::int64_t lanes = 8;
        std::array<Total, lanes> sums{};
        std::int64_t c = 0;
        for (; c + lanes <= depth; c += lanes) {
            for (std::int64_t i = 0; i < lanes; ++i) {
                sums[static_cast<std::size_t>(i)] += operands.product(at + c + i, weights + c + i);
            }
        }
        for (; c < depth; ++c) {
            sums[0] += operands.product(at + c, weights + c);
        }
        return std::accumulate(sums.begin(), sums.end(), Total{});
    }

    void add_depthwise(const Operands& operands, std::int64_t seen, std::int64_t tap,
                       const Channels& channels, Totals& totals) const {
        for (std::int64_t i = 0; i < channels.count; ++i) {
            const std::int64_t channel = channels.first + i;
            totals[static_cast<std::size_t>(i)] +=
                operands.product((seen * shape_.input_channels) + (channel / shape_.multiplier()),
                                 (tap * shape_.output_channels) + channel);
        }
    }

    Shape shape_;
    Values values_;
    std::uint32_t parts_;
};

using Make = std::unique_ptr<Step> (*)(const Shape&, const Values&, std::uint32_t parts);

template <class In, class Weight, class Out>
std::unique_ptr<Step> make(const Shape& shape, const Values& values, std::uint32_t parts) {
    return std::make_unique<GeneralConvolution<In, Weight, Out>>(shape, values, parts);
}

struct Row {
    DType input;
    DType weights;
    Make make;
};

// Every signature; the input's type decides the output's.
constexpr Row rows[] = {
    {DType::int8, DType::int8, make<std::int8_t, std::int8_t, std::int32_t>},
    {DType::int8, DType::int4, make<std::int8_t, Int4, std::int32_t>},
    {DType::int16, DType::int8, make<std::int16_t, std::int8_t, Int48>},
    {DType::fp16, DType::fp16, make<Fp16, Fp16, Fp16>},
    {DType::fp32, DType::fp32, make<float, float, float>},
    {DType::bf16, DType::bf16, make<Bf16, Bf16, Bf16>},
    {DType::fp8e4m3, DType::fp8e4m3, make<Fp8E4M3, Fp8E4M3, Fp16>},
    {DType::fp8e5m2, DType::fp8e5m2, make<Fp8E5M2, Fp8E5M2, Fp16>},
};

struct Operators {
    const tosa::Operator& op;
    const tosa::Tensor& input;
    const tosa::Tensor& weights;
    const tosa::Tensor& output;
};

// Axis `i` of those that `attribute` describes, which is the tensors' axis `i` + 1.
template <class Attribute>
TapAxis gathering_axis(const Operators& of, const Attribute& attribute, std::size_t i) {
    const std::size_t kernel_axis = of.op.op == tosa::Op::depthwise_conv2d ? i : i + 1;
    return {.window = {.input = of.input.shape[i + 1],
                       .output = of.output.shape[i + 1],
                       .kernel = of.weights.shape[kernel_axis],
                       .stride = attribute.stride[i],
                       .dilation = attribute.dilation[i],
                       .pad = attribute.pad[2 * i]}};
}

TapAxis spreading_axis(const Operators& of, std::size_t i) {
    const auto& attribute = of.op.as<tosa::TransposeConv2dAttribute>();
    return {.window = {.input = of.input.shape[i + 1],
                       .output = of.output.shape[i + 1],
                       .kernel = of.weights.shape[i + 1],
                       .stride = attribute.stride[i],
                       .pad = attribute.out_pad[2 * i]},
            .is_transposed = true};
}

Axes axes_of(const Operators& of) {
    if (of.op.op == tosa::Op::conv3d) {
        const auto& attribute = of.op.as<tosa::Conv3dAttribute>();
        return {gathering_axis(of, attribute, 0), gathering_axis(of, attribute, 1),
                gathering_axis(of, attribute, 2)};
    }
    if (of.op.op == tosa::Op::transpose_conv2d) {
        return {TapAxis{}, spreading_axis(of, 0), spreading_axis(of, 1)};
    }
    const auto& attribute = of.op.as<tosa::Conv2dAttribute>();
    return {TapAxis{}, gathering_axis(of, attribute, 0), gathering_axis(of, attribute, 1)};
}

}  // namespace

void lower_general_convolution(Lowering& lowering, const tosa::Operator& op) {
    const Operators of{.op = op,
                       .input = lowering.tensor(op.inputs[0]),
                       .weights = lowering.tensor(op.inputs[1]),
                       .output = lowering.tensor(op.outputs[0])};
    const Shape shape{.axes = axes_of(of),
                      .batch = of.output.shape.front(),
                      .input_channels = of.input.shape.back(),
                      .output_channels = of.output.shape.back(),
                      .is_depthwise = op.op == tosa::Op::depthwise_conv2d,
                      .has_one_bias = lowering.tensor(op.inputs[2]).elements == 1};
    const Values values{.input = op.inputs[0],
                        .weights = op.inputs[1],
                        .bias = op.inputs[2],
                        .input_zero = op.inputs[3],
                        .weight_zero = op.inputs[4],
                        .output = op.outputs[0]};
    const auto* const row = std::ranges::find_if(rows, [&](const Row& one) {
        return one.input == of.input.dtype && one.weights == of.weights.dtype;
    });
    const std::uint32_t parts = lowering.parts_for(shape.outputs(), shape.operations());
    lowering.emit(row->make(shape, values, parts), op.inputs, op.outputs[0]);
}

void lower_conv3d(Lowering& lowering, const tosa::Operator& op) {
    lower_general_convolution(lowering, op);
}

void lower_transpose_conv2d(Lowering& lowering, const tosa::Operator& op) {
    lower_general_convolution(lowering, op);
}

}  // namespace virtaccel::backends::cpu::ops

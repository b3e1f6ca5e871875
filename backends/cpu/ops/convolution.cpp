// CONV2D and DEPTHWISE_CONV2D, together with the operators around them that one step can do.
#include "backends/cpu/ops/convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/convolution_step.h"
#include "backends/cpu/ops/general_convolution.h"
#include "backends/cpu/ops/int8_convolution.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/padding.h"
#include "backends/cpu/ops/prelu.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

Convolution convolution_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::Conv2dAttribute>();
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& weights = lowering.tensor(op.inputs[1]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const bool is_depthwise = op.op == tosa::Op::depthwise_conv2d;
    const std::size_t kernel_axis = is_depthwise ? 0 : 1;
    const auto axis = [&](std::size_t i) {
        return WindowAxis{.input = input.shape[i + 1],
                          .output = output.shape[i + 1],
                          .kernel = weights.shape[kernel_axis + i],
                          .stride = attribute.stride[i],
                          .dilation = attribute.dilation[i],
                          .pad = attribute.pad[2 * i]};
    };
    return {.window = {.batch = output.shape[0],
                       .channels = input.shape[3],
                       .y = axis(0),
                       .x = axis(1)},
            .output_channels = output.shape[3],
            .is_depthwise = is_depthwise,
            .input = op.inputs[0],
            .output = op.outputs[0],
            .weights = op.inputs[1],
            .bias = op.inputs[2],
            .residual = std::nullopt,
            .clamp = std::nullopt,
            .slopes = std::nullopt};
}

// A PAD before the convolution that left its work to it.
void absorb_padding(const Lowering& lowering, Convolution& convolution) {
    const tosa::Operator* const pad = lowering.producer_of(convolution.input);
    if (pad == nullptr || lowering.is_known(convolution.input)) {
        return;
    }
    if (reader_that_pads(lowering, *pad) == tosa::nowhere) {
        return;
    }
    const auto padding = image_padding(lowering, *pad);
    convolution.input = pad->inputs[0];
    convolution.window.y.pad += padding->top;
    convolution.window.y.input -= padding->top + padding->bottom;
    convolution.window.x.pad += padding->left;
    convolution.window.x.input -= padding->left + padding->right;
}

// What the ADD `op` adds to `sum`, if a convolution can; takes a PAD of its channels with it.
std::optional<Residual> residual_of(Lowering& lowering, const tosa::Operator& op, ValueId sum) {
    const ValueId other = op.inputs[0] == sum ? op.inputs[1] : op.inputs[0];
    const tosa::Tensor& tensor = lowering.tensor(other);
    if (lowering.is_known(other) ||
        !std::ranges::equal(tensor.shape, lowering.tensor(op.outputs[0]).shape)) {
        return std::nullopt;
    }
    const tosa::Operator* const pad = lowering.producer_of(other);
    const std::uint32_t pad_position = pad == nullptr ? tosa::nowhere : lowering.position_of(*pad);
    if (pad != nullptr && pad_position > lowering.position() &&
        lowering.only_reader(other) != tosa::nowhere) {
        const auto padding = image_padding(lowering, *pad);
        if (padding && padding->top == 0 && padding->bottom == 0 && padding->left == 0 &&
            padding->right == 0) {
            lowering.take(pad_position);
            return Residual{.value = pad->inputs[0],
                            .channels = lowering.tensor(pad->inputs[0]).shape[3]};
        }
    }
    return Residual{.value = other, .channels = tensor.shape[3]};
}

// Takes the operators after the convolution that it can do as it writes. The position of the last.
std::uint32_t absorb_readers(Lowering& lowering, Convolution& convolution) {
    std::uint32_t last = lowering.position();
    while (!convolution.clamp) {
        const std::uint32_t reader = lowering.only_reader(convolution.output);
        if (reader == tosa::nowhere) {
            break;
        }
        const tosa::Operator& op = lowering.operator_at(reader);
        if (op.op == tosa::Op::clamp) {
            convolution.clamp = clamp_of(op);
        } else if (op.op == tosa::Op::add && !convolution.residual) {
            convolution.residual = residual_of(lowering, op, convolution.output);
            if (!convolution.residual) {
                break;
            }
        } else {
            break;
        }
        lowering.take(reader);
        convolution.output = op.outputs[0];
        last = reader;
    }
    return last;
}

// Takes slopes after all that, which is as good as a clamp.
std::uint32_t absorb_slopes(Lowering& lowering, Convolution& convolution, std::uint32_t last) {
    if (convolution.clamp || convolution.is_multiplied()) {
        return last;
    }
    const auto prelu = prelu_after(lowering, convolution.output);
    if (!prelu) {
        return last;
    }
    for (const std::uint32_t position : prelu->positions) {
        lowering.take(position);
    }
    convolution.slopes = prelu->slopes;
    convolution.output = prelu->output;
    return std::max(last, prelu->positions.back());
}

std::unique_ptr<Step> make_step(Lowering& lowering, const Convolution& convolution) {
    if (!convolution.is_depthwise) {
        return make_dense_step(lowering, convolution);
    }
    return convolution.is_multiplied() ? make_multiplied_step(lowering, convolution)
                                       : make_depthwise_step(lowering, convolution);
}

// A convolution, and perhaps others that are computed together with it: a pointwise one that alone
// reads a depthwise one, and another pointwise one before those.
struct Plan {
    std::optional<Convolution> expansion;
    Convolution first;
    std::optional<Convolution> second;

    [[nodiscard]] const Convolution& last() const { return second ? *second : first; }

    [[nodiscard]] std::vector<ValueId> reads() const {
        std::vector<ValueId> values{expansion ? expansion->input : first.input};
        if (expansion && expansion->residual) {
            values.push_back(expansion->residual->value);
        }
        if (first.residual) {
            values.push_back(first.residual->value);
        }
        if (second && second->residual) {
            values.push_back(second->residual->value);
        }
        return values;
    }
};

// The position of the convolution that alone reads `value`, has it as its image and known weights;
// else nowhere.
std::uint32_t convolution_after(const Lowering& lowering, ValueId value, tosa::Op op) {
    const std::uint32_t reader = lowering.only_reader(value);
    if (reader == tosa::nowhere || lowering.operator_at(reader).op != op ||
        lowering.operator_at(reader).inputs[0] != value ||
        !has_known_weights(lowering, lowering.operator_at(reader))) {
        return tosa::nowhere;
    }
    return reader;
}

// Takes a pointwise convolution that reads nothing but a depthwise one; unless it had better have
// all pixels at once.
std::uint32_t absorb_pointwise(Lowering& lowering, Plan& plan, std::uint32_t last) {
    if (!plan.first.is_depthwise || plan.first.is_multiplied()) {
        return last;
    }
    const std::uint32_t reader = convolution_after(lowering, plan.first.output, tosa::Op::conv2d);
    if (reader == tosa::nowhere) {
        return last;
    }
    const Convolution second = convolution_of(lowering, lowering.operator_at(reader));
    if (!second.is_pointwise() || second.has_far_weights()) {
        return last;
    }
    lowering.take(reader);
    plan.second = second;
    last = std::max(reader, absorb_readers(lowering, *plan.second));
    return absorb_slopes(lowering, *plan.second, last);
}

// An image of at least so many floats does not stay in a usual second-level cache until it is read.
// Then it is computed a few rows at a time, for a depthwise convolution that is done with them at
// once; unless its weights, that are read as often, are many.
constexpr std::int64_t far_floats = 131072;
constexpr std::int64_t expansion_weights_max = 16384;

// Whether what follows `depthwise`, but for a clamp, is a pointwise convolution to be computed
// together with it.
bool is_separable(const Lowering& lowering, const Convolution& depthwise) {
    if (depthwise.is_multiplied()) {
        return false;
    }
    ValueId output = depthwise.output;
    const std::uint32_t reader = lowering.only_reader(output);
    if (reader != tosa::nowhere && lowering.operator_at(reader).op == tosa::Op::clamp) {
        output = lowering.operator_at(reader).outputs[0];
    }
    const std::uint32_t pointwise = convolution_after(lowering, output, tosa::Op::conv2d);
    return pointwise != tosa::nowhere &&
           convolution_of(lowering, lowering.operator_at(pointwise)).is_pointwise();
}

// Where the convolution is a large pointwise one that only a separable one reads, takes that one's
// depthwise half.
std::uint32_t absorb_depthwise(Lowering& lowering, Plan& plan, std::uint32_t last) {
    const ImageWindow& window = plan.first.window;
    const std::int64_t floats = window.y.output * window.x.output * plan.first.output_channels;
    if (!plan.first.is_pointwise() || floats < far_floats ||
        window.channels * plan.first.output_channels > expansion_weights_max) {
        return last;
    }
    const std::uint32_t reader =
        convolution_after(lowering, plan.first.output, tosa::Op::depthwise_conv2d);
    if (reader == tosa::nowhere) {
        return last;
    }
    const Convolution depthwise = convolution_of(lowering, lowering.operator_at(reader));
    if (!is_separable(lowering, depthwise)) {
        return last;
    }
    lowering.take(reader);
    plan.expansion = std::exchange(plan.first, depthwise);
    return std::max(reader, absorb_readers(lowering, plan.first));
}

void emit(Lowering& lowering, const Plan& plan) {
    const std::vector<ValueId> reads = plan.reads();
    const Convolution& last = plan.last();
    if (last.residual) {
        // The image that is added may be written over, if no window looks at it, and if it is added
        // to a sum and not to what is already written.
        const ValueId residual = last.residual->value;
        const bool is_read_elsewhere =
            last.is_multiplied() ||
            std::ranges::any_of(std::span{reads}.first(reads.size() - 1),
                                [&](ValueId read) { return lowering.is_shared(read, residual); });
        if (!is_read_elsewhere) {
            static_cast<void>(lowering.compute_in_place(last.output, residual));
        }
    }
    auto step = plan.second ? make_separable_step(lowering, {.expansion = plan.expansion,
                                                             .depthwise = plan.first,
                                                             .pointwise = *plan.second})
                            : make_step(lowering, plan.first);
    lowering.emit(std::move(step), reads, last.output);
}

// FP32, with what stands before and behind it.
void lower_fp32(Lowering& lowering, const tosa::Operator& op) {
    Plan plan{
        .expansion = std::nullopt, .first = convolution_of(lowering, op), .second = std::nullopt};
    if (lowering.is_known(plan.first.output)) {
        emit(lowering, plan);
        return;
    }
    absorb_padding(lowering, plan.first);
    std::uint32_t last = absorb_readers(lowering, plan.first);
    last = absorb_slopes(lowering, plan.first, last);
    last = absorb_depthwise(lowering, plan, last);
    last = absorb_pointwise(lowering, plan, last);
    if (last == lowering.position()) {
        emit(lowering, plan);
        return;
    }
    for (const ValueId read : plan.reads()) {
        lowering.keep_until(read, last);
    }
    lowering.defer(last, [plan](Lowering& later) { emit(later, plan); });
}

// Fewer bits than FP32, by way of it.
void lower_narrow(Lowering& lowering, const tosa::Operator& op) {
    Plan plan{
        .expansion = std::nullopt, .first = convolution_of(lowering, op), .second = std::nullopt};
    plan.first.input = emit_widening(lowering, op.inputs[0]);
    plan.first.output = add_wide(lowering, op.outputs[0]);
    emit(lowering, plan);
    emit_narrowing(lowering, plan.first.output, op.outputs[0]);
}

void lower(Lowering& lowering, const tosa::Operator& op) {
    const tosa::DType dtype = lowering.tensor(op.inputs[0]).dtype;
    if (dtype == tosa::DType::int8 || dtype == tosa::DType::int16) {
        if (!lower_int8(lowering, convolution_of(lowering, op), op)) {
            lower_general_convolution(lowering, op);
        }
        return;
    }
    // Between other steps nothing is known.
    const bool is_folded = lowering.is_known(op.outputs[0]) && dtype != tosa::DType::fp32;
    if (is_folded || !has_known_weights(lowering, op)) {
        lower_general_convolution(lowering, op);
    } else if (dtype == tosa::DType::fp32) {
        lower_fp32(lowering, op);
    } else {
        lower_narrow(lowering, op);
    }
}

}  // namespace

bool has_known_weights(const Lowering& lowering, const tosa::Operator& op) {
    return lowering.is_known(op.inputs[1]) && lowering.is_known(op.inputs[2]) &&
           is_known_zero(lowering, op.inputs[3]) && is_known_zero(lowering, op.inputs[4]);
}

std::vector<float> slopes_of(const Lowering& lowering, const Convolution& convolution) {
    if (!convolution.slopes) {
        return {};
    }
    const auto slopes = lowering.known<float>(*convolution.slopes);
    if (slopes.size() == 1) {
        return std::vector<float>(static_cast<std::size_t>(convolution.output_channels), slopes[0]);
    }
    return {slopes.begin(), slopes.end()};
}

std::vector<float> bias_of(const Lowering& lowering, const Convolution& convolution) {
    std::vector<float> storage;
    const auto bias = known_floats(lowering, convolution.bias, storage);
    if (bias.size() == 1) {
        return std::vector<float>(static_cast<std::size_t>(convolution.output_channels), bias[0]);
    }
    return {bias.begin(), bias.end()};
}

void lower_conv2d(Lowering& lowering, const tosa::Operator& op) {
    lower(lowering, op);
}

void lower_depthwise_conv2d(Lowering& lowering, const tosa::Operator& op) {
    lower(lowering, op);
}

}  // namespace virtaccel::backends::cpu::ops

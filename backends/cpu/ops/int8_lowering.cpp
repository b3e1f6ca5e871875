// What a convolution of INT8 takes along.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/int8_convolution.h"
#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/sums.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// A known tensor of T, one element for each channel, and some more to fill whole vectors.
template <class T>
std::vector<std::int32_t> for_each_channel(const Lowering& lowering, ValueId tensor,
                                           std::size_t channels) {
    const auto known = lowering.known<T>(tensor);
    std::vector<std::int32_t> elements{known.begin(), known.end()};
    if (elements.size() == 1) {
        elements.assign(channels, elements.front());
    }
    elements.resize(channels + lanes_after, elements.front());
    return elements;
}

// The RESCALE `op` of sums, if that is what it is.
std::optional<Int8Rescale> rescale_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::RescaleAttribute>();
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const bool is_known = std::ranges::all_of(
        op.inputs.subspan(1), [&](ValueId input) { return lowering.is_known(input); });
    if (!is_known || output.dtype != DType::int8 || attribute.input_unsigned ||
        attribute.output_unsigned || lowering.known<std::int32_t>(op.inputs[3]).front() != 0) {
        return std::nullopt;
    }
    const auto channels = static_cast<std::size_t>(output.shape.back());
    Int8Rescale rescale;
    rescale.multipliers = attribute.scale32
                              ? for_each_channel<std::int32_t>(lowering, op.inputs[1], channels)
                              : for_each_channel<std::int16_t>(lowering, op.inputs[1], channels);
    rescale.shifts = for_each_channel<std::int8_t>(lowering, op.inputs[2], channels);
    for (std::int32_t& shift : rescale.shifts) {
        shift = std::clamp(shift, 2, 62);
    }
    rescale.channels = output.shape.back();
    rescale.rounds_twice = attribute.rounding == tosa::RoundingMode::double_round;
    rescale.output_zero = std::int32_t{known_int8(lowering, op.inputs[4]).front()};
    return rescale;
}

void clamp(const tosa::Operator& op, Int8Rescale& rescale) {
    const auto& attribute = op.as<tosa::ClampAttribute>();
    std::int8_t low = 0;
    std::int8_t high = 0;
    std::memcpy(&low, attribute.min.data(), sizeof(low));
    std::memcpy(&high, attribute.max.data(), sizeof(high));
    rescale.high = std::min<std::int32_t>(rescale.high, high);
    rescale.low = std::clamp<std::int32_t>(low, rescale.low, rescale.high);
}

// Takes the operators after the convolution that it can do as it writes. The position of the last.
std::uint32_t absorb_readers(Lowering& lowering, Int8Convolution& plan) {
    std::uint32_t last = lowering.position();
    while (true) {
        const std::uint32_t reader = lowering.only_reader(plan.convolution.output);
        if (reader == tosa::nowhere) {
            return last;
        }
        const tosa::Operator& op = lowering.operator_at(reader);
        if (op.op == tosa::Op::rescale && !plan.rescale) {
            plan.rescale = rescale_of(lowering, op);
            if (!plan.rescale) {
                return last;
            }
        } else if (op.op == tosa::Op::clamp && plan.rescale) {
            clamp(op, *plan.rescale);
        } else {
            return last;
        }
        lowering.take(reader);
        plan.convolution.output = op.outputs[0];
        last = reader;
    }
}

void emit(Lowering& lowering, const Int8Convolution& plan) {
    if (plan.convolution.is_depthwise) {
        emit_int8_depthwise(lowering, plan);
    } else {
        emit_int8_dense(lowering, plan);
    }
}

}  // namespace

std::vector<std::int8_t> known_int8(const Lowering& lowering, ValueId tensor) {
    if (lowering.tensor(tensor).dtype == DType::int8) {
        const auto known = lowering.known<std::int8_t>(tensor);
        return {known.begin(), known.end()};
    }
    const Elements<Int4> halves{lowering.known_bytes(tensor)};
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(lowering.tensor(tensor).elements));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::int8_t>(halves[static_cast<std::int64_t>(i)]);
    }
    return bytes;
}

std::vector<std::int32_t> known_int32_bias(const Lowering& lowering,
                                           const Convolution& convolution) {
    const auto known = lowering.known<std::int32_t>(convolution.bias);
    std::vector<std::int32_t> bias{known.begin(), known.end()};
    bias.resize(static_cast<std::size_t>(convolution.output_channels), known.front());
    return bias;
}

bool lower_int8(Lowering& lowering, const Convolution& convolution, const tosa::Operator& op) {
    const bool is_known = std::ranges::all_of(
        op.inputs.subspan(1), [&](ValueId input) { return lowering.is_known(input); });
    if (lowering.tensor(op.inputs[0]).dtype != DType::int8 || !is_known) {
        return false;
    }
    Int8Convolution plan{.convolution = convolution,
                         .input_zero = known_int8(lowering, op.inputs[3]).front(),
                         .weight_zero = known_int8(lowering, op.inputs[4]).front(),
                         .rescale = std::nullopt};
    if (!(convolution.is_depthwise ? fits_int8_depthwise(lowering, plan)
                                   : fits_int8_dense(lowering, plan))) {
        return false;
    }
    const std::uint32_t last = absorb_readers(lowering, plan);
    if (last == lowering.position()) {
        emit(lowering, plan);
    } else {
        lowering.keep_until(plan.convolution.input, last);
        lowering.defer(last, [plan](Lowering& later) { emit(later, plan); });
    }
    return true;
}

}  // namespace virtaccel::backends::cpu::ops

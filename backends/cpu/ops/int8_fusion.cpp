#include "backends/cpu/ops/int8_fusion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "backends/cpu/lowering.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

bool is_taken_type(DType dtype) {
    return dtype == DType::int8 || dtype == DType::int32;
}

std::int32_t known_zero(const Lowering& lowering, tosa::TensorIndex tensor) {
    return lowering.tensor(tensor).dtype == DType::int8 ? lowering.known<std::int8_t>(tensor)[0]
                                                        : lowering.known<std::int32_t>(tensor)[0];
}

}  // namespace

bool are_known(const Lowering& lowering, const tosa::Operator& op, std::size_t first) {
    return std::ranges::all_of(std::span{op.inputs}.subspan(first),
                               [&](tosa::TensorIndex input) { return lowering.is_known(input); });
}

bool KnownRescale::is_within(std::int8_t shift_min, std::int8_t shift_max) const {
    return std::ranges::all_of(
               shifts,
               [=](std::int8_t shift) { return shift >= shift_min && shift <= shift_max; }) &&
           std::ranges::all_of(multipliers, [](std::int32_t one) { return one >= 0; });
}

std::optional<KnownRescale> known_rescale(const Lowering& lowering, const tosa::Operator& op) {
    if (op.op != tosa::Op::rescale || !are_known(lowering, op, 1)) {
        return std::nullopt;
    }
    const auto& attribute = op.as<tosa::RescaleAttribute>();
    if (!attribute.scale32 || attribute.input_unsigned || attribute.output_unsigned ||
        !is_taken_type(lowering.tensor(op.inputs[0]).dtype) ||
        !is_taken_type(lowering.tensor(op.outputs[0]).dtype)) {
        return std::nullopt;
    }
    return KnownRescale{.multipliers = lowering.known<std::int32_t>(op.inputs[1]),
                        .shifts = lowering.known<std::int8_t>(op.inputs[2]),
                        .rounds_twice = attribute.rounding == tosa::RoundingMode::double_round,
                        .input_zero = known_zero(lowering, op.inputs[3]),
                        .output_zero = known_zero(lowering, op.inputs[4])};
}

std::uint32_t int8_clamp_after(const Lowering& lowering, tosa::TensorIndex tensor) {
    const std::uint32_t reader = lowering.only_reader(tensor);
    return reader != tosa::nowhere && lowering.operator_at(reader).op == tosa::Op::clamp
               ? reader
               : tosa::nowhere;
}

Int8Bounds int8_bounds_of(const tosa::Operator& clamp) {
    const auto& attribute = clamp.as<tosa::ClampAttribute>();
    std::int8_t low = 0;
    std::int8_t high = 0;
    std::memcpy(&low, attribute.min.data(), sizeof(low));
    std::memcpy(&high, attribute.max.data(), sizeof(high));
    return {.low = low, .high = high};
}

}  // namespace virtaccel::backends::cpu::ops

// CAST between types that the table names.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/lowering/number_formats.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// To nearest, ties to even, and no further than the integer goes. NaN becomes 0.
template <std::signed_integral To>
To to_integer(float value) {
    constexpr auto low = static_cast<float>(std::numeric_limits<To>::min());
    constexpr auto high = static_cast<float>(std::numeric_limits<To>::max());
    const float rounded = std::nearbyint(value);
    if (rounded >= high) {
        return std::numeric_limits<To>::max();
    }
    if (rounded <= low) {
        return std::numeric_limits<To>::min();
    }
    return rounded == rounded ? static_cast<To>(rounded) : To{0};
}

template <class To, class From>
struct Cast {
    To operator()(From value) const {
        if constexpr (std::same_as<To, Bool>) {
            return value != 0 ? Bool{1} : Bool{0};
        } else if constexpr (std::same_as<From, Bool>) {
            return value != Bool{0} ? To{1} : To{0};
        } else if constexpr (std::same_as<To, Fp16>) {
            return lowering::to_fp16(value);
        } else if constexpr (std::same_as<To, Bf16>) {
            return lowering::to_bf16(value);
        } else if constexpr (std::is_enum_v<From>) {
            return lowering::to_float(value);
        } else if constexpr (std::same_as<From, float>) {
            return to_integer<To>(value);
        } else {
            return static_cast<To>(value);  // integers keep their low bits
        }
    }
};

struct Row {
    DType from;
    DType to;
    void (*lower)(Lowering& lowering, const tosa::Operator& op);
};

template <class To, class From>
void lower(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<To, From>(lowering, op, Cast<To, From>{});
}

constexpr Row rows[] = {
    {DType::fp16, DType::fp32, lower<float, Fp16>},
    {DType::bf16, DType::fp32, lower<float, Bf16>},
    {DType::fp32, DType::fp16, lower<Fp16, float>},
    {DType::fp32, DType::bf16, lower<Bf16, float>},
    {DType::fp32, DType::int8, lower<std::int8_t, float>},
    {DType::fp32, DType::int16, lower<std::int16_t, float>},
    {DType::fp32, DType::int32, lower<std::int32_t, float>},
    {DType::int8, DType::fp32, lower<float, std::int8_t>},
    {DType::int16, DType::fp32, lower<float, std::int16_t>},
    {DType::int32, DType::fp32, lower<float, std::int32_t>},
    {DType::boolean, DType::int8, lower<std::int8_t, Bool>},
    {DType::boolean, DType::int16, lower<std::int16_t, Bool>},
    {DType::boolean, DType::int32, lower<std::int32_t, Bool>},
    {DType::int8, DType::boolean, lower<Bool, std::int8_t>},
    {DType::int16, DType::boolean, lower<Bool, std::int16_t>},
    {DType::int32, DType::boolean, lower<Bool, std::int32_t>},
    {DType::int8, DType::int16, lower<std::int16_t, std::int8_t>},
    {DType::int8, DType::int32, lower<std::int32_t, std::int8_t>},
    {DType::int16, DType::int8, lower<std::int8_t, std::int16_t>},
    {DType::int16, DType::int32, lower<std::int32_t, std::int16_t>},
    {DType::int32, DType::int8, lower<std::int8_t, std::int32_t>},
    {DType::int32, DType::int16, lower<std::int16_t, std::int32_t>},
};

}  // namespace

void lower_cast(Lowering& lowering, const tosa::Operator& op) {
    const DType from = lowering.tensor(op.inputs[0]).dtype;
    const DType to = lowering.tensor(op.outputs[0]).dtype;
    for (const Row& row : rows) {
        if (row.from == from && row.to == to) {
            row.lower(lowering, op);
            return;
        }
    }
}

}  // namespace virtaccel::backends::cpu::ops

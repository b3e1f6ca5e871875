// CAST. Loops are between integers, truth values and float; the elementwise step takes the narrower
// floating-point types to float and back.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/narrow_floats.h"
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
        } else if constexpr (std::same_as<From, float> && std::signed_integral<To>) {
            return to_integer<To>(value);
        } else {
            return static_cast<To>(value);  // integers keep their low bits
        }
    }
};

// Float has less digits than INT32. Rounded there and then once more to BF16, some numbers would be
// off, so the digits that float has no room for are kept as one that is set if any of them is.
struct CastForBf16 {
    float operator()(std::int32_t value) const {
        constexpr std::int32_t excess = 0x1ff;
        constexpr std::int32_t exact = std::int32_t{1} << 24U;
        if (value >= -exact && value <= exact) {
            return static_cast<float>(value);
        }
        const std::int32_t any = (value & excess) != 0 ? 0x100 : 0;
        return static_cast<float>((value & ~excess) | any);
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

// By what the loops see.
constexpr Row rows[] = {
    {DType::boolean, DType::int8, lower<std::int8_t, Bool>},
    {DType::boolean, DType::int16, lower<std::int16_t, Bool>},
    {DType::boolean, DType::int32, lower<std::int32_t, Bool>},
    {DType::int8, DType::boolean, lower<Bool, std::int8_t>},
    {DType::int8, DType::int16, lower<std::int16_t, std::int8_t>},
    {DType::int8, DType::int32, lower<std::int32_t, std::int8_t>},
    {DType::int8, DType::fp32, lower<float, std::int8_t>},
    {DType::int16, DType::boolean, lower<Bool, std::int16_t>},
    {DType::int16, DType::int8, lower<std::int8_t, std::int16_t>},
    {DType::int16, DType::int32, lower<std::int32_t, std::int16_t>},
    {DType::int16, DType::fp32, lower<float, std::int16_t>},
    {DType::int32, DType::boolean, lower<Bool, std::int32_t>},
    {DType::int32, DType::int8, lower<std::int8_t, std::int32_t>},
    {DType::int32, DType::int16, lower<std::int16_t, std::int32_t>},
    {DType::int32, DType::fp32, lower<float, std::int32_t>},
    {DType::fp32, DType::int8, lower<std::int8_t, float>},
    {DType::fp32, DType::int16, lower<std::int16_t, float>},
    {DType::fp32, DType::int32, lower<std::int32_t, float>},
    {DType::fp32, DType::fp32, lower<float, float>},
};

DType seen_type(DType dtype) {
    return narrow_float_of(dtype) != nullptr ? DType::fp32 : dtype;
}

}  // namespace

void lower_cast(Lowering& lowering, const tosa::Operator& op) {
    const DType from = lowering.tensor(op.inputs[0]).dtype;
    const DType to = lowering.tensor(op.outputs[0]).dtype;
    if (from == DType::int32 && to == DType::bf16) {
        return emit_elementwise<float, std::int32_t>(lowering, op, CastForBf16{});
    }
    const auto* const row = std::ranges::find_if(rows, [&](const Row& one) {
        return one.from == seen_type(from) && one.to == seen_type(to);
    });
    if (row != std::end(rows)) {
        row->lower(lowering, op);
    }
}

}  // namespace virtaccel::backends::cpu::ops

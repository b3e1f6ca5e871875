// Elementwise operators of one number: functions, CLAMP, NEGATE.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// The first element of an attribute's bytes.
template <class T>
T element_of(std::span<const std::byte> bytes) {
    T element{};
    std::memcpy(&element, bytes.data(), sizeof(T));
    return element;
}

// CLAMP's attribute for elements of T.
template <FloatElement T>
Clamp clamp_as(const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::ClampAttribute>();
    return {.low = widened(element_of<T>(attribute.min)),
            .high = widened(element_of<T>(attribute.max)),
            .ignores_nan = attribute.nan_mode == tosa::NanMode::ignore};
}

template <class T>
struct IntegerClamp {
    T low;
    T high;

    T operator()(T x) const { return std::min(std::max(x, low), high); }
};

// (input's zero point - x) + output's zero point, and no further than the type goes.
template <class T, class WideT>
struct IntegerNegate {
    T operator()(T x, T input_zero, T output_zero) const {
        const WideT negated = WideT{input_zero} - x + output_zero;
        return static_cast<T>(std::clamp<WideT>(negated, std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max()));
    }
};

template <class T>
void lower_integer_clamp(Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::ClampAttribute>();
    emit_elementwise<T, T>(
        lowering, op,
        IntegerClamp<T>{.low = element_of<T>(attribute.min), .high = element_of<T>(attribute.max)});
}

template <class T, class WideT>
void lower_integer_negate(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<T, T, OneElement<T>, OneElement<T>>(lowering, op, IntegerNegate<T, WideT>{});
}

// A function of one float.
template <class Function>
void lower_function(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    emit_elementwise<float, float>(lowering, op, function);
}

}  // namespace

Clamp clamp_of(const tosa::Operator& op) {
    return clamp_as<float>(op);
}

void lower_abs(Lowering& lowering, const tosa::Operator& op) {
    if (lowering.tensor(op.inputs[0]).dtype == tosa::DType::int32) {
        emit_elementwise<std::int32_t, std::int32_t>(lowering, op, [](std::int32_t x) {
            const auto bits = static_cast<std::uint32_t>(x);
            return static_cast<std::int32_t>(x < 0 ? 0U - bits : bits);
        });
    } else {
        lower_function(lowering, op, [](float x) { return std::fabs(x); });
    }
}

void lower_ceil(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::ceil(x); });
}

void lower_clamp(Lowering& lowering, const tosa::Operator& op) {
    switch (lowering.tensor(op.inputs[0]).dtype) {
        case tosa::DType::int8:
            return lower_integer_clamp<std::int8_t>(lowering, op);
        case tosa::DType::int16:
            return lower_integer_clamp<std::int16_t>(lowering, op);
        case tosa::DType::fp16:
            return lower_function(lowering, op, clamp_as<Fp16>(op));
        case tosa::DType::bf16:
            return lower_function(lowering, op, clamp_as<Bf16>(op));
        default:
            return lower_function(lowering, op, clamp_as<float>(op));
    }
}

void lower_cos(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::cos(x); });
}

void lower_erf(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::erf(x); });
}

void lower_exp(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::exp(x); });
}

void lower_floor(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::floor(x); });
}

void lower_log(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::log(x); });
}

void lower_negate(Lowering& lowering, const tosa::Operator& op) {
    switch (lowering.tensor(op.inputs[0]).dtype) {
        case tosa::DType::int8:
            return lower_integer_negate<std::int8_t, std::int32_t>(lowering, op);
        case tosa::DType::int16:
            return lower_integer_negate<std::int16_t, std::int32_t>(lowering, op);
        case tosa::DType::int32:
            return lower_integer_negate<std::int32_t, std::int64_t>(lowering, op);
        default:
            return lower_function(lowering, op, [](float x) { return -x; });
    }
}

void lower_reciprocal(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return 1.0F / x; });
}

void lower_rsqrt(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return 1.0F / std::sqrt(x); });
}

void lower_sigmoid(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return 1.0F / (1.0F + std::exp(-x)); });
}

void lower_sin(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::sin(x); });
}

void lower_tanh(Lowering& lowering, const tosa::Operator& op) {
    lower_function(lowering, op, [](float x) { return std::tanh(x); });
}

}  // namespace virtaccel::backends::cpu::ops

// Elementwise operators of integers' bits and of truth values, INTDIV, CLZ. What the specification
// leaves open (a shift by more bits than there are, a division by zero) has some result and no
// undefined behaviour.
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Of a shift that there is not, the low bits count.
template <class T>
std::uint32_t bits_to_shift(T shift) {
    return static_cast<std::uint32_t>(shift) & ((8U * sizeof(T)) - 1U);
}

// Without its sign.
template <class T>
std::uint32_t pattern_of(T value) {
    return static_cast<std::make_unsigned_t<T>>(value);
}

struct ShiftLeft {
    template <class T>
    T operator()(T value, T shift) const {
        return static_cast<T>(pattern_of(value) << bits_to_shift(shift));
    }
};

struct ShiftRight {
    template <class T>
    T operator()(T value, T shift) const {
        return static_cast<T>(pattern_of(value) >> bits_to_shift(shift));
    }
};

struct ShiftRightWithSign {
    template <class T>
    T operator()(T value, T shift) const {
        return static_cast<T>(value >> bits_to_shift(shift));
    }
};

// To nearest, halves up.
struct ShiftRightAndRound {
    template <class T>
    T operator()(T value, T shift) const {
        const std::uint32_t bits = bits_to_shift(shift);
        const std::int32_t half = bits == 0 ? 0 : (value >> (bits - 1U)) & 1;
        return static_cast<T>((value >> bits) + half);
    }
};

struct Quotient {
    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        if (b == 0) {
            return 0;
        }
        // The one quotient that does not fit wraps around.
        return a == std::numeric_limits<std::int32_t>::min() && b == -1 ? a : a / b;
    }
};

template <class Function>
void lower_integers(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    tosa::DType dtype = lowering.tensor(op.outputs[0]).dtype;
    visit_element<tosa::DType::int8, tosa::DType::int16, tosa::DType::int32>(
        dtype, [&]<class T>(ElementType<T> /*type*/) {
            emit_elementwise<T, T, T>(lowering, op, function);
        });
}

template <class Function>
void lower_truths(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    emit_elementwise<Bool, Bool, Bool>(lowering, op, function);
}

}  // namespace

void lower_arithmetic_right_shift(Lowering& lowering, const tosa::Operator& op) {
    if (op.as<tosa::ShiftAttribute>().round) {
        lower_integers(lowering, op, ShiftRightAndRound{});
    } else {
        lower_integers(lowering, op, ShiftRightWithSign{});
    }
}

void lower_bitwise_and(Lowering& lowering, const tosa::Operator& op) {
    lower_integers(lowering, op, [](auto a, auto b) { return a & b; });
}

void lower_bitwise_not(Lowering& lowering, const tosa::Operator& op) {
    visit_element<tosa::DType::int8, tosa::DType::int16, tosa::DType::int32>(
        lowering.tensor(op.outputs[0]).dtype, [&]<class T>(ElementType<T> /*type*/) {
            emit_elementwise<T, T>(lowering, op, [](T a) { return ~a; });
        });
}

void lower_bitwise_or(Lowering& lowering, const tosa::Operator& op) {
    lower_integers(lowering, op, [](auto a, auto b) { return a | b; });
}

void lower_bitwise_xor(Lowering& lowering, const tosa::Operator& op) {
    lower_integers(lowering, op, [](auto a, auto b) { return a ^ b; });
}

void lower_clz(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<std::int32_t, std::int32_t>(
        lowering, op, [](std::int32_t a) { return std::countl_zero(pattern_of(a)); });
}

void lower_intdiv(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<std::int32_t, std::int32_t, std::int32_t>(lowering, op, Quotient{});
}

void lower_logical_and(Lowering& lowering, const tosa::Operator& op) {
    lower_truths(lowering, op, [](Bool a, Bool b) { return widened(a) && widened(b); });
}

void lower_logical_left_shift(Lowering& lowering, const tosa::Operator& op) {
    lower_integers(lowering, op, ShiftLeft{});
}

void lower_logical_not(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<Bool, Bool>(lowering, op, [](Bool a) { return !widened(a); });
}

void lower_logical_or(Lowering& lowering, const tosa::Operator& op) {
    lower_truths(lowering, op, [](Bool a, Bool b) { return widened(a) || widened(b); });
}

void lower_logical_right_shift(Lowering& lowering, const tosa::Operator& op) {
    lower_integers(lowering, op, ShiftRight{});
}

void lower_logical_xor(Lowering& lowering, const tosa::Operator& op) {
    lower_truths(lowering, op, [](Bool a, Bool b) { return widened(a) != widened(b); });
}

}  // namespace virtaccel::backends::cpu::ops

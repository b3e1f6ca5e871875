// Elementwise operators of two numbers. Integers wrap around as the specification's do.
#include <cmath>
#include <cstdint>
#include <functional>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/int8_sum.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

std::int32_t wrapped(std::uint32_t value) {
    return static_cast<std::int32_t>(value);
}

struct Add {
    float operator()(float a, float b) const { return a + b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapped(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
};

struct Subtract {
    float operator()(float a, float b) const { return a - b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapped(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
    }
};

struct Multiply {
    float operator()(float a, float b) const { return a * b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapped(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
    }
};

// Rounds the shifted product to nearest, halves up. Of a shift that there is not, the low bits
// count.
struct MultiplyAndShift {
    std::int32_t operator()(std::int32_t a, std::int32_t b, std::int8_t bits) const {
        const std::int64_t product = std::int64_t{a} * b;
        const auto shift = static_cast<std::uint32_t>(bits) & 63U;
        const std::int64_t shifted = shift == 0 ? product : ((product >> (shift - 1U)) + 1) >> 1U;
        return static_cast<std::int32_t>(shifted);
    }
};

// A NaN wins.
struct Maximum {
    template <class T>
    T operator()(T a, T b) const {
        return a > b || a != a ? a : b;
    }
};

struct Minimum {
    template <class T>
    T operator()(T a, T b) const {
        return a < b || a != a ? a : b;
    }
};

// A NaN loses.
struct MaximumNumber {
    template <class T>
    T operator()(T a, T b) const {
        return a > b || b != b ? a : b;
    }
};

struct MinimumNumber {
    template <class T>
    T operator()(T a, T b) const {
        return a < b || b != b ? a : b;
    }
};

bool is_float(const Lowering& lowering, const tosa::Operator& op) {
    return lowering.tensor(op.inputs[0]).dtype != tosa::DType::int32;
}

template <class Function>
void lower_arithmetic(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    if (is_float(lowering, op)) {
        emit_elementwise<float, float, float>(lowering, op, function);
    } else {
        emit_elementwise<std::int32_t, std::int32_t, std::int32_t>(lowering, op, function);
    }
}

template <class Function>
void lower_comparison(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    if (is_float(lowering, op)) {
        emit_elementwise<std::uint8_t, float, float>(lowering, op, function);
    } else {
        emit_elementwise<std::uint8_t, std::int32_t, std::int32_t>(lowering, op, function);
    }
}

bool ignores_nan(const tosa::Operator& op) {
    return op.as<tosa::NanAttribute>().nan_mode == tosa::NanMode::ignore;
}

// Only a product of INT32 is shifted.
bool shifts(const Lowering& lowering, const tosa::Operator& op) {
    return !is_float(lowering, op) &&
           !(lowering.is_known(op.inputs[2]) && lowering.known<std::int8_t>(op.inputs[2])[0] == 0);
}

}  // namespace

void lower_add(Lowering& lowering, const tosa::Operator& op) {
    if (lower_int8_sum(lowering, op)) {
        return;
    }
    lower_arithmetic(lowering, op, Add{});
}

void lower_sub(Lowering& lowering, const tosa::Operator& op) {
    lower_arithmetic(lowering, op, Subtract{});
}

void lower_mul(Lowering& lowering, const tosa::Operator& op) {
    switch (lowering.tensor(op.inputs[0]).dtype) {
        case tosa::DType::int8:
            emit_elementwise<std::int32_t, std::int8_t, std::int8_t>(lowering, op, Multiply{});
            break;
        case tosa::DType::int16:
            emit_elementwise<std::int32_t, std::int16_t, std::int16_t>(lowering, op, Multiply{});
            break;
        default:
            if (shifts(lowering, op)) {
                emit_elementwise<std::int32_t, std::int32_t, std::int32_t, OneElement<std::int8_t>>(
                    lowering, op, MultiplyAndShift{});
            } else {
                lower_arithmetic(lowering, op, Multiply{});
            }
    }
}

void lower_pow(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<float, float, float>(lowering, op,
                                          [](float a, float b) { return std::pow(a, b); });
}

void lower_maximum(Lowering& lowering, const tosa::Operator& op) {
    if (ignores_nan(op)) {
        lower_arithmetic(lowering, op, MaximumNumber{});
    } else {
        lower_arithmetic(lowering, op, Maximum{});
    }
}

void lower_minimum(Lowering& lowering, const tosa::Operator& op) {
    if (ignores_nan(op)) {
        lower_arithmetic(lowering, op, MinimumNumber{});
    } else {
        lower_arithmetic(lowering, op, Minimum{});
    }
}

void lower_equal(Lowering& lowering, const tosa::Operator& op) {
    lower_comparison(lowering, op, std::equal_to<>{});
}

void lower_greater(Lowering& lowering, const tosa::Operator& op) {
    lower_comparison(lowering, op, std::greater<>{});
}

void lower_greater_equal(Lowering& lowering, const tosa::Operator& op) {
    lower_comparison(lowering, op, std::greater_equal<>{});
}

}  // namespace virtaccel::backends::cpu::ops

// Elementwise operators of two inputs. Integers wrap around as the specification's do.
#include <cmath>
#include <cstdint>
#include <functional>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

std::int32_t wrapped(std::int64_t value) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

struct Add {
    float operator()(float a, float b) const { return a + b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapped(std::int64_t{a} + b);
    }
};

struct Subtract {
    float operator()(float a, float b) const { return a - b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return wrapped(std::int64_t{a} - b);
    }
};

// With a shift, the product is rounded to nearest, halves up.
struct Multiply {
    std::uint32_t shift = 0;

    float operator()(float a, float b) const { return a * b; }

    std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        const std::int64_t product = std::int64_t{a} * b;
        return wrapped(shift == 0 ? product
                                  : (product + (std::int64_t{1} << (shift - 1U))) >> shift);
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
    return lowering.tensor(op.inputs[0]).dtype == tosa::DType::fp32;
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

}  // namespace

void lower_add(Lowering& lowering, const tosa::Operator& op) {
    lower_arithmetic(lowering, op, Add{});
}

void lower_sub(Lowering& lowering, const tosa::Operator& op) {
    lower_arithmetic(lowering, op, Subtract{});
}

void lower_mul(Lowering& lowering, const tosa::Operator& op) {
    const auto shift = lowering.known<std::int8_t>(op.inputs[2])[0];
    lower_arithmetic(lowering, op, Multiply{.shift = static_cast<std::uint32_t>(shift)});
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

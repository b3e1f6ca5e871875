// Reductions along an axis, and ARGMAX.
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/axis.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

struct All {
    Bool operator()(const Line<Bool>& line) const {
        bool result = true;
        for (std::uint64_t i = 0; i < line.size(); ++i) {
            result = result && line[i];
        }
        return narrowed_to<Bool>(result);
    }
};

struct Any {
    Bool operator()(const Line<Bool>& line) const {
        bool result = false;
        for (std::uint64_t i = 0; i < line.size(); ++i) {
            result = result || line[i];
        }
        return narrowed_to<Bool>(result);
    }
};

// Which of two numbers stays: the one that Compare puts first, the earlier one of two equals. A NaN
// stays if it wins, and goes if it does not.
template <class Compare, bool nan_wins>
struct Replaces {
    template <class Number>
    bool operator()(Number next, Number best) const {
        const bool is_nan_decisive =
            nan_wins ? next != next && best == best : best != best && next == next;
        return Compare{}(next, best) || is_nan_decisive;
    }
};

template <class T, class Choice>
struct Extreme {
    T operator()(const Line<T>& line) const {
        Wide<T> best = line[0];
        for (std::uint64_t i = 1; i < line.size(); ++i) {
            const Wide<T> next = line[i];
            best = Choice{}(next, best) ? next : best;
        }
        return narrowed_to<T>(best);
    }
};

template <class T, class Choice>
struct IndexOfExtreme {
    std::int32_t operator()(const Line<T>& line) const {
        Wide<T> best = line[0];
        std::uint64_t index = 0;
        for (std::uint64_t i = 1; i < line.size(); ++i) {
            const Wide<T> next = line[i];
            if (Choice{}(next, best)) {
                best = next;
                index = i;
            }
        }
        return static_cast<std::int32_t>(index);
    }
};

// INT32 wraps around. FP32 is summed in a type in which adding is as good as exact, shorter types
// in FP32, which is that for them.
template <class T>
using Sum = std::conditional_t<std::same_as<T, float>, double,
                               std::conditional_t<FloatElement<T>, float, std::uint32_t>>;

template <class T>
struct Add {
    T operator()(const Line<T>& line) const {
        Sum<T> sum{};
        for (std::uint64_t i = 0; i < line.size(); ++i) {
            sum += static_cast<Sum<T>>(line[i]);
        }
        return narrowed_to<T>(static_cast<Wide<T>>(sum));
    }
};

// A product that leaves the range of its type may come back.
template <class T>
struct Multiply {
    T operator()(const Line<T>& line) const {
        double product = 1.0;
        for (std::uint64_t i = 0; i < line.size(); ++i) {
            product *= static_cast<double>(line[i]);
        }
        return narrowed_to<T>(static_cast<float>(product));
    }
};

// Calls `emit` with the type of the input's elements.
template <DType... dtypes, class Emit>
void with_element(const Lowering& lowering, const tosa::Operator& op, const Emit& emit) {
    visit_element<dtypes...>(lowering.tensor(op.inputs[0]).dtype, emit);
}

// Calls `emit` with the type of the input's elements and the choice for the operator's nan_mode.
template <class Compare, DType... dtypes, class Emit>
void with_choice(const Lowering& lowering, const tosa::Operator& op, const Emit& emit) {
    const bool ignores = op.as<tosa::AxisAttribute>().nan_mode == tosa::NanMode::ignore;
    with_element<dtypes...>(lowering, op, [&]<class T>(ElementType<T> type) {
        if constexpr (FloatElement<T>) {
            if (ignores) {
                return emit(type, Replaces<Compare, false>{});
            }
        }
        emit(type, Replaces<Compare, true>{});
    });
}

template <class Compare>
void lower_extreme(Lowering& lowering, const tosa::Operator& op) {
    with_choice<Compare, DType::int8, DType::int16, DType::int32, DType::fp32, DType::fp16,
                DType::bf16>(
        lowering, op, [&]<class T, class Choice>(ElementType<T> /*type*/, Choice /*choice*/) {
            emit_along_axis<T, T, Extreme<T, Choice>>(lowering, op);
        });
}

}  // namespace

void lower_argmax(Lowering& lowering, const tosa::Operator& op) {
    with_choice<std::greater<>, DType::int8, DType::int16, DType::fp32, DType::fp16, DType::bf16,
                DType::fp8e4m3, DType::fp8e5m2>(
        lowering, op, [&]<class T, class Choice>(ElementType<T> /*type*/, Choice /*choice*/) {
            emit_along_axis<std::int32_t, T, IndexOfExtreme<T, Choice>>(lowering, op);
        });
}

void lower_reduce_all(Lowering& lowering, const tosa::Operator& op) {
    emit_along_axis<Bool, Bool, All>(lowering, op);
}

void lower_reduce_any(Lowering& lowering, const tosa::Operator& op) {
    emit_along_axis<Bool, Bool, Any>(lowering, op);
}

void lower_reduce_max(Lowering& lowering, const tosa::Operator& op) {
    lower_extreme<std::greater<>>(lowering, op);
}

void lower_reduce_min(Lowering& lowering, const tosa::Operator& op) {
    lower_extreme<std::less<>>(lowering, op);
}

void lower_reduce_product(Lowering& lowering, const tosa::Operator& op) {
    with_element<DType::fp32, DType::fp16, DType::bf16>(
        lowering, op, [&]<class T>(ElementType<T> /*type*/) {
            emit_along_axis<T, T, Multiply<T>>(lowering, op);
        });
}

void lower_reduce_sum(Lowering& lowering, const tosa::Operator& op) {
    with_element<DType::int32, DType::fp32, DType::fp16, DType::bf16>(
        lowering, op,
        [&]<class T>(ElementType<T> /*type*/) { emit_along_axis<T, T, Add<T>>(lowering, op); });
}

}  // namespace virtaccel::backends::cpu::ops

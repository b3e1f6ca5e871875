#include "virtaccel/tosa/conditions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/shape_checks.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using shapes::dim;
using shapes::integer_at;

// In the order of Demand.
constexpr std::array<std::string_view, 9> words = {
    "must have values that fit the operator and the shape its output declares",
    "must hold indices from 0 to one below the number of rows",
    "must not hold an index twice",
    "must hold shifts from 0 to one below the number of bits, or to 31",
    "must not be 0, nor -1 where the dividend is the least number",
    "must have neighbours that differ by no more than 16 bits hold",
    "must be such that no sum or product leaves its type",
    "must hold values that its multiplier and shift can scale",
    "must not be below 0, nor 0 where the exponent is 0 or less",
};

// Which element types a demand is about.
enum class Types : std::uint8_t { all, integers, int16, int32, floats };

// One REQUIRE of an operator. `operand` is where the data stands.
struct DemandRow {
    Op op = Op::unknown;
    std::uint32_t operand = 0;
    Demand demand{};
    Types types = Types::all;
};

constexpr DemandRow rows[] = {
    {Op::gather, 1, Demand::index_range},
    {Op::scatter, 1, Demand::index_range},
    {Op::scatter, 1, Demand::distinct_indices},
    {Op::arithmetic_right_shift, 1, Demand::shift_range},
    {Op::logical_left_shift, 1, Demand::shift_range},
    {Op::logical_right_shift, 1, Demand::shift_range},
    {Op::intdiv, 1, Demand::divisor},
    {Op::table, 1, Demand::table_slope, Types::int16},
    {Op::add, 0, Demand::no_overflow, Types::int32},
    {Op::sub, 0, Demand::no_overflow, Types::int32},
    {Op::mul, 0, Demand::no_overflow, Types::int32},
    {Op::abs, 0, Demand::no_overflow, Types::int32},
    {Op::negate, 0, Demand::no_overflow, Types::int32},
    {Op::reduce_sum, 0, Demand::no_overflow, Types::int32},
    {Op::conv2d, 0, Demand::no_overflow, Types::integers},
    {Op::conv3d, 0, Demand::no_overflow, Types::integers},
    {Op::depthwise_conv2d, 0, Demand::no_overflow, Types::integers},
    {Op::matmul, 0, Demand::no_overflow, Types::integers},
    {Op::transpose_conv2d, 0, Demand::no_overflow, Types::integers},
    {Op::rescale, 0, Demand::value_range},
    {Op::pow, 0, Demand::power_domain, Types::floats},
};

bool is_integer(DType dtype) {
    return dtype >= DType::int4 && dtype <= DType::int48;
}

bool concerns(Types types, DType dtype) {
    switch (types) {
        case Types::integers:
            return is_integer(dtype);
        case Types::int16:
            return dtype == DType::int16;
        case Types::int32:
            return dtype == DType::int32;
        case Types::floats:
            return !is_integer(dtype);
        default:
            return true;
    }
}

// The largest shift of an element: ARITHMETIC_RIGHT_SHIFT moves within its type, the logical ones
// within 32 bits.
std::int64_t shift_max(const Operator& op, DType dtype) {
    return op.op == Op::arithmetic_right_shift ? std::int64_t{bits_of(dtype).value_or(1)} - 1 : 31;
}

// No index twice in one batch. Sorts a copy: indices are as many as the model likes.
bool are_distinct(const Tensor& indices) {
    const auto batches = static_cast<std::size_t>(dim(indices, 0));
    const auto count = static_cast<std::size_t>(dim(indices, 1));
    std::vector<std::int64_t> sorted(count);
    for (std::size_t batch = 0; batch < batches; ++batch) {
        for (std::size_t i = 0; i < count; ++i) {
            sorted[i] = integer_at(indices, (batch * count) + i);
        }
        std::ranges::sort(sorted);
        if (std::ranges::adjacent_find(sorted) != sorted.end()) {
            return false;
        }
    }
    return true;
}

bool all_within(const Tensor& tensor, std::int64_t least, std::int64_t most) {
    for (std::size_t i = 0; i < tensor.elements; ++i) {
        const std::int64_t value = integer_at(tensor, i);
        if (value < least || value > most) {
            return false;
        }
    }
    return true;
}

bool holds(const Tensor& tensor, std::int64_t value) {
    for (std::size_t i = 0; i < tensor.elements; ++i) {
        if (integer_at(tensor, i) == value) {
            return true;
        }
    }
    return false;
}

// Whether a constant operand fulfils a demand; nothing if its value alone does not tell.
std::optional<bool> is_fulfilled(const Operator& op, Demand demand, const Tensor& operand,
                                 std::span<const Tensor> tensors) {
    if (!operand.is_constant) {
        return std::nullopt;
    }
    switch (demand) {
        case Demand::index_range:
            return all_within(operand, 0, dim(tensors[op.inputs.front()], 1) - 1);
        case Demand::distinct_indices:
            return are_distinct(operand);
        case Demand::shift_range:
            return all_within(operand, 0, shift_max(op, operand.dtype));
        case Demand::divisor:
            if (holds(operand, 0)) {
                return false;
            }
            return holds(operand, -1) ? std::nullopt : std::optional{true};
        case Demand::table_slope:
            for (std::size_t i = 1; i < operand.elements; ++i) {
                const std::int64_t slope = integer_at(operand, i) - integer_at(operand, i - 1);
                constexpr std::int64_t slope_max = std::numeric_limits<std::int16_t>::max();
                if (slope < -slope_max - 1 || slope > slope_max) {
                    return false;
                }
            }
            return true;
        default:
            return std::nullopt;
    }
}

bool must_be_constant(const OperatorRow& row, std::size_t input) {
    return input < 32 && ((row.constant_inputs >> input) & 1U) != 0;
}

// Calls `visit` with each input of `op` that TOSA wants constant and that is not.
template <class Visit>
void each_dynamic_operand(const Operator& op, std::span<const Tensor> tensors, Visit visit) {
    const OperatorRow* const row = row_of(op.op);
    for (std::uint32_t i = 0; row != nullptr && i < op.inputs.size(); ++i) {
        if (must_be_constant(*row, i) && !tensors[op.inputs[i]].is_constant) {
            visit(i);
        }
    }
}

}  // namespace

std::string_view describe(Demand demand) {
    return words.at(static_cast<std::size_t>(demand));
}

std::vector<RuntimeCondition> conditions_of(const Graph& graph, const Analysis& analysis) {
    const std::span<const Tensor> tensors = graph.tensors();
    std::vector<RuntimeCondition> conditions;
    for (const OperatorIndex index : analysis.order) {
        const Operator& op = graph.operators()[index];
        each_dynamic_operand(op, tensors, [&](std::uint32_t operand) {
            conditions.push_back(
                {.op = index, .operand = operand, .demand = Demand::operand_values});
        });
        for (const DemandRow& row : rows) {
            if (row.op != op.op || !concerns(row.types, tensors[op.inputs.front()].dtype)) {
                continue;
            }
            const Tensor& operand = tensors[op.inputs[row.operand]];
            const std::optional<bool> fulfilled = is_fulfilled(op, row.demand, operand, tensors);
            if (!fulfilled || !*fulfilled) {
                conditions.push_back({.op = index,
                                      .operand = row.operand,
                                      .demand = row.demand,
                                      .is_broken = fulfilled.has_value()});
            }
        }
    }
    return conditions;
}

// From the operands back to the slots, against the order: a tensor's readers come before its
// producer then.
Specialisation specialisation_of(const Graph& graph, const Analysis& analysis) {
    const std::span<const Tensor> tensors = graph.tensors();
    Specialisation result;
    std::vector<bool> needed(tensors.size());
    for (const OperatorIndex index : analysis.order) {
        const Operator& op = graph.operators()[index];
        each_dynamic_operand(op, tensors,
                             [&](std::uint32_t operand) { needed[op.inputs[operand]] = true; });
    }
    for (TensorIndex i = 0; i < tensors.size(); ++i) {
        if (needed[i]) {
            result.operands.push_back(i);
        }
    }
    for (std::size_t position = analysis.order.size(); position-- > 0;) {
        const Operator& op = graph.operators()[analysis.order[position]];
        if (std::ranges::none_of(op.outputs, [&](TensorIndex t) { return bool{needed[t]}; })) {
            continue;
        }
        const OperatorRow* const row = row_of(op.op);
        result.is_possible =
            result.is_possible && row != nullptr && row->kind != OperatorClass::control &&
            row->kind != OperatorClass::state && row->kind != OperatorClass::custom;
        for (const TensorIndex input : op.inputs) {
            needed[input] = true;
        }
    }
    for (TensorIndex i = 0; i < tensors.size(); ++i) {
        const TensorLife& life = analysis.tensors[i];
        const bool is_of_block = life.origin == Origin::computed && life.producer == nowhere;
        result.is_possible =
            result.is_possible && !(needed[i] && (tensors[i].is_variable || is_of_block));
    }
    for (std::uint32_t slot = 0; slot < analysis.input_count; ++slot) {
        if (needed[analysis.slots[slot].tensor]) {
            result.slots.push_back(slot);
        }
    }
    return result;
}

}  // namespace virtaccel::tosa

#include "backends/cpu/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cpu/ops/lower.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

using tosa::DType;
using tosa::Op;

// How many refused operators get a sentence of their own: a model is made by a guest, and sentences
// end in a log.
constexpr std::uint64_t sentences_max = 64;

constexpr Types fp32[] = {{DType::fp32, DType::fp32}};
constexpr Types fp32_and_int32[] = {{DType::fp32, DType::fp32}, {DType::int32, DType::int32}};

template <std::size_t first>
std::string_view known_from(const Candidate& candidate) {
    for (std::size_t i = first; i < candidate.op.inputs.size(); ++i) {
        if (!candidate.is_known(i)) {
            return "must have operands for its shape and its padding that are constant";
        }
    }
    return {};
}

// Interpolated integers are not divided by the scale, so they do not fit their own type.
std::string_view wide_output(const Candidate& candidate) {
    const DType input = candidate.input(0).dtype;
    const bool is_integer = input == DType::int8 || input == DType::int16;
    const bool is_bilinear =
        candidate.op.as<tosa::ResizeAttribute>().mode == tosa::ResizeMode::bilinear;
    if (is_integer && is_bilinear == (candidate.output().dtype == input)) {
        return "must make a wider type of integers if it is bilinear, and the same if it is not";
    }
    return {};
}

// In the order of the operators' names.
constexpr OperatorSupport rows[] = {
    {Op::abs, {}, nullptr, ops::lower_abs},
    {Op::add, {}, nullptr, ops::lower_add},
    {Op::argmax, {}, nullptr, ops::lower_argmax},
    {Op::arithmetic_right_shift, {}, nullptr, ops::lower_arithmetic_right_shift},
    {Op::avg_pool2d, {}, nullptr, ops::lower_avg_pool2d},
    {Op::bitwise_and, {}, nullptr, ops::lower_bitwise_and},
    {Op::bitwise_not, {}, nullptr, ops::lower_bitwise_not},
    {Op::bitwise_or, {}, nullptr, ops::lower_bitwise_or},
    {Op::bitwise_xor, {}, nullptr, ops::lower_bitwise_xor},
    {Op::cast, {}, nullptr, ops::lower_cast},
    {Op::ceil, {}, nullptr, ops::lower_ceil},
    {Op::clamp, {}, nullptr, ops::lower_clamp},
    {Op::clz, {}, nullptr, ops::lower_clz},
    {Op::concat, {}, nullptr, ops::lower_concat},
    {Op::cond_if, {}, nullptr, ops::lower_cond_if},
    {Op::constant, {}, nullptr, ops::lower_nothing},
    {Op::const_shape, {}, nullptr, ops::lower_nothing},
    {Op::conv2d, {}, nullptr, ops::lower_conv2d},
    {Op::conv3d, {}, nullptr, ops::lower_conv3d},
    {Op::cos, {}, nullptr, ops::lower_cos},
    {Op::depthwise_conv2d, {}, nullptr, ops::lower_depthwise_conv2d},
    {Op::equal, {}, nullptr, ops::lower_equal},
    {Op::erf, {}, nullptr, ops::lower_erf},
    {Op::exp, {}, nullptr, ops::lower_exp},
    {Op::fft2d, {}, nullptr, ops::lower_fft2d},
    {Op::floor, {}, nullptr, ops::lower_floor},
    {Op::gather, {}, nullptr, ops::lower_gather},
    {Op::greater, {}, nullptr, ops::lower_greater},
    {Op::greater_equal, {}, nullptr, ops::lower_greater_equal},
    {Op::identity, {}, nullptr, ops::lower_identity},
    {Op::intdiv, {}, nullptr, ops::lower_intdiv},
    {Op::log, {}, nullptr, ops::lower_log},
    {Op::logical_and, {}, nullptr, ops::lower_logical_and},
    {Op::logical_left_shift, {}, nullptr, ops::lower_logical_left_shift},
    {Op::logical_not, {}, nullptr, ops::lower_logical_not},
    {Op::logical_or, {}, nullptr, ops::lower_logical_or},
    {Op::logical_right_shift, {}, nullptr, ops::lower_logical_right_shift},
    {Op::logical_xor, {}, nullptr, ops::lower_logical_xor},
    {Op::matmul, {}, nullptr, ops::lower_matmul},
    {Op::max_pool2d, {}, nullptr, ops::lower_max_pool2d},
    {Op::maximum, {}, nullptr, ops::lower_maximum},
    {Op::minimum, {}, nullptr, ops::lower_minimum},
    {Op::mul, {}, nullptr, ops::lower_mul},
    {Op::negate, {}, nullptr, ops::lower_negate},
    {Op::pad, {}, nullptr, ops::lower_pad},
    {Op::pow, {}, nullptr, ops::lower_pow},
    {Op::reciprocal, {}, nullptr, ops::lower_reciprocal},
    {Op::reduce_all, {}, nullptr, ops::lower_reduce_all},
    {Op::reduce_any, {}, nullptr, ops::lower_reduce_any},
    {Op::reduce_max, {}, nullptr, ops::lower_reduce_max},
    {Op::reduce_min, {}, nullptr, ops::lower_reduce_min},
    {Op::reduce_product, {}, nullptr, ops::lower_reduce_product},
    {Op::reduce_sum, {}, nullptr, ops::lower_reduce_sum},
    {Op::rescale, {}, nullptr, ops::lower_rescale},
    {Op::reshape, {}, nullptr, ops::lower_reshape},
    {Op::resize, {}, wide_output, ops::lower_resize},
    {Op::reverse, {}, nullptr, ops::lower_reverse},
    {Op::rfft2d, {}, nullptr, ops::lower_rfft2d},
    {Op::rsqrt, {}, nullptr, ops::lower_rsqrt},
    {Op::scatter, {}, nullptr, ops::lower_scatter},
    {Op::select, {}, nullptr, ops::lower_select},
    {Op::sigmoid, {}, nullptr, ops::lower_sigmoid},
    {Op::sin, {}, nullptr, ops::lower_sin},
    {Op::slice, {}, nullptr, ops::lower_slice},
    {Op::sub, {}, nullptr, ops::lower_sub},
    {Op::table, {}, nullptr, ops::lower_table},
    {Op::tanh, {}, nullptr, ops::lower_tanh},
    {Op::tile, {}, nullptr, ops::lower_tile},
    {Op::transpose, {}, nullptr, ops::lower_transpose},
    {Op::transpose_conv2d, {}, nullptr, ops::lower_transpose_conv2d},
    {Op::variable, {}, nullptr, ops::lower_nothing},
    {Op::variable_read, {}, nullptr, ops::lower_variable_read},
    {Op::variable_write, {}, nullptr, ops::lower_variable_write},
    {Op::while_loop, {}, nullptr, ops::lower_while_loop},
};

// "The operator 92 (CONV2D) ", or "The operator 2 (ADD) of the block (body) " if it is an inner
// one.
tosa::Text subject_of(const tosa::Graph& graph, tosa::OperatorIndex index) {
    const tosa::Operator& op = graph.operators()[index];
    tosa::Text text;
    text.append("The operator ").append(op.index).append(" (").append(tosa::name_of(op.op));
    text.append(") ");
    if (index >= graph.main().operators.count) {
        const auto block = std::ranges::find_if(
            graph.blocks(), [&](const tosa::Block& one) { return index < one.operators.end(); });
        text.append("of the block (").append_foreign(block->name).append(") ");
    }
    return text;
}

// A file may call any tensor a variable, whoever reads and writes it. Steps need not run in an
// order in which that makes a difference.
bool uses_state_unasked(const Candidate& candidate) {
    const tosa::OperatorRow* const row = tosa::row_of(candidate.op.op);
    if (row == nullptr || row->kind == tosa::OperatorClass::state) {
        return false;
    }
    const auto is_variable = [&](tosa::TensorIndex tensor) {
        return candidate.graph.tensors()[tensor].is_variable;
    };
    return std::ranges::any_of(candidate.op.inputs, is_variable) ||
           std::ranges::any_of(candidate.op.outputs, is_variable);
}

// The end of that sentence if the operator is refused, else empty.
tosa::Text objection_to(const Candidate& candidate) {
    tosa::Text text;
    const OperatorSupport* const support = support_of(candidate.op.op);
    if (support == nullptr) {
        return text.append("is not among the CPU backend's operators yet: choose another backend.");
    }
    if (uses_state_unasked(candidate)) {
        return text.append(
            "uses a variable as if it were none: put VARIABLE_READ or VARIABLE_WRITE between.");
    }
    if (support->types.empty() && support->objection == nullptr) {
        return text;
    }
    const DType output = candidate.output().dtype;
    const DType input = candidate.op.inputs.empty() ? output : candidate.input(0).dtype;
    const bool has_types = std::ranges::any_of(support->types, [&](const Types& types) {
        return types.input == input && types.output == output;
    });
    if (!support->types.empty() && !has_types) {
        return text.append("is not there yet for input (")
            .append(tosa::name_of(input))
            .append(") and output (")
            .append(tosa::name_of(output))
            .append("): choose another backend.");
    }
    if (support->objection != nullptr) {
        if (const std::string_view against = support->objection(candidate); !against.empty()) {
            return text.append(against).append(" on the CPU backend: choose another backend.");
        }
    }
    return text;
}

}  // namespace

std::span<const OperatorSupport> supported_operators() {
    return rows;
}

const OperatorSupport* support_of(tosa::Op op) {
    const auto* const row = std::ranges::find(rows, op, &OperatorSupport::op);
    return row == std::end(rows) ? nullptr : row;
}

bool takes(const tosa::OperatorRow& row, const tosa::Signature& signature) {
    const OperatorSupport* const support = support_of(row.op);
    if (support == nullptr || support->types.empty()) {
        return support != nullptr;
    }
    const DType output = tosa::type_of(row.outputs.letter(0), signature);
    const DType input =
        row.inputs.count == 0 ? output : tosa::type_of(row.inputs.letter(0), signature);
    return std::ranges::any_of(support->types, [&](const Types& types) {
        return types.input == input && types.output == output;
    });
}

bool admit(const tosa::Graph& graph, const tosa::Analysis& analysis,
           const backend::RefusalSink& refusals) {
    std::uint64_t refused = 0;
    for (const tosa::OperatorIndex index : analysis.order) {
        const tosa::Operator& op = graph.operators()[index];
        const tosa::Text objection = objection_to({.graph = graph, .analysis = analysis, .op = op});
        if (objection.view().empty()) {
            continue;
        }
        if (refused < sentences_max) {
            refusals(subject_of(graph, index).append(objection.view()).view());
        }
        ++refused;
    }
    if (refused > sentences_max) {
        tosa::Text rest;
        rest.append("The CPU backend refuses more operators (")
            .append(refused - sentences_max)
            .append(") for reasons like these.");
        refusals(rest.view());
    }
    return refused == 0;
}

}  // namespace virtaccel::backends::cpu

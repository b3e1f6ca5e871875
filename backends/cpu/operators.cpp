#include "backends/cpu/operators.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cpu/ops/lower.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

namespace {

using tosa::Op;

// How many refused operators get a sentence of their own: a model is made by a guest, and sentences
// end in a log.
constexpr std::uint64_t sentences_max = 64;

// In the order of the operators' names.
constexpr OperatorSupport rows[] = {
    {Op::abs, ops::lower_abs},
    {Op::add, ops::lower_add},
    {Op::argmax, ops::lower_argmax},
    {Op::arithmetic_right_shift, ops::lower_arithmetic_right_shift},
    {Op::avg_pool2d, ops::lower_avg_pool2d},
    {Op::bitwise_and, ops::lower_bitwise_and},
    {Op::bitwise_not, ops::lower_bitwise_not},
    {Op::bitwise_or, ops::lower_bitwise_or},
    {Op::bitwise_xor, ops::lower_bitwise_xor},
    {Op::cast, ops::lower_cast},
    {Op::ceil, ops::lower_ceil},
    {Op::clamp, ops::lower_clamp},
    {Op::clz, ops::lower_clz},
    {Op::concat, ops::lower_concat},
    {Op::cond_if, ops::lower_cond_if},
    {Op::constant, ops::lower_nothing},
    {Op::const_shape, ops::lower_nothing},
    {Op::conv2d, ops::lower_conv2d},
    {Op::conv3d, ops::lower_conv3d},
    {Op::cos, ops::lower_cos},
    {Op::depthwise_conv2d, ops::lower_depthwise_conv2d},
    {Op::equal, ops::lower_equal},
    {Op::erf, ops::lower_erf},
    {Op::exp, ops::lower_exp},
    {Op::fft2d, ops::lower_fft2d},
    {Op::floor, ops::lower_floor},
    {Op::gather, ops::lower_gather},
    {Op::greater, ops::lower_greater},
    {Op::greater_equal, ops::lower_greater_equal},
    {Op::identity, ops::lower_identity},
    {Op::intdiv, ops::lower_intdiv},
    {Op::log, ops::lower_log},
    {Op::logical_and, ops::lower_logical_and},
    {Op::logical_left_shift, ops::lower_logical_left_shift},
    {Op::logical_not, ops::lower_logical_not},
    {Op::logical_or, ops::lower_logical_or},
    {Op::logical_right_shift, ops::lower_logical_right_shift},
    {Op::logical_xor, ops::lower_logical_xor},
    {Op::matmul, ops::lower_matmul},
    {Op::max_pool2d, ops::lower_max_pool2d},
    {Op::maximum, ops::lower_maximum},
    {Op::minimum, ops::lower_minimum},
    {Op::mul, ops::lower_mul},
    {Op::negate, ops::lower_negate},
    {Op::pad, ops::lower_pad},
    {Op::pow, ops::lower_pow},
    {Op::reciprocal, ops::lower_reciprocal},
    {Op::reduce_all, ops::lower_reduce_all},
    {Op::reduce_any, ops::lower_reduce_any},
    {Op::reduce_max, ops::lower_reduce_max},
    {Op::reduce_min, ops::lower_reduce_min},
    {Op::reduce_product, ops::lower_reduce_product},
    {Op::reduce_sum, ops::lower_reduce_sum},
    {Op::rescale, ops::lower_rescale},
    {Op::reshape, ops::lower_reshape},
    {Op::resize, ops::lower_resize},
    {Op::reverse, ops::lower_reverse},
    {Op::rfft2d, ops::lower_rfft2d},
    {Op::rsqrt, ops::lower_rsqrt},
    {Op::scatter, ops::lower_scatter},
    {Op::select, ops::lower_select},
    {Op::sigmoid, ops::lower_sigmoid},
    {Op::sin, ops::lower_sin},
    {Op::slice, ops::lower_slice},
    {Op::sub, ops::lower_sub},
    {Op::table, ops::lower_table},
    {Op::tanh, ops::lower_tanh},
    {Op::tile, ops::lower_tile},
    {Op::transpose, ops::lower_transpose},
    {Op::transpose_conv2d, ops::lower_transpose_conv2d},
    {Op::variable, ops::lower_nothing},
    {Op::variable_read, ops::lower_variable_read},
    {Op::variable_write, ops::lower_variable_write},
    {Op::while_loop, ops::lower_while_loop},
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
bool uses_state_unasked(const lowering::OperatorInGraph& candidate) {
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
tosa::Text objection_to(const lowering::OperatorInGraph& candidate) {
    tosa::Text text;
    if (support_of(candidate.op.op) == nullptr) {
        return text.append("is not among the CPU backend's operators: choose another backend.");
    }
    if (uses_state_unasked(candidate)) {
        return text.append(
            "uses a variable as if it were none: put VARIABLE_READ or VARIABLE_WRITE between.");
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

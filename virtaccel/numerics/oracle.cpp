#include "virtaccel/numerics/oracle.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "virtaccel/base/panic.h"
#include "virtaccel/numerics/oracles.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

struct Row {
    tosa::Op op = tosa::Op::unknown;
    Oracle oracle = nullptr;
};

using tosa::Op;

// In the order of the operators' numbers. CONST and CONST_SHAPE have their values in the model.
constexpr Row rows[] = {
    {Op::argmax, oracles::argmax},
    {Op::avg_pool2d, oracles::avg_pool2d},
    {Op::conv2d, oracles::conv2d},
    {Op::depthwise_conv2d, oracles::depthwise_conv2d},
    {Op::matmul, oracles::matmul},
    {Op::max_pool2d, oracles::max_pool2d},
    {Op::clamp, oracles::clamp},
    {Op::sigmoid, oracles::sigmoid},
    {Op::add, oracles::add},
    {Op::arithmetic_right_shift, oracles::arithmetic_right_shift},
    {Op::intdiv, oracles::intdiv},
    {Op::maximum, oracles::maximum},
    {Op::minimum, oracles::minimum},
    {Op::mul, oracles::mul},
    {Op::sub, oracles::sub},
    {Op::negate, oracles::negate},
    {Op::select, oracles::select},
    {Op::equal, oracles::equal},
    {Op::greater, oracles::greater},
    {Op::greater_equal, oracles::greater_equal},
    {Op::reduce_max, oracles::reduce_max},
    {Op::reduce_min, oracles::reduce_min},
    {Op::reduce_sum, oracles::reduce_sum},
    {Op::concat, oracles::concat},
    {Op::pad, oracles::pad},
    {Op::reshape, oracles::as_it_is},
    {Op::reverse, oracles::reverse},
    {Op::transpose, oracles::transpose},
    {Op::gather, oracles::gather},
    {Op::scatter, oracles::scatter},
    {Op::resize, oracles::resize},
    {Op::cast, oracles::cast},
    {Op::rescale, oracles::rescale},
    {Op::constant, oracles::nothing},
    {Op::identity, oracles::as_it_is},
    {Op::const_shape, oracles::nothing},
};

void run(const tosa::Graph& graph, const tosa::Operator& op, std::vector<Tensor>& tensors,
         const Interference& interference) {
    if (op.op == Op::constant || op.op == Op::const_shape) {
        const tosa::Tensor& tensor = graph.tensors()[op.outputs[0]];
        tensors[op.outputs[0]] = unpack(tensor.dtype, tensor.shape, tensor.data);
        return;
    }
    tosa::Operator step = op;
    std::vector<Tensor> inputs;
    for (const tosa::TensorIndex index : op.inputs) {
        inputs.push_back(rounded(tensors[index]));
    }
    if (interference.before) {
        interference.before(step, inputs);
    }
    Tensor& output = tensors[op.outputs[0]];
    const tosa::Tensor& declared = graph.tensors()[op.outputs[0]];
    output = {.dtype = declared.dtype,
              .shape = {declared.shape.begin(), declared.shape.end()},
              .values = {},
              .magnitudes = {}};
    oracle_of(step.op)({.op = step, .inputs = inputs}, output);
    if (interference.after) {
        interference.after({.op = step, .inputs = inputs}, output);
    }
}

}  // namespace

Oracle oracle_of(tosa::Op op) {
    const auto* const row = std::ranges::find(rows, op, &Row::op);
    return row == std::end(rows) ? nullptr : row->oracle;
}

tosa::Op first_without_oracle(const tosa::Graph& graph) {
    const auto operators = graph.operators(graph.main());
    const auto found = std::ranges::find_if(
        operators, [](const tosa::Operator& op) { return oracle_of(op.op) == nullptr; });
    return found == operators.end() ? Op::unknown : found->op;
}

std::vector<Tensor> evaluate(const tosa::Graph& graph, std::span<const Tensor> inputs,
                             const Interference& interference) {
    const tosa::Block& block = graph.main();
    VIRTACCEL_CHECK(inputs.size() == block.inputs.size());
    std::vector<Tensor> tensors(graph.tensors().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        tensors[block.inputs[i]] = inputs[i];
    }
    for (const tosa::Operator& op : graph.operators(block)) {
        run(graph, op, tensors, interference);
    }
    std::vector<Tensor> outputs;
    for (const tosa::TensorIndex index : block.outputs) {
        outputs.push_back(tensors[index]);
    }
    return outputs;
}

}  // namespace virtaccel::numerics

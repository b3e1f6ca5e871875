#include "virtaccel/tosa/hints.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// In the order of Fusion.
constexpr std::string_view fusion_names[] = {"", "padding", "epilogue", "chain", "composition"};

// Operators that pad their input by themselves.
constexpr Op windows[] = {Op::conv2d, Op::conv3d, Op::depthwise_conv2d};
// Those that sum products, and so have a result to work on before it is stored.
constexpr Op sums[] = {Op::avg_pool2d,       Op::conv2d, Op::conv3d,
                       Op::depthwise_conv2d, Op::matmul, Op::transpose_conv2d};
// Two of one kind, one after the other, are one of that kind, or nothing.
constexpr Op composable[] = {Op::pad, Op::reshape, Op::reverse, Op::slice, Op::tile, Op::transpose};

bool is_among(std::span<const Op> list, Op op) {
    return std::ranges::find(list, op) != list.end();
}

bool is_alias(Op op) {
    return op == Op::reshape || op == Op::identity;
}

bool is_elementwise(Op op) {
    const OperatorRow* const row = row_of(op);
    return row != nullptr && row->kind == OperatorClass::elementwise;
}

Fusion fusion_of(Op first, Op second) {
    if (first == Op::pad && is_among(windows, second)) {
        return Fusion::padding;
    }
    if (is_among(sums, first) && is_elementwise(second)) {
        return Fusion::epilogue;
    }
    if (is_elementwise(first) && is_elementwise(second)) {
        return Fusion::chain;
    }
    return first == second && is_among(composable, first) ? Fusion::composition : Fusion::none;
}

class Hints {
  public:
    Hints(const Graph& graph, const Analysis& analysis)
        : graph_(graph),
          analysis_(analysis),
          tensors_(graph.tensors()),
          aliases_(aliases_of(graph, analysis)) {}

    std::vector<OperatorHints> run() {
        std::vector<OperatorHints> hints(graph_.operators().size());
        for (std::uint32_t position = 0; position < analysis_.order.size(); ++position) {
            const OperatorIndex index = analysis_.order[position];
            const Operator& op = graph_.operators()[index];
            if (op.outputs.size() != 1 || tensors_[op.outputs.front()].is_variable) {
                continue;
            }
            if (is_alias(op.op)) {
                hints[index].alias_of = op.inputs.front();
            } else if (is_elementwise(op.op)) {
                hints[index].in_place = overwritable(op, position);
            }
            fuse(op, hints[index]);
        }
        return hints;
    }

  private:
    // Inputs past the 32nd get no hint; no elementwise operator has so many.
    [[nodiscard]] std::uint32_t overwritable(const Operator& op, std::uint32_t position) const {
        const Tensor& output = tensors_[op.outputs.front()];
        std::uint32_t inputs = 0;
        for (std::size_t i = 0; i < op.inputs.size() && i < 32; ++i) {
            const TensorIndex input = op.inputs[i];
            const TensorIndex owner = aliases_.owners[input];
            const TensorLife& life = analysis_.tensors[owner];
            // What a block is given may be somebody else's bytes.
            const bool is_ours = life.origin == Origin::computed && life.producer != nowhere;
            if (is_ours && life.slot == nowhere && aliases_.last_uses[owner] == position &&
                tensors_[input].bytes == output.bytes &&
                bits_of(tensors_[input].dtype) == bits_of(output.dtype) &&
                is_read_once(op, owner)) {
                inputs |= std::uint32_t{1} << i;
            }
        }
        return inputs;
    }

    // Whether only one of the inputs has the bytes of `owner`.
    [[nodiscard]] bool is_read_once(const Operator& op, TensorIndex owner) const {
        return std::ranges::count(op.inputs, owner, [this](TensorIndex input) {
                   return aliases_.owners[input];
               }) == 1;
    }

    void fuse(const Operator& op, OperatorHints& hints) const {
        const TensorIndex output = op.outputs.front();
        const TensorLife& life = analysis_.tensors[output];
        if (life.origin != Origin::computed || life.slot != nowhere ||
            life.first_use != life.last_use || life.first_use >= analysis_.order.size()) {
            return;
        }
        const OperatorIndex reader = analysis_.order[life.first_use];
        const Operator& second = graph_.operators()[reader];
        // What is moved or padded is the reader's first input.
        const bool is_at_its_place = second.inputs.front() == output || is_elementwise(second.op);
        const Fusion fusion = fusion_of(op.op, second.op);
        if (fusion != Fusion::none && is_at_its_place &&
            std::ranges::count(second.inputs, output) == 1) {
            hints.fusion = fusion;
            hints.fuses_into = reader;
        }
    }

    const Graph& graph_;
    const Analysis& analysis_;
    std::span<const Tensor> tensors_;
    Aliases aliases_;
};

}  // namespace

std::string_view name_of(Fusion fusion) {
    return fusion_names[static_cast<std::size_t>(fusion)];
}

// Aliases come after what they stand for.
Aliases aliases_of(const Graph& graph, const Analysis& analysis) {
    Aliases aliases;
    for (TensorIndex i = 0; i < analysis.tensors.size(); ++i) {
        aliases.owners.push_back(i);
        aliases.last_uses.push_back(analysis.tensors[i].last_use);
    }
    for (const OperatorIndex index : analysis.order) {
        const Operator& op = graph.operators()[index];
        if (is_alias(op.op) && !graph.tensors()[op.outputs.front()].is_variable) {
            const TensorIndex alias = op.outputs.front();
            const TensorIndex owner = aliases.owners[op.inputs.front()];
            aliases.owners[alias] = owner;
            aliases.last_uses[owner] = std::max(aliases.last_uses[owner], aliases.last_uses[alias]);
        }
    }
    return aliases;
}

std::vector<OperatorHints> hints_for(const Graph& graph, const Analysis& analysis) {
    return Hints{graph, analysis}.run();
}

}  // namespace virtaccel::tosa

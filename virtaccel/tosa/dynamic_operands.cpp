#include "virtaccel/tosa/dynamic_operands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <tuple>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/place.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// An operator with operands that must be constant has one output, and inputs as its row says.
constexpr std::size_t operands_max = std::tuple_size_v<decltype(OperandPattern::letters)> + 1;

// An operator with its tensors in a table of its own, where some have got values.
class WithValues {
  public:
    WithValues(const Graph& graph, const Operator& op) : op_(op) {
        for (const std::span<const TensorIndex> operands : {op.inputs, op.outputs}) {
            for (const TensorIndex operand : operands) {
                tensors_.at(count_) = graph.tensors()[operand];
                indexes_.at(count_) = static_cast<TensorIndex>(count_);
                ++count_;
            }
        }
        op_.inputs = std::span{indexes_}.first(op.inputs.size());
        op_.outputs = std::span{indexes_}.subspan(op.inputs.size(), op.outputs.size());
    }

    WithValues(const WithValues&) = delete;
    WithValues& operator=(const WithValues&) = delete;
    ~WithValues() = default;

    void give(std::size_t input, std::span<const std::byte> bytes) {
        tensors_.at(input).data = bytes;
        tensors_.at(input).is_constant = true;
    }

    // The operands' shapes and values are what they would be in a file.
    [[nodiscard]] Checked<void> check(const OperatorRow& row, const LevelLimits& level) const {
        const auto shape =
            row.shape({.op = op_, .tensors = tensors_, .blocks = {}, .level = level});
        if (!shape) {
            return refuse_operator(
                shape.error().status, op_,
                "cannot run with the values it is given: ", shape.error().sentence.view(), ".");
        }
        const Tensor& output = tensors_.at(op_.outputs.front());
        if (*shape && !std::ranges::equal((*shape)->span(), output.shape)) {
            return refuse_operator(Status::invalid_argument, op_,
                                   "cannot run with the values it is given: they make another "
                                   "shape than its output (",
                                   Foreign{output.name}, ") declares.");
        }
        return {};
    }

  private:
    Operator op_;
    std::array<Tensor, operands_max> tensors_{};
    std::array<TensorIndex, operands_max> indexes_{};
    std::size_t count_ = 0;
};

}  // namespace

Checked<void> check_supplied(const Graph& graph, const Operator& op,
                             std::span<const SuppliedOperand> supplied,
                             const Target& target) noexcept {
    const OperatorRow* const row = row_of(op.op);
    if (row == nullptr || row->constant_inputs == 0) {
        return {};
    }
    WithValues values{graph, op};
    bool has_values = false;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const TensorIndex input = op.inputs[i];
        const auto found = std::ranges::lower_bound(supplied, input, {}, &SuppliedOperand::tensor);
        if (((row->constant_inputs >> i) & 1U) == 0 || graph.tensors()[input].is_constant ||
            found == supplied.end() || found->tensor != input) {
            continue;
        }
        if (found->bytes.size() != graph.tensors()[input].bytes) {
            return refuse_operator(Status::invalid_argument, op, "is given (", found->bytes.size(),
                                   ") bytes for its operand (",
                                   Foreign{graph.tensors()[input].name}, "), which has ",
                                   graph.tensors()[input].bytes, ".");
        }
        values.give(i, found->bytes);
        has_values = true;
    }
    return has_values ? values.check(*row, limits_of(target.level)) : Checked<void>{};
}

Checked<void> check_supplied(const Graph& graph, std::span<const SuppliedOperand> supplied,
                             const Target& target) noexcept {
    const auto out_of_order = std::ranges::adjacent_find(
        supplied, [](TensorIndex a, TensorIndex b) { return a >= b; }, &SuppliedOperand::tensor);
    if (out_of_order != supplied.end()) {
        return refuse(Status::invalid_argument, "The value of tensor ", out_of_order->tensor,
                      " is not below the next one's tensor: give each once, in ascending order.");
    }
    for (const Operator& op : graph.operators()) {
        VIRTACCEL_TRY(check_supplied(graph, op, supplied, target));
    }
    return {};
}

}  // namespace virtaccel::tosa

#include "virtaccel/tosa/flow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <queue>
#include <span>
#include <variant>
#include <vector>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/place.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// A tensor's producer: an operator's position in its block, or one of these.
constexpr std::uint32_t nobody = nowhere;
constexpr std::uint32_t the_caller = nowhere - 1;    // an input of the block
constexpr std::uint32_t the_variable = nowhere - 2;  // state, which anybody may write

// Works on one block. The steps build on each other: producers are found before constants are
// known, and order is a question only where every input has a producer.
class Flow {
  public:
    Flow(std::span<Tensor> tensors, const Block& block, std::span<Operator> operators)
        : tensors_(tensors.subspan(block.tensors.first, block.tensors.count)),
          first_(block.tensors.first),
          block_(block),
          operators_(operators),
          producers_(block.tensors.count, nobody) {}

    Checked<void> settle() {
        VIRTACCEL_TRY(find_callers());
        VIRTACCEL_TRY(find_producers());
        VIRTACCEL_TRY(settle_constants());
        VIRTACCEL_TRY(find_missing());
        return is_in_order() ? Checked<void>{} : sort();
    }

  private:
    // One operator waits for another.
    struct Edge {
        std::uint32_t producer = 0;
        std::uint32_t reader = 0;
    };

    Tensor& tensor(TensorIndex index) { return tensors_[index - first_]; }

    std::uint32_t& producer(TensorIndex index) { return producers_[index - first_]; }

    [[nodiscard]] static bool is_operator(std::uint32_t producer) {
        return producer < the_variable;
    }

    // Variables are there before and after a run, so nobody has to produce them.
    Checked<void> find_callers() {
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            producers_[i] = tensors_[i].is_variable ? the_variable : nobody;
        }
        for (const TensorIndex input : block_.inputs) {
            if (producer(input) != nobody) {
                return refuse(Status::invalid_argument, "Block (", Foreign{block_.name},
                              ") has an input (", Foreign{tensor(input).name},
                              ") that is a variable, or an input before: name it once.");
            }
            producer(input) = the_caller;
        }
        return {};
    }

    // The first to write a tensor owns it; VARIABLE makes its output a variable.
    Checked<void> find_producers() {
        for (std::uint32_t i = 0; i < operators_.size(); ++i) {
            const Operator& op = operators_[i];
            for (const TensorIndex output : op.outputs) {
                std::uint32_t& producer_of_output = producer(output);
                if (op.op == Op::variable && producer_of_output == nobody) {
                    tensor(output).is_variable = true;
                    producer_of_output = the_variable;
                }
                if (producer_of_output == the_variable) {
                    continue;
                }
                if (producer_of_output != nobody) {
                    return refuse_second_producer(op, output);
                }
                producer_of_output = i;
            }
        }
        return {};
    }

    std::unexpected<Refusal> refuse_second_producer(const Operator& op, TensorIndex output) {
        const std::uint32_t first = producer(output);
        if (first == the_caller) {
            return refuse_operator(Status::invalid_argument, op, "produces (",
                                   Foreign{tensor(output).name},
                                   "), which is an input of its block: rename one of them.");
        }
        return refuse_operator(Status::invalid_argument, op, "produces (",
                               Foreign{tensor(output).name}, "), which operator ",
                               operators_[first].index, " produces too: rename one of them.");
    }

    // CONST and CONST_SHAPE have a value in the file, other operators' outputs have none. Writers
    // leave the outer value at an input of an inner block; it is not the input's value.
    Checked<void> settle_constants() {
        for (const Operator& op : operators_) {
            const bool is_constant = op.op == Op::constant || op.op == Op::const_shape;
            for (const TensorIndex output : op.outputs) {
                VIRTACCEL_TRY(settle_value(op, tensor(output), is_constant));
            }
        }
        for (const TensorIndex input : block_.inputs) {
            tensor(input).data = {};
        }
        return {};
    }

    static Checked<void> settle_value(const Operator& op, Tensor& output, bool is_constant) {
        if (is_constant && (output.data.size() != output.bytes || output.is_variable)) {
            return refuse_operator(Status::invalid_argument, op, "has an output (",
                                   Foreign{output.name}, ") without a value in the file.");
        }
        if (!is_constant && !output.data.empty() && !output.is_variable) {
            return refuse_operator(Status::invalid_argument, op, "has an output (",
                                   Foreign{output.name},
                                   ") with a value in the file; only CONST has one.");
        }
        output.is_constant = is_constant;
        return {};
    }

    Checked<void> find_missing() {
        for (const Operator& op : operators_) {
            for (const TensorIndex input : op.inputs) {
                if (producer(input) == nobody) {
                    return refuse_operator(Status::invalid_argument, op, "reads (",
                                           Foreign{tensor(input).name},
                                           "), which nothing produces.");
                }
            }
        }
        for (const TensorIndex output : block_.outputs) {
            if (producer(output) == nobody) {
                return refuse(Status::invalid_argument, "Block (", Foreign{block_.name},
                              ") has an output (", Foreign{tensor(output).name},
                              ") that nothing produces.");
            }
        }
        return {};
    }

    bool is_in_order() {
        for (std::uint32_t i = 0; i < operators_.size(); ++i) {
            for (const TensorIndex input : operators_[i].inputs) {
                const std::uint32_t from = producer(input);
                if (is_operator(from) && from >= i) {
                    return false;
                }
            }
        }
        return true;
    }

    // Puts operators where all they read is there, in the file's order where there is a choice.
    Checked<void> sort() {
        for (const Operator& op : operators_) {
            const auto touches_state = [this](TensorIndex t) { return tensor(t).is_variable; };
            if (std::ranges::any_of(op.inputs, touches_state) ||
                std::ranges::any_of(op.outputs, touches_state)) {
                return refuse_operator(Status::invalid_argument, op,
                                       "uses a variable in a block whose operators are out of "
                                       "order: write them in the order in which they run.");
            }
        }
        const std::vector<std::uint32_t> order = topological_order();
        if (order.size() < operators_.size()) {
            return refuse_cycle(order);
        }
        std::vector<Operator> sorted;
        sorted.reserve(operators_.size());
        for (const std::uint32_t i : order) {
            sorted.push_back(operators_[i]);
        }
        std::ranges::move(sorted, operators_.begin());
        return {};
    }

    // The operators that can run, each after those it waits for (Kahn 1962). Those of a cycle are
    // missing. The queue gives the one that comes first in the file.
    std::vector<std::uint32_t> topological_order() {
        const auto count = operators_.size();
        std::vector<std::uint32_t> waits(count);
        std::vector<Edge> edges;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (const TensorIndex input : operators_[i].inputs) {
                if (is_operator(producer(input))) {
                    edges.push_back({.producer = producer(input), .reader = i});
                    ++waits[i];
                }
            }
        }
        std::ranges::sort(edges, {}, &Edge::producer);
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (waits[i] == 0) {
                ready.push(i);
            }
        }
        std::vector<std::uint32_t> order;
        order.reserve(count);
        while (!ready.empty()) {
            const std::uint32_t next = ready.top();
            ready.pop();
            order.push_back(next);
            for (const Edge& edge : std::ranges::equal_range(edges, next, {}, &Edge::producer)) {
                if (--waits[edge.reader] == 0) {
                    ready.push(edge.reader);
                }
            }
        }
        return order;
    }

    [[nodiscard]] std::unexpected<Refusal> refuse_cycle(
        std::span<const std::uint32_t> order) const {
        std::vector<bool> runs(operators_.size());
        for (const std::uint32_t i : order) {
            runs[i] = true;
        }
        const auto stuck = std::ranges::find(runs, false) - runs.begin();
        return refuse_operator(Status::invalid_argument,
                               operators_[static_cast<std::size_t>(stuck)],
                               "waits for its own output: the operators form a cycle.");
    }

    std::span<Tensor> tensors_;
    TensorIndex first_;
    const Block& block_;
    std::span<Operator> operators_;
    std::vector<std::uint32_t> producers_;
};

}  // namespace

Checked<void> settle_flow(std::span<Tensor> tensors, const Block& block,
                          std::span<Operator> operators) {
    return Flow{tensors, block, operators}.settle();
}

// Callers before callees, and what is left over runs itself. No recursion: a stranger chose the
// depth.
Checked<void> settle_nesting(std::span<Block> blocks, std::span<const Operator> operators) {
    // Calls `visit` with each block that `block` runs, as often as it does.
    const auto each_callee = [&](const Block& block, auto&& visit) {
        for (const Operator& op : operators.subspan(block.operators.first, block.operators.count)) {
            if (const auto* branch = std::get_if<BranchAttribute>(&op.attribute)) {
                visit(branch->first);
                visit(branch->second);
            }
        }
    };
    std::vector<std::uint32_t> callers(blocks.size());
    for (const Block& block : blocks) {
        each_callee(block, [&](BlockIndex callee) { ++callers[callee]; });
    }
    std::vector<BlockIndex> ready;
    for (BlockIndex i = 0; i < blocks.size(); ++i) {
        if (callers[i] == 0) {
            ready.push_back(i);
        }
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
        const Block& block = blocks[ready[next]];
        each_callee(block, [&](BlockIndex callee) {
            blocks[callee].nesting = std::max(blocks[callee].nesting, block.nesting + 1);
            if (--callers[callee] == 0) {
                ready.push_back(callee);
            }
        });
    }
    const auto stuck =
        std::ranges::find_if(callers, [](std::uint32_t count) { return count != 0; });
    if (stuck != callers.end()) {
        const Block& block = blocks[static_cast<std::size_t>(stuck - callers.begin())];
        return refuse(Status::invalid_argument, "Block (", Foreign{block.name},
                      ") runs itself, or is run by blocks that do; blocks must not recur.");
    }
    return {};
}

}  // namespace virtaccel::tosa

#include "virtaccel/tosa/analysis.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {
namespace {

// Calls `visit` with the blocks that an operator runs, in order.
template <class Visit>
void each_callee(const Operator& op, const Visit& visit) {
    if (const auto* branch = std::get_if<BranchAttribute>(&op.attribute)) {
        visit(branch->first);
        visit(branch->second);
    }
}

// Each member function fills one part of the result from the parts before it.
class Analyzer {
  public:
    explicit Analyzer(const Graph& graph)
        : graph_(graph),
          tensors_(graph.tensors()),
          writes_state_(graph.blocks().size()),
          is_live_(graph.operators().size()) {
        result_.tensors.resize(tensors_.size());
        result_.blocks.resize(graph.blocks().size());
    }

    Checked<Analysis> run() {
        find_live();
        place(0);
        list_dead();
        list_slots();
        find_lives();
        find_origins();
        VIRTACCEL_TRY(find_states());
        VIRTACCEL_TRY(sum_bytes());
        return std::move(result_);
    }

  private:
    TensorLife& life(TensorIndex tensor) { return result_.tensors[tensor]; }

    [[nodiscard]] const Operator& operator_at(std::uint32_t position) const {
        return graph_.operators()[result_.order[position]];
    }

    [[nodiscard]] bool writes_state(const Operator& op) const {
        bool writes = std::ranges::any_of(
            op.outputs, [this](TensorIndex tensor) { return tensors_[tensor].is_variable; });
        each_callee(op, [&](BlockIndex block) { writes = writes || writes_state_[block]; });
        return writes;
    }

    // What is live in each block if it runs; a block comes after those it runs.
    void find_live() {
        std::vector<BlockIndex> blocks(graph_.blocks().size());
        for (BlockIndex block = 0; block < blocks.size(); ++block) {
            blocks[block] = block;
        }
        std::ranges::sort(blocks, std::ranges::greater{},
                          [this](BlockIndex block) { return graph_.blocks()[block].nesting; });
        std::vector<bool> needed(tensors_.size());
        for (const BlockIndex block : blocks) {
            find_live(block, needed);
        }
    }

    // Operators stand in executable order, so one pass from the end finds all that is needed.
    void find_live(BlockIndex index, std::vector<bool>& needed) {
        const Block& block = graph_.blocks()[index];
        for (const TensorIndex output : block.outputs) {
            needed[output] = true;
        }
        for (std::uint32_t i = block.operators.end(); i-- > block.operators.first;) {
            const Operator& op = graph_.operators()[i];
            const bool writes = writes_state(op);
            writes_state_[index] = writes_state_[index] || writes;
            is_live_[i] = writes || std::ranges::any_of(op.outputs, [&](TensorIndex tensor) {
                              return bool{needed[tensor]};
                          });
            for (const TensorIndex input : op.inputs) {
                needed[input] = needed[input] || is_live_[i];
            }
        }
    }

    // Appends a block's live operators, each with the blocks it runs. Recurs as deep as blocks are
    // nested, which Limits::blocks_max bounds.
    void place(BlockIndex index) {
        const auto position = [this] { return static_cast<std::uint32_t>(result_.order.size()); };
        const IndexRange operators = graph_.blocks()[index].operators;
        BlockPlace& block = result_.blocks[index];
        block.callers = 1;
        block.positions.first = position();
        for (OperatorIndex i = operators.first; i < operators.end(); ++i) {
            if (!is_live_[i]) {
                continue;
            }
            result_.order.push_back(i);
            each_callee(graph_.operators()[i], [this](BlockIndex callee) {
                if (result_.blocks[callee].callers == 0) {
                    place(callee);
                } else {
                    ++result_.blocks[callee].callers;
                }
            });
        }
        block.positions.count = position() - block.positions.first;
    }

    void list_dead() {
        std::vector<bool> runs(graph_.operators().size());
        for (const OperatorIndex i : result_.order) {
            runs[i] = true;
        }
        for (OperatorIndex i = 0; i < runs.size(); ++i) {
            if (!runs[i]) {
                result_.dead.push_back(i);
            }
        }
    }

    void list_slots() {
        const Block& main = graph_.main();
        result_.input_count = static_cast<std::uint32_t>(main.inputs.size());
        for (const TensorIndex tensor : main.inputs) {
            add_slot(SlotKind::input, tensor);
        }
        for (const TensorIndex tensor : main.outputs) {
            add_slot(SlotKind::output, tensor);
        }
    }

    void add_slot(SlotKind kind, TensorIndex tensor) {
        life(tensor).slot =
            std::min(life(tensor).slot, static_cast<std::uint32_t>(result_.slots.size()));
        result_.slots.push_back({.kind = kind,
                                 .tensor = tensor,
                                 .elements = tensors_[tensor].elements,
                                 .bytes = tensors_[tensor].bytes});
    }

    void use(TensorIndex tensor, std::uint32_t position) {
        std::uint32_t& last_use = life(tensor).last_use;
        last_use = last_use == nowhere ? position : std::max(last_use, position);
    }

    void find_lives() {
        for (std::uint32_t position = 0; position < result_.order.size(); ++position) {
            const Operator& op = operator_at(position);
            for (const TensorIndex output : op.outputs) {
                life(output).producer = result_.order[position];
                life(output).defined_at = position;
                use(output, position);
            }
            for (const TensorIndex input : op.inputs) {
                life(input).first_use = std::min(life(input).first_use, position);
                use(input, position);
            }
        }
        for (BlockIndex i = 0; i < result_.blocks.size(); ++i) {
            const BlockPlace& block = result_.blocks[i];
            if (block.callers == 0) {
                continue;
            }
            if (i != 0) {
                for (const TensorIndex input : graph_.blocks()[i].inputs) {
                    life(input).defined_at = block.positions.first - 1;
                }
            }
            for (const TensorIndex output : graph_.blocks()[i].outputs) {
                use(output, block.positions.end());
            }
        }
    }

    // Producers come before readers, so an input's origin is known when its reader is looked at.
    void find_origins() {
        for (const TensorIndex input : graph_.main().inputs) {
            life(input).origin = Origin::input;
        }
        for (const OperatorIndex index : result_.order) {
            const Operator& op = graph_.operators()[index];
            const bool folds = is_pure(op) && std::ranges::all_of(op.inputs, [this](auto input) {
                                   return is_known(life(input).origin);
                               });
            for (const TensorIndex output : op.outputs) {
                if (tensors_[output].is_constant) {
                    life(output).origin = Origin::constant;
                } else if (!tensors_[output].is_variable) {
                    life(output).origin = folds ? Origin::folded : Origin::computed;
                }
            }
            // What the operators of a block make of its inputs is not known at load.
            each_callee(op, [this](BlockIndex callee) {
                for (const TensorIndex input : graph_.blocks()[callee].inputs) {
                    life(input).origin = Origin::computed;
                }
            });
        }
        for (TensorIndex i = 0; i < tensors_.size(); ++i) {
            if (tensors_[i].is_variable && life(i).last_use != nowhere) {
                life(i).origin = Origin::variable;
            }
        }
    }

    [[nodiscard]] static bool is_known(Origin origin) {
        return origin == Origin::constant || origin == Origin::folded;
    }

    // Whether an operator's outputs depend on its inputs alone, and on nothing that is not here.
    [[nodiscard]] static bool is_pure(const Operator& op) {
        const OperatorRow* row = row_of(op.op);
        return row != nullptr && row->kind != OperatorClass::state &&
               row->kind != OperatorClass::control && row->kind != OperatorClass::custom;
    }

    Checked<void> find_states() {
        std::map<std::string_view, std::uint32_t> known;
        for (TensorIndex i = 0; i < tensors_.size(); ++i) {
            if (life(i).origin != Origin::variable) {
                continue;
            }
            const Tensor& tensor = tensors_[i];
            const auto number = static_cast<std::uint32_t>(result_.states.size());
            const auto [state, is_new] = known.try_emplace(tensor.state, number);
            if (is_new) {
                result_.states.push_back(i);
            }
            life(i).state = state->second;
            TensorIndex& first = result_.states[state->second];
            if (tensors_[first].dtype != tensor.dtype ||
                !std::ranges::equal(tensors_[first].shape, tensor.shape)) {
                return refuse(Status::invalid_argument, "Two variables with the name (",
                              Foreign{tensor.state},
                              ") differ in type or shape: rename one of them.");
            }
            if (tensors_[first].data.empty() && !tensor.data.empty()) {
                first = i;
            }
        }
        return {};
    }

    // Each tensor is below a limit of its own, but their sum need not exist.
    Checked<void> sum_bytes() {
        bool exists = true;
        const auto add = [&exists](std::uint64_t& sum, std::uint64_t bytes) {
            const auto more = checked_add(sum, bytes);
            exists = exists && more.has_value();
            sum = more.value_or(sum);
        };
        for (const Slot& slot : result_.slots) {
            add(result_.slot_bytes, slot.bytes);
        }
        for (const TensorIndex state : result_.states) {
            add(result_.state_bytes, tensors_[state].bytes);
        }
        for (TensorIndex i = 0; i < tensors_.size(); ++i) {
            if (life(i).origin == Origin::constant) {
                add(result_.constant_bytes, tensors_[i].bytes);
            }
            if (life(i).origin == Origin::computed && life(i).slot == nowhere) {
                add(result_.activation_bytes, tensors_[i].bytes);
            }
        }
        if (!exists) {
            return refuse(Status::resource_limit,
                          "The model's tensors have more bytes than 64 bits count.");
        }
        return {};
    }

    const Graph& graph_;
    std::span<const Tensor> tensors_;
    std::vector<bool> writes_state_;  // of blocks, if they run
    std::vector<bool> is_live_;       // of operators, if their block runs
    Analysis result_;
};

}  // namespace

Checked<Analysis> analyze(const Graph& graph) noexcept {
    try {
        return Analyzer{graph}.run();
    } catch (const std::bad_alloc&) {
        return refuse(Status::out_of_memory,
                      "There is no memory to analyse the model: free some and try again.");
    }
}

}  // namespace virtaccel::tosa

#include "virtaccel/tosa/analysis.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {
namespace {

// Each member function fills one part of the result from the parts before it.
class Analyzer {
  public:
    explicit Analyzer(const Graph& graph)
        : graph_(graph), tensors_(graph.tensors()), block_(graph.main()) {
        result_.tensors.resize(tensors_.size());
    }

    Checked<Analysis> run() {
        find_live();
        list_slots();
        find_lives();
        find_origins();
        VIRTACCEL_TRY(sum_bytes());
        return std::move(result_);
    }

  private:
    TensorLife& life(TensorIndex tensor) { return result_.tensors[tensor]; }

    [[nodiscard]] bool writes_state(const Operator& op) const {
        return std::ranges::any_of(
            op.outputs, [this](TensorIndex tensor) { return tensors_[tensor].is_variable; });
    }

    // Operators stand in executable order, so one pass from the end finds all that is needed.
    void find_live() {
        std::vector<bool> needed(tensors_.size());
        for (const TensorIndex output : block_.outputs) {
            needed[output] = true;
        }
        for (std::uint32_t i = block_.operators.end(); i-- > block_.operators.first;) {
            const Operator& op = graph_.operators()[i];
            const bool is_live =
                writes_state(op) || std::ranges::any_of(op.outputs, [&](TensorIndex tensor) {
                    return bool{needed[tensor]};
                });
            (is_live ? result_.order : result_.dead).push_back(i);
            for (const TensorIndex input : op.inputs) {
                needed[input] = needed[input] || is_live;
            }
        }
        std::ranges::reverse(result_.order);
        std::ranges::reverse(result_.dead);
    }

    void list_slots() {
        result_.input_count = static_cast<std::uint32_t>(block_.inputs.size());
        for (const TensorIndex tensor : block_.inputs) {
            add_slot(SlotKind::input, tensor);
        }
        for (const TensorIndex tensor : block_.outputs) {
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

    // Positions only grow, so the last reader to come by is the last reader.
    void find_lives() {
        for (std::uint32_t position = 0; position < result_.order.size(); ++position) {
            const OperatorIndex index = result_.order[position];
            const Operator& op = graph_.operators()[index];
            for (const TensorIndex output : op.outputs) {
                life(output).producer = index;
                life(output).defined_at = position;
                life(output).last_use = position;
            }
            for (const TensorIndex input : op.inputs) {
                life(input).first_use = std::min(life(input).first_use, position);
                life(input).last_use = position;
            }
        }
        for (const TensorIndex output : block_.outputs) {
            life(output).last_use = static_cast<std::uint32_t>(result_.order.size());
        }
    }

    // Producers come before readers, so an input's origin is known when its reader is looked at.
    void find_origins() {
        for (const TensorIndex input : block_.inputs) {
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
                } else if (tensors_[output].is_variable) {
                    life(output).origin = Origin::variable;
                } else {
                    life(output).origin = folds ? Origin::folded : Origin::computed;
                }
            }
            for (const TensorIndex input : op.inputs) {
                if (tensors_[input].is_variable) {
                    life(input).origin = Origin::variable;
                }
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

    // Each tensor is below a limit of its own, but their sum need not exist.
    Checked<void> sum_bytes() {
        std::optional<std::uint64_t> slots = 0;
        for (const Slot& slot : result_.slots) {
            slots = slots ? checked_add(*slots, slot.bytes) : slots;
        }
        std::optional<std::uint64_t> constants = 0;
        std::optional<std::uint64_t> activations = 0;
        for (TensorIndex i = 0; i < tensors_.size(); ++i) {
            const std::uint64_t bytes = tensors_[i].bytes;
            if (life(i).origin == Origin::constant) {
                constants = constants ? checked_add(*constants, bytes) : constants;
            }
            if (life(i).origin == Origin::computed && life(i).slot == nowhere) {
                activations = activations ? checked_add(*activations, bytes) : activations;
            }
        }
        if (!slots || !constants || !activations) {
            return refuse(Status::resource_limit,
                          "The model's tensors have more bytes than 64 bits count.");
        }
        result_.slot_bytes = *slots;
        result_.constant_bytes = *constants;
        result_.activation_bytes = *activations;
        return {};
    }

    const Graph& graph_;
    std::span<const Tensor> tensors_;
    const Block& block_;
    Analysis result_;
};

}  // namespace

Checked<Analysis> analyze(const Graph& graph) noexcept {
    if (graph.blocks().size() != 1) {
        return refuse(Status::incompatible, "The model has (", graph.blocks().size(),
                      ") blocks; only a model of one block can be run.");
    }
    try {
        return Analyzer{graph}.run();
    } catch (const std::bad_alloc&) {
        return refuse(Status::out_of_memory,
                      "There is no memory to analyse the model: free some and try again.");
    }
}

}  // namespace virtaccel::tosa

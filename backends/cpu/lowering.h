#pragma once
// A checked graph on its way to a program. Operators' lower functions (ops/) see this class: they
// look at operands, and emit steps or join values. The one thing to know: an operator whose inputs
// are all known is emitted like any other, and runs at once, here, so that folding needs no code of
// its own.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/control_step.h"
#include "backends/cpu/known_bytes.h"
#include "backends/cpu/program.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::backends::cpu {

// What a program may keep, and how many threads will share its steps.
struct LoweringOptions {
    std::uint64_t resident_bytes_max = 0;
    std::uint32_t threads = 1;
};

// Thrown by a lowering that would keep more than `resident_bytes_max`.
struct TooManyResidentBytes {};

// Thrown where a step that computes a constant gives up.
struct StepFailed {};

class Lowering {
  public:
    // `graph` and `analysis` outlive this. The ID of a tensor's value is the tensor's index.
    Lowering(const Memory& memory, const tosa::Graph& graph, const tosa::Analysis& analysis,
             const LoweringOptions& options);

    // Lowers all that is alive, in order, and packs it up. Once. Operators are all in the table.
    [[nodiscard]] std::unique_ptr<Program> run();

    [[nodiscard]] const Memory& memory() const { return memory_; }

    [[nodiscard]] const tosa::Tensor& tensor(tosa::TensorIndex index) const {
        return graph_.tensors()[index];
    }

    // Whether a tensor is a constant of the model or computed from nothing else. In the order of
    // lowering, its bytes are then there.
    [[nodiscard]] bool is_known(tosa::TensorIndex index) const {
        const tosa::Origin origin = analysis_.tensors[index].origin;
        return origin == tosa::Origin::constant || origin == tosa::Origin::folded;
    }

    // A known tensor, aligned for its type.
    template <class T>
    [[nodiscard]] std::span<const T> known(tosa::TensorIndex index) const {
        return {reinterpret_cast<const T*>(known_[index]),
                static_cast<std::size_t>(tensor(index).elements)};
    }

    [[nodiscard]] const std::byte* known_bytes(tosa::TensorIndex index) const {
        return known_[index];
    }

    // Appends a step, or runs it at once if all that it writes is to be known. Scratch that was
    // added since the last step is this step's.
    void emit(std::unique_ptr<Step> step, std::span<const ValueId> reads,
              std::span<const ValueId> writes);

    void emit(std::unique_ptr<Step> step, std::span<const ValueId> reads, ValueId write) {
        emit(std::move(step), reads, std::span{&write, 1});
    }

    void emit(std::unique_ptr<Step> step, std::initializer_list<ValueId> reads, ValueId write) {
        emit(std::move(step), std::span{reads.begin(), reads.size()}, write);
    }

    // Makes `output` the same bytes as `input`, which has as many. False if they cannot be, because
    // both belong to the caller: copy then.
    [[nodiscard]] bool join(ValueId output, ValueId input);

    // Makes `part` lie at `offset` in `whole`. False as for `join`, or if it lies elsewhere
    // already.
    [[nodiscard]] bool place_inside(ValueId part, ValueId whole, std::uint64_t offset);

    // Lets the operator that is being lowered compute `output` over `input`, if that has as many
    // bytes and nobody needs it any more. Whether it does.
    [[nodiscard]] bool compute_in_place(ValueId output, ValueId input);

    // Whether two values share bytes.
    [[nodiscard]] bool is_shared(ValueId a, ValueId b) const {
        return find(a).root == find(b).root;
    }

    // A value of the program's own, for the step that is emitted next with it.
    [[nodiscard]] ValueId add_scratch(std::uint64_t bytes);

    // How many threads will share each step.
    [[nodiscard]] std::uint32_t threads() const { return options_.threads; }

    // How many parts to make of work that has at most `parts_max`, for about `operations` in all.
    [[nodiscard]] std::uint32_t parts_for(std::uint64_t parts_max, std::uint64_t operations) const;

    // For operators that run blocks. Lowers the operators of a block that the one being lowered
    // runs, or calls them where they are already. The blocks of an operator come in order.
    void lower_block(tosa::BlockIndex block);

    [[nodiscard]] const tosa::Block& block(tosa::BlockIndex index) const {
        return graph_.blocks()[index];
    }

    // Whether anybody reads a tensor, or it is an output.
    [[nodiscard]] bool is_used(tosa::TensorIndex tensor) const {
        return analysis_.tensors[tensor].last_use != tosa::nowhere;
    }

    // The position of the step that is emitted next.
    [[nodiscard]] std::uint32_t next_step() const {
        return static_cast<std::uint32_t>(steps_.size());
    }

    // Appends a step that decides which one comes next. `touched` live until then.
    void emit_control(std::unique_ptr<Step> step, std::span<const ValueId> touched);

    // For fusion. The position of the one operator that reads `tensor`, once, if that tensor is
    // nothing but a step between the two and the operator is not taken; else nowhere.
    [[nodiscard]] std::uint32_t only_reader(tosa::TensorIndex tensor) const;

    // For fusion. The positions of all operators that read `tensor`, in order, if that tensor is
    // nothing but a step between them and its maker, they stand near each other, and none is taken;
    // else none.
    [[nodiscard]] std::vector<std::uint32_t> near_readers(tosa::TensorIndex tensor) const;

    [[nodiscard]] const tosa::Operator& operator_at(std::uint32_t position) const {
        return graph_.operators()[analysis_.order[position]];
    }

    [[nodiscard]] std::uint32_t position() const { return position_; }

    // The operator at `position` is lowered by somebody else.
    void take(std::uint32_t position) { taken_[position] = true; }

    // The position of a live operator.
    [[nodiscard]] std::uint32_t position_of(const tosa::Operator& op) const {
        return analysis_.tensors[op.outputs[0]].defined_at;
    }

    // The operator whose output `tensor` is, or null.
    [[nodiscard]] const tosa::Operator* producer_of(tosa::TensorIndex tensor) const;

    // `value` is read by the operator at `position` too.
    void keep_until(ValueId value, std::uint32_t position);

    // Calls `emission` at the turn of the operator at `position`, which is taken. What it will read
    // has to be kept until then.
    void defer(std::uint32_t position, std::function<void(Lowering&)> emission);

  private:
    enum class Home : std::uint8_t { none, constant, arena, input, output, state };

    // A value lies in the bytes of its root, which is itself or another value's, at an offset.
    struct Value {
        std::uint64_t bytes = 0;
        ValueId parent = 0;
        std::uint64_t offset = 0;
        // Of a root, for all that lies in it: where it is, and the last operator that needs it.
        Home home = Home::none;
        std::uint32_t slot = 0;
        std::uint32_t last_use = 0;
        std::byte* address = nullptr;  // of a constant that is kept, of state, or in the arena
    };

    // A block that several operators run, lowered.
    struct Routine {
        std::uint32_t entry = 0;
        Return* end = nullptr;
    };

    struct Found {
        ValueId root = 0;
        std::uint64_t offset = 0;
    };

    [[nodiscard]] Found find(ValueId value) const;
    [[nodiscard]] ValueId add_value(std::uint64_t bytes, Home home);
    [[nodiscard]] std::byte* know(ValueId value);
    void set_up_values();
    void set_up_slots(Program& program);
    void know_constants();
    void lower_operators(tosa::IndexRange positions);
    void append(std::unique_ptr<Step> step, std::vector<ValueId> touched);
    void run_now(Step& step, std::span<const ValueId> writes);
    void copy_to_other_slots();
    [[nodiscard]] bool is_state(ValueId value) const;
    [[nodiscard]] Block keep(ValueId id);
    void keep_constants(Program& program);
    void keep_states(Program& program);
    void place_in_arena(Program& program);
    void fill_addresses(Program& program);
    void charge(std::uint64_t bytes);

    Memory memory_;
    const tosa::Graph& graph_;
    const tosa::Analysis& analysis_;
    LoweringOptions options_;
    mutable std::vector<Value> values_;  // `find` makes ways shorter
    std::vector<std::byte*> known_;      // for steps that run now
    std::vector<bool> taken_;
    std::vector<std::function<void(Lowering&)>> deferred_;
    std::uint32_t position_ = 0;
    std::uint32_t waiting_ = 0;  // operators whose turn is yet to come
    Steps steps_;
    std::vector<std::vector<ValueId>> touched_;  // by each step
    std::map<tosa::BlockIndex, Routine> routines_;
    std::uint32_t routine_depth_ = 0;
    std::vector<std::uint32_t> routine_steps_;  // whose values live as long as the program
    std::vector<ValueId> scratch_;              // of the next step
    KnownBytes known_bytes_;
    std::uint64_t resident_bytes_ = 0;
};

}  // namespace virtaccel::backends::cpu

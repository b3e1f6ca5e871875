// COND_IF, WHILE_LOOP and variables. What goes into a block and what comes out of it is copied, so
// that a block's values are its own and nothing is written that is read in the next round.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "backends/cpu/control_step.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

namespace {

void copy(Lowering& lowering, ValueId source, ValueId target) {
    if (!lowering.is_shared(source, target)) {
        lowering.emit(std::make_unique<CopyAll>(source, target, lowering.tensor(source).bytes),
                      {source}, target);
    }
}

// Runs a block on `arguments`.
void run_block(Lowering& lowering, tosa::BlockIndex index, std::span<const ValueId> arguments) {
    const tosa::Block& block = lowering.block(index);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (lowering.is_used(block.inputs[i])) {
            copy(lowering, arguments[i], block.inputs[i]);
        }
    }
    lowering.lower_block(index);
}

template <class S, class... Arguments>
S& emit_control(Lowering& lowering, std::span<const ValueId> touched, Arguments... arguments) {
    auto step = std::make_unique<S>(arguments...);
    S& emitted = *step;
    lowering.emit_control(std::move(step), touched);
    return emitted;
}

void lower_arm(Lowering& lowering, const tosa::Operator& op, tosa::BlockIndex block) {
    run_block(lowering, block, op.inputs.subspan(1));
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        copy(lowering, lowering.block(block).outputs[i], op.outputs[i]);
    }
}

}  // namespace

void lower_cond_if(Lowering& lowering, const tosa::Operator& op) {
    const auto& blocks = op.as<tosa::BranchAttribute>();
    auto& choice = emit_control<Branch>(lowering, op.inputs.first(1), op.inputs[0]);
    lower_arm(lowering, op, blocks.first);
    auto& over = emit_control<Jump>(lowering, {});
    choice.go_to(lowering.next_step());
    lower_arm(lowering, op, blocks.second);
    over.go_to(lowering.next_step());
}

// The outputs hold what goes around; they live as long as the loop, which the jump back touches.
void lower_while_loop(Lowering& lowering, const tosa::Operator& op) {
    const auto& blocks = op.as<tosa::BranchAttribute>();
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        copy(lowering, op.inputs[i], op.outputs[i]);
    }
    const std::uint32_t top = lowering.next_step();
    run_block(lowering, blocks.first, op.outputs);
    const auto condition = lowering.block(blocks.first).outputs;
    auto& choice = emit_control<Branch>(lowering, condition, condition[0]);
    run_block(lowering, blocks.second, op.outputs);
    const tosa::Block& body = lowering.block(blocks.second);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
        if (body.outputs[i] != body.inputs[i]) {
            copy(lowering, body.outputs[i], op.outputs[i]);
        }
    }
    emit_control<Jump>(lowering, op.outputs).go_to(top);
    choice.go_to(lowering.next_step());
}

// What is read stays as it is when the variable is written again.
void lower_variable_read(Lowering& lowering, const tosa::Operator& op) {
    copy(lowering, op.inputs[0], op.outputs[0]);
}

void lower_variable_write(Lowering& lowering, const tosa::Operator& op) {
    copy(lowering, op.inputs[0], op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

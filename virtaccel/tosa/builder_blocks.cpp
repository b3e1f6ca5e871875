// The builder's operators that run blocks and keep state.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

Value Builder::variable(std::string_view name, DType dtype, Dims shape,
                        std::span<const std::byte> first) {
    const Value value = add_tensor(dtype, shape.span(), first);
    if (!first.empty() && tensors_.back().bytes != first.size()) {
        return give_up(Op::variable,
                       "its first value has another number of bytes than its type and shape");
    }
    nodes_.back().name = name;
    tensors_.back().name = nodes_.back().name;
    tensors_.back().is_variable = true;
    return value;
}

Value Builder::read(Value variable) {
    Step step{
        .op = Op::variable_read, .inputs = {}, .outputs = {}, .attribute = {}, .branches = {}};
    if (!tensor(variable).is_variable || !take(step, {&variable, 1})) {
        return give_up(Op::variable_read, "it reads no variable of this model");
    }
    const Tensor from = tensor(variable);
    step.outputs.push_back(add_tensor(from.dtype, from.shape, {}).tensor);
    steps_.push_back(std::move(step));
    return {steps_.back().outputs.front()};
}

void Builder::write(Value variable, Value value) {
    Step step{.op = Op::variable_write,
              .inputs = {},
              .outputs = {variable.tensor},
              .attribute = {},
              .branches = {}};
    if (!tensor(variable).is_variable || !take(step, {&value, 1})) {
        give_up(Op::variable_write, "it writes no value of this model to a variable");
        return;
    }
    steps_.push_back(std::move(step));
}

Value Builder::cond_if(Value condition, List<Value> inputs, const Builder& then_block,
                       const Builder& else_block) {
    std::vector<Value> operands{condition};
    operands.insert(operands.end(), inputs.span().begin(), inputs.span().end());
    Step step{.op = Op::cond_if,
              .inputs = {},
              .outputs = {},
              .attribute = BranchAttribute{},
              .branches = {add_block(then_block), add_block(else_block)}};
    if (!take(step, operands)) {
        return give_up(step.op, "an input is no value of this model");
    }
    std::vector<Tensor> outputs;
    outputs.reserve(then_block.outputs_.size());
    for (const TensorIndex output : then_block.outputs_) {
        outputs.push_back(then_block.tensors_[output]);
    }
    return run_blocks(std::move(step), outputs);
}

Value Builder::while_loop(List<Value> inputs, const Builder& condition, const Builder& body) {
    Step step{.op = Op::while_loop,
              .inputs = {},
              .outputs = {},
              .attribute = BranchAttribute{},
              .branches = {add_block(condition), add_block(body)}};
    if (!take(step, inputs.span())) {
        return give_up(step.op, "an input is no value of this model");
    }
    std::vector<Tensor> outputs;
    outputs.reserve(step.inputs.size());
    for (const TensorIndex input : step.inputs) {
        outputs.push_back(tensors_[input]);
    }
    return run_blocks(std::move(step), outputs);
}

// Appends what is to be read. Whether it is there.
bool Builder::take(Step& step, std::span<const Value> inputs) {
    for (const Value value : inputs) {
        step.inputs.push_back(value.tensor);
    }
    return std::ranges::all_of(inputs,
                               [this](Value value) { return value.tensor < tensors_.size(); });
}

Value Builder::run_blocks(Step step, std::span<const Tensor> outputs) {
    const auto first = static_cast<TensorIndex>(tensors_.size());
    for (const Tensor& output : outputs) {
        step.outputs.push_back(add_tensor(output.dtype, output.shape, {}).tensor);
    }
    steps_.push_back(std::move(step));
    return {outputs.empty() ? nowhere : first};
}

// Blocks' names are the whole model's, so each gets a new one. The new name of the builder's own.
std::string Builder::add_block(const Builder& builder) {
    if (!mistake_) {
        mistake_ = builder.mistake_;
    }
    FileModel model = builder.file();
    kept_->others.push_back(model.kept);
    const std::string prefix = "block_" + std::to_string(blocks_.size()) + "_";
    for (FileRegion& region : model.regions) {
        FileBlock& block = blocks_.emplace_back(std::move(region.blocks.front()));
        block.name = prefix + block.name.value_or("");
        for (FileOperator& op : block.operators) {
            for (std::string& branch : op.branches) {
                branch.insert(0, prefix);
            }
        }
    }
    return prefix + "main";
}

}  // namespace virtaccel::tosa

#include "virtaccel/tosa/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

// The output types that fit the inputs; `wanted` if it is one of them, the only one otherwise.
DType output_type(const OperatorRow& row, Operator op, std::span<const Tensor> tensors,
                  DType wanted) {
    std::vector<Tensor> with_output{tensors.begin(), tensors.end()};
    Tensor& output = with_output.emplace_back();
    const TensorIndex outputs[] = {static_cast<TensorIndex>(tensors.size())};
    op.outputs = outputs;
    DType found = DType::unknown;
    for (std::uint32_t number = 1; number <= static_cast<std::uint32_t>(DType::fp8e5m2); ++number) {
        output.dtype = static_cast<DType>(number);
        if ((wanted != DType::unknown && wanted != output.dtype) ||
            match(row, op, with_output) == nullptr) {
            continue;
        }
        if (found != DType::unknown) {
            return DType::unknown;
        }
        found = output.dtype;
    }
    return found;
}

}  // namespace

// Every tensor gets a name of its own; input() and output() put the caller's in its place.
Value Builder::add_tensor(DType dtype, std::span<const std::int32_t> shape,
                          std::span<const std::byte> data) {
    const auto index = static_cast<TensorIndex>(tensors_.size());
    Node& node = nodes_.emplace_back();
    node.name = "value_" + std::to_string(index);
    node.shape.assign(shape.begin(), shape.end());
    node.data.assign(data.begin(), data.end());
    const std::uint64_t elements = element_count(node.shape).value_or(0);
    tensors_.push_back({.name = node.name,
                        .dtype = dtype,
                        .shape = node.shape,
                        .elements = elements,
                        .bytes = byte_count(dtype, elements).value_or(0),
                        .data = node.data,
                        .is_constant = false,
                        .is_variable = false,
                        .state = {}});
    return {index};
}

// Goes on with a tensor of no type, which every operator refuses, but the first refusal stays.
Value Builder::give_up(Op op, std::string_view why) {
    if (!mistake_) {
        mistake_ = refuse(Status::invalid_argument, "Operator ", steps_.size(), " (", name_of(op),
                          ") cannot be built: ", why, ".")
                       .error();
    }
    return add_tensor(DType::unknown, {}, {});
}

Value Builder::input(std::string_view name, DType dtype, Dims shape) {
    const Value value = add_tensor(dtype, shape.span(), {});
    nodes_.back().name = name;
    tensors_.back().name = nodes_.back().name;
    inputs_.push_back(value.tensor);
    return value;
}

Value Builder::constant(DType dtype, Dims shape, std::span<const std::byte> bytes) {
    const Value value = add_tensor(dtype, shape.span(), bytes);
    if (tensors_.back().bytes != bytes.size()) {
        return give_up(Op::constant,
                       "its value has another number of bytes than its type and shape");
    }
    tensors_.back().is_constant = true;
    steps_.push_back({.op = Op::constant,
                      .inputs = {},
                      .outputs = {value.tensor},
                      .attribute = {},
                      .branches = {}});
    return value;
}

Value Builder::zeros(DType dtype, Dims shape) {
    const std::uint64_t elements = element_count(shape.span()).value_or(0);
    const std::vector<std::byte> bytes(byte_count(dtype, elements).value_or(0));
    return constant(dtype, shape, bytes);
}

Value Builder::shape(Lengths values) {
    const std::int32_t length[] = {static_cast<std::int32_t>(values.span().size())};
    const Value value = add_tensor(DType::shape, length, std::as_bytes(values.span()));
    tensors_.back().elements = values.span().size();
    tensors_.back().is_constant = true;
    steps_.push_back({.op = Op::const_shape,
                      .inputs = {},
                      .outputs = {value.tensor},
                      .attribute = {},
                      .branches = {}});
    return value;
}

Value Builder::op(Op kind, List<Value> inputs, const Attribute& attribute,
                  const DeclaredOutput& declared) {
    const OperatorRow* row = row_of(kind);
    if (row == nullptr || !row->inputs.admits(inputs.span().size()) ||
        row->attribute != attribute.index()) {
        return give_up(kind, "it takes other operands or another attribute");
    }
    if (row->kind == OperatorClass::control || row->kind == OperatorClass::state) {
        return give_up(kind, "it runs blocks or keeps state");
    }
    std::vector<TensorIndex> operands;
    for (const Value value : inputs.span()) {
        if (value.tensor >= tensors_.size()) {
            return give_up(kind, "an input is no value of this model");
        }
        operands.push_back(value.tensor);
    }
    const Operator op = {
        .op = kind, .index = 0, .inputs = operands, .outputs = {}, .attribute = attribute};
    const DType dtype = kind == Op::custom || row->outputs.count > 1
                            ? declared.dtype
                            : output_type(*row, op, tensors_, declared.dtype);
    if (dtype == DType::unknown) {
        return give_up(kind, "its inputs' types allow no output, or several");
    }
    const Call call = {
        .op = op, .tensors = tensors_, .blocks = {}, .level = limits_of(Level::eight_k)};
    const auto inferred = row->shape(call);
    if (!inferred) {
        return give_up(kind, inferred.error().sentence.view());
    }
    Shape shape = inferred->value_or(Shape{});
    if (!inferred->has_value() && declared.shape && declared.shape->size() <= rank_max) {
        std::ranges::copy(*declared.shape, shape.dims.begin());
        shape.rank = static_cast<std::uint32_t>(declared.shape->size());
    } else if (!inferred->has_value()) {
        return give_up(kind, "its output's shape is not known");
    }
    return add_step(*row, op, shape, dtype);
}

std::span<const std::byte> Builder::keep(std::span<const std::byte> bytes) {
    return kept_->bytes.emplace_back(bytes.begin(), bytes.end());
}

// The attribute, pointing to copies that live as long as the model.
Attribute Builder::keep(Attribute attribute) {
    const auto keep_text = [this](std::string_view text) {
        const auto bytes = keep(std::as_bytes(std::span{text}));
        return std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    };
    if (auto* clamp = std::get_if<ClampAttribute>(&attribute)) {
        clamp->min = keep(clamp->min);
        clamp->max = keep(clamp->max);
    }
    if (auto* custom = std::get_if<CustomAttribute>(&attribute)) {
        custom->operator_name = keep_text(custom->operator_name);
        custom->domain_name = keep_text(custom->domain_name);
        custom->implementation = keep(custom->implementation);
    }
    return attribute;
}

Value Builder::add_step(const OperatorRow& row, const Operator& op, const Shape& shape,
                        DType dtype) {
    Step step = {.op = op.op,
                 .inputs = {op.inputs.begin(), op.inputs.end()},
                 .outputs = {},
                 .attribute = keep(op.attribute),
                 .branches = {}};
    const std::uint32_t outputs = std::max(row.outputs.required, 1U);
    for (std::uint32_t i = 0; i < outputs; ++i) {
        step.outputs.push_back(add_tensor(dtype, shape.span(), {}).tensor);
    }
    steps_.push_back(std::move(step));
    return {steps_.back().outputs.front()};
}

void Builder::output(Value value, std::string_view name) {
    if (value.tensor >= tensors_.size()) {
        give_up(Op::unknown, "an output is no value of this model");
        return;
    }
    Node& node = nodes_[value.tensor];
    node.name = name;
    tensors_[value.tensor].name = node.name;
    outputs_.push_back(value.tensor);
}

const Tensor& Builder::tensor(Value value) const {
    static constexpr Tensor none;
    return value.tensor < tensors_.size() ? tensors_[value.tensor] : none;
}

Value Builder::zero_for(Value value) {
    return zeros(tensor(value).dtype, {1});
}

Value Builder::mul(Value a, Value b) {
    return op(Op::mul, {a, b, zeros(DType::int8, {1})});
}

Value Builder::clamp(Value x, float least, float most) {
    const auto min = std::as_bytes(std::span{&least, 1});
    const auto max = std::as_bytes(std::span{&most, 1});
    return op(Op::clamp, {x},
              ClampAttribute{.min = min, .max = max, .nan_mode = NanMode::propagate});
}

Value Builder::conv2d(Value x, Value weight, Value bias, const Conv2dAttribute& attribute) {
    return op(Op::conv2d, {x, weight, bias, zero_for(x), zero_for(weight)}, attribute);
}

Value Builder::depthwise_conv2d(Value x, Value weight, Value bias,
                                const Conv2dAttribute& attribute) {
    return op(Op::depthwise_conv2d, {x, weight, bias, zero_for(x), zero_for(weight)}, attribute);
}

Value Builder::matmul(Value a, Value b) {
    const DType dtype = tensor(a).dtype == DType::fp16 ? DType::fp16 : DType::unknown;
    return op(Op::matmul, {a, b, zero_for(a), zero_for(b)}, {}, {.dtype = dtype, .shape = {}});
}

Value Builder::reshape(Value x, Lengths dims) {
    return op(Op::reshape, {x, shape(dims)});
}

Value Builder::pad(Value x, Lengths padding) {
    return op(Op::pad, {x, shape(padding), zero_for(x)});
}

// Shapes are a list of their own in a file; a Value counts both, so the two orders differ.
FileModel Builder::file() const {
    FileBlock block;
    const auto names = [this](std::span<const TensorIndex> tensors) {
        std::vector<std::string> list;
        for (const TensorIndex tensor : tensors) {
            list.push_back(nodes_[tensor].name);
        }
        return list;
    };
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
        const Node& node = nodes_[i];
        if (tensors_[i].dtype == DType::shape) {
            const auto rank = static_cast<std::uint32_t>(tensors_[i].elements);
            block.shapes.push_back({.name = node.name, .rank = rank, .data = node.data});
        } else {
            FileTensor& tensor = block.tensors.emplace_back();
            tensor.name = node.name;
            tensor.shape = node.shape;
            tensor.dtype = tensors_[i].dtype;
            tensor.data = node.data;
            tensor.is_variable = tensors_[i].is_variable;
            if (tensor.is_variable) {
                tensor.variable_name = node.name;
            }
        }
    }
    for (const Step& step : steps_) {
        block.operators.push_back({.op = step.op,
                                   .inputs = names(step.inputs),
                                   .outputs = names(step.outputs),
                                   .attribute = step.attribute,
                                   .attribute_op = {},
                                   .has_attribute_table = true,
                                   .branches = step.branches});
    }
    block.inputs = names(inputs_);
    block.outputs = names(outputs_);
    FileModel model;
    model.kept = kept_;
    model.regions.push_back({.name = "main", .blocks = {std::move(block)}});
    for (const FileBlock& inner : blocks_) {
        model.regions.push_back({.name = inner.name, .blocks = {inner}});
    }
    return model;
}

// Reads back what it wrote: a model that leaves here is one that a backend can load.
Checked<std::vector<std::byte>> Builder::finish() const {
    if (mistake_) {
        return std::unexpected{*mistake_};
    }
    std::vector<std::byte> bytes = write_file(file());
    VIRTACCEL_TRY_ASSIGN(const Graph graph, verify(bytes));
    VIRTACCEL_TRY(validate_for(graph, target_of(graph)));
    return bytes;
}

}  // namespace virtaccel::tosa

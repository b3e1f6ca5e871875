#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/shape_checks.h"
#include "virtaccel/tosa/shapes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {
namespace {

// One list of tensors must be like another, element by element.
Checked<void> alike(const Call& call, std::string_view what, std::span<const TensorIndex> list,
                    std::span<const TensorIndex> wanted) {
    if (list.size() != wanted.size()) {
        return refuse(Status::invalid_argument, "its ", what, " are (", list.size(),
                      "); they must be ", wanted.size());
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Tensor& tensor = call.tensors[list[i]];
        const Tensor& other = call.tensors[wanted[i]];
        if (tensor.dtype != other.dtype || !std::ranges::equal(tensor.shape, other.shape)) {
            return refuse(Status::invalid_argument, "its ", what, " differ at position ", i,
                          " in type or shape from what they stand for: (", Foreign{tensor.name},
                          ") and (", Foreign{other.name}, ")");
        }
    }
    return {};
}

// A BOOL of one element decides.
Checked<void> decides(std::string_view what, const Tensor& tensor) {
    if (tensor.dtype == DType::boolean && tensor.elements == 1) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " of type (", name_of(tensor.dtype),
                  ") and (", tensor.elements, ") elements must be one BOOL");
}

Checked<void> check_lists(const Call& call) {
    VIRTACCEL_TRY(in_level("number of inputs", static_cast<std::int64_t>(call.op.inputs.size()),
                           call.level.tensor_list));
    return in_level("number of outputs", static_cast<std::int64_t>(call.op.outputs.size()),
                    call.level.tensor_list);
}

}  // namespace

// The first input decides; the others are the inputs of whichever block runs.
Inferred cond_if(const Call& call) {
    const auto& branch = call.op.as<BranchAttribute>();
    VIRTACCEL_TRY(check_lists(call));
    VIRTACCEL_TRY(decides("condition", call.input(0)));
    const auto inputs = call.op.inputs.subspan(1);
    const Block& then_block = call.blocks[branch.first];
    const Block& else_block = call.blocks[branch.second];
    VIRTACCEL_TRY(alike(call, "then block's inputs", then_block.inputs, inputs));
    VIRTACCEL_TRY(alike(call, "else block's inputs", else_block.inputs, inputs));
    VIRTACCEL_TRY(alike(call, "then block's outputs", then_block.outputs, call.op.outputs));
    VIRTACCEL_TRY(alike(call, "else block's outputs", else_block.outputs, call.op.outputs));
    return std::nullopt;
}

// The inputs go around: condition and body take them all, the body and the operator give them back.
Inferred while_loop(const Call& call) {
    const auto& branch = call.op.as<BranchAttribute>();
    VIRTACCEL_TRY(check_lists(call));
    const Block& condition = call.blocks[branch.first];
    const Block& body = call.blocks[branch.second];
    VIRTACCEL_TRY(alike(call, "outputs", call.op.outputs, call.op.inputs));
    VIRTACCEL_TRY(alike(call, "condition's inputs", condition.inputs, call.op.inputs));
    VIRTACCEL_TRY(alike(call, "body's inputs", body.inputs, call.op.inputs));
    VIRTACCEL_TRY(alike(call, "body's outputs", body.outputs, call.op.inputs));
    if (condition.outputs.size() != 1) {
        return refuse(Status::invalid_argument, "its condition has (", condition.outputs.size(),
                      ") outputs; it must have 1");
    }
    VIRTACCEL_TRY(decides("condition's output", call.tensors[condition.outputs.front()]));
    return std::nullopt;
}

}  // namespace virtaccel::tosa::shapes

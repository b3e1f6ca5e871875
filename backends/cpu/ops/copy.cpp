#include "backends/cpu/ops/copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/padding.h"
#include "backends/cpu/ops/placed_copy.h"
#include "backends/cpu/ops/shape_operand.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::backends::cpu::ops {

namespace {

template <class T>
void fill(std::byte* target, std::uint64_t bytes, const std::byte* element) {
    T value{};
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(target), bytes / sizeof(T), value);
}

}  // namespace

bool Fill::run(const Frame& frame, std::uint32_t /*part*/) noexcept {
    const auto* const element = frame.at<const std::byte>(element_);
    auto* const target = frame.at<std::byte>(target_);
    switch (element_bytes_) {
        case 1:
            fill<std::uint8_t>(target, bytes_, element);
            break;
        case 2:
            fill<std::uint16_t>(target, bytes_, element);
            break;
        default:
            fill<std::uint32_t>(target, bytes_, element);
            break;
    }
    return true;
}

void lower_nothing(Lowering& /*lowering*/, const tosa::Operator& /*op*/) {}

void lower_identity(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    if (!lowering.join(target, source)) {
        lowering.emit(std::make_unique<CopyAll>(source, target, lowering.tensor(source).bytes),
                      {source}, target);
    }
}

// The shape is in the file; an operand that arrives at run time must say the same.
void lower_reshape(Lowering& lowering, const tosa::Operator& op) {
    if (!lowering.is_known(op.inputs[1])) {
        const auto shape = lowering.tensor(op.outputs[0]).shape;
        const std::vector<std::int64_t> wanted{shape.begin(), shape.end()};
        lowering.emit(std::make_unique<ExpectShape>(op.inputs[1], wanted), {op.inputs[1]},
                      op.outputs[0]);
    }
    lower_identity(lowering, op);
}

// Parts that nothing precedes in the output are computed where they will be; others are copied.
void lower_concat(Lowering& lowering, const tosa::Operator& op) {
    const ValueId target = op.outputs[0];
    const tosa::Tensor& whole = lowering.tensor(target);
    const auto axis = static_cast<std::size_t>(op.as<tosa::AxisAttribute>().axis);
    const auto steps = steps_of(whole);
    const bool is_outermost =
        std::ranges::all_of(whole.shape.first(axis), [](std::int32_t size) { return size == 1; });
    std::int64_t offset = 0;
    for (const ValueId source : op.inputs) {
        const tosa::Tensor& part = lowering.tensor(source);
        const bool placed =
            is_outermost && !lowering.is_known(target) && !lowering.is_known(source) &&
            lowering.place_inside(source, target, static_cast<std::uint64_t>(offset));
        if (!placed) {
            Box box = box_of(part, steps_of(part), steps);
            box.target_offset = offset;
            lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
        }
        offset += dim(part, axis) * steps[axis];
    }
}

void lower_pad(Lowering& lowering, const tosa::Operator& op) {
    if (const std::uint32_t reader = reader_that_pads(lowering, op); reader != tosa::nowhere) {
        lowering.keep_until(op.inputs[0], reader);
        return;
    }
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& inner = lowering.tensor(source);
    const tosa::Tensor& whole = lowering.tensor(target);
    const auto steps = steps_of(whole);
    Box box = box_of(inner, steps_of(inner), steps);
    lowering.emit(std::make_unique<Fill>(op.inputs[2], target, whole.bytes, element_bytes(whole)),
                  {op.inputs[2]}, target);
    if (!lowering.is_known(op.inputs[1])) {
        const CopyPlaced::Values values{.source = source, .target = target, .place = op.inputs[1]};
        lowering.emit(std::make_unique<CopyPlaced>(values, CopyPlaced::Says::before_and_behind, box,
                                                   whole, inner),
                      {source, values.place}, target);
        return;
    }
    const auto amounts = lowering.known<std::int64_t>(op.inputs[1]);
    for (std::size_t i = 0; i < inner.rank(); ++i) {
        box.target_offset += amounts[2 * i] * steps[i];
    }
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

void lower_transpose(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& from = lowering.tensor(source);
    const tosa::Tensor& to = lowering.tensor(target);
    const auto& perms = op.as<tosa::TransposeAttribute>().perms;
    const ByteSteps from_steps = steps_of(from);
    ByteSteps source_steps{};
    for (std::size_t i = 0; i < to.rank(); ++i) {
        source_steps[i] = from_steps[static_cast<std::size_t>(perms[i])];
    }
    const Box box = box_of(to, source_steps, steps_of(to));
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

}  // namespace virtaccel::backends::cpu::ops

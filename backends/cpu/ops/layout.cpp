// REVERSE, SLICE and TILE, by the size of their elements.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/placed_copy.h"
#include "backends/cpu/ops/shape_operand.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Emits the question whether a SHAPE that arrives at run time holds `numbers`.
void expect(Lowering& lowering, const tosa::Operator& op, std::size_t input,
            std::span<const std::int64_t> numbers) {
    const ValueId shape = op.inputs[input];
    lowering.emit(std::make_unique<ExpectShape>(shape, numbers), {shape}, op.outputs[0]);
}

}  // namespace

void lower_reverse(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& tensor = lowering.tensor(source);
    const auto reversed = static_cast<std::size_t>(op.as<tosa::AxisAttribute>().axis);
    const ByteSteps steps = steps_of(tensor);
    ByteSteps source_steps = steps;
    source_steps[reversed] = -steps[reversed];
    Box box = box_of(tensor, source_steps, steps);
    box.source_offset = (dim(tensor, reversed) - 1) * steps[reversed];
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

// If start and size are known, the model has been checked to hold the slice.
void lower_slice(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& whole = lowering.tensor(source);
    const tosa::Tensor& part = lowering.tensor(target);
    const auto steps = steps_of(whole);
    Box box = box_of(part, steps, steps_of(part));
    if (!lowering.is_known(op.inputs[1]) || !lowering.is_known(op.inputs[2])) {
        const CopyPlaced::Values values{.source = source, .target = target, .place = op.inputs[1]};
        ShapeNumbers size{};
        std::ranges::copy(part.shape, size.begin());
        expect(lowering, op, 2, std::span{size}.first(part.rank()));
        lowering.emit(
            std::make_unique<CopyPlaced>(values, CopyPlaced::Says::start, box, whole, part),
            {source, values.place}, target);
        return;
    }
    const auto start = lowering.known<std::int64_t>(op.inputs[1]);
    for (std::size_t i = 0; i < part.rank(); ++i) {
        box.source_offset += start[i] * steps[i];
    }
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

// How often an axis comes again is what its two sizes say.
void lower_tile(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& tile = lowering.tensor(source);
    const tosa::Tensor& whole = lowering.tensor(target);
    const auto source_steps = steps_of(tile);
    const auto target_steps = steps_of(whole);
    Box box{.element_bytes = element_bytes(tile)};
    ShapeNumbers multiples{};
    for (std::size_t i = 0; i < tile.rank(); ++i) {
        multiples[i] = dim(whole, i) / dim(tile, i);
        box.add_axis({.size = multiples[i],
                      .source_step = 0,
                      .target_step = dim(tile, i) * target_steps[i]});
        box.add_axis(
            {.size = dim(tile, i), .source_step = source_steps[i], .target_step = target_steps[i]});
    }
    box.make_dense();
    if (!lowering.is_known(op.inputs[1])) {
        expect(lowering, op, 1, std::span{multiples}.first(tile.rank()));
    }
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

}  // namespace virtaccel::backends::cpu::ops

// REVERSE, SLICE and TILE, by the size of their elements.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/shape_operand.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// A box whose place in the source arrives at run time.
class CopySlice final : public Step {
  public:
    struct Values {
        ValueId source = 0;
        ValueId target = 0;
        ValueId start = 0;
    };

    // `box` is the one that starts at zero.
    CopySlice(const Values& values, const Box& box, const tosa::Tensor& whole,
              const tosa::Tensor& part)
        : values_(values), box_(box), rank_(whole.rank()), steps_(steps_of(whole)) {
        for (std::size_t i = 0; i < rank_; ++i) {
            start_max_[i] = dim(whole, i) - dim(part, i);
        }
    }

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        const ShapeNumbers start = numbers_at(frame, values_.start, rank_);
        Box box = box_;
        for (std::size_t i = 0; i < rank_; ++i) {
            if (start[i] < 0 || start[i] > start_max_[i]) {
                return false;
            }
            box.source_offset += start[i] * steps_[i];
        }
        copy_box(box, frame.at<std::byte>(values_.source), frame.at<std::byte>(values_.target));
        return true;
    }

    [[nodiscard]] Status failure() const override { return Status::invalid_argument; }

  private:
    Values values_;
    Box box_;
    std::size_t rank_;
    std::array<std::int64_t, tosa::rank_max> steps_;
    std::array<std::int64_t, tosa::rank_max> start_max_{};
};

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
    const auto steps = steps_of(tensor);
    Box box{.element_bytes = element_bytes(tensor),
            .source_offset = (dim(tensor, reversed) - 1) * steps[reversed]};
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
        box.add_axis({.size = dim(tensor, i),
                      .source_step = i == reversed ? -steps[i] : steps[i],
                      .target_step = steps[i]});
    }
    box.make_dense();
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

// If start and size are known, the model has been checked to hold the slice.
void lower_slice(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const ValueId target = op.outputs[0];
    const tosa::Tensor& whole = lowering.tensor(source);
    const tosa::Tensor& part = lowering.tensor(target);
    const auto source_steps = steps_of(whole);
    const auto target_steps = steps_of(part);
    Box box{.element_bytes = element_bytes(whole)};
    ShapeNumbers size{};
    for (std::size_t i = 0; i < part.rank(); ++i) {
        size[i] = dim(part, i);
        box.add_axis(
            {.size = size[i], .source_step = source_steps[i], .target_step = target_steps[i]});
    }
    box.make_dense();
    if (!lowering.is_known(op.inputs[1]) || !lowering.is_known(op.inputs[2])) {
        const CopySlice::Values values{.source = source, .target = target, .start = op.inputs[1]};
        expect(lowering, op, 2, std::span{size}.first(part.rank()));
        lowering.emit(std::make_unique<CopySlice>(values, box, whole, part), {source, values.start},
                      target);
        return;
    }
    const auto start = lowering.known<std::int64_t>(op.inputs[1]);
    for (std::size_t i = 0; i < part.rank(); ++i) {
        box.source_offset += start[i] * source_steps[i];
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

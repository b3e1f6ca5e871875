#include "backends/cpu/ops/copy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/padding.h"
#include "backends/cpu/ops/shape_operand.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

template <class T>
void fill(std::byte* target, std::uint64_t bytes, const std::byte* element) {
    T value{};
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(target), bytes / sizeof(T), value);
}

// A box whose place in the target arrives at run time: PAD with operands that are not constant.
class CopyPadded final : public Step {
  public:
    struct Values {
        ValueId source = 0;
        ValueId target = 0;
        ValueId amounts = 0;
    };

    // `box` is the one for amounts of zero.
    CopyPadded(const Values& values, const Box& box, const tosa::Tensor& inner,
               const tosa::Tensor& whole)
        : values_(values), box_(box), rank_(inner.rank()), steps_(steps_of(whole)) {
        for (std::size_t i = 0; i < rank_; ++i) {
            room_[i] = dim(whole, i) - dim(inner, i);
        }
    }

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        const ShapeNumbers amounts = numbers_at(frame, values_.amounts, 2 * rank_);
        Box box = box_;
        for (std::size_t i = 0; i < rank_; ++i) {
            const std::int64_t before = amounts[2 * i];
            if (before < 0 || before > room_[i] || amounts[(2 * i) + 1] != room_[i] - before) {
                return false;
            }
            box.target_offset += before * steps_[i];
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
    std::array<std::int64_t, tosa::rank_max> room_{};
};

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
            const auto part_steps = steps_of(part);
            Box box{.element_bytes = element_bytes(part), .target_offset = offset};
            for (std::size_t i = 0; i < part.rank(); ++i) {
                box.add_axis(
                    {.size = dim(part, i), .source_step = part_steps[i], .target_step = steps[i]});
            }
            box.make_dense();
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
    const auto inner_steps = steps_of(inner);
    const auto steps = steps_of(whole);
    Box box{.element_bytes = element_bytes(inner)};
    for (std::size_t i = 0; i < inner.rank(); ++i) {
        box.add_axis(
            {.size = dim(inner, i), .source_step = inner_steps[i], .target_step = steps[i]});
    }
    box.make_dense();
    lowering.emit(std::make_unique<Fill>(op.inputs[2], target, whole.bytes, element_bytes(whole)),
                  {op.inputs[2]}, target);
    if (!lowering.is_known(op.inputs[1])) {
        lowering.emit(
            std::make_unique<CopyPadded>(
                CopyPadded::Values{.source = source, .target = target, .amounts = op.inputs[1]},
                box, inner, whole),
            {source, op.inputs[1]}, target);
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
    const auto source_steps = steps_of(from);
    const auto target_steps = steps_of(to);
    Box box{.element_bytes = element_bytes(from)};
    for (std::size_t i = 0; i < to.rank(); ++i) {
        box.add_axis({.size = dim(to, i),
                      .source_step = source_steps[static_cast<std::size_t>(perms[i])],
                      .target_step = target_steps[i]});
    }
    box.make_dense();
    lowering.emit(std::make_unique<CopyBox>(source, target, box), {source}, target);
}

}  // namespace virtaccel::backends::cpu::ops

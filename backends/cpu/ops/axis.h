#pragma once
// The step behind all operators that make one element of each line along an axis: REDUCE_* and
// ARGMAX.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

// The elements along an axis, at least one, as the numbers they mean.
template <class T>
class Line {
  public:
    Line(const T* first, std::uint64_t step, std::uint64_t size)
        : first_(first), step_(step), size_(size) {}

    [[nodiscard]] std::uint64_t size() const { return size_; }

    [[nodiscard]] Wide<T> operator[](std::uint64_t i) const { return widened(first_[i * step_]); }

  private:
    const T* first_;
    std::uint64_t step_;
    std::uint64_t size_;
};

// A tensor seen as outer x axis x inner.
struct AxisView {
    std::uint64_t outer = 1;
    std::uint64_t axis = 1;
    std::uint64_t inner = 1;
};

// `Function` makes an Out of a Line<In>.
template <class Out, class In, class Function>
class AlongAxis final : public Step {
  public:
    AlongAxis(ValueId input, ValueId output, const AxisView& view, std::uint32_t parts)
        : input_(input), output_(output), view_(view), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const In* const input = frame.at<const In>(input_);
        Out* const output = frame.at<Out>(output_);
        const Range range = range_of(view_.outer * view_.inner, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            const std::uint64_t outer = i / view_.inner;
            const In* const first = input + (outer * view_.axis * view_.inner) + (i % view_.inner);
            output[i] = Function{}(Line<In>{first, view_.inner, view_.axis});
        }
        return true;
    }

  private:
    ValueId input_;
    ValueId output_;
    AxisView view_;
    std::uint32_t parts_;
};

// Emits the step for an operator with an axis whose input's elements are In.
template <class Out, class In, class Function>
void emit_along_axis(Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const auto axis = static_cast<std::size_t>(op.as<tosa::AxisAttribute>().axis);
    AxisView view;
    for (std::size_t i = 0; i < input.rank(); ++i) {
        std::uint64_t& which = i < axis ? view.outer : i == axis ? view.axis : view.inner;
        which *= static_cast<std::uint64_t>(input.shape[i]);
    }
    const std::uint32_t parts = lowering.parts_for(view.outer * view.inner, input.elements);
    lowering.emit(
        std::make_unique<AlongAxis<Out, In, Function>>(op.inputs[0], op.outputs[0], view, parts),
        {op.inputs[0]}, op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

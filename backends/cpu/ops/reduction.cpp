// REDUCE_SUM.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// A tensor seen as outer x axis x inner.
struct Reduction {
    std::uint64_t outer = 1;
    std::uint64_t axis = 1;
    std::uint64_t inner = 1;
};

// `Accumulator` is wide enough that adding is as good as exact, or wraps as it should.
template <class T, class Accumulator>
class ReduceSum final : public Step {
  public:
    ReduceSum(ValueId input, ValueId output, const Reduction& shape, std::uint32_t parts)
        : input_(input), output_(output), shape_(shape), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const T* const input = frame.at<const T>(input_);
        T* const output = frame.at<T>(output_);
        const Range range = range_of(shape_.outer * shape_.inner, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            const std::uint64_t outer = i / shape_.inner;
            const T* element = input + (outer * shape_.axis * shape_.inner) + (i % shape_.inner);
            Accumulator sum{};
            for (std::uint64_t k = 0; k < shape_.axis; ++k) {
                sum += static_cast<Accumulator>(*element);
                element += shape_.inner;
            }
            output[i] = static_cast<T>(sum);
        }
        return true;
    }

  private:
    ValueId input_;
    ValueId output_;
    Reduction shape_;
    std::uint32_t parts_;
};

template <class T, class Accumulator>
void lower(Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const auto axis = static_cast<std::size_t>(op.as<tosa::AxisAttribute>().axis);
    Reduction shape;
    for (std::size_t i = 0; i < input.rank(); ++i) {
        const auto size = static_cast<std::uint64_t>(input.shape[i]);
        std::uint64_t& which = i < axis ? shape.outer : i == axis ? shape.axis : shape.inner;
        which *= size;
    }
    const std::uint32_t parts = lowering.parts_for(shape.outer * shape.inner, input.elements);
    lowering.emit(
        std::make_unique<ReduceSum<T, Accumulator>>(op.inputs[0], op.outputs[0], shape, parts),
        {op.inputs[0]}, op.outputs[0]);
}

}  // namespace

void lower_reduce_sum(Lowering& lowering, const tosa::Operator& op) {
    if (lowering.tensor(op.inputs[0]).dtype == tosa::DType::fp32) {
        lower<float, double>(lowering, op);
    } else {
        lower<std::int32_t, std::uint32_t>(lowering, op);
    }
}

}  // namespace virtaccel::backends::cpu::ops

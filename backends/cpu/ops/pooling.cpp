// MAX_POOL2D and AVG_POOL2D.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/general_pooling.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/pooling_kernels.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Of FP32, or the largest of INT8.
template <class T>
class Pool2d final : public Step {
  public:
    Pool2d(Pooling pooling, const GeneralPool& pool)
        : pooling_(pooling), window_(pool.window), values_(pool.values), parts_(pool.parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const WindowAxis& y = window_.y;
        const auto rows = static_cast<std::uint64_t>(window_.batch * y.output);
        const Range range = range_of(rows, parts_, part);
        const std::int64_t image_elements = y.input * window_.x.input * window_.channels;
        const std::int64_t row_elements = window_.x.output * window_.channels;
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            compute({.image = frame.at<const T>(values_.input) + (row / y.output * image_elements),
                     .y = row % y.output,
                     .output = frame.at<T>(values_.output) + (row * row_elements)});
        }
        return true;
    }

  private:
    void compute(const PoolingRow<T>& row) const {
        if constexpr (std::same_as<T, float>) {
            compute_pooling(pooling_, window_, row);
        } else {
            compute_int8_max_pool(window_, row);
        }
    }

    Pooling pooling_;
    ImageWindow window_;
    PoolValues values_;
    std::uint32_t parts_;
};

WindowAxis axis_of(const tosa::PoolAttribute& attribute, std::size_t axis,
                   const tosa::Tensor& input, const tosa::Tensor& output) {
    return {.input = input.shape[axis + 1],
            .output = output.shape[axis + 1],
            .kernel = attribute.kernel[axis],
            .stride = attribute.stride[axis],
            .pad = attribute.pad[2 * axis]};
}

GeneralPool pool_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::PoolAttribute>();
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const ImageWindow window{.batch = output.shape[0],
                             .channels = output.shape[3],
                             .y = axis_of(attribute, 0, input, output),
                             .x = axis_of(attribute, 1, input, output)};
    const auto rows = static_cast<std::uint64_t>(window.batch * window.y.output);
    const auto taps = static_cast<std::uint64_t>(window.y.kernel * window.x.kernel);
    const bool has_zeros = op.inputs.size() == 3;
    return {.dtype = input.dtype,
            .window = window,
            .values = {.input = op.inputs[0],
                       .output = op.outputs[0],
                       .input_zero = has_zeros ? op.inputs[1] : 0,
                       .output_zero = has_zeros ? op.inputs[2] : 0},
            .parts = lowering.parts_for(rows, output.elements * taps)};
}

}  // namespace

void lower_max_pool2d(Lowering& lowering, const tosa::Operator& op) {
    const bool ignores_nan = op.as<tosa::PoolAttribute>().nan_mode == tosa::NanMode::ignore;
    const GeneralPool pool = pool_of(lowering, op);
    if (pool.dtype == tosa::DType::int8) {
        lowering.emit(std::make_unique<Pool2d<std::int8_t>>(Pooling::largest_number, pool),
                      op.inputs, op.outputs[0]);
        return;
    }
    if (pool.dtype != tosa::DType::fp32) {
        lowering.emit(make_general_max_pool(pool, ignores_nan), op.inputs, op.outputs[0]);
        return;
    }
    const Pooling pooling = ignores_nan ? Pooling::largest_number : Pooling::largest_or_nan;
    lowering.emit(std::make_unique<Pool2d<float>>(pooling, pool), op.inputs, op.outputs[0]);
}

void lower_avg_pool2d(Lowering& lowering, const tosa::Operator& op) {
    const GeneralPool pool = pool_of(lowering, op);
    if (pool.dtype != tosa::DType::fp32 || !is_known_zero(lowering, op.inputs[1])) {
        lowering.emit(make_general_avg_pool(pool), op.inputs, op.outputs[0]);
        return;
    }
    lowering.emit(std::make_unique<Pool2d<float>>(Pooling::average, pool), {op.inputs[0]},
                  op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

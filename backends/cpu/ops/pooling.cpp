// MAX_POOL2D and AVG_POOL2D.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
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

class Pool2d final : public Step {
  public:
    struct Values {
        ValueId input = 0;
        ValueId output = 0;
    };

    Pool2d(Pooling pooling, const ImageWindow& window, const Values& values, std::uint32_t parts)
        : pooling_(pooling), window_(window), values_(values), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const WindowAxis& y = window_.y;
        const auto rows = static_cast<std::uint64_t>(window_.batch * y.output);
        const Range range = range_of(rows, parts_, part);
        const std::int64_t image_floats = y.input * window_.x.input * window_.channels;
        const std::int64_t row_floats = window_.x.output * window_.channels;
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            compute_pooling(
                pooling_, window_,
                {.image = frame.at<const float>(values_.input) + (row / y.output * image_floats),
                 .y = row % y.output,
                 .output = frame.at<float>(values_.output) + (row * row_floats)});
        }
        return true;
    }

  private:
    Pooling pooling_;
    ImageWindow window_;
    Values values_;
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

void lower(Lowering& lowering, const tosa::Operator& op, Pooling pooling) {
    const auto& attribute = op.as<tosa::PoolAttribute>();
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const ImageWindow window{.batch = output.shape[0],
                             .channels = output.shape[3],
                             .y = axis_of(attribute, 0, input, output),
                             .x = axis_of(attribute, 1, input, output)};
    const auto rows = static_cast<std::uint64_t>(window.batch * window.y.output);
    const auto taps = static_cast<std::uint64_t>(window.y.kernel * window.x.kernel);
    const std::uint32_t parts = lowering.parts_for(rows, output.elements * taps);
    const Pool2d::Values values{.input = op.inputs[0], .output = op.outputs[0]};
    lowering.emit(std::make_unique<Pool2d>(pooling, window, values, parts), {values.input},
                  values.output);
}

}  // namespace

void lower_max_pool2d(Lowering& lowering, const tosa::Operator& op) {
    const bool ignores_nan = op.as<tosa::PoolAttribute>().nan_mode == tosa::NanMode::ignore;
    lower(lowering, op, ignores_nan ? Pooling::largest_number : Pooling::largest_or_nan);
}

void lower_avg_pool2d(Lowering& lowering, const tosa::Operator& op) {
    lower(lowering, op, Pooling::average);
}

}  // namespace virtaccel::backends::cpu::ops

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/convolution_step.h"
#include "backends/cpu/ops/dense_kernels.h"
#include "backends/cpu/ops/depthwise_kernels.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// What the depthwise half may write before the pointwise half reads it: a quarter of a usual
// first-level cache.
constexpr std::uint64_t between_floats = 2048;

// Weights of the pointwise half that do not fit into a usual first-level cache come from further
// away for every few pixels. Then it gets at least so many at once, which it shares them among.
constexpr std::uint64_t near_weights_max = 8192;
constexpr std::uint64_t pixels_min = 36;

// How many rows the halves take turns with.
std::uint64_t rows_at_once_of(const Convolution& depthwise, const Convolution& pointwise) {
    const auto row_pixels = static_cast<std::uint64_t>(depthwise.window.x.output);
    const auto channels = static_cast<std::uint64_t>(depthwise.window.channels);
    const std::uint64_t weights = channels * static_cast<std::uint64_t>(pointwise.output_channels);
    std::uint64_t rows = between_floats / (row_pixels * channels);
    if (weights > near_weights_max) {
        rows = std::max(rows, (pixels_min + row_pixels - 1) / row_pixels);
    }
    return std::clamp<std::uint64_t>(rows, 1, depthwise.rows());
}

class SeparableStep final : public Step {
  public:
    struct Half {
        Convolution convolution;
        Block packed;

        [[nodiscard]] const float* weights() const {
            return reinterpret_cast<const float*>(packed.data());
        }
    };

    SeparableStep(Half depthwise, Half pointwise, std::uint64_t rows_at_once, std::uint32_t parts)
        : depthwise_(std::move(depthwise)),
          pointwise_(std::move(pointwise)),
          depthwise_shape_(depthwise_shape_of(depthwise_.convolution)),
          pointwise_shape_(dense_shape_of(pointwise_.convolution)),
          rows_at_once_(rows_at_once),
          parts_(parts) {}

    // Floats that each part needs between the halves.
    [[nodiscard]] std::uint64_t between_size() const {
        return rows_at_once_ * static_cast<std::uint64_t>(row_pixels() * channels());
    }

    void set_between(ValueId between) { between_ = between; }

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        return depthwise_.packed.size() + pointwise_.packed.size();
    }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        float* const between = frame.at<float>(between_) + (part * between_size());
        const Range range = range_of(depthwise_.convolution.rows(), parts_, part);
        // Turns of nearly one size.
        const auto turns =
            static_cast<std::uint32_t>((range.size() + rows_at_once_ - 1) / rows_at_once_);
        for (std::uint32_t turn = 0; turn < turns; ++turn) {
            const Range offsets = range_of(range.size(), turns, turn);
            const Range rows{.first = range.first + offsets.first,
                             .end = range.first + offsets.end};
            compute_depthwise_rows(frame, rows, between);
            compute_pointwise_rows(frame, rows, between);
        }
        return true;
    }

  private:
    [[nodiscard]] const ImageWindow& window() const { return depthwise_.convolution.window; }

    [[nodiscard]] std::int64_t row_pixels() const { return window().x.output; }

    [[nodiscard]] std::int64_t channels() const { return window().channels; }

    void compute_depthwise_rows(const Frame& frame, const Range& rows, float* between) const {
        const Convolution& convolution = depthwise_.convolution;
        const std::int64_t image_floats = window().y.input * window().x.input * channels();
        for (std::uint64_t i = rows.first; i < rows.end; ++i) {
            const auto row = static_cast<std::int64_t>(i);
            DepthwiseRow where{.image = frame.at<const float>(convolution.input) +
                                        (row / window().y.output * image_floats),
                               .y = row % window().y.output,
                               .output = between};
            if (convolution.residual) {
                where.residual = frame.at<const float>(convolution.residual->value) +
                                 (row * row_pixels() * convolution.residual->channels);
            }
            compute_depthwise(depthwise_shape_, depthwise_.weights(), where);
            between += row_pixels() * channels();
        }
    }

    void compute_pointwise_rows(const Frame& frame, const Range& rows, const float* between) const {
        static constexpr std::int64_t no_offset[] = {0};
        const Convolution& convolution = pointwise_.convolution;
        const std::int64_t pixel = static_cast<std::int64_t>(rows.first) * row_pixels();
        DensePixels pixels{.input = between,
                           .window = 0,
                           .input_step = channels(),
                           .run_offsets = no_offset,
                           .output = frame.at<float>(convolution.output) +
                                     (pixel * pointwise_shape_.output_channels),
                           .count = static_cast<std::int64_t>(rows.size()) * row_pixels()};
        if (convolution.residual) {
            pixels.residual = frame.at<const float>(convolution.residual->value) +
                              (pixel * pointwise_shape_.residual_channels);
        }
        compute_dense(pointwise_shape_, pointwise_.weights(), pixels);
    }

    Half depthwise_;
    Half pointwise_;
    DepthwiseShape depthwise_shape_;
    DenseShape pointwise_shape_;
    std::uint64_t rows_at_once_;
    std::uint32_t parts_;
    ValueId between_ = 0;
};

}  // namespace

std::unique_ptr<Step> make_separable_step(Lowering& lowering, const Convolution& depthwise,
                                          const Convolution& pointwise) {
    const std::uint64_t rows_at_once = rows_at_once_of(depthwise, pointwise);
    const std::uint32_t parts =
        lowering.parts_for((depthwise.rows() + rows_at_once - 1) / rows_at_once,
                           depthwise.operations() + pointwise.operations());
    auto step = std::make_unique<SeparableStep>(
        SeparableStep::Half{depthwise, pack_depthwise(lowering, depthwise)},
        SeparableStep::Half{pointwise, pack_dense(lowering, pointwise)}, rows_at_once, parts);
    step->set_between(lowering.add_scratch(parts * step->between_size() * sizeof(float)));
    return step;
}

}  // namespace virtaccel::backends::cpu::ops

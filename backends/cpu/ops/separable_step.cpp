#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
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

// Where parts meet, both expand the rows that both see. So a part has at least so many rows, or
// half a dozen if there are threads that would have no part.
constexpr std::uint64_t expanding_rows_min = 14;
constexpr std::uint64_t few_expanding_rows_min = 6;

std::uint64_t expanding_parts_max(std::uint64_t rows, std::uint32_t threads) {
    const std::uint64_t one_for_each =
        std::min<std::uint64_t>(rows / few_expanding_rows_min, threads);
    return std::max<std::uint64_t>({rows / expanding_rows_min, one_for_each, 1});
}

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

// How many rows of its input the depthwise half sees at once.
std::int64_t ring_rows_of(const Convolution& depthwise, std::uint64_t rows_at_once) {
    const WindowAxis& y = depthwise.window.y;
    return ((static_cast<std::int64_t>(rows_at_once) - 1) * y.stride) +
           ((y.kernel - 1) * y.dilation) + 1;
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

    SeparableStep(std::optional<Half> expansion, Half depthwise, Half pointwise,
                  std::uint64_t rows_at_once, std::uint32_t parts)
        : expansion_(std::move(expansion)),
          depthwise_(std::move(depthwise)),
          pointwise_(std::move(pointwise)),
          depthwise_shape_(depthwise_shape_of(depthwise_.convolution)),
          pointwise_shape_(dense_shape_of(pointwise_.convolution)),
          rows_at_once_(rows_at_once),
          parts_(parts) {
        if (expansion_) {
            expansion_shape_ = dense_shape_of(expansion_->convolution);
            ring_rows_ = ring_rows_of(depthwise_.convolution, rows_at_once);
        }
    }

    // Floats that each part needs between the halves.
    [[nodiscard]] std::uint64_t between_size() const {
        return rows_at_once_ * static_cast<std::uint64_t>(row_pixels() * channels());
    }

    void set_between(ValueId between) { between_ = between; }

    // Floats that each part needs before the halves.
    [[nodiscard]] std::uint64_t ring_size() const {
        return static_cast<std::uint64_t>(ring_rows_ * input_row_floats());
    }

    void set_ring(ValueId ring) { ring_ = ring; }

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        return (expansion_ ? expansion_->packed.size() : 0) + depthwise_.packed.size() +
               pointwise_.packed.size();
    }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(depthwise_.convolution.rows(), parts_, part);
        const auto rows_per_image = static_cast<std::uint64_t>(window().y.output);
        for (std::uint64_t first = range.first; first < range.end;) {
            const std::uint64_t image_end = (first / rows_per_image + 1) * rows_per_image;
            const std::uint64_t end = expansion_ ? std::min(range.end, image_end) : range.end;
            compute_rows(frame, part, {.first = first, .end = end});
            first = end;
        }
        return true;
    }

  private:
    [[nodiscard]] const ImageWindow& window() const { return depthwise_.convolution.window; }

    [[nodiscard]] std::int64_t row_pixels() const { return window().x.output; }

    [[nodiscard]] std::int64_t channels() const { return window().channels; }

    [[nodiscard]] std::int64_t input_row_floats() const { return window().x.input * channels(); }

    // Rows of one image, where there is an expansion.
    void compute_rows(const Frame& frame, std::uint32_t part, const Range& range) const {
        float* const between = frame.at<float>(between_) + (part * between_size());
        float* const ring = expansion_ ? frame.at<float>(ring_) + (part * ring_size()) : nullptr;
        std::int64_t expanded = 0;
        // Turns of nearly one size.
        const auto turns =
            static_cast<std::uint32_t>((range.size() + rows_at_once_ - 1) / rows_at_once_);
        for (std::uint32_t turn = 0; turn < turns; ++turn) {
            const Range offsets = range_of(range.size(), turns, turn);
            const Range rows{.first = range.first + offsets.first,
                             .end = range.first + offsets.end};
            if (expansion_) {
                expanded = expand_rows(frame, rows, expanded, ring);
            }
            compute_depthwise_rows(frame, rows, ring, between);
            compute_pointwise_rows(frame, rows, between);
        }
    }

    // Expands the rows of the image that the depthwise half needs for `rows`, but for those before
    // `expanded`, which are there. Up to where they are there then.
    std::int64_t expand_rows(const Frame& frame, const Range& rows, std::int64_t expanded,
                             float* ring) const {
        const WindowAxis& y = window().y;
        const std::int64_t image = static_cast<std::int64_t>(rows.first) / y.output;
        const std::int64_t first_row = static_cast<std::int64_t>(rows.first) % y.output;
        const std::int64_t last_row = first_row + static_cast<std::int64_t>(rows.size()) - 1;
        const std::int64_t end =
            std::min(y.origin(last_row) + ((y.kernel - 1) * y.dilation) + 1, y.input);
        std::int64_t row = std::max({expanded, y.origin(first_row), std::int64_t{0}});
        while (row < end) {
            const std::int64_t slot = row % ring_rows_;
            const std::int64_t count = std::min(end - row, ring_rows_ - slot);
            const std::int64_t pixel = ((image * y.input) + row) * window().x.input;
            compute_pixels(frame, *expansion_, expansion_shape_,
                           {.first = pixel,
                            .count = count * window().x.input,
                            .input = frame.at<const float>(expansion_->convolution.input) +
                                     (pixel * expansion_shape_.run_length),
                            .output = ring + (slot * input_row_floats())});
            row += count;
        }
        return std::max(end, expanded);
    }

    void compute_depthwise_rows(const Frame& frame, const Range& rows, const float* ring,
                                float* between) const {
        const Convolution& convolution = depthwise_.convolution;
        const std::int64_t image_floats = window().y.input * input_row_floats();
        for (std::uint64_t i = rows.first; i < rows.end; ++i) {
            const auto row = static_cast<std::int64_t>(i);
            DepthwiseRow where{.image = ring,
                               .ring_rows = ring_rows_,
                               .y = row % window().y.output,
                               .output = between};
            if (!expansion_) {
                where.image = frame.at<const float>(convolution.input) +
                              (row / window().y.output * image_floats);
            }
            if (convolution.residual) {
                where.residual = frame.at<const float>(convolution.residual->value) +
                                 (row * row_pixels() * convolution.residual->channels);
            }
            compute_depthwise(depthwise_shape_, depthwise_.weights(), where);
            between += row_pixels() * channels();
        }
    }

    // Neighbouring pixels, by their number in all images.
    struct PixelRun {
        std::int64_t first = 0;
        std::int64_t count = 0;
        const float* input = nullptr;
        float* output = nullptr;
    };

    // Some pixels of a pointwise convolution.
    static void compute_pixels(const Frame& frame, const Half& half, const DenseShape& shape,
                               const PixelRun& run) {
        static constexpr std::int64_t no_offset[] = {0};
        DensePixels pixels{.input = run.input,
                           .window = 0,
                           .input_step = shape.run_length,
                           .run_offsets = no_offset,
                           .output = run.output,
                           .count = run.count};
        if (half.convolution.residual) {
            pixels.residual = frame.at<const float>(half.convolution.residual->value) +
                              (run.first * shape.residual_channels);
        }
        compute_dense(shape, half.weights(), pixels);
    }

    void compute_pointwise_rows(const Frame& frame, const Range& rows, const float* between) const {
        const std::int64_t pixel = static_cast<std::int64_t>(rows.first) * row_pixels();
        compute_pixels(frame, pointwise_, pointwise_shape_,
                       {.first = pixel,
                        .count = static_cast<std::int64_t>(rows.size()) * row_pixels(),
                        .input = between,
                        .output = frame.at<float>(pointwise_.convolution.output) +
                                  (pixel * pointwise_shape_.output_channels)});
    }

    std::optional<Half> expansion_;
    Half depthwise_;
    Half pointwise_;
    DenseShape expansion_shape_;
    DepthwiseShape depthwise_shape_;
    DenseShape pointwise_shape_;
    std::uint64_t rows_at_once_;
    std::uint32_t parts_;
    ValueId between_ = 0;
    // How many rows of the expanded image are there at once, each at its number modulo this; zero
    // without an expansion.
    std::int64_t ring_rows_ = 0;
    ValueId ring_ = 0;
};

}  // namespace

std::unique_ptr<Step> make_separable_step(Lowering& lowering, const Separable& separable) {
    const Convolution& depthwise = separable.depthwise;
    const Convolution& pointwise = separable.pointwise;
    const std::uint64_t rows_at_once = rows_at_once_of(depthwise, pointwise);
    std::uint64_t parts_max = (depthwise.rows() + rows_at_once - 1) / rows_at_once;
    std::uint64_t operations = depthwise.operations() + pointwise.operations();
    std::optional<SeparableStep::Half> expansion;
    if (separable.expansion) {
        parts_max = expanding_parts_max(depthwise.rows(), lowering.threads());
        operations += separable.expansion->operations();
        expansion.emplace(*separable.expansion, pack_dense(lowering, *separable.expansion));
    }
    const std::uint32_t parts = lowering.parts_for(parts_max, operations);
    auto step = std::make_unique<SeparableStep>(
        std::move(expansion), SeparableStep::Half{depthwise, pack_depthwise(lowering, depthwise)},
        SeparableStep::Half{pointwise, pack_dense(lowering, pointwise)}, rows_at_once, parts);
    step->set_between(lowering.add_scratch(parts * step->between_size() * sizeof(float)));
    if (separable.expansion) {
        step->set_ring(lowering.add_scratch(parts * step->ring_size() * sizeof(float)));
    }
    return step;
}

}  // namespace virtaccel::backends::cpu::ops

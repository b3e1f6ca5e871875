#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/convolution_step.h"
#include "backends/cpu/ops/depthwise_kernels.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Rows of output pixels, one after the other.
class RowStep : public Step {
  public:
    RowStep(const Convolution& convolution, Block packed, std::uint32_t parts)
        : convolution_(convolution), packed_(std::move(packed)), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override { return packed_.size(); }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const ImageWindow& window = convolution_.window;
        const std::int64_t image_floats = window.y.input * window.x.input * window.channels;
        const Range range = range_of(convolution_.rows(), parts_, part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            const std::int64_t pixel = row * window.x.output;
            DepthwiseRow where{.image = frame.at<const float>(convolution_.input) +
                                        (row / window.y.output * image_floats),
                               .y = row % window.y.output,
                               .output = frame.at<float>(convolution_.output) +
                                         (pixel * convolution_.output_channels)};
            if (convolution_.residual) {
                where.residual = frame.at<const float>(convolution_.residual->value) +
                                 (pixel * convolution_.residual->channels);
            }
            compute_row(where);
        }
        return true;
    }

  protected:
    virtual void compute_row(const DepthwiseRow& row) const noexcept = 0;

    [[nodiscard]] const float* packed() const {
        return reinterpret_cast<const float*>(packed_.data());
    }

    [[nodiscard]] const Convolution& convolution() const { return convolution_; }

  private:
    Convolution convolution_;
    Block packed_;
    std::uint32_t parts_;
};

class DepthwiseStep final : public RowStep {
  public:
    DepthwiseStep(const Convolution& convolution, Block packed, std::uint32_t parts)
        : RowStep(convolution, std::move(packed), parts), shape_(depthwise_shape_of(convolution)) {}

  private:
    void compute_row(const DepthwiseRow& row) const noexcept override {
        compute_depthwise(shape_, packed(), row);
    }

    DepthwiseShape shape_;
};

// Several output channels for each input channel: rare, so in the plainest way. The bias, then for
// each tap the weights of all output channels.
class MultipliedStep final : public RowStep {
  public:
    using RowStep::RowStep;

  private:
    void compute_row(const DepthwiseRow& row) const noexcept override {
        const ImageWindow& window = convolution().window;
        const std::int64_t channels = convolution().output_channels;
        for (std::int64_t x = 0; x < window.x.output; ++x) {
            float* const output = row.output + (x * channels);
            std::copy_n(packed(), channels, output);
            add_taps(row, x, output);
            finish(row, x, output);
        }
    }

    void add_taps(const DepthwiseRow& row, std::int64_t x, float* output) const {
        const ImageWindow& window = convolution().window;
        const auto taps_y = window.y.taps_inside(row.y);
        const auto taps_x = window.x.taps_inside(x);
        for (std::int64_t ky = taps_y.first; ky < taps_y.end; ++ky) {
            const std::int64_t iy = window.y.origin(row.y) + (ky * window.y.dilation);
            for (std::int64_t kx = taps_x.first; kx < taps_x.end; ++kx) {
                const std::int64_t ix = window.x.origin(x) + (kx * window.x.dilation);
                add_tap(row.image + (((iy * window.x.input) + ix) * window.channels),
                        (ky * window.x.kernel) + kx, output);
            }
        }
    }

    void add_tap(const float* input, std::int64_t tap, float* output) const {
        const std::int64_t channels = convolution().output_channels;
        const std::int64_t multiplier = channels / convolution().window.channels;
        const float* const weights = packed() + ((tap + 1) * channels);
        for (std::int64_t c = 0; c < channels; ++c) {
            output[c] += input[c / multiplier] * weights[c];
        }
    }

    void finish(const DepthwiseRow& row, std::int64_t x, float* output) const {
        if (convolution().residual) {
            const std::int64_t channels = convolution().residual->channels;
            for (std::int64_t c = 0; c < channels; ++c) {
                output[c] += row.residual[(x * channels) + c];
            }
        }
        if (convolution().clamp) {
            std::transform(output, output + convolution().output_channels, output,
                           *convolution().clamp);
        }
    }
};

std::uint32_t parts_of(const Lowering& lowering, const Convolution& convolution) {
    return lowering.parts_for(convolution.rows(), convolution.operations());
}

}  // namespace

DepthwiseShape depthwise_shape_of(const Convolution& convolution) {
    return {.window = convolution.window,
            .residual_channels = convolution.residual ? convolution.residual->channels : 0,
            .clamp = convolution.clamp.value_or(Clamp{}),
            .has_slopes = convolution.slopes.has_value()};
}

Block pack_depthwise(const Lowering& lowering, const Convolution& convolution) {
    const DepthwiseShape shape = depthwise_shape_of(convolution);
    Block packed{lowering.memory(), packed_depthwise_size(shape) * sizeof(float)};
    std::vector<float> storage;
    pack_depthwise(shape, known_floats(lowering, convolution.weights, storage),
                   bias_of(lowering, convolution), slopes_of(lowering, convolution),
                   reinterpret_cast<float*>(packed.data()));
    return packed;
}

std::unique_ptr<Step> make_depthwise_step(Lowering& lowering, const Convolution& convolution) {
    return std::make_unique<DepthwiseStep>(convolution, pack_depthwise(lowering, convolution),
                                           parts_of(lowering, convolution));
}

std::unique_ptr<Step> make_multiplied_step(Lowering& lowering, const Convolution& convolution) {
    std::vector<float> storage;
    const auto weights = known_floats(lowering, convolution.weights, storage);
    const auto bias = bias_of(lowering, convolution);
    Block packed{lowering.memory(), (bias.size() + weights.size()) * sizeof(float)};
    auto* const floats = reinterpret_cast<float*>(packed.data());
    std::ranges::copy(bias, floats);
    std::ranges::copy(weights, floats + bias.size());
    return std::make_unique<MultipliedStep>(convolution, std::move(packed),
                                            parts_of(lowering, convolution));
}

}  // namespace virtaccel::backends::cpu::ops

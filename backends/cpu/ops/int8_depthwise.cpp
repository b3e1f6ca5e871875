// DEPTHWISE_CONV2D of INT8, by way of FP32: sums of few products are exact there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/depthwise_kernels.h"
#include "backends/cpu/ops/int8_convolution.h"
#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// So many products of differences of 8 bits stay below 2^24, up to which FP32 has every integer.
constexpr std::int64_t taps_max = (std::int64_t{1} << 24U) / (255 * 255);

// How many floats of sums a part computes at a time: half of a usual first-level cache.
constexpr std::int64_t sums_at_once = 4096;
constexpr std::int64_t rows_at_once_max = 8;

class Int8Depthwise final : public Step {
  public:
    Int8Depthwise(const Int8Convolution& plan, Block packed, std::vector<std::int32_t> bias,
                  std::uint32_t parts)
        : plan_(plan),
          packed_(std::move(packed)),
          bias_(std::move(bias)),
          parts_(parts),
          rows_at_once_(std::clamp<std::int64_t>(sums_at_once / row_sums(), 1, rows_at_once_max)) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        const std::size_t scales = plan_.rescale ? 2 * plan_.rescale->multipliers.size() : 0;
        return packed_.size() + ((bias_.size() + scales) * sizeof(std::int32_t));
    }

    // For each part: the input as floats, sums as floats, and sums that are to become INT8.
    [[nodiscard]] std::uint64_t scratch_bytes() const {
        return static_cast<std::uint64_t>(staged_floats() + block_sums()) * sizeof(float) +
               (plan_.rescale ? (static_cast<std::uint64_t>(block_sums()) + lanes_after) *
                                    sizeof(std::int32_t)
                              : 0);
    }

    void set_scratch(ValueId scratch) { scratch_ = scratch; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        std::byte* const scratch = frame.at<std::byte>(scratch_) + (part * scratch_bytes());
        const Range range = range_of(plan_.convolution.rows(), parts_, part);
        const auto end = static_cast<std::int64_t>(range.end);
        for (auto row = static_cast<std::int64_t>(range.first); row < end;) {
            const std::int64_t left_in_image = window().y.output - (row % window().y.output);
            const std::int64_t rows = std::min({rows_at_once_, left_in_image, end - row});
            compute_rows(frame, row, rows, scratch);
            row += rows;
        }
        return true;
    }

  private:
    [[nodiscard]] const ImageWindow& window() const { return plan_.convolution.window; }

    [[nodiscard]] std::int64_t row_sums() const { return window().x.output * window().channels; }

    [[nodiscard]] std::int64_t block_sums() const { return rows_at_once_ * row_sums(); }

    [[nodiscard]] std::int64_t staged_floats() const {
        const WindowAxis& y = window().y;
        const std::int64_t rows =
            ((rows_at_once_ - 1) * y.stride) + ((y.kernel - 1) * y.dilation) + 1;
        return std::min(rows, y.input) * window().x.input * window().channels;
    }

    // Rows of one image: first the input that they see, as an image of its own.
    void compute_rows(const Frame& frame, std::int64_t row, std::int64_t rows,
                      std::byte* scratch) const {
        const WindowAxis& y = window().y;
        const std::int64_t row_elements = window().x.input * window().channels;
        const std::int64_t origin = y.origin(row % y.output);
        const std::int64_t reach = ((rows - 1) * y.stride) + ((y.kernel - 1) * y.dilation) + 1;
        const std::int64_t first = std::clamp<std::int64_t>(origin, 0, y.input);
        const std::int64_t end = std::clamp<std::int64_t>(origin + reach, first, y.input);
        DepthwiseShape shape{.window = window(), .clamp = Clamp{}};
        shape.window.y.input = end - first;
        shape.window.y.pad = first - origin;
        const std::int64_t image = row / y.output * y.input;
        auto* const staged = reinterpret_cast<float*>(scratch);
        int8_to_floats(
            frame.at<const std::int8_t>(plan_.convolution.input) + ((image + first) * row_elements),
            plan_.input_zero, (end - first) * row_elements, staged);
        float* const sums = staged + staged_floats();
        for (std::int64_t i = 0; i < rows; ++i) {
            compute_depthwise(shape, reinterpret_cast<const float*>(packed_.data()),
                              {.image = staged, .y = i, .output = sums + (i * row_sums())});
        }
        finish(frame, row, rows, sums);
    }

    void finish(const Frame& frame, std::int64_t row, std::int64_t rows, float* sums) const {
        const std::int64_t pixels = rows * window().x.output;
        const ValueId output = plan_.convolution.output;
        if (!plan_.rescale) {
            floats_to_int32(sums, bias_, pixels,
                            frame.at<std::int32_t>(output) + (row * row_sums()));
            return;
        }
        auto* const integers = reinterpret_cast<std::int32_t*>(sums + block_sums());
        floats_to_int32(sums, bias_, pixels, integers);
        rescale_to_int8(*plan_.rescale, integers, pixels,
                        frame.at<std::int8_t>(output) + (row * row_sums()));
    }

    Int8Convolution plan_;
    Block packed_;
    std::vector<std::int32_t> bias_;
    std::uint32_t parts_;
    std::int64_t rows_at_once_;
    ValueId scratch_ = 0;
};

}  // namespace

bool fits_int8_depthwise(const Int8Convolution& plan) {
    const ImageWindow& window = plan.convolution.window;
    return !plan.convolution.is_multiplied() && window.y.kernel * window.x.kernel <= taps_max;
}

void emit_int8_depthwise(Lowering& lowering, const Int8Convolution& plan) {
    const Convolution& convolution = plan.convolution;
    const DepthwiseShape shape{.window = convolution.window, .clamp = Clamp{}};
    std::vector<float> weights;
    for (const std::int8_t weight : known_int8(lowering, convolution.weights)) {
        weights.push_back(static_cast<float>(weight - plan.weight_zero));
    }
    const std::vector<float> no_bias(static_cast<std::size_t>(shape.window.channels));
    Block packed{lowering.memory(), packed_depthwise_size(shape) * sizeof(float)};
    pack_depthwise(shape, weights, no_bias, {}, reinterpret_cast<float*>(packed.data()));
    auto step = std::make_unique<Int8Depthwise>(
        plan, std::move(packed), known_int32_bias(lowering, convolution),
        lowering.parts_for(convolution.rows(), convolution.operations()));
    step->set_scratch(lowering.add_scratch(step->parts() * step->scratch_bytes()));
    lowering.emit(std::move(step), {convolution.input}, convolution.output);
}

}  // namespace virtaccel::backends::cpu::ops

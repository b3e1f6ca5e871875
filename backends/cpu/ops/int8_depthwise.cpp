// DEPTHWISE_CONV2D of INT8: rows under a window are woven together, and a row of sums is made INT8
// while it is in the cache.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/int8_convolution.h"
#include "backends/cpu/ops/int8_depthwise_kernels.h"
#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Woven words may be read this far beyond their end.
constexpr std::int64_t slack_words = 16;
// What a part may weave in all. Rows that need more are rare, and not worth it.
constexpr std::int64_t woven_words_max = std::int64_t{1} << 20U;

Int8DepthwiseShape shape_of(const Int8Convolution& plan) {
    const ImageWindow& window = plan.convolution.window;
    return {.channels = window.channels,
            .kernel_y = window.y.kernel,
            .kernel_x = window.x.kernel,
            .stride_x = window.x.stride,
            .dilation_x = window.x.dilation,
            .input_zero = plan.input_zero};
}

// Columns that the windows of a row see together, padding included.
std::int64_t columns_of(const WindowAxis& x) {
    return ((x.output - 1) * x.stride) + ((x.kernel - 1) * x.dilation) + 1;
}

class Int8Depthwise final : public Step {
  public:
    Int8Depthwise(Int8Convolution plan, Block packed, std::uint32_t parts)
        : plan_(std::move(plan)),
          shape_(shape_of(plan_)),
          packed_(std::move(packed)),
          in_registers_(plan_.rescale && rescales_in_registers(*plan_.rescale)),
          parts_(parts),
          columns_(columns_of(plan_.convolution.window.x)),
          word_step_(columns_ * shape_.channels) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        const std::size_t scales = plan_.rescale ? 2 * plan_.rescale->multipliers.size() : 0;
        return packed_.size() + (scales * sizeof(std::int32_t));
    }

    // For each part: woven rows, and sums that are written before they become INT8.
    [[nodiscard]] std::uint64_t scratch_bytes() const {
        const std::int64_t sums = plan_.rescale && !in_registers_
                                      ? row_sums() + static_cast<std::int64_t>(lanes_after)
                                      : 0;
        return static_cast<std::uint64_t>(woven_words() + sums) * sizeof(std::int32_t);
    }

    void set_scratch(ValueId scratch) { scratch_ = scratch; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        auto* const woven = reinterpret_cast<std::int32_t*>(frame.at<std::byte>(scratch_) +
                                                            (part * scratch_bytes()));
        const auto* const packed = reinterpret_cast<const std::int32_t*>(packed_.data());
        const ValueId output = plan_.convolution.output;
        const Range range = range_of(plan_.convolution.rows(), parts_, part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            weave(frame, row, woven);
            const Int8Target target = target_of(frame, row, woven + woven_words());
            compute_int8_depthwise(
                shape_, packed, {.words = woven, .stride = word_step_, .pixels = window().x.output},
                target);
            if (plan_.rescale && !in_registers_) {
                rescale_to_int8(*plan_.rescale, target.sums, window().x.output,
                                frame.at<std::int8_t>(output) + (row * row_sums()));
            }
        }
        return true;
    }

  private:
    [[nodiscard]] const ImageWindow& window() const { return plan_.convolution.window; }

    [[nodiscard]] std::int64_t row_sums() const { return window().x.output * shape_.channels; }

    [[nodiscard]] std::int64_t woven_words() const {
        return (shape_.words() * word_step_) + slack_words;
    }

    // Where row `row` goes; `sums` have room for one.
    [[nodiscard]] Int8Target target_of(const Frame& frame, std::int64_t row,
                                       std::int32_t* sums) const {
        const ValueId output = plan_.convolution.output;
        const std::int64_t first = row * row_sums();
        if (!plan_.rescale) {
            return {.sums = frame.at<std::int32_t>(output) + first};
        }
        if (!in_registers_) {
            return {.sums = sums};
        }
        return {.rescale = &*plan_.rescale, .bytes = frame.at<std::int8_t>(output) + first};
    }

    // The rows under the windows of the output's row `row`, with what stands left and right.
    void weave(const Frame& frame, std::int64_t row, std::int32_t* woven) const {
        const WindowAxis& y = window().y;
        const WindowAxis& x = window().x;
        const std::int64_t channels = shape_.channels;
        const std::int64_t image = row / y.output * y.input;
        std::array<const std::int8_t*, int8_taps_max> rows{};
        for (std::int64_t tap = 0; tap < y.kernel; ++tap) {
            const std::int64_t at = y.origin(row % y.output) + (tap * y.dilation);
            rows[static_cast<std::size_t>(tap)] =
                at >= 0 && at < y.input ? frame.at<const std::int8_t>(plan_.convolution.input) +
                                              ((image + at) * x.input * channels)
                                        : nullptr;
        }
        const std::span taps = std::span{rows}.first(static_cast<std::size_t>(y.kernel));
        const std::int64_t before = std::min(x.pad, columns_);
        const std::int64_t inside = std::clamp<std::int64_t>(x.input, 0, columns_ - before);
        pad_woven_int8(shape_, before * channels, word_step_, woven);
        woven += before * channels;
        weave_int8(shape_, taps, inside * channels, word_step_, woven);
        pad_woven_int8(shape_, (columns_ - before - inside) * channels, word_step_,
                       woven + (inside * channels));
    }

    Int8Convolution plan_;
    Int8DepthwiseShape shape_;
    Block packed_;
    bool in_registers_;
    std::uint32_t parts_;
    std::int64_t columns_;
    std::int64_t word_step_;
    ValueId scratch_ = 0;
};

}  // namespace

bool fits_int8_depthwise(const Lowering& lowering, const Int8Convolution& plan) {
    const ImageWindow& window = plan.convolution.window;
    const auto [least, most] = std::ranges::minmax(known_int8(lowering, plan.convolution.weights));
    const bool fits_bytes = least - plan.weight_zero >= std::numeric_limits<std::int8_t>::min() &&
                            most - plan.weight_zero <= std::numeric_limits<std::int8_t>::max();
    return fits_bytes && !plan.convolution.is_multiplied() && window.y.kernel <= int8_taps_max &&
           columns_of(window.x) * window.channels <= woven_words_max / window.y.kernel;
}

void emit_int8_depthwise(Lowering& lowering, const Int8Convolution& plan) {
    const Convolution& convolution = plan.convolution;
    const Int8DepthwiseShape shape = shape_of(plan);
    std::vector<std::int8_t> weights = known_int8(lowering, convolution.weights);
    for (std::int8_t& weight : weights) {
        weight = static_cast<std::int8_t>(weight - plan.weight_zero);
    }
    Block packed{lowering.memory(), packed_int8_depthwise_size(shape) * sizeof(std::int32_t)};
    std::ranges::fill(std::span{packed.data(), packed.size()}, std::byte{0});
    pack_int8_depthwise(shape, weights, known_int32_bias(lowering, convolution),
                        reinterpret_cast<std::int32_t*>(packed.data()));
    // A product of bytes takes less than one of floats.
    auto step = std::make_unique<Int8Depthwise>(
        plan, std::move(packed),
        lowering.parts_for(convolution.rows(), convolution.operations() / 2));
    step->set_scratch(lowering.add_scratch(step->parts() * step->scratch_bytes()));
    lowering.emit(std::move(step), {convolution.input}, convolution.output);
}

}  // namespace virtaccel::backends::cpu::ops

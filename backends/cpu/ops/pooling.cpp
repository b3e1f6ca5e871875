// MAX_POOL2D and AVG_POOL2D.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// What a pool does with the pixels under its window: it starts from the first, takes in the others,
// and ends with their number.
struct LargestOrNan {
    static float take(float so_far, float x) { return x > so_far || x != x ? x : so_far; }

    static float end(float so_far, std::int64_t /*count*/) { return so_far; }
};

struct LargestNumber {
    static float take(float so_far, float x) { return x > so_far || so_far != so_far ? x : so_far; }

    static float end(float so_far, std::int64_t /*count*/) { return so_far; }
};

struct Average {
    static float take(float so_far, float x) { return so_far + x; }

    static float end(float so_far, std::int64_t count) {
        return so_far / static_cast<float>(count);
    }
};

template <class Pool>
class Pool2d final : public Step {
  public:
    Pool2d(ValueId input, ValueId output, const ImageWindow& window, std::uint32_t parts)
        : input_(input), output_(output), window_(window), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    void run(const Frame& frame, std::uint32_t part) noexcept override {
        const WindowAxis& y = window_.y;
        const auto rows = static_cast<std::uint64_t>(window_.batch * y.output);
        const Range range = range_of(rows, parts_, part);
        const auto input_image = y.input * window_.x.input * window_.channels;
        const auto output_row = window_.x.output * window_.channels;
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            pool_row(frame.at<const float>(input_) + ((row / y.output) * input_image),
                     frame.at<float>(output_) + (row * output_row), row % y.output);
        }
    }

  private:
    void pool_row(const float* image, float* output, std::int64_t oy) const {
        const auto taps_y = window_.y.taps_inside(oy);
        for (std::int64_t ox = 0; ox < window_.x.output; ++ox) {
            const auto taps_x = window_.x.taps_inside(ox);
            const std::int64_t width = taps_x.end - taps_x.first;
            const std::int64_t first_x = window_.x.origin(ox) + taps_x.first;
            bool is_first = true;
            for (std::int64_t ky = taps_y.first; ky < taps_y.end; ++ky) {
                const std::int64_t iy = window_.y.origin(oy) + ky;
                const float* row = image + (((iy * window_.x.input) + first_x) * window_.channels);
                take_pixels(row, width, output, is_first);
                is_first = false;
            }
            const std::int64_t count = width * (taps_y.end - taps_y.first);
            for (std::int64_t c = 0; c < window_.channels; ++c) {
                output[c] = Pool::end(output[c], count);
            }
            output += window_.channels;
        }
    }

    void take_pixels(const float* pixels, std::int64_t count, float* output, bool is_first) const {
        for (std::int64_t i = 0; i < count; ++i) {
            if (is_first) {
                std::copy_n(pixels, window_.channels, output);
                is_first = false;
            } else {
                for (std::int64_t c = 0; c < window_.channels; ++c) {
                    output[c] = Pool::take(output[c], pixels[c]);
                }
            }
            pixels += window_.channels;
        }
    }

    ValueId input_;
    ValueId output_;
    ImageWindow window_;
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

template <class Pool>
void lower(Lowering& lowering, const tosa::Operator& op) {
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
    lowering.emit(std::make_unique<Pool2d<Pool>>(op.inputs[0], op.outputs[0], window, parts),
                  {op.inputs[0]}, op.outputs[0]);
}

}  // namespace

void lower_max_pool2d(Lowering& lowering, const tosa::Operator& op) {
    if (op.as<tosa::PoolAttribute>().nan_mode == tosa::NanMode::ignore) {
        lower<LargestNumber>(lowering, op);
    } else {
        lower<LargestOrNan>(lowering, op);
    }
}

void lower_avg_pool2d(Lowering& lowering, const tosa::Operator& op) {
    lower<Average>(lowering, op);
}

}  // namespace virtaccel::backends::cpu::ops

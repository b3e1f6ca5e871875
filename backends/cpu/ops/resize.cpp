// RESIZE, nearest and bilinear.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// One axis: output position o lies at (o * d + offset) / n of the input.
struct ResizeAxis {
    std::int64_t input = 1;
    std::int64_t output = 1;
    std::int64_t n = 1;
    std::int64_t d = 1;
    std::int64_t offset = 0;

    // The neighbours of a position, inside the input, and how far it is from the first, in n-ths.
    struct Position {
        std::int64_t before = 0;
        std::int64_t after = 0;
        std::int64_t rest = 0;

        [[nodiscard]] std::int64_t nearest(std::int64_t parts) const {
            return 2 * rest >= parts ? after : before;
        }
    };

    [[nodiscard]] Position at(std::int64_t o) const {
        const std::int64_t numerator = (o * d) + offset;
        // Rounded down, also below zero.
        const std::int64_t rest = ((numerator % n) + n) % n;
        const std::int64_t whole = (numerator - rest) / n;
        return {.before = std::clamp<std::int64_t>(whole, 0, input - 1),
                .after = std::clamp<std::int64_t>(whole + 1, 0, input - 1),
                .rest = rest};
    }
};

struct ResizeShape {
    std::int64_t batch = 1;
    std::int64_t channels = 1;
    ResizeAxis y;
    ResizeAxis x;
};

// Weights of the two neighbours: fractions for floats; for integers their numerators, so that the
// result is n_y * n_x times the interpolated value.
template <class Out>
struct Weights {
    Out before{};
    Out after{};

    Weights(const ResizeAxis& axis, const ResizeAxis::Position& position) {
        if constexpr (std::is_floating_point_v<Out>) {
            after = static_cast<Out>(position.rest) / static_cast<Out>(axis.n);
            before = Out{1} - after;
        } else {
            after = static_cast<Out>(position.rest);
            before = static_cast<Out>(axis.n - position.rest);
        }
    }
};

template <class In, class Out, bool bilinear>
class Resize final : public Step {
  public:
    Resize(ValueId input, ValueId output, const ResizeShape& shape, std::uint32_t parts)
        : input_(input), output_(output), shape_(shape), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const std::int64_t row_elements = shape_.x.output * shape_.channels;
        const std::int64_t image_elements = shape_.y.input * shape_.x.input * shape_.channels;
        const Range range =
            range_of(static_cast<std::uint64_t>(shape_.batch * shape_.y.output), parts_, part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            const In* const image =
                frame.at<const In>(input_) + ((row / shape_.y.output) * image_elements);
            resize_row(image, shape_.y.at(row % shape_.y.output),
                       frame.at<Out>(output_) + (row * row_elements));
        }
        return true;
    }

  private:
    void resize_row(const In* image, const ResizeAxis::Position& y, Out* output) const {
        const std::int64_t row_elements = shape_.x.input * shape_.channels;
        for (std::int64_t ox = 0; ox < shape_.x.output; ++ox) {
            const auto x = shape_.x.at(ox);
            if constexpr (bilinear) {
                interpolate(image + (y.before * row_elements), image + (y.after * row_elements),
                            {x, Weights<Out>{shape_.x, x}, Weights<Out>{shape_.y, y}}, output);
            } else {
                const In* const pixel = image + (y.nearest(shape_.y.n) * row_elements) +
                                        (x.nearest(shape_.x.n) * shape_.channels);
                std::copy_n(pixel, shape_.channels, output);
            }
            output += shape_.channels;
        }
    }

    struct Mix {
        ResizeAxis::Position x;
        Weights<Out> weights_x;
        Weights<Out> weights_y;
    };

    void interpolate(const In* above, const In* below, const Mix& mix, Out* output) const {
        const std::int64_t left = mix.x.before * shape_.channels;
        const std::int64_t right = mix.x.after * shape_.channels;
        const Out above_left = mix.weights_y.before * mix.weights_x.before;
        const Out above_right = mix.weights_y.before * mix.weights_x.after;
        const Out below_left = mix.weights_y.after * mix.weights_x.before;
        const Out below_right = mix.weights_y.after * mix.weights_x.after;
        for (std::int64_t c = 0; c < shape_.channels; ++c) {
            output[c] = (static_cast<Out>(above[left + c]) * above_left) +
                        (static_cast<Out>(above[right + c]) * above_right) +
                        (static_cast<Out>(below[left + c]) * below_left) +
                        (static_cast<Out>(below[right + c]) * below_right);
        }
    }

    ValueId input_;
    ValueId output_;
    ResizeShape shape_;
    std::uint32_t parts_;
};

template <class In, class Out, bool bilinear>
void lower(Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const auto scale = lowering.known<std::int64_t>(op.inputs[1]);
    const auto offset = lowering.known<std::int64_t>(op.inputs[2]);
    const ResizeShape shape{.batch = output.shape[0],
                            .channels = output.shape[3],
                            .y = {.input = input.shape[1],
                                  .output = output.shape[1],
                                  .n = scale[0],
                                  .d = scale[1],
                                  .offset = offset[0]},
                            .x = {.input = input.shape[2],
                                  .output = output.shape[2],
                                  .n = scale[2],
                                  .d = scale[3],
                                  .offset = offset[1]}};
    const auto rows = static_cast<std::uint64_t>(shape.batch * shape.y.output);
    const std::uint32_t parts = lowering.parts_for(rows, output.elements * 4);
    lowering.emit(
        std::make_unique<Resize<In, Out, bilinear>>(op.inputs[0], op.outputs[0], shape, parts),
        {op.inputs[0]}, op.outputs[0]);
}

}  // namespace

void lower_resize(Lowering& lowering, const tosa::Operator& op) {
    const bool is_float = lowering.tensor(op.inputs[0]).dtype == tosa::DType::fp32;
    const bool is_bilinear = op.as<tosa::ResizeAttribute>().mode == tosa::ResizeMode::bilinear;
    if (is_float) {
        (is_bilinear ? lower<float, float, true> : lower<float, float, false>)(lowering, op);
    } else if (is_bilinear) {
        lower<std::int8_t, std::int32_t, true>(lowering, op);
    } else {
        lower<std::int8_t, std::int8_t, false>(lowering, op);
    }
}

}  // namespace virtaccel::backends::cpu::ops

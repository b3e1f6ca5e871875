// RESIZE, nearest and bilinear.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

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

struct Values {
    ValueId input = 0;
    ValueId scale = 0;
    ValueId offset = 0;
    ValueId output = 0;
};

// Element `i` of a SHAPE, which a caller may have bound at any address.
std::int64_t length_at(const Frame& frame, ValueId shape, std::size_t i) {
    std::int64_t length = 0;
    std::memcpy(&length, frame.at<const std::byte>(shape) + (i * sizeof(length)), sizeof(length));
    return length;
}

// Puts axis `i`'s scale and offset of this run into `axis`. They are what TOSA allows, or come near
// it.
void read_scale(const Frame& frame, const Values& values, std::size_t i, ResizeAxis& axis) {
    constexpr std::int64_t n_max = 1 << 11;
    axis.n = std::clamp<std::int64_t>(length_at(frame, values.scale, 2 * i), 1, n_max);
    const std::int64_t reach = (16 * axis.n) - 1;
    axis.d = std::clamp<std::int64_t>(length_at(frame, values.scale, (2 * i) + 1), 1, reach);
    axis.offset = std::clamp(length_at(frame, values.offset, i), -axis.n, reach);
}

// Weights of the two neighbours: fractions for floats; for integers their numerators, so that the
// result is n_y * n_x times the interpolated value.
template <class Number>
struct Weights {
    Number before{};
    Number after{};

    Weights(const ResizeAxis& axis, const ResizeAxis::Position& position) {
        if constexpr (std::is_floating_point_v<Number>) {
            after = static_cast<Number>(position.rest) / static_cast<Number>(axis.n);
            before = Number{1} - after;
        } else {
            after = static_cast<Number>(position.rest);
            before = static_cast<Number>(axis.n - position.rest);
        }
    }
};

template <class In, class Out, bool bilinear>
class Resize final : public Step {
  public:
    Resize(const Values& values, const ResizeShape& shape, std::uint32_t parts)
        : values_(values), shape_(shape), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        ResizeShape shape = shape_;
        read_scale(frame, values_, 0, shape.y);
        read_scale(frame, values_, 1, shape.x);
        const std::int64_t row_elements = shape.x.output * shape.channels;
        const std::int64_t image_elements = shape.y.input * shape.x.input * shape.channels;
        const Range range =
            range_of(static_cast<std::uint64_t>(shape.batch * shape.y.output), parts_, part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            const In* const image =
                frame.at<const In>(values_.input) + ((row / shape.y.output) * image_elements);
            resize_row(shape, image, shape.y.at(row % shape.y.output),
                       frame.at<Out>(values_.output) + (row * row_elements));
        }
        return true;
    }

  private:
    using Number = Wide<Out>;

    static void resize_row(const ResizeShape& shape, const In* image, const ResizeAxis::Position& y,
                           Out* output) {
        const std::int64_t row_elements = shape.x.input * shape.channels;
        for (std::int64_t ox = 0; ox < shape.x.output; ++ox) {
            const auto x = shape.x.at(ox);
            if constexpr (bilinear) {
                const Mix mix{.left = x.before * shape.channels,
                              .right = x.after * shape.channels,
                              .weights_x = {shape.x, x},
                              .weights_y = {shape.y, y}};
                interpolate(image + (y.before * row_elements), image + (y.after * row_elements),
                            mix, {output, static_cast<std::size_t>(shape.channels)});
            } else {
                const In* const pixel = image + (y.nearest(shape.y.n) * row_elements) +
                                        (x.nearest(shape.x.n) * shape.channels);
                std::copy_n(pixel, shape.channels, output);
            }
            output += shape.channels;
        }
    }

    struct Mix {
        std::int64_t left;
        std::int64_t right;
        Weights<Number> weights_x;
        Weights<Number> weights_y;
    };

    static void interpolate(const In* above, const In* below, const Mix& mix,
                            std::span<Out> output) {
        const Number above_left = mix.weights_y.before * mix.weights_x.before;
        const Number above_right = mix.weights_y.before * mix.weights_x.after;
        const Number below_left = mix.weights_y.after * mix.weights_x.before;
        const Number below_right = mix.weights_y.after * mix.weights_x.after;
        const auto number = [](In element) { return static_cast<Number>(widened(element)); };
        for (std::size_t c = 0; c < output.size(); ++c) {
            const auto i = static_cast<std::int64_t>(c);
            output[c] = narrowed_to<Out>((number(above[mix.left + i]) * above_left) +
                                         (number(above[mix.right + i]) * above_right) +
                                         (number(below[mix.left + i]) * below_left) +
                                         (number(below[mix.right + i]) * below_right));
        }
    }

    Values values_;
    ResizeShape shape_;
    std::uint32_t parts_;
};

template <class In, class Out, bool bilinear>
std::unique_ptr<Step> make(const Values& values, const ResizeShape& shape, std::uint32_t parts) {
    return std::make_unique<Resize<In, Out, bilinear>>(values, shape, parts);
}

struct Row {
    DType input;
    tosa::ResizeMode mode;
    std::unique_ptr<Step> (*make)(const Values&, const ResizeShape&, std::uint32_t parts);
};

// Interpolated integers are not divided by the scale, so they need a wider type.
constexpr Row rows[] = {
    {DType::int8, tosa::ResizeMode::nearest, make<std::int8_t, std::int8_t, false>},
    {DType::int8, tosa::ResizeMode::bilinear, make<std::int8_t, std::int32_t, true>},
    {DType::int16, tosa::ResizeMode::nearest, make<std::int16_t, std::int16_t, false>},
    {DType::int16, tosa::ResizeMode::bilinear, make<std::int16_t, Int48, true>},
    {DType::fp16, tosa::ResizeMode::nearest, make<Fp16, Fp16, false>},
    {DType::fp16, tosa::ResizeMode::bilinear, make<Fp16, Fp16, true>},
    {DType::fp32, tosa::ResizeMode::nearest, make<float, float, false>},
    {DType::fp32, tosa::ResizeMode::bilinear, make<float, float, true>},
    {DType::bf16, tosa::ResizeMode::nearest, make<Bf16, Bf16, false>},
    {DType::bf16, tosa::ResizeMode::bilinear, make<Bf16, Bf16, true>},
};

}  // namespace

void lower_resize(Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const Values values{.input = op.inputs[0],
                        .scale = op.inputs[1],
                        .offset = op.inputs[2],
                        .output = op.outputs[0]};
    const ResizeShape shape{.batch = output.shape[0],
                            .channels = output.shape[3],
                            .y = {.input = input.shape[1], .output = output.shape[1]},
                            .x = {.input = input.shape[2], .output = output.shape[2]}};
    const auto rows_of_output = static_cast<std::uint64_t>(shape.batch * shape.y.output);
    const std::uint32_t parts = lowering.parts_for(rows_of_output, output.elements * 4);
    const auto* const row = std::ranges::find_if(rows, [&](const Row& one) {
        return one.input == input.dtype && one.mode == op.as<tosa::ResizeAttribute>().mode;
    });
    lowering.emit(row->make(values, shape, parts), op.inputs.first(3), op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

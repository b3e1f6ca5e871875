// Convolutions that take PRELU along.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::expect_near;
using testing::Filter;
using testing::Image;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using testing::on_each_instruction_set;
using tosa::DType;
using tosa::Op;
using tosa::Value;

struct Slopes {
    std::vector<float> values;  // one for each channel, or one for all

    [[nodiscard]] float of(std::size_t i, std::size_t channels) const {
        return values[values.size() == 1 ? 0 : i % channels];
    }

    Value apply(tosa::Builder& builder, Value x) const {
        const auto count = static_cast<std::int32_t>(values.size());
        const Value slopes = builder.constant(DType::fp32, {1, 1, 1, count}, values);
        const Value zero = builder.zeros(DType::fp32, {1, 1, 1, 1});
        const Value negative = builder.mul(x, slopes);
        return builder.op(Op::select, {builder.op(Op::greater_equal, {x, zero}), x, negative});
    }
};

struct Model {
    Image input;
    Filter filter;
    Slopes slopes;
    bool is_depthwise = false;
    bool has_residual = false;

    [[nodiscard]] std::vector<float> expected() const {
        Image image = is_depthwise ? testing::plain_depthwise(input, filter)
                                   : testing::plain_conv2d(input, filter);
        for (std::size_t i = 0; i < image.pixels.size(); ++i) {
            float& pixel = image.pixels[i];
            pixel += has_residual ? input.pixels[i] : 0.0F;
            pixel *= pixel >= 0 ? 1.0F : slopes.of(i, static_cast<std::size_t>(image.channels));
        }
        return image.pixels;
    }

    void check(std::size_t steps, std::uint32_t threads) const {
        tosa::Builder builder;
        const Value x = builder.input("x", DType::fp32, input.shape());
        const std::vector<std::int32_t> shape =
            is_depthwise
                ? std::vector{filter.y.kernel, filter.x.kernel, input.channels, 1}
                : std::vector{filter.channels, filter.y.kernel, filter.x.kernel, input.channels};
        const Value weights = builder.constant(DType::fp32, shape, filter.weights);
        const auto biases = static_cast<std::int32_t>(filter.bias.size());
        const Value bias = builder.constant(DType::fp32, {biases}, filter.bias);
        Value y = is_depthwise ? builder.depthwise_conv2d(x, weights, bias, filter.attribute())
                               : builder.conv2d(x, weights, bias, filter.attribute());
        y = has_residual ? builder.add(y, x) : y;
        builder.output(slopes.apply(builder, y), "y");
        ModelRun run{builder, ModelOptions{.threads = threads}};
        EXPECT_EQ(run.steps(), steps);
        expect_near(run.input(input.pixels).output<float>(), expected());
    }
};

Model model_of(std::int32_t channels, std::int32_t output_channels, bool is_depthwise) {
    constexpr testing::Axis three{.kernel = 3, .before = 1, .after = 1};
    Numbers numbers{5};
    Image input{.batch = 1, .height = 5, .width = 13, .channels = channels, .pixels = {}};
    input.pixels = numbers.take(input.size());
    const std::int32_t filters = is_depthwise ? 1 : output_channels;
    const auto weights =
        std::size_t{9} * static_cast<std::size_t>(channels) * static_cast<std::size_t>(filters);
    const auto outputs = static_cast<std::size_t>(output_channels);
    return {.input = input,
            .filter = {.y = three,
                       .x = three,
                       .channels = filters,
                       .weights = numbers.take(weights),
                       .bias = numbers.take(outputs)},
            .slopes = {numbers.take(outputs)},
            .is_depthwise = is_depthwise,
            .has_residual = channels == output_channels};
}

TEST(Prelu, is_part_of_the_convolution_before_it) {
    on_each_instruction_set([] {
        for (const std::int32_t channels : {1, 7, 8, 16, 24, 33}) {
            model_of(channels, channels, true).check(1, 1);
            model_of(channels, channels, false).check(1, 3);
            model_of(3, channels, false).check(1, 1);
        }
    });
}

TEST(Prelu, may_have_one_slope_for_all_channels) {
    Model model = model_of(9, 20, false);
    model.slopes.values.resize(1);
    model.check(1, 1);
}

TEST(Prelu, is_none_if_somebody_else_reads_the_image) {
    const Model model = model_of(4, 4, false);
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 1, 4});
    const Value weights =
        builder.constant(DType::fp32, {4, 1, 1, 4}, std::vector<float>(16, -1.0F));
    const Value bias = builder.zeros(DType::fp32, {4});
    const Value y = builder.conv2d(
        x, weights, bias, {.stride = {1, 1}, .dilation = {1, 1}, .accumulator = DType::fp32});
    builder.output(model.slopes.apply(builder, y), "prelu");
    builder.output(builder.add(y, y), "doubled");
    ModelRun run{builder};
    EXPECT_EQ(run.input({1.0F, 2.0F, 3.0F, 4.0F}).output<float>(), std::vector<float>(4, -20.0F));
    std::vector<float> expected = model.slopes.values;
    std::ranges::transform(expected, expected.begin(), [](float slope) { return -10 * slope; });
    EXPECT_EQ(run.slot<float>(1), expected);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

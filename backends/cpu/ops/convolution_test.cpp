// CONV2D and DEPTHWISE_CONV2D, alone and with what their steps take along.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"
#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::Axis;
using testing::expect_near;
using testing::expect_same;
using testing::Filter;
using testing::Image;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using testing::on_each_instruction_set;
using testing::windows;
using tosa::DType;
using tosa::Op;
using tosa::Value;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Image image_of(std::vector<std::int32_t> shape, std::uint32_t seed = 1) {
    Image image{.batch = shape[0],
                .height = shape[1],
                .width = shape[2],
                .channels = shape[3],
                .pixels = {}};
    image.pixels = Numbers{seed}.take(image.size());
    return image;
}

Filter filter_of(const Image& input, std::int32_t channels, Axis y, Axis x) {
    Numbers numbers{7};
    const std::int32_t taps = y.kernel * x.kernel * input.channels * channels;
    return {.y = y,
            .x = x,
            .channels = channels,
            .weights = numbers.take(static_cast<std::size_t>(taps)),
            .bias = numbers.take(static_cast<std::size_t>(channels))};
}

Filter depthwise_filter_of(const Image& input, std::int32_t multiplier, Axis y, Axis x) {
    Filter filter = filter_of(input, multiplier, y, x);
    const std::int32_t channels = input.channels * multiplier;
    filter.bias = Numbers{9}.take(static_cast<std::size_t>(channels));
    return filter;
}

Value conv2d(tosa::Builder& builder, Value x, std::int32_t input_channels, const Filter& filter) {
    const auto bias = static_cast<std::int32_t>(filter.bias.size());
    return builder.conv2d(
        x,
        builder.constant(DType::fp32,
                         {filter.channels, filter.y.kernel, filter.x.kernel, input_channels},
                         filter.weights),
        builder.constant(DType::fp32, {bias}, filter.bias), filter.attribute());
}

Value depthwise(tosa::Builder& builder, Value x, std::int32_t input_channels,
                const Filter& filter) {
    const auto bias = static_cast<std::int32_t>(filter.bias.size());
    return builder.depthwise_conv2d(
        x,
        builder.constant(DType::fp32,
                         {filter.y.kernel, filter.x.kernel, input_channels, filter.channels},
                         filter.weights),
        builder.constant(DType::fp32, {bias}, filter.bias), filter.attribute());
}

void check_conv2d(const Image& input, const Filter& filter, std::uint32_t threads = 1) {
    SCOPED_TRACE(::testing::PrintToString(input.shape()) + " to " +
                 std::to_string(filter.channels));
    tosa::Builder builder;
    builder.output(
        conv2d(builder, builder.input("x", DType::fp32, input.shape()), input.channels, filter),
        "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    expect_near(run.input(input.pixels).output<float>(), plain_conv2d(input, filter).pixels);
}

void check_depthwise(const Image& input, const Filter& filter, std::uint32_t threads = 1) {
    SCOPED_TRACE(::testing::PrintToString(input.shape()));
    tosa::Builder builder;
    builder.output(
        depthwise(builder, builder.input("x", DType::fp32, input.shape()), input.channels, filter),
        "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    expect_near(run.input(input.pixels).output<float>(), plain_depthwise(input, filter).pixels);
}

TEST(Conv2d, of_one_tap_is_right_for_every_number_of_channels) {
    on_each_instruction_set([] {
        for (std::int32_t channels = 1; channels <= 100; channels += channels < 20 ? 1 : 5) {
            const Image input = image_of({1, 3, 9, (channels * 7) % 13 + 1});
            check_conv2d(input, filter_of(input, channels, {}, {}));
        }
    });
}

TEST(Conv2d, of_one_tap_is_right_for_every_number_of_pixels) {
    on_each_instruction_set([] {
        for (std::int32_t pixels = 1; pixels <= 70; ++pixels) {
            const Image input = image_of({1, 1, pixels, 5});
            check_conv2d(input, filter_of(input, 20, {}, {}));
            check_conv2d(input, filter_of(input, 3, {}, {}));
        }
    });
}

TEST(Conv2d, is_right_for_every_window) {
    on_each_instruction_set([] {
        for (const Axis& x : windows(17)) {
            const Image input = image_of({2, 6, 17, 3});
            check_conv2d(input, filter_of(input, 10, {.kernel = 3, .before = 1, .after = 1}, x));
        }
        for (const Axis& y : windows(6)) {
            const Image input = image_of({1, 6, 4, 2});
            check_conv2d(input, filter_of(input, 3, y, {.kernel = 3, .before = 1, .after = 1}));
        }
    });
}

TEST(Conv2d, of_a_window_wider_than_its_image_is_right) {
    on_each_instruction_set([] {
        const Image input = image_of({1, 2, 1, 4});
        check_conv2d(input, filter_of(input, 6, {.kernel = 5, .before = 3, .after = 3},
                                      {.kernel = 7, .before = 5, .after = 4}));
    });
}

TEST(Conv2d, is_the_same_in_parts) {
    for (const std::uint32_t threads : {2U, 3U, 8U}) {
        const Image input = image_of({1, 32, 32, 16});
        check_conv2d(input, filter_of(input, 33, {}, {}), threads);
        check_conv2d(input,
                     filter_of(input, 12, {.kernel = 3, .before = 1, .after = 1},
                               {.kernel = 3, .before = 1, .after = 1}),
                     threads);
    }
}

TEST(Conv2d, of_one_tap_with_many_weights_is_right) {
    on_each_instruction_set([] {
        for (const std::uint32_t threads : {1U, 2U, 3U, 8U}) {
            const Image input = image_of({1, 3, 5, 301});
            check_conv2d(input, filter_of(input, 331, {}, {}), threads);
            const Image pixel = image_of({1, 1, 1, 310});
            check_conv2d(pixel, filter_of(pixel, 320, {}, {}), threads);
        }
    });
}

TEST(Conv2d, takes_one_bias_for_all_channels) {
    const Image input = image_of({1, 4, 4, 3});
    Filter filter = filter_of(input, 10, {}, {});
    filter.bias = {0.75F};
    check_conv2d(input, filter);
}

TEST(DepthwiseConv2d, is_right_for_every_number_of_channels) {
    on_each_instruction_set([] {
        for (std::int32_t channels = 1; channels <= 40; ++channels) {
            const Image input = image_of({1, 5, 11, channels});
            check_depthwise(input,
                            depthwise_filter_of(input, 1, {.kernel = 3, .before = 1, .after = 1},
                                                {.kernel = 3, .before = 1, .after = 1}));
        }
    });
}

TEST(DepthwiseConv2d, is_right_for_every_window) {
    on_each_instruction_set([] {
        for (const Axis& x : windows(23)) {
            const Image input = image_of({2, 4, 23, 20});
            check_depthwise(
                input, depthwise_filter_of(input, 1, {.kernel = 3, .before = 1, .after = 1}, x));
        }
        for (const Axis& y : windows(6)) {
            const Image input = image_of({1, 6, 4, 17});
            check_depthwise(
                input, depthwise_filter_of(input, 1, y, {.kernel = 5, .before = 2, .after = 2}));
        }
    });
}

// Of sevens, for which some kernels have tiles of their own, and not.
TEST(DepthwiseConv2d, is_right_for_every_width) {
    on_each_instruction_set([] {
        for (const std::int32_t kernel : {3, 5}) {
            for (const std::int32_t stride : {1, 2}) {
                const Axis y{.kernel = kernel, .before = kernel / 2, .after = kernel / 2};
                Axis x = y;
                x.stride = stride;
                for (std::int32_t width = 1; width <= 35; width += width < 8 ? 1 : 3) {
                    const std::int32_t channels = 17 + (width * 5 % 24);
                    // With as many zeros after it as the last window needs.
                    x.after = x.before + ((width - 1) * (stride - 1) % 2);
                    const Image input = image_of({1, 3, width, channels});
                    check_depthwise(input, depthwise_filter_of(input, 1, y, x));
                }
            }
        }
    });
}

TEST(DepthwiseConv2d, with_several_outputs_for_each_channel_is_right) {
    for (const Axis& x : windows(7)) {
        const Image input = image_of({2, 4, 7, 3});
        check_depthwise(input,
                        depthwise_filter_of(input, 4, {.kernel = 3, .before = 1, .after = 1}, x));
    }
}

TEST(DepthwiseConv2d, is_the_same_in_parts) {
    for (const std::uint32_t threads : {2U, 5U}) {
        const Image input = image_of({1, 40, 40, 24});
        check_depthwise(input,
                        depthwise_filter_of(input, 1, {.kernel = 3, .before = 1, .after = 1},
                                            {.kernel = 3, .before = 1, .after = 1}),
                        threads);
    }
}

// What the models here come down to: the block that face detection is made of.
struct Block {
    tosa::Builder builder;
    Image input;
    std::vector<float> wanted;
};

// x + pointwise(depthwise(x)), at least 0; with more output channels than x has, x is padded.
Block block_of(std::int32_t channels, std::int32_t output_channels) {
    Block block{.builder = {}, .input = image_of({1, 12, 13, channels}), .wanted = {}};
    const Axis three{.kernel = 3, .before = 1, .after = 1};
    const Filter spatial = depthwise_filter_of(block.input, 1, three, three);
    const Filter mix = filter_of(block.input, output_channels, {}, {});
    tosa::Builder& builder = block.builder;
    const Value x = builder.input("x", DType::fp32, block.input.shape());
    Value y = depthwise(builder, x, channels, spatial);
    y = conv2d(builder, y, channels, mix);
    const std::int64_t more = output_channels - channels;
    const Value padded = more == 0 ? x : builder.pad(x, {0, 0, 0, 0, 0, 0, 0, more});
    builder.output(builder.clamp(builder.add(padded, y), 0.0F, 1.5F), "y");

    const Image between = plain_depthwise(block.input, spatial);
    Image result = plain_conv2d(between, mix);
    for (std::int32_t row = 0; row < result.height; ++row) {
        for (std::int32_t column = 0; column < result.width; ++column) {
            for (std::int32_t c = 0; c < output_channels; ++c) {
                float& pixel = result.pixels[result.index(0, row, column, c)];
                pixel += c < channels ? block.input.at(0, row, column, c) : 0.0F;
                pixel = std::clamp(pixel, 0.0F, 1.5F);
            }
        }
    }
    block.wanted = result.pixels;
    return block;
}

TEST(Convolution, of_a_whole_residual_block_is_one_step) {
    on_each_instruction_set([] {
        for (const std::int32_t channels : {8, 24, 30}) {
            for (const std::int32_t more : {0, 4, 20}) {
                SCOPED_TRACE(std::to_string(channels) + " and " + std::to_string(more));
                const Block block = block_of(channels, channels + more);
                ModelRun run{block.builder};
                expect_near(run.input(block.input.pixels).output<float>(), block.wanted, 1e-4F);
                EXPECT_EQ(run.steps(), 1U);
            }
        }
    });
}

TEST(Convolution, of_a_whole_residual_block_is_the_same_in_parts) {
    const Block block = block_of(24, 28);
    ModelRun run{block.builder, ModelOptions{.threads = 4}};
    expect_near(run.input(block.input.pixels).output<float>(), block.wanted, 1e-4F);
    EXPECT_GT(run.program().steps.front()->parts(), 1U);
}

// x + project(depthwise(clamp(expand(x)))): the block that hand landmarks are made of, over images
// so large that the step in the middle is computed a few rows at a time.
void check_expanded(const Image& input, std::int32_t expanded, Axis y, Axis x,
                    std::uint32_t threads = 1) {
    SCOPED_TRACE(::testing::PrintToString(input.shape()) + ", kernel " + std::to_string(y.kernel) +
                 ", stride " + std::to_string(y.stride) + ", dilation " +
                 std::to_string(y.dilation) + ", " + std::to_string(threads) + " threads");
    const auto clamp_all = [](Image& image) {
        for (float& pixel : image.pixels) {
            pixel = std::clamp(pixel, 0.0F, 0.75F);
        }
    };
    const Filter expand = filter_of(input, expanded, {}, {});
    Image wanted = plain_conv2d(input, expand);
    clamp_all(wanted);
    const Filter spatial = depthwise_filter_of(wanted, 1, y, x);
    wanted = plain_depthwise(wanted, spatial);
    clamp_all(wanted);
    const Filter project = filter_of(wanted, input.channels, {}, {});
    wanted = plain_conv2d(wanted, project);
    const bool is_same_size = wanted.height == input.height && wanted.width == input.width;

    tosa::Builder builder;
    const Value image = builder.input("x", DType::fp32, input.shape());
    Value value = builder.clamp(conv2d(builder, image, input.channels, expand), 0.0F, 0.75F);
    value = builder.clamp(depthwise(builder, value, expanded, spatial), 0.0F, 0.75F);
    value = conv2d(builder, value, expanded, project);
    if (is_same_size) {
        value = builder.add(value, image);
        std::ranges::transform(wanted.pixels, input.pixels, wanted.pixels.begin(), std::plus<>{});
    }
    builder.output(value, "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    expect_near(run.input(input.pixels).output<float>(), wanted.pixels, 1e-3F);
    EXPECT_EQ(run.steps(), 1U);
}

TEST(Convolution, of_a_large_expanded_block_is_one_step) {
    const Axis three{.kernel = 3, .before = 1, .after = 1};
    on_each_instruction_set([&] {
        check_expanded(image_of({1, 41, 37, 5}), 100, three, three);
        check_expanded(image_of({1, 42, 37, 5}), 100,
                       {.kernel = 3, .stride = 2, .before = 0, .after = 1},
                       {.kernel = 3, .stride = 2, .before = 1, .after = 1});
        check_expanded(image_of({2, 43, 31, 3}), 99,
                       {.kernel = 5, .dilation = 2, .before = 4, .after = 4},
                       {.kernel = 5, .before = 2, .after = 2});
        check_expanded(image_of({1, 43, 31, 3}), 99, {.kernel = 2, .stride = 3, .before = 1},
                       three);
    });
}

TEST(Convolution, of_a_large_expanded_block_is_the_same_in_parts) {
    const Axis three{.kernel = 3, .before = 1, .after = 1};
    for (const std::uint32_t threads : {2U, 3U, 8U}) {
        check_expanded(image_of({2, 41, 37, 5}), 100, three, three, threads);
        check_expanded(image_of({3, 53, 29, 4}), 90,
                       {.kernel = 5, .stride = 2, .before = 2, .after = 2}, three, threads);
    }
}

// A convolution of one tap with weight 1, whose result is the input.
Value same(tosa::Builder& builder, Value x) {
    return builder.conv2d(x, builder.constant({1, 1, 1, 1}, {1.0F}), builder.constant({1}, {0.0F}),
                          Filter{}.attribute());
}

Value clamp(tosa::Builder& builder, Value x, tosa::NanMode mode) {
    static constexpr float bounds[] = {0.0F, 1.0F};
    const auto bytes = std::as_bytes(std::span{bounds});
    return builder.op(
        Op::clamp, {x},
        tosa::ClampAttribute{.min = bytes.first(4), .max = bytes.last(4), .nan_mode = mode});
}

TEST(Convolution, treats_nan_as_the_clamp_it_took_along_would) {
    on_each_instruction_set([] {
        for (const std::size_t lane : {0U, 7U, 8U, 16U}) {
            for (const auto mode : {tosa::NanMode::propagate, tosa::NanMode::ignore}) {
                tosa::Builder builder;
                builder.output(
                    clamp(builder, same(builder, builder.input("x", DType::fp32, {1, 1, 20, 1})),
                          mode),
                    "y");
                std::vector<float> x(20, 3.0F);
                std::vector<float> wanted(20, 1.0F);
                x[lane] = nan;
                wanted[lane] = mode == tosa::NanMode::ignore ? 0.0F : nan;
                ModelRun run{builder};
                expect_same(run.input(x).output<float>(), wanted);
                EXPECT_EQ(run.steps(), 1U);
            }
        }
    });
}

TEST(Convolution, adds_its_own_input) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2, 2, 1});
    // The block between keeps x alive in the arena, where it could be written over.
    const Value y = builder.mul(x, x);
    builder.output(builder.add(same(builder, y), y), "y");
    ModelRun run{builder};
    expect_same(run.input({1.0F, 2.0F, 3.0F, 4.0F}).output<float>(), {2.0F, 8.0F, 18.0F, 32.0F});
}

TEST(Convolution, does_not_write_over_what_a_window_still_sees) {
    tosa::Builder builder;
    const Image input = image_of({1, 8, 8, 16});
    const Axis three{.kernel = 3, .before = 1, .after = 1};
    const Filter filter = depthwise_filter_of(input, 1, three, three);
    const Value x = builder.input("x", DType::fp32, input.shape());
    const Value y = builder.add(x, x);
    builder.output(builder.add(depthwise(builder, y, 16, filter), y), "y");
    Image twice = input;
    std::ranges::transform(twice.pixels, twice.pixels.begin(), [](float v) { return v + v; });
    std::vector<float> wanted = plain_depthwise(twice, filter).pixels;
    std::ranges::transform(wanted, twice.pixels, wanted.begin(), std::plus<>{});
    ModelRun run{builder};
    expect_near(run.input(input.pixels).output<float>(), wanted);
}

TEST(Convolution, with_several_outputs_for_each_channel_adds_an_image_that_dies) {
    tosa::Builder builder;
    const Image input = image_of({1, 3, 3, 2});
    const Filter filter = depthwise_filter_of(input, 2, {}, {});
    const Image other = image_of({1, 3, 3, 4}, 5);
    const Value x = builder.input("x", DType::fp32, input.shape());
    const Value z = builder.input("z", DType::fp32, other.shape());
    const Value dying = builder.add(z, z);
    builder.output(builder.add(depthwise(builder, x, 2, filter), dying), "y");
    std::vector<float> wanted = plain_depthwise(input, filter).pixels;
    std::ranges::transform(wanted, other.pixels, wanted.begin(),
                           [](float a, float b) { return a + b + b; });
    ModelRun run{builder};
    expect_near(run.input(input.pixels).input(other.pixels).output<float>(), wanted);
}

TEST(Convolution, leaves_alone_what_somebody_else_reads_too) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 2, 1});
    const Value y = same(builder, x);
    builder.output(builder.clamp(y, 0.0F, 1.0F), "clamped");
    builder.output(y, "plain");
    ModelRun run{builder};
    run.input({-2.0F, 5.0F}).run();
    expect_same(run.slot<float>(1), {0.0F, 1.0F});
    expect_same(run.slot<float>(2), {-2.0F, 5.0F});
}

TEST(Convolution, takes_zeros_around_its_input_along) {
    on_each_instruction_set([] {
        const Image input = image_of({1, 7, 9, 3});
        const Filter inner = filter_of(input, 5, {.kernel = 3, .stride = 2}, {.kernel = 3});
        Filter outer = inner;
        outer.y.before = 1;
        outer.y.after = 1;
        outer.x.before = 2;
        outer.x.after = 1;
        tosa::Builder builder;
        const Value x = builder.input("x", DType::fp32, input.shape());
        builder.output(conv2d(builder, builder.pad(x, {0, 0, 1, 1, 2, 1, 0, 0}), 3, inner), "y");
        ModelRun run{builder};
        expect_near(run.input(input.pixels).output<float>(), plain_conv2d(input, outer).pixels);
        EXPECT_EQ(run.steps(), 1U);
    });
}

TEST(Convolution, of_constants_is_a_constant) {
    const Image input = image_of({1, 4, 4, 2});
    const Filter filter = filter_of(input, 3, {.kernel = 3}, {.kernel = 3});
    tosa::Builder builder;
    const Value y =
        conv2d(builder, builder.constant(DType::fp32, {1, 4, 4, 2}, input.pixels), 2, filter);
    builder.output(builder.add(builder.input("x", DType::fp32, {1, 2, 2, 3}), y), "y");
    ModelRun run{builder};
    expect_near(run.input(std::vector<float>(12)).output<float>(),
                plain_conv2d(input, filter).pixels);
    EXPECT_EQ(run.steps(), 1U);
}

TEST(Convolution, with_weights_that_come_with_a_submission_leaves_its_neighbours_alone) {
    const Image input = image_of({1, 5, 6, 3});
    const Axis padded{.kernel = 3, .before = 1, .after = 1};
    const Filter filter = filter_of(input, 4, padded, padded);
    const Filter unpadded{
        .y = {.kernel = 3}, .x = {.kernel = 3}, .channels = 4, .weights = {}, .bias = {}};
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, input.shape());
    const Value weights = builder.input("w", DType::fp32, {4, 3, 3, 3});
    const Value bias = builder.constant(DType::fp32, {4}, filter.bias);
    const Value y = builder.conv2d(builder.pad(x, {0, 0, 1, 1, 1, 1, 0, 0}), weights, bias,
                                   unpadded.attribute());
    builder.output(builder.clamp(y, -0.5F, 0.5F), "y");
    Image wanted = plain_conv2d(input, filter);
    for (float& pixel : wanted.pixels) {
        pixel = std::clamp(pixel, -0.5F, 0.5F);
    }
    ModelRun run{builder};
    expect_near(run.input(input.pixels).input(filter.weights).output<float>(), wanted.pixels);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

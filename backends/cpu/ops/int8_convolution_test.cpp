// CONV2D and DEPTHWISE_CONV2D of INT8 with known weights, for every window.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

constexpr std::int32_t input_zero = -7;
constexpr Axis three{.kernel = 3, .before = 1, .after = 1};

// Whole numbers from -128 to 127.
std::vector<float> bytes(std::size_t count, std::uint32_t seed) {
    std::vector<float> found = Numbers{seed}.take(count);
    for (float& x : found) {
        x = std::floor(x * 128.0F);
    }
    return found;
}

std::vector<std::int8_t> as_int8(const std::vector<float>& numbers, float zero = 0) {
    std::vector<std::int8_t> found;
    for (const float x : numbers) {
        found.push_back(static_cast<std::int8_t>(x + zero));
    }
    return found;
}

struct Problem {
    Image input;  // less the zero point
    Filter filter;
    bool is_depthwise = false;

    Problem(const std::vector<std::int32_t>& shape, std::int32_t channels, const Axis& y,
            const Axis& x, bool depthwise = false)
        : input{.batch = shape[0],
                .height = shape[1],
                .width = shape[2],
                .channels = shape[3],
                .pixels = {}},
          filter{.y = y, .x = x, .channels = channels, .weights = {}, .bias = {}},
          is_depthwise(depthwise) {
        input.pixels = bytes(input.size(), 1);
        for (float& pixel : input.pixels) {
            pixel -= static_cast<float>(input_zero);
        }
        const std::int32_t outputs = is_depthwise ? channels * shape[3] : channels;
        const std::int32_t taps = y.kernel * x.kernel;
        filter.weights = bytes(static_cast<std::size_t>(taps) * static_cast<std::size_t>(channels) *
                                   static_cast<std::size_t>(shape[3]),
                               2);
        filter.bias = bytes(static_cast<std::size_t>(outputs), 3);
    }

    [[nodiscard]] std::vector<std::int32_t> wanted() const {
        const Image output =
            is_depthwise ? plain_depthwise(input, filter) : plain_conv2d(input, filter);
        return {output.pixels.begin(), output.pixels.end()};
    }

    // The convolution of an input of INT8.
    Value build(tosa::Builder& builder) const {
        const auto& [y, x, channels, weights, bias] = filter;
        const std::vector<std::int32_t> wide_bias(bias.begin(), bias.end());
        const std::vector<std::int32_t> shape =
            is_depthwise ? std::vector<std::int32_t>{y.kernel, x.kernel, input.channels, channels}
                         : std::vector<std::int32_t>{channels, y.kernel, x.kernel, input.channels};
        tosa::Conv2dAttribute attribute = filter.attribute();
        attribute.accumulator = DType::int32;
        return builder.op(
            is_depthwise ? Op::depthwise_conv2d : Op::conv2d,
            {builder.input("x", DType::int8, input.shape()),
             builder.constant(DType::int8, shape, as_int8(weights)),
             builder.constant(DType::int32, {static_cast<std::int32_t>(bias.size())}, wide_bias),
             builder.constant(DType::int8, {1}, std::vector<std::int8_t>{input_zero}),
             builder.zeros(DType::int8, {1})},
            attribute);
    }

    [[nodiscard]] std::vector<std::int32_t> computed(std::uint32_t threads) const {
        tosa::Builder builder;
        builder.output(build(builder), "y");
        ModelRun run{builder, ModelOptions{.threads = threads}};
        run.input(as_int8(input.pixels, static_cast<float>(input_zero)));
        return run.output<std::int32_t>();
    }

    void check(std::uint32_t threads = 1) const {
        SCOPED_TRACE(::testing::PrintToString(input.shape()) + " to " +
                     std::to_string(filter.channels));
        EXPECT_EQ(computed(threads), wanted());
    }
};

TEST(Int8Convolution, of_one_tap_is_right_for_every_number_of_channels) {
    on_each_instruction_set([] {
        for (std::int32_t channels = 1; channels <= 100; channels += channels < 20 ? 1 : 9) {
            Problem{{1, 3, 9, ((channels * 7) % 13) + 1}, channels, {}, {}}.check();
        }
    });
}

TEST(Int8Convolution, is_right_for_every_window) {
    on_each_instruction_set([] {
        for (const Axis& x : windows(17)) {
            Problem{{2, 6, 17, 3}, 10, three, x}.check();
        }
        for (const Axis& y : windows(6)) {
            Problem{{2, 6, 4, 5}, 3, y, three}.check();
        }
    });
}

TEST(Int8Convolution, of_few_channels_is_right_for_every_width) {
    on_each_instruction_set([] {
        for (std::int32_t channels = 1; channels <= 7; ++channels) {
            for (std::int32_t kernel = 2; kernel <= 6; ++kernel) {
                Problem{{2, 5, 11, channels},
                        5,
                        {.kernel = 5, .stride = 2, .before = 1, .after = 1},
                        {.kernel = kernel, .stride = 2, .before = 1, .after = kernel % 2}}
                    .check();
            }
        }
    });
}

TEST(Int8Convolution, of_a_window_wider_than_its_image_is_right) {
    const Axis y{.kernel = 5, .before = 3, .after = 3};
    const Axis x{.kernel = 7, .before = 5, .after = 4};
    Problem{{1, 2, 1, 4}, 6, y, x}.check();
    Problem{{2, 2, 1, 3}, 6, y, x}.check();
    Problem{{1, 2, 1, 4}, 1, y, x, true}.check();
}

TEST(Int8Convolution, is_the_same_in_parts) {
    for (const std::uint32_t threads : {2U, 3U, 8U}) {
        Problem{{1, 32, 32, 16}, 33, {}, {}}.check(threads);
        Problem{{2, 32, 32, 16}, 12, three, three}.check(threads);
        Problem{{2, 32, 32, 36}, 1, three, three, true}.check(threads);
    }
}

TEST(Int8Depthwise, is_right_for_every_window) {
    on_each_instruction_set([] {
        for (const Axis& x : windows(23)) {
            Problem{{2, 4, 23, 20}, 1, three, x, true}.check();
        }
        for (const Axis& y : windows(9)) {
            Problem{{2, 9, 4, 3}, 1, y, three, true}.check();
        }
    });
}

TEST(Int8Depthwise, of_many_taps_is_exact) {
    // So many that FP32 could not hold their sums.
    Problem{{1, 20, 20, 2}, 1, {.kernel = 20}, {.kernel = 20}, true}.check();
}

// INT8 again: for each channel times another number near a thousandth, plus 5, from -100 to 90.
void check_rescaled(const Problem& problem, std::uint32_t threads) {
    const auto channels = static_cast<std::int32_t>(problem.filter.bias.size());
    std::vector<std::int32_t> multipliers;
    std::vector<std::int8_t> shifts;
    for (std::int32_t c = 0; c < channels; ++c) {
        multipliers.push_back((1 << 30) + (c * 12'345'678 % (1 << 30)));
        shifts.push_back(static_cast<std::int8_t>(39 + (c % 4)));
    }
    std::vector<std::int8_t> wanted;
    for (const std::int32_t sum : problem.wanted()) {
        const std::size_t c = wanted.size() % multipliers.size();
        const std::int64_t scaled =
            ((std::int64_t{sum} * multipliers[c]) + (std::int64_t{1} << (shifts[c] - 1))) >>
            shifts[c];
        wanted.push_back(static_cast<std::int8_t>(std::clamp<std::int64_t>(scaled + 5, -100, 90)));
    }
    tosa::Builder builder;
    const Value sums = problem.build(builder);
    const Value rescaled = builder.op(
        Op::rescale,
        {sums, builder.constant(DType::int32, {channels}, multipliers),
         builder.constant(DType::int8, {channels}, shifts), builder.zeros(DType::int32, {1}),
         builder.constant(DType::int8, {1}, std::vector<std::int8_t>{5})},
        tosa::RescaleAttribute{.scale32 = true,
                               .rounding = tosa::RoundingMode::single_round,
                               .per_channel = true,
                               .input_unsigned = false,
                               .output_unsigned = false},
        {.dtype = DType::int8, .shape = {}});
    const std::int8_t bounds[] = {-100, 90};
    builder.output(builder.op(Op::clamp, {rescaled},
                              tosa::ClampAttribute{.min = std::as_bytes(std::span{bounds}.first(1)),
                                                   .max = std::as_bytes(std::span{bounds}.last(1)),
                                                   .nan_mode = tosa::NanMode::unknown}),
                   "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    run.input(as_int8(problem.input.pixels, static_cast<float>(input_zero)));
    EXPECT_EQ(run.output<std::int8_t>(), wanted);
    EXPECT_EQ(run.steps(), 1U);
}

TEST(Int8Convolution, rescales_and_clamps_as_it_writes) {
    on_each_instruction_set([] {
        for (const std::uint32_t threads : {1U, 3U}) {
            check_rescaled({{2, 7, 9, 5}, 33, {}, {}}, threads);
            check_rescaled({{2, 40, 9, 16}, 20, three, three}, threads);
            check_rescaled({{2, 40, 9, 3}, 24, three, three}, threads);
            check_rescaled({{2, 40, 9, 37}, 1, three, three, true}, threads);
        }
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

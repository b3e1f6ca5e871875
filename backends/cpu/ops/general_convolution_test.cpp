// CONV2D, CONV3D, DEPTHWISE_CONV2D and TRANSPOSE_CONV2D of every type, with operands that are
// constants and operands that come with each run.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/typed.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::combinations_of;
using testing::decoded;
using testing::encoded;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Whole;
using testing::whole_numbers;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Dims = std::vector<std::int32_t>;

struct Types {
    DType input;
    DType weights;
    DType output;
    DType accumulator;
};

// A tensor of whole numbers.
struct Tensor {
    Dims shape;
    Whole numbers;

    [[nodiscard]] std::size_t index(std::initializer_list<std::int32_t> at) const {
        std::size_t index = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            index = (index * static_cast<std::size_t>(shape[i])) +
                    static_cast<std::size_t>(std::data(at)[i]);
        }
        return index;
    }

    std::int64_t& at(std::initializer_list<std::int32_t> position) {
        return numbers[index(position)];
    }

    [[nodiscard]] std::int64_t at(std::initializer_list<std::int32_t> position) const {
        return numbers[index(position)];
    }
};

Tensor tensor_of(const Dims& shape, std::int64_t most, std::uint32_t seed) {
    const std::size_t count = tosa::element_count(shape).value_or(0);
    return {.shape = shape, .numbers = whole_numbers(count, most, seed)};
}

// A convolution over volumes (N, D, H, W, C) with weights OC, KD, KH, KW, IC; for the flat ones D
// and KD are 1. A tap of input position i and kernel position k belongs to an output position.
struct Problem {
    Op op;
    Tensor input;
    Tensor weights;
    Tensor bias;
    Dims output_shape;
    std::array<std::int32_t, 3> stride{1, 1, 1};
    std::array<std::int32_t, 3> dilation{1, 1, 1};
    std::array<std::int32_t, 6> pad{};  // of the output, if transposed
    std::int64_t input_zero = 0;
    std::int64_t weight_zero = 0;

    [[nodiscard]] bool is_depthwise() const { return op == Op::depthwise_conv2d; }

    // The output position that input `i` reaches through tap `k`; false if there is none.
    [[nodiscard]] bool reaches(std::size_t axis, std::int32_t i, std::int32_t k,
                               std::int32_t& o) const {
        if (op == Op::transpose_conv2d) {
            o = (i * stride[axis]) + pad[2 * axis] + k;
        } else {
            const std::int32_t start = i + pad[2 * axis] - (k * dilation[axis]);
            o = start / stride[axis];
            if (start < 0 || start % stride[axis] != 0) {
                return false;
            }
        }
        return o >= 0 && o < output_shape[axis + 1];
    }
};

// Every element of the input to every output it reaches.
Whole plain(const Problem& p) {
    Tensor output{.shape = p.output_shape, .numbers = {}};
    const auto channels = static_cast<std::size_t>(p.output_shape[4]);
    output.numbers.resize(tosa::element_count(p.output_shape).value_or(0));
    for (std::size_t i = 0; i < output.numbers.size(); ++i) {
        output.numbers[i] = p.bias.numbers[p.bias.numbers.size() == 1 ? 0 : i % channels];
    }
    const Dims& in = p.input.shape;
    const Dims& kernel = p.weights.shape;
    const std::int32_t multiplier = p.output_shape[4] / in[4];
    const std::int32_t reached = p.is_depthwise() ? multiplier : p.output_shape[4];
    for (std::size_t i = 0; i < p.input.numbers.size(); ++i) {
        std::array<std::int32_t, 5> at{};
        auto rest = static_cast<std::int32_t>(i);
        for (std::size_t axis = 5; axis-- > 0;) {
            at[axis] = rest % in[axis];
            rest /= in[axis];
        }
        for (std::int32_t tap = 0; tap < kernel[1] * kernel[2] * kernel[3]; ++tap) {
            const std::array k{tap / kernel[3] / kernel[2], tap / kernel[3] % kernel[2],
                               tap % kernel[3]};
            std::array<std::int32_t, 3> o{};
            if (!p.reaches(0, at[1], k[0], o[0]) || !p.reaches(1, at[2], k[1], o[1]) ||
                !p.reaches(2, at[3], k[2], o[2])) {
                continue;
            }
            for (std::int32_t m = 0; m < reached; ++m) {
                const std::int32_t oc = p.is_depthwise() ? (at[4] * multiplier) + m : m;
                const std::int32_t ic = p.is_depthwise() ? 0 : at[4];
                output.at({at[0], o[0], o[1], o[2], oc}) +=
                    (p.input.numbers[i] - p.input_zero) *
                    (p.weights.at({oc, k[0], k[1], k[2], ic}) - p.weight_zero);
            }
        }
    }
    return output.numbers;
}

Problem problem_of(Op op) {
    Problem p{.op = op, .input = {}, .weights = {}, .bias = {}, .output_shape = {}};
    const bool is_deep = op == Op::conv3d;
    const std::int32_t channels = op == Op::depthwise_conv2d ? 69 : 67;
    p.input = tensor_of({2, is_deep ? 3 : 1, 5, 6, 3}, 3, 1);
    p.weights =
        tensor_of({channels, is_deep ? 2 : 1, 3, 2, op == Op::depthwise_conv2d ? 1 : 3}, 2, 2);
    p.bias = tensor_of({channels}, 5, 3);
    if (op == Op::transpose_conv2d) {
        p.stride = {1, 2, 3};
        p.pad = {0, 0, 1, -2, -1, 2};
        p.output_shape = {2, 1, 10, 18, channels};
    } else {
        p.stride = {1, 2, 1};
        p.dilation = {1, 1, 2};
        p.pad = {0, is_deep ? 1 : 0, 1, 1, 2, 1};
        p.output_shape = {2, is_deep ? 3 : 1, 3, 7, channels};
    }
    return p;
}

tosa::Attribute attribute_of(const Problem& p, DType accumulator) {
    if (p.op == Op::conv3d) {
        return tosa::Conv3dAttribute{.pad = p.pad,
                                     .stride = p.stride,
                                     .dilation = p.dilation,
                                     .local_bound = true,
                                     .accumulator = accumulator};
    }
    if (p.op == Op::transpose_conv2d) {
        return tosa::TransposeConv2dAttribute{.out_pad = {p.pad[2], p.pad[3], p.pad[4], p.pad[5]},
                                              .stride = {p.stride[1], p.stride[2]},
                                              .local_bound = false,
                                              .accumulator = accumulator};
    }
    return tosa::Conv2dAttribute{.pad = {p.pad[2], p.pad[3], p.pad[4], p.pad[5]},
                                 .stride = {p.stride[1], p.stride[2]},
                                 .dilation = {p.dilation[1], p.dilation[2]},
                                 .local_bound = false,
                                 .accumulator = accumulator};
}

// A tensor's shape and numbers as the operator wants them.
Dims shape_for(Op op, Dims shape) {
    if (op != Op::conv3d) {
        shape.erase(shape.begin() + 1);
    }
    return shape;
}

Tensor weights_for(const Problem& p) {
    if (!p.is_depthwise()) {
        return {.shape = shape_for(p.op, p.weights.shape), .numbers = p.weights.numbers};
    }
    // KH, KW, C, M.
    const Dims& from = p.weights.shape;
    Tensor to{.shape = {from[2], from[3], p.input.shape[4], from[0] / p.input.shape[4]},
              .numbers = {}};
    for (std::int32_t tap = 0; tap < from[2] * from[3]; ++tap) {
        for (std::int32_t channel = 0; channel < from[0]; ++channel) {
            to.numbers.push_back(p.weights.at({channel, 0, tap / from[3], tap % from[3], 0}));
        }
    }
    return to;
}

// What comes with each run.
enum class Late : std::uint8_t { input, weights, all_but_the_input };

Whole computed(const Problem& p, const Types& types, Late late, std::uint32_t threads) {
    tosa::Builder builder;
    std::vector<std::vector<std::byte>> inputs;
    const auto operand = [&](std::string_view name, DType dtype, const Tensor& tensor,
                             bool is_late) {
        const auto bytes = encoded(dtype, tensor.numbers);
        if (!is_late) {
            return builder.constant(dtype, tensor.shape, bytes);
        }
        inputs.push_back(bytes);
        return builder.input(name, dtype, tensor.shape);
    };
    const bool is_late = late == Late::all_but_the_input;
    const Value x =
        operand("x", types.input, {shape_for(p.op, p.input.shape), p.input.numbers}, !is_late);
    const Value weights =
        operand("w", types.weights, weights_for(p), is_late || late == Late::weights);
    const Value bias = operand("b", types.output, p.bias, is_late);
    const Value x_zero = operand("xz", types.input, {{1}, {p.input_zero}}, is_late);
    const Value weight_zero = operand("wz", types.weights, {{1}, {p.weight_zero}}, is_late);
    builder.output(builder.op(p.op, {x, weights, bias, x_zero, weight_zero},
                              attribute_of(p, types.accumulator)),
                   "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    for (const auto& bytes : inputs) {
        run.input(bytes);
    }
    return decoded(types.output, run.output<std::byte>());
}

void check(Problem p) {
    for (const Types& types : combinations_of<Types>(p.op)) {
        SCOPED_TRACE(tosa::name_of(p.op));
        SCOPED_TRACE(tosa::name_of(types.input));
        SCOPED_TRACE(tosa::name_of(types.weights));
        p.input_zero = types.input == DType::int8 ? 3 : 0;
        p.weight_zero = types.weights == DType::int8 && types.input == DType::int8 ? -2 : 0;
        const Whole wanted = plain(p);
        EXPECT_EQ(computed(p, types, Late::input, 1), wanted);
        EXPECT_EQ(computed(p, types, Late::input, 3), wanted);
        EXPECT_EQ(computed(p, types, Late::weights, 2), wanted);
        EXPECT_EQ(computed(p, types, Late::all_but_the_input, 1), wanted);
    }
}

TEST(Convolution, is_right_for_every_type) {
    for (const Op op : {Op::conv2d, Op::conv3d, Op::depthwise_conv2d, Op::transpose_conv2d}) {
        check(problem_of(op));
    }
}

TEST(Convolution, of_every_type_takes_one_bias_for_all_channels) {
    Problem p = problem_of(Op::conv2d);
    p.bias = {.shape = {1}, .numbers = {4}};
    check(p);
}

// One pixel, and as many products as channels.
Problem sum_of_products(const Whole& input, const Whole& weights, std::int64_t bias) {
    const auto channels = static_cast<std::int32_t>(input.size());
    return {.op = Op::conv2d,
            .input = {.shape = {1, 1, 1, 1, channels}, .numbers = input},
            .weights = {.shape = {1, 1, 1, 1, channels}, .numbers = weights},
            .bias = {.shape = {1}, .numbers = {bias}},
            .output_shape = {1, 1, 1, 1, 1}};
}

TEST(Convolution, of_integers_wraps_around) {
    constexpr Types of_int8{DType::int8, DType::int8, DType::int32, DType::int32};
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(computed(sum_of_products({2, 1}, {3, 4}, most), of_int8, Late::input, 1),
              (Whole{10 - most - 2}));
    constexpr Types of_int16{DType::int16, DType::int8, DType::int48, DType::int48};
    constexpr std::int64_t most_48 = (std::int64_t{1} << 47U) - 1;
    EXPECT_EQ(
        computed(sum_of_products({-32768, 32767}, {-128, 127}, most_48), of_int16, Late::input, 1),
        (Whole{(32768 * 128) + (32767 * 127) - most_48 - 2}));
}

TEST(Convolution, of_half_precision_rounds_once) {
    constexpr Types types{DType::fp16, DType::fp16, DType::fp16, DType::fp16};
    for (const Late late : {Late::input, Late::weights}) {
        // 2049 lies between two numbers of FP16, and 2050 is one.
        EXPECT_EQ(computed(sum_of_products({512, 1, 1}, {4, 1, 1}, 0), types, late, 1),
                  (Whole{2050}));
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

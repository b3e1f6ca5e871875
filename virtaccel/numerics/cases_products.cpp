// Cases of MATMUL, CONV2D and DEPTHWISE_CONV2D. Most of their numbers are small integers, so that
// every sum is exact in every type and in any order, and one wrong index shows; `rounds` has
// numbers that are not.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::Op;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr Types matmuls[] = {{.input = DType::fp32, .output = DType::fp32},
                             {.input = DType::fp16, .output = DType::fp16},
                             {.input = DType::fp16, .output = DType::fp32},
                             {.input = DType::bf16, .output = DType::fp32},
                             {.input = DType::fp8e4m3, .output = DType::fp16},
                             {.input = DType::fp8e5m2, .output = DType::fp16},
                             {.input = DType::int8, .output = DType::int32}};

constexpr Types int8_matmul = {.input = DType::int8, .output = DType::int32};

constexpr Types convolutions[] = {{DType::fp32, DType::fp32, DType::fp32, DType::fp32},
                                  {DType::fp16, DType::fp16, DType::fp16, DType::fp16},
                                  {DType::fp16, DType::fp16, DType::fp32, DType::fp16},
                                  {DType::bf16, DType::bf16, DType::fp32, DType::bf16},
                                  {DType::fp8e4m3, DType::fp16, DType::fp16, DType::fp8e4m3},
                                  {DType::fp8e5m2, DType::fp16, DType::fp16, DType::fp8e5m2},
                                  {DType::int8, DType::int32, DType::int32, DType::int8},
                                  {DType::int8, DType::int32, DType::int32, DType::int4}};

bool is_float(const Types& types) {
    return float_format(types.input).has_value();
}

// Half precision comes with two accumulators.
std::string matmul_name(const Types& types) {
    const bool is_wide = types.input == DType::fp16 && types.output == DType::fp32;
    return is_wide ? "fp16_to_fp32" : lower_name(types.input);
}

std::string convolution_name(const Types& types) {
    if (types.weight == DType::int4) {
        return "int8_by_int4";
    }
    const bool is_wide = types.input == DType::fp16 && types.accumulator == DType::fp32;
    return is_wide ? "fp16_in_fp32" : lower_name(types.input);
}

struct MatmulProblem {
    Shape a;
    Shape b;
    Values a_values;
    Values b_values;
    double a_zero = 0;
    double b_zero = 0;
};

Problem make_matmul(const Types& types, const MatmulProblem& problem) {
    Sketch sketch;
    const auto a = sketch.input(types.input, problem.a, problem.a_values);
    const auto b = sketch.input(types.input, problem.b, problem.b_values);
    const auto a_zero = sketch.scalar(types.input, problem.a_zero);
    const auto b_zero = sketch.scalar(types.input, problem.b_zero);
    return sketch.finish(sketch.op(Op::matmul, {a, b, a_zero, b_zero}, types.output));
}

void add_float_matmuls(CaseList& list, const Types& types) {
    list.add({Op::matmul, matmul_name(types), "rounds"},
             "sums of products that are not exact stay within their bound", types, [types] {
                 Numbers numbers{31};
                 return make_matmul(types, {.a = {2, 5, 33},
                                            .b = {2, 33, 4},
                                            .a_values = numbers.reals(330),
                                            .b_values = numbers.reals(264)});
             });
    list.add({Op::matmul, matmul_name(types), "special_values"},
             "infinities and NaNs reach the sums they are in, and no others", types, [types] {
                 const bool has_infinity = float_format(types.input)->has_infinity;
                 return make_matmul(types,
                                    {.a = {1, 5, 2},
                                     .b = {1, 2, 3},
                                     .a_values = {1, 2, nan, 1, 1, has_infinity ? infinity : nan,
                                                  has_infinity ? -infinity : nan, 1, -0.0, 3},
                                     .b_values = {1, 0, -1, 2, 1, 1}});
             });
}

void add_matmuls(CaseList& list) {
    for (const Types& types : matmuls) {
        list.add({Op::matmul, matmul_name(types), "non_square_batched"},
                 "batches of matrices of which no two sides are alike", types, [types] {
                     Numbers numbers{7};
                     return make_matmul(types, {.a = {3, 2, 5},
                                                .b = {3, 5, 4},
                                                .a_values = numbers.integers(30, -4, 4),
                                                .b_values = numbers.integers(60, -4, 4)});
                 });
        list.add({Op::matmul, matmul_name(types), "one_row"},
                 "a row times a matrix, and more columns than a vector register holds", types,
                 [types] {
                     Numbers numbers{11};
                     return make_matmul(types, {.a = {1, 1, 7},
                                                .b = {1, 7, 67},
                                                .a_values = numbers.integers(7, -4, 4),
                                                .b_values = numbers.integers(469, -4, 4)});
                 });
        if (is_float(types)) {
            add_float_matmuls(list, types);
        }
    }
    list.add({Op::matmul, "int8", "zero_points"}, "zero points of both sides are subtracted",
             int8_matmul, [] {
                 Numbers numbers{13};
                 return make_matmul(int8_matmul, {.a = {2, 3, 4},
                                                  .b = {2, 4, 5},
                                                  .a_values = numbers.integers(24, -128, 127),
                                                  .b_values = numbers.integers(40, -128, 127),
                                                  .a_zero = -7,
                                                  .b_zero = 100});
             });
    list.add({Op::matmul, "int8", "accumulates_in_int32"},
             "sums of the largest products need all of INT32's bits", int8_matmul, [] {
                 return make_matmul(int8_matmul, {.a = {1, 2, 130},
                                                  .b = {1, 130, 3},
                                                  .a_values = {-128, -128, 127},
                                                  .b_values = {-128, -128, -128, 127},
                                                  .a_zero = 127,
                                                  .b_zero = 127});
             });
}

struct ConvolutionProblem {
    Values input;
    Values weight;
    Values bias;
    std::int32_t biases = 4;
    double input_zero = 0;
    double weight_zero = 0;
};

// Every side, stride, dilation and pad differs from the one beside it.
Problem make_convolution(Op op, const Types& types, const ConvolutionProblem& problem) {
    const bool is_depthwise = op == Op::depthwise_conv2d;
    Sketch sketch;
    const auto input = sketch.input(types.input, {2, 7, 6, 3}, problem.input);
    const auto weight = is_depthwise ? sketch.constant(types.weight, {3, 2, 3, 2}, problem.weight)
                                     : sketch.constant(types.weight, {4, 3, 2, 3}, problem.weight);
    const auto bias = sketch.constant(types.output, {problem.biases}, problem.bias);
    const auto input_zero = sketch.scalar(types.input, problem.input_zero);
    const auto weight_zero = sketch.scalar(types.weight, problem.weight_zero);
    return sketch.finish(sketch.op(op, {input, weight, bias, input_zero, weight_zero}, types.output,
                                   tosa::Conv2dAttribute{.pad = {2, 0, 0, 1},
                                                         .stride = {2, 1},
                                                         .dilation = {1, 2},
                                                         .local_bound = false,
                                                         .accumulator = types.accumulator}));
}

constexpr std::size_t image_elements = std::size_t{2} * 7 * 6 * 3;
constexpr std::size_t weight_elements = 72;

void add_integer_convolutions(CaseList& list, Op op, std::int32_t channels) {
    for (const Types& types : convolutions) {
        if (is_float(types)) {
            continue;
        }
        const bool has_int4 = types.weight == DType::int4;
        list.add({op, convolution_name(types), "zero_points"},
                 "zero points are subtracted, and padding counts for nothing", types,
                 [op, types, channels, has_int4] {
                     Numbers numbers{17};
                     return make_convolution(
                         op, types,
                         {.input = numbers.integers(image_elements, -128, 127),
                          .weight = has_int4 ? numbers.integers(weight_elements, -7, 7)
                                             : numbers.integers(weight_elements, -128, 127),
                          .bias = numbers.integers(8, -1000, 1000),
                          .biases = channels,
                          .input_zero = -100,
                          .weight_zero = has_int4 ? 0.0 : 5.0});
                 });
    }
}

void add_convolutions(CaseList& list, Op op, std::int32_t channels) {
    for (const Types& types : convolutions) {
        const std::string type = convolution_name(types);
        list.add({op, type, "strided_dilated_padded"},
                 "strides, dilations and pads that differ in y and x", types,
                 [op, types, channels] {
                     Numbers numbers{19};
                     return make_convolution(op, types,
                                             {.input = numbers.integers(image_elements, -2, 2),
                                              .weight = numbers.integers(weight_elements, -2, 2),
                                              .bias = numbers.integers(8, -8, 8),
                                              .biases = channels});
                 });
        list.add({op, type, "one_bias"}, "a bias of one element counts for every channel", types,
                 [op, types] {
                     return make_convolution(
                         op, types,
                         {.input = {1, 0, -1}, .weight = {1, -1}, .bias = {6}, .biases = 1});
                 });
        if (!is_float(types)) {
            continue;
        }
        list.add({op, type, "rounds"},
                 "sums of products that are not exact stay within their bound", types,
                 [op, types, channels] {
                     Numbers numbers{23};
                     return make_convolution(op, types,
                                             {.input = numbers.reals(image_elements),
                                              .weight = numbers.reals(weight_elements),
                                              .bias = numbers.reals(8),
                                              .biases = channels});
                 });
    }
    add_integer_convolutions(list, op, channels);
}

}  // namespace

void add_product_cases(CaseList& list) {
    add_matmuls(list);
    add_convolutions(list, Op::conv2d, 4);
    add_convolutions(list, Op::depthwise_conv2d, 6);
}

}  // namespace virtaccel::numerics

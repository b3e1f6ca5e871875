// Backends that multiply, pool or resize wrongly, and the cases that say so by name.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <gtest/gtest.h>

#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/numerics/testing/twins.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using testing::attribute_of;
using testing::each_value;
using testing::Inputs;
using testing::Twin;
using tosa::DType;
using tosa::NanMode;
using tosa::Op;

void transpose_right(tosa::Operator& /*op*/, Inputs& inputs) {
    testing::reorder(inputs[1], [](const Position& at, const Tensor& b) {
        return static_cast<std::size_t>((((at[0] * b.dim(2)) + at[2]) * b.dim(1)) + at[1]);
    });
}

void repeat_first_batch(tosa::Operator& /*op*/, Inputs& inputs) {
    testing::reorder(inputs[1], [](const Position& at, const Tensor& b) {
        return index_of(b.shape, {0, at[1], at[2]});
    });
}

// OC, KH, KW, IC taken for KH, KW, IC, OC.
void read_weights_as_hwio(tosa::Operator& /*op*/, Inputs& inputs) {
    testing::reorder(inputs[1], [](const Position& at, const Tensor& w) {
        return static_cast<std::size_t>(
            (((((at[1] * w.dim(2)) + at[2]) * w.dim(3)) + at[3]) * w.dim(0)) + at[0]);
    });
}

void swap_halves(tosa::Operator& /*op*/, Inputs& inputs) {
    if (inputs[1].dtype == DType::int4) {
        testing::reorder(inputs[1], [](const Position& at, const Tensor& w) {
            return index_of(w.shape, at) ^ 1U;
        });
    }
}

void lose_int4_signs(tosa::Operator& /*op*/, Inputs& inputs) {
    if (inputs[1].dtype == DType::int4) {
        each_value(inputs[1], [](double value) { return value < 0 ? value + 16 : value; });
    }
}

void read_as_nchw(tosa::Operator& /*op*/, Inputs& inputs) {
    testing::reorder(inputs[0], [](const Position& at, const Tensor& x) {
        return static_cast<std::size_t>(
            (((((at[0] * x.dim(3)) + at[3]) * x.dim(1)) + at[1]) * x.dim(2)) + at[2]);
    });
}

constexpr Twin product_twins[] = {
    {"matmul takes the second side for transposed",
     Op::matmul,
     transpose_right,
     nullptr,
     {"numerics.matmul.fp32.non_square_batched", "numerics.matmul.fp16.non_square_batched",
      "numerics.matmul.fp16_to_fp32.non_square_batched", "numerics.matmul.bf16.non_square_batched",
      "numerics.matmul.fp8e4m3.non_square_batched", "numerics.matmul.fp8e5m2.non_square_batched",
      "numerics.matmul.int8.non_square_batched"}},
    {"matmul repeats the first batch",
     Op::matmul,
     repeat_first_batch,
     nullptr,
     {"numerics.matmul.fp32.non_square_batched", "numerics.matmul.fp16.non_square_batched",
      "numerics.matmul.bf16.non_square_batched", "numerics.matmul.fp8e4m3.non_square_batched",
      "numerics.matmul.fp8e5m2.non_square_batched", "numerics.matmul.int8.non_square_batched"}},
    {"matmul forgets the first zero point",
     Op::matmul,
     testing::zero_input<2>,
     nullptr,
     {"numerics.matmul.int8.zero_points"}},
    {"matmul forgets the second zero point",
     Op::matmul,
     testing::zero_input<3>,
     nullptr,
     {"numerics.matmul.int8.zero_points"}},
    {"matmul adds up in 16 bits",
     Op::matmul,
     nullptr,
     [](const Step&, Tensor& output) {
         if (output.dtype == DType::int32) {
             each_value(output, [](double sum) { return std::clamp(sum, -32768.0, 32767.0); });
         }
     },
     {"numerics.matmul.int8.accumulates_in_int32"}},
    {"matmul flips a bit",
     Op::matmul,
     nullptr,
     testing::flip_a_bit,
     {"numerics.matmul.fp32.non_square_batched", "numerics.matmul.fp16.one_row",
      "numerics.matmul.bf16.rounds", "numerics.matmul.fp8e4m3.non_square_batched",
      "numerics.matmul.fp8e5m2.non_square_batched", "numerics.matmul.int8.zero_points"}},
    {"matmul rounds its sums to BF16",
     Op::matmul,
     nullptr,
     [](const Step&, Tensor& output) {
         const FloatFormat bf16 = *float_format(DType::bf16);
         each_value(output, [&](double sum) { return rounded(bf16, sum); });
     },
     {"numerics.matmul.fp32.rounds", "numerics.matmul.bf16.rounds",
      "numerics.matmul.fp16_to_fp32.rounds", "numerics.matmul.int8.zero_points"}},
    {"matmul drops infinities and NaNs",
     Op::matmul,
     [](tosa::Operator&, Inputs& inputs) {
         each_value(inputs[0], [](double value) { return std::isfinite(value) ? value : 0.0; });
     },
     nullptr,
     {"numerics.matmul.fp32.special_values", "numerics.matmul.fp16.special_values",
      "numerics.matmul.bf16.special_values", "numerics.matmul.fp8e4m3.special_values",
      "numerics.matmul.fp8e5m2.special_values"}},
    {"conv2d ignores its dilation",
     Op::conv2d,
     [](tosa::Operator& op, Inputs&) { attribute_of<tosa::Conv2dAttribute>(op).dilation = {1, 1}; },
     nullptr,
     {"numerics.conv2d.fp32.strided_dilated_padded", "numerics.conv2d.fp16.strided_dilated_padded",
      "numerics.conv2d.fp16_in_fp32.strided_dilated_padded",
      "numerics.conv2d.bf16.strided_dilated_padded",
      "numerics.conv2d.fp8e4m3.strided_dilated_padded",
      "numerics.conv2d.fp8e5m2.strided_dilated_padded",
      "numerics.conv2d.int8.strided_dilated_padded",
      "numerics.conv2d.int8_by_int4.strided_dilated_padded"}},
    {"conv2d pads on the other side",
     Op::conv2d,
     [](tosa::Operator& op, Inputs&) {
         auto& pad = attribute_of<tosa::Conv2dAttribute>(op).pad;
         std::swap(pad[0], pad[1]);
         std::swap(pad[2], pad[3]);
     },
     nullptr,
     {"numerics.conv2d.fp32.strided_dilated_padded", "numerics.conv2d.int8.zero_points"}},
    {"conv2d reads weights in another order",
     Op::conv2d,
     read_weights_as_hwio,
     nullptr,
     {"numerics.conv2d.fp32.strided_dilated_padded", "numerics.conv2d.bf16.rounds",
      "numerics.conv2d.int8_by_int4.zero_points"}},
    {"conv2d pads with 0 and not with the zero point",
     Op::conv2d,
     testing::pad_with<tosa::Conv2dAttribute, 0>,
     nullptr,
     {"numerics.conv2d.int8.zero_points", "numerics.conv2d.int8_by_int4.zero_points"}},
    {"conv2d has no bias of one element",
     Op::conv2d,
     [](tosa::Operator&, Inputs& inputs) {
         if (inputs[2].values.size() == 1) {
             inputs[2].values.resize(static_cast<std::size_t>(inputs[1].dim(0)));
         }
     },
     nullptr,
     {"numerics.conv2d.fp32.one_bias", "numerics.conv2d.int8.one_bias"}},
    {"conv2d takes the high half of a byte first",
     Op::conv2d,
     swap_halves,
     nullptr,
     {"numerics.conv2d.int8_by_int4.strided_dilated_padded",
      "numerics.conv2d.int8_by_int4.zero_points"}},
    {"conv2d loses the sign of INT4",
     Op::conv2d,
     lose_int4_signs,
     nullptr,
     {"numerics.conv2d.int8_by_int4.strided_dilated_padded",
      "numerics.conv2d.int8_by_int4.zero_points"}},
    {"depthwise_conv2d swaps its strides",
     Op::depthwise_conv2d,
     [](tosa::Operator& op, Inputs&) {
         auto& attribute = attribute_of<tosa::Conv2dAttribute>(op);
         std::swap(attribute.stride[0], attribute.stride[1]);
     },
     nullptr,
     {"numerics.depthwise_conv2d.fp32.strided_dilated_padded",
      "numerics.depthwise_conv2d.fp8e5m2.strided_dilated_padded",
      "numerics.depthwise_conv2d.int8.zero_points"}},
};

constexpr Twin image_twins[] = {
    {"max_pool2d swaps the sides of its kernel",
     Op::max_pool2d,
     [](tosa::Operator& op, Inputs&) {
         auto& kernel = attribute_of<tosa::PoolAttribute>(op).kernel;
         std::swap(kernel[0], kernel[1]);
     },
     nullptr,
     {"numerics.max_pool2d.fp32.nhwc", "numerics.max_pool2d.fp16.nhwc",
      "numerics.max_pool2d.bf16.nhwc", "numerics.max_pool2d.fp8e4m3.nhwc",
      "numerics.max_pool2d.fp8e5m2.nhwc", "numerics.max_pool2d.int8.nhwc"}},
    {"max_pool2d takes NHWC for NCHW",
     Op::max_pool2d,
     read_as_nchw,
     nullptr,
     {"numerics.max_pool2d.fp32.nhwc", "numerics.max_pool2d.int8.nhwc"}},
    {"max_pool2d counts its padding",
     Op::max_pool2d,
     testing::pad_with<tosa::PoolAttribute, 0>,
     nullptr,
     {"numerics.max_pool2d.fp32.padding_is_not_counted",
      "numerics.max_pool2d.fp8e4m3.padding_is_not_counted",
      "numerics.max_pool2d.int8.padding_is_not_counted"}},
    {"max_pool2d loses NaNs",
     Op::max_pool2d,
     testing::set_nan_mode<tosa::PoolAttribute, NanMode::ignore>,
     nullptr,
     {"numerics.max_pool2d.fp32.propagates_nan", "numerics.max_pool2d.fp16.propagates_nan",
      "numerics.max_pool2d.bf16.propagates_nan", "numerics.max_pool2d.fp8e4m3.propagates_nan",
      "numerics.max_pool2d.fp8e5m2.propagates_nan"}},
    {"max_pool2d keeps NaNs",
     Op::max_pool2d,
     testing::set_nan_mode<tosa::PoolAttribute, NanMode::propagate>,
     nullptr,
     {"numerics.max_pool2d.fp32.ignores_nan", "numerics.max_pool2d.fp8e5m2.ignores_nan"}},
    {"max_pool2d flips a bit",
     Op::max_pool2d,
     nullptr,
     testing::flip_a_bit,
     {"numerics.max_pool2d.fp32.nhwc", "numerics.max_pool2d.fp16.nhwc",
      "numerics.max_pool2d.bf16.nhwc", "numerics.max_pool2d.fp8e4m3.nhwc",
      "numerics.max_pool2d.fp8e5m2.nhwc", "numerics.max_pool2d.int8.nhwc"}},
    {"avg_pool2d counts its padding",
     Op::avg_pool2d,
     testing::pad_with<tosa::PoolAttribute, 0>,
     nullptr,
     {"numerics.avg_pool2d.fp32.padding_is_not_counted",
      "numerics.avg_pool2d.fp8e4m3.padding_is_not_counted",
      "numerics.avg_pool2d.int8.padding_is_not_counted"}},
    {"avg_pool2d divides exactly",
     Op::avg_pool2d,
     nullptr,
     [](const Step&, Tensor& output) {
         // -6 / 4 would be -1.5, and that rounded up.
         each_value(output, [](double mean) { return mean == -2 ? -1 : mean; });
     },
     {"numerics.avg_pool2d.int8.rounds_like_the_reciprocal", "numerics.avg_pool2d.int8.halves",
      "numerics.avg_pool2d.int16.halves"}},
    {"resize extrapolates at the edge",
     Op::resize,
     nullptr,
     [](const Step&, Tensor& output) {
         output.values[0] = (2 * output.values[0]) - output.values[1];
     },
     {"numerics.resize.fp32.bilinear_doubles_width", "numerics.resize.fp16.bilinear_doubles_width",
      "numerics.resize.bf16.bilinear_doubles_height",
      "numerics.resize.int8.bilinear_doubles_width"}},
    {"resize takes x for y",
     Op::resize,
     [](tosa::Operator&, Inputs& inputs) {
         std::swap(inputs[1].values[0], inputs[1].values[2]);
         std::swap(inputs[1].values[1], inputs[1].values[3]);
         std::swap(inputs[2].values[0], inputs[2].values[1]);
     },
     nullptr,
     {"numerics.resize.fp32.bilinear_batched", "numerics.resize.fp16.nearest_batched",
      "numerics.resize.bf16.bilinear_shrinks", "numerics.resize.int8.nearest_doubles_width"}},
    {"resize rounds halves down",
     Op::resize,
     [](tosa::Operator&, Inputs& inputs) {
         each_value(inputs[1], [](double scale) { return 2 * scale; });
         each_value(inputs[2], [](double offset) { return (2 * offset) - 1; });
     },
     nullptr,
     {"numerics.resize.fp32.nearest_shrinks", "numerics.resize.int8.nearest_shrinks"}},
};

TEST(Twins, that_multiply_wrongly_are_caught_by_name) {
    testing::expect_caught(product_twins);
}

TEST(Twins, that_pool_or_resize_wrongly_are_caught_by_name) {
    testing::expect_caught(image_twins);
}

}  // namespace

}  // namespace virtaccel::numerics

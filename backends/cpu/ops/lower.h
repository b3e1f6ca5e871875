#pragma once
// How each operator becomes steps. Each function lowers one valid operator that the table admits.

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// CONST, CONST_SHAPE, VARIABLE: their tensors are there.
void lower_nothing(Lowering& lowering, const tosa::Operator& op);
// The same bytes under another name.
void lower_identity(Lowering& lowering, const tosa::Operator& op);
void lower_reshape(Lowering& lowering, const tosa::Operator& op);

// Blocks and state (control.cpp).
void lower_cond_if(Lowering& lowering, const tosa::Operator& op);
void lower_variable_read(Lowering& lowering, const tosa::Operator& op);
void lower_variable_write(Lowering& lowering, const tosa::Operator& op);
void lower_while_loop(Lowering& lowering, const tosa::Operator& op);

// Elementwise (binary.cpp, cast.cpp, integers.cpp, rescale.cpp, select.cpp, table.cpp, unary.cpp).
void lower_abs(Lowering& lowering, const tosa::Operator& op);
void lower_add(Lowering& lowering, const tosa::Operator& op);
void lower_arithmetic_right_shift(Lowering& lowering, const tosa::Operator& op);
void lower_bitwise_and(Lowering& lowering, const tosa::Operator& op);
void lower_bitwise_not(Lowering& lowering, const tosa::Operator& op);
void lower_bitwise_or(Lowering& lowering, const tosa::Operator& op);
void lower_bitwise_xor(Lowering& lowering, const tosa::Operator& op);
void lower_cast(Lowering& lowering, const tosa::Operator& op);
void lower_ceil(Lowering& lowering, const tosa::Operator& op);
void lower_clamp(Lowering& lowering, const tosa::Operator& op);
void lower_clz(Lowering& lowering, const tosa::Operator& op);
void lower_cos(Lowering& lowering, const tosa::Operator& op);
void lower_equal(Lowering& lowering, const tosa::Operator& op);
void lower_erf(Lowering& lowering, const tosa::Operator& op);
void lower_exp(Lowering& lowering, const tosa::Operator& op);
void lower_floor(Lowering& lowering, const tosa::Operator& op);
void lower_greater(Lowering& lowering, const tosa::Operator& op);
void lower_greater_equal(Lowering& lowering, const tosa::Operator& op);
void lower_intdiv(Lowering& lowering, const tosa::Operator& op);
void lower_log(Lowering& lowering, const tosa::Operator& op);
void lower_logical_and(Lowering& lowering, const tosa::Operator& op);
void lower_logical_left_shift(Lowering& lowering, const tosa::Operator& op);
void lower_logical_not(Lowering& lowering, const tosa::Operator& op);
void lower_logical_or(Lowering& lowering, const tosa::Operator& op);
void lower_logical_right_shift(Lowering& lowering, const tosa::Operator& op);
void lower_logical_xor(Lowering& lowering, const tosa::Operator& op);
void lower_maximum(Lowering& lowering, const tosa::Operator& op);
void lower_minimum(Lowering& lowering, const tosa::Operator& op);
void lower_mul(Lowering& lowering, const tosa::Operator& op);
void lower_negate(Lowering& lowering, const tosa::Operator& op);
void lower_pow(Lowering& lowering, const tosa::Operator& op);
void lower_reciprocal(Lowering& lowering, const tosa::Operator& op);
void lower_rescale(Lowering& lowering, const tosa::Operator& op);
void lower_rsqrt(Lowering& lowering, const tosa::Operator& op);
void lower_select(Lowering& lowering, const tosa::Operator& op);
void lower_sigmoid(Lowering& lowering, const tosa::Operator& op);
void lower_sin(Lowering& lowering, const tosa::Operator& op);
void lower_sub(Lowering& lowering, const tosa::Operator& op);
void lower_table(Lowering& lowering, const tosa::Operator& op);
void lower_tanh(Lowering& lowering, const tosa::Operator& op);

// Moving elements (copy.cpp, layout.cpp, gather.cpp).
void lower_concat(Lowering& lowering, const tosa::Operator& op);
void lower_gather(Lowering& lowering, const tosa::Operator& op);
void lower_pad(Lowering& lowering, const tosa::Operator& op);
void lower_reverse(Lowering& lowering, const tosa::Operator& op);
void lower_scatter(Lowering& lowering, const tosa::Operator& op);
void lower_slice(Lowering& lowering, const tosa::Operator& op);
void lower_tile(Lowering& lowering, const tosa::Operator& op);
void lower_transpose(Lowering& lowering, const tosa::Operator& op);

// Windows and axes (pooling.cpp, resize.cpp, reduction.cpp, matmul.cpp, convolution.cpp,
// general_convolution.cpp, fft.cpp).
void lower_argmax(Lowering& lowering, const tosa::Operator& op);
void lower_avg_pool2d(Lowering& lowering, const tosa::Operator& op);
void lower_conv2d(Lowering& lowering, const tosa::Operator& op);
void lower_conv3d(Lowering& lowering, const tosa::Operator& op);
void lower_depthwise_conv2d(Lowering& lowering, const tosa::Operator& op);
void lower_fft2d(Lowering& lowering, const tosa::Operator& op);
void lower_matmul(Lowering& lowering, const tosa::Operator& op);
void lower_max_pool2d(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_all(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_any(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_max(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_min(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_product(Lowering& lowering, const tosa::Operator& op);
void lower_reduce_sum(Lowering& lowering, const tosa::Operator& op);
void lower_resize(Lowering& lowering, const tosa::Operator& op);
void lower_rfft2d(Lowering& lowering, const tosa::Operator& op);
void lower_transpose_conv2d(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

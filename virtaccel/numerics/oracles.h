#pragma once
// The oracles themselves, one for each operator; oracle.cpp lists them. Internal to this folder.
// Each computes what TOSA 1.0 says of its operator, and nothing of how.

#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/tensor.h"

namespace virtaccel::numerics::oracles {

// Sums of products over matrices and windows (oracles_products.cpp).
void matmul(const Step& step, Tensor& output);
void conv2d(const Step& step, Tensor& output);
void depthwise_conv2d(const Step& step, Tensor& output);

// Windows without weights, and images of another size (oracles_images.cpp).
void max_pool2d(const Step& step, Tensor& output);
void avg_pool2d(const Step& step, Tensor& output);
void resize(const Step& step, Tensor& output);

// One element from one of each input (oracles_elementwise.cpp).
void clamp(const Step& step, Tensor& output);
void sigmoid(const Step& step, Tensor& output);
void add(const Step& step, Tensor& output);
void sub(const Step& step, Tensor& output);
void mul(const Step& step, Tensor& output);
void intdiv(const Step& step, Tensor& output);
void arithmetic_right_shift(const Step& step, Tensor& output);
void maximum(const Step& step, Tensor& output);
void minimum(const Step& step, Tensor& output);
void negate(const Step& step, Tensor& output);
void select(const Step& step, Tensor& output);
void equal(const Step& step, Tensor& output);
void greater(const Step& step, Tensor& output);
void greater_equal(const Step& step, Tensor& output);

// Along an axis (oracles_reductions.cpp).
void argmax(const Step& step, Tensor& output);
void reduce_max(const Step& step, Tensor& output);
void reduce_min(const Step& step, Tensor& output);
void reduce_sum(const Step& step, Tensor& output);

// From one type to another (oracles_conversions.cpp).
void cast(const Step& step, Tensor& output);
void rescale(const Step& step, Tensor& output);

// Elements that move (oracles_layout.cpp).
void as_it_is(const Step& step, Tensor& output);
void concat(const Step& step, Tensor& output);
void pad(const Step& step, Tensor& output);
void reverse(const Step& step, Tensor& output);
void transpose(const Step& step, Tensor& output);
void gather(const Step& step, Tensor& output);
void scatter(const Step& step, Tensor& output);

// For what is never computed.
inline void nothing(const Step& /*step*/, Tensor& /*output*/) {}

}  // namespace virtaccel::numerics::oracles

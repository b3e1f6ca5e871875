#pragma once
// Convolutions in the plainest way, for whatever no faster step does: every element type, and
// weights, biases and zero points that are known only at run time.

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// CONV2D, CONV3D, DEPTHWISE_CONV2D or TRANSPOSE_CONV2D.
void lower_general_convolution(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

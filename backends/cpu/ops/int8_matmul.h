#pragma once
// MATMUL of INT8, fast and exact.

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// The zero points are known, the output is not.
void lower_int8_matmul(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

#pragma once
// The step that computes a convolution and what it has taken along.

#include <memory>

#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// Packs the weights; may throw std::bad_alloc.
[[nodiscard]] std::unique_ptr<Step> make_convolution_step(const Lowering& lowering,
                                                          const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

#pragma once
// The steps that compute a convolution and what it has taken along.

#include <memory>

#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// Packs the weights, which are known. Dense convolutions, depthwise ones with one output channel
// for each input channel, and depthwise ones with more.
[[nodiscard]] std::unique_ptr<Step> make_dense_step(Lowering& lowering,
                                                    const Convolution& convolution);
[[nodiscard]] std::unique_ptr<Step> make_depthwise_step(Lowering& lowering,
                                                        const Convolution& convolution);
[[nodiscard]] std::unique_ptr<Step> make_multiplied_step(Lowering& lowering,
                                                         const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

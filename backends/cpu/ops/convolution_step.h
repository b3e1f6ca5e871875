#pragma once
// The steps that compute a convolution and what it has taken along.

#include <memory>

#include "backends/cpu/block.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/dense_kernels.h"
#include "backends/cpu/ops/depthwise_kernels.h"
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

// A depthwise convolution whose result only the pointwise one reads, in one: it need not go further
// than the nearest cache.
[[nodiscard]] std::unique_ptr<Step> make_separable_step(Lowering& lowering,
                                                        const Convolution& depthwise,
                                                        const Convolution& pointwise);

// Shapes and packed weights, as the kernels want them.
[[nodiscard]] DenseShape dense_shape_of(const Convolution& convolution);
[[nodiscard]] Block pack_dense(const Lowering& lowering, const Convolution& convolution);
[[nodiscard]] DepthwiseShape depthwise_shape_of(const Convolution& convolution);
[[nodiscard]] Block pack_depthwise(const Lowering& lowering, const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

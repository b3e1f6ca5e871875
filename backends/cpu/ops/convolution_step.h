#pragma once
// The steps that compute a convolution and what it has taken along.

#include <memory>
#include <optional>

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

// Convolutions of which each reads nothing but the one before, in one step: what is between them
// need not go further than a near cache.
struct Separable {
    std::optional<Convolution> expansion;  // pointwise
    Convolution depthwise;
    Convolution pointwise;
};

[[nodiscard]] std::unique_ptr<Step> make_separable_step(Lowering& lowering,
                                                        const Separable& separable);

// Shapes and packed weights, as the kernels want them.
[[nodiscard]] DenseShape dense_shape_of(const Convolution& convolution);
[[nodiscard]] Block pack_dense(const Lowering& lowering, const Convolution& convolution);
[[nodiscard]] DepthwiseShape depthwise_shape_of(const Convolution& convolution);
[[nodiscard]] Block pack_depthwise(const Lowering& lowering, const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

#pragma once
// Who makes what a block's operators read, and in which order they can run. Inside `tosa` only.

#include <span>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {

// Makes true what Block and Tensor promise about producers, constants and order, or refuses.
// `tensors` are the whole graph's, `operators` the block's.
[[nodiscard]] Checked<void> settle_flow(std::span<Tensor> tensors, const Block& block,
                                        std::span<Operator> operators);

// Sets each block's nesting; refuses blocks that run themselves.
[[nodiscard]] Checked<void> settle_nesting(std::span<Block> blocks,
                                           std::span<const Operator> operators);

}  // namespace virtaccel::tosa

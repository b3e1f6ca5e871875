#pragma once
// PAD operators that need no step of their own, because their reader can see the edge itself.

#include <cstdint>
#include <optional>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// Zeros around an image, as a PAD with constant operands puts them: before and after along y and x,
// and after the channels.
struct ImagePadding {
    std::int64_t top = 0;
    std::int64_t bottom = 0;
    std::int64_t left = 0;
    std::int64_t right = 0;
    std::int64_t channels = 0;
};

// What `op` pads with zeros, if it is a PAD of an NHWC image of FP32 that does no more than that.
[[nodiscard]] std::optional<ImagePadding> image_padding(const Lowering& lowering,
                                                        const tosa::Operator& op);

// The position of the convolution that reads the PAD `op`'s output, and nobody else does, if the
// padding can be part of the convolution's; else nowhere.
[[nodiscard]] std::uint32_t reader_that_pads(const Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

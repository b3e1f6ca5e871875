#include "backends/cpu/ops/padding.h"

#include <cstdint>
#include <optional>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

std::optional<ImagePadding> image_padding(const Lowering& lowering, const tosa::Operator& op) {
    if (op.op != tosa::Op::pad || !lowering.is_known(op.inputs[1]) ||
        !lowering.is_known(op.inputs[2])) {
        return std::nullopt;
    }
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    if (input.rank() != 4 || input.dtype != tosa::DType::fp32 || !lowering.is_known(op.inputs[1]) ||
        !lowering.is_known(op.inputs[2]) || lowering.known<float>(op.inputs[2])[0] != 0.0F) {
        return std::nullopt;
    }
    const auto amounts = lowering.known<std::int64_t>(op.inputs[1]);
    if (amounts[0] != 0 || amounts[1] != 0 || amounts[6] != 0) {
        return std::nullopt;
    }
    return ImagePadding{.top = amounts[2],
                        .bottom = amounts[3],
                        .left = amounts[4],
                        .right = amounts[5],
                        .channels = amounts[7]};
}

std::uint32_t reader_that_pads(const Lowering& lowering, const tosa::Operator& op) {
    const std::uint32_t reader = lowering.only_reader(op.outputs[0]);
    if (reader == tosa::nowhere) {
        return tosa::nowhere;
    }
    const tosa::Operator& convolution = lowering.operator_at(reader);
    const bool is_convolution =
        convolution.op == tosa::Op::conv2d || convolution.op == tosa::Op::depthwise_conv2d;
    const auto padding = image_padding(lowering, op);
    return is_convolution && convolution.inputs[0] == op.outputs[0] && padding &&
                   padding->channels == 0 && has_known_weights(lowering, convolution)
               ? reader
               : tosa::nowhere;
}

}  // namespace virtaccel::backends::cpu::ops

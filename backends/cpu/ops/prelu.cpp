#include "backends/cpu/ops/prelu.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

bool is_sign_test(const Lowering& lowering, const tosa::Operator& op, ValueId image) {
    if (op.op != tosa::Op::greater_equal || op.inputs[0] != image ||
        !lowering.is_known(op.inputs[1]) || lowering.known_bytes(op.inputs[1]) == nullptr) {
        return false;
    }
    const auto are_zeros = [](auto numbers) {
        return std::ranges::all_of(numbers, [](auto number) { return number == 0; });
    };
    return lowering.tensor(image).dtype == tosa::DType::fp32
               ? are_zeros(lowering.known<float>(op.inputs[1]))
               : are_zeros(lowering.known<std::int32_t>(op.inputs[1]));
}

std::optional<ValueId> slopes_in(const Lowering& lowering, const tosa::Operator& op,
                                 ValueId image) {
    if (op.op != tosa::Op::mul || op.inputs[0] == op.inputs[1]) {
        return std::nullopt;
    }
    const ValueId slopes = op.inputs[0] == image ? op.inputs[1] : op.inputs[0];
    const tosa::Tensor& tensor = lowering.tensor(slopes);
    const bool is_for_channels =
        tensor.elements == 1 ||
        (!tensor.shape.empty() &&
         tensor.elements == static_cast<std::uint64_t>(tensor.shape.back()));
    return lowering.is_known(slopes) && is_for_channels ? std::optional{slopes} : std::nullopt;
}

std::optional<Prelu> prelu_after(const Lowering& lowering, ValueId image) {
    const std::vector<std::uint32_t> readers = lowering.near_readers(image);
    if (readers.size() != 3) {
        return std::nullopt;
    }
    const tosa::Operator& selection = lowering.operator_at(readers[2]);
    for (const auto& [test, product] :
         {std::pair{readers[0], readers[1]}, std::pair{readers[1], readers[0]}}) {
        const tosa::Operator& testing = lowering.operator_at(test);
        const tosa::Operator& multiplying = lowering.operator_at(product);
        const auto slopes = slopes_in(lowering, multiplying, image);
        if (slopes && is_sign_test(lowering, testing, image) && selection.op == tosa::Op::select &&
            selection.inputs[0] == testing.outputs[0] && selection.inputs[1] == image &&
            selection.inputs[2] == multiplying.outputs[0] &&
            lowering.only_reader(testing.outputs[0]) == readers[2] &&
            lowering.only_reader(multiplying.outputs[0]) == readers[2]) {
            return Prelu{.slopes = *slopes, .output = selection.outputs[0], .positions = readers};
        }
    }
    return std::nullopt;
}

}  // namespace virtaccel::backends::cpu::ops

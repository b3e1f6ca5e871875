#pragma once
// What other formats call PRELU, and TOSA writes with three operators: an image's negative numbers
// are multiplied by a slope of their channel's. For those that do it as they write.

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

struct Prelu {
    // A known tensor, one for each channel or one for all. Its bytes are there when the last of the
    // operators is lowered.
    ValueId slopes = 0;
    ValueId output = 0;
    std::vector<std::uint32_t> positions;  // of GREATER_EQUAL, MUL, SELECT, in their order
};

// Whether `op` is the GREATER_EQUAL that tells which numbers of `image`, of FP32 or INT32, are not
// negative.
[[nodiscard]] bool is_sign_test(const Lowering& lowering, const tosa::Operator& op, ValueId image);

// What the MUL `op` multiplies `image` by, if that is known and one number for each channel, or one
// for all; nothing if it is no MUL. Of its shift nothing is said.
[[nodiscard]] std::optional<ValueId> slopes_in(const Lowering& lowering, const tosa::Operator& op,
                                               ValueId image);

// The three that alone read `image`, of FP32, if they do just that.
[[nodiscard]] std::optional<Prelu> prelu_after(const Lowering& lowering, ValueId image);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

#pragma once
// The product of two stacks of matrices, and the step that computes it for every element type.

#include <cstdint>

#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

struct MatmulShape {
    std::int64_t batch = 1;
    std::int64_t rows = 1;
    std::int64_t depth = 1;
    std::int64_t columns = 1;

    [[nodiscard]] std::uint64_t outputs() const {
        return static_cast<std::uint64_t>(batch * rows * columns);
    }

    [[nodiscard]] std::uint64_t operations() const {
        return outputs() * static_cast<std::uint64_t>(depth);
    }
};

[[nodiscard]] MatmulShape matmul_shape_of(const Lowering& lowering, const tosa::Operator& op);

// In the plainest way, for whatever no faster step does.
void lower_general_matmul(Lowering& lowering, const tosa::Operator& op);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

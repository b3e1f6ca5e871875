#pragma once
// What RESCALE's steps have in common. Internal to RESCALE.

#include <cstdint>
#include <memory>

#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

struct RescaleShape {
    struct Values {
        ValueId output = 0;
        ValueId input = 0;
        ValueId multiplier = 0;
        ValueId shift = 0;
        ValueId input_zero = 0;
        ValueId output_zero = 0;
    };

    Values values;
    std::uint64_t elements = 0;
    std::uint64_t channels = 1;  // one after the other, over and over
    bool rounds_twice = false;
    std::uint32_t parts = 1;
};

// A step for vectors, if operands other than the input are known and the types and factors are
// such; else null.
[[nodiscard]] std::unique_ptr<Step> vector_rescale(const Lowering& lowering,
                                                   const tosa::Operator& op,
                                                   const RescaleShape& shape);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

// CLAMP, SIGMOID.
#include <cmath>
#include <cstring>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

Clamp clamp_of(const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::ClampAttribute>();
    Clamp clamp;
    std::memcpy(&clamp.low, attribute.min.data(), sizeof(float));
    std::memcpy(&clamp.high, attribute.max.data(), sizeof(float));
    clamp.ignores_nan = attribute.nan_mode == tosa::NanMode::ignore;
    return clamp;
}

void lower_clamp(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<float, float>(lowering, op, clamp_of(op));
}

void lower_sigmoid(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<float, float>(lowering, op,
                                   [](float x) { return 1.0F / (1.0F + std::exp(-x)); });
}

}  // namespace virtaccel::backends::cpu::ops

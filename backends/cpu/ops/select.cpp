// SELECT, by the size of its elements.
#include <cstdint>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elementwise.h"
#include "backends/cpu/ops/lower.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

template <class T>
void lower(Lowering& lowering, const tosa::Operator& op) {
    emit_elementwise<T, std::uint8_t, T, T>(
        lowering, op, [](std::uint8_t choice, T yes, T no) { return choice != 0 ? yes : no; });
}

}  // namespace

void lower_select(Lowering& lowering, const tosa::Operator& op) {
    switch (tosa::bits_of(lowering.tensor(op.outputs[0]).dtype).value_or(8)) {
        case 32:
            return lower<std::uint32_t>(lowering, op);
        case 16:
            return lower<std::uint16_t>(lowering, op);
        default:
            return lower<std::uint8_t>(lowering, op);
    }
}

}  // namespace virtaccel::backends::cpu::ops

#pragma once
// Steps around one that computes in FP32 what a model has in fewer bits: exact in, rounded once on
// the way out.

#include <span>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

// Emits a step that makes FP32 of `tensor`, which has fewer bits. Where they are.
[[nodiscard]] ValueId emit_widening(Lowering& lowering, ValueId tensor);

// Emits a step that makes `tensor`, which has fewer bits, of `numbers`, which are FP32.
void emit_narrowing(Lowering& lowering, ValueId numbers, ValueId tensor);

// Room for the FP32 of a step between the two.
[[nodiscard]] ValueId add_wide(Lowering& lowering, ValueId tensor);

// A known floating-point tensor's numbers, in `storage` if they are not FP32.
[[nodiscard]] std::span<const float> known_floats(const Lowering& lowering, ValueId tensor,
                                                  std::vector<float>& storage);

// Whether a floating-point tensor of one element is known and zero: a zero point of no effect.
[[nodiscard]] bool is_known_zero(const Lowering& lowering, ValueId tensor);

}  // namespace virtaccel::backends::cpu::ops

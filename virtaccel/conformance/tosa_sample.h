#pragma once
// The sample program for every backend and device that takes TOSA models.

#include "virtaccel/conformance/subject.h"

namespace virtaccel::conformance {

// y = x + x of four FP32: x in slot 0, y in slot 1. Exact on every host.
[[nodiscard]] SampleProgram tosa_sample();

}  // namespace virtaccel::conformance

#pragma once
// What the CPU backend says it takes. The one thing to know: nothing is listed here. It all follows
// from the backend's table of operators (operators.h) and from the types that TOSA allows them.

#include <vector>

#include "virtaccel/lowering/capabilities.h"

namespace virtaccel::backends::cpu {

// One descriptor. Throws std::bad_alloc.
[[nodiscard]] std::vector<lowering::CapabilityDescriptor> capabilities();

}  // namespace virtaccel::backends::cpu

#pragma once
// What the null backend says it takes: nothing. A copy lists one descriptor for each kind of graphs
// that it loads, and none that it might refuse (virtaccel/lowering/capabilities.h).

#include <vector>

#include "virtaccel/lowering/capabilities.h"

namespace virtaccel::backends::null {

// Throws std::bad_alloc.
[[nodiscard]] inline std::vector<lowering::CapabilityDescriptor> capabilities() {
    return lowering::no_capabilities();
}

}  // namespace virtaccel::backends::null

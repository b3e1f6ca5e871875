#pragma once
// The usual `Memory`: the process's heap.

#include "virtaccel/base/memory.h"

namespace virtaccel::host {

// Any alignment; null when the heap refuses. Safe to use from any thread, at any time.
[[nodiscard]] Memory heap();

}  // namespace virtaccel::host

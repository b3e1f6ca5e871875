#pragma once
// How often this process asked the heap for memory. The one thing to know: malloc itself is
// replaced in this program, so that nothing on any path is missed.

#include <cstdint>

namespace virtaccel::bench {

// Calls of malloc, calloc, realloc and the aligned kinds since the program began.
[[nodiscard]] std::uint64_t heap_allocations();

}  // namespace virtaccel::bench

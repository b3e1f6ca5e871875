#pragma once
// How many bytes this process had moved and cleared for it. The one thing to know: memcpy, memmove
// and memset themselves are replaced in this program, so that no call is missed; what the compiler
// turned into instructions (a constant size, a run of 16 to 64 bytes) is no call, and is counted
// with the instructions.

#include <cstdint>

namespace virtaccel::bench {

// Bytes that memcpy and memmove were called for, and those that memset was called for.
struct CopyCount {
    std::uint64_t copied_bytes = 0;
    std::uint64_t cleared_bytes = 0;
};

// Since the program began.
[[nodiscard]] CopyCount copies();

}  // namespace virtaccel::bench

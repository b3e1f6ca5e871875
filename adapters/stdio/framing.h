#pragma once
// How command frames travel over a pair of byte streams, such as a program's standard input and
// output. The one thing to know: there is one frame at a time, and every one is answered.
//
//     request   u32 length, u32 response capacity, `length` bytes of a request frame
//     reply     u32 used length, that many bytes of a response frame
//     reset     u32 0xffffffff, u32 seed of the new namespace
//     reply     u32 `ResetReply`
//
// All numbers are little-endian. The stream ends between two frames.

#include <cstdint>

#include "virtaccel/wire/schema.h"

namespace virtaccel::adapters::stdio {

struct FramePrefix {
    wire::le32 length;
    wire::le32 capacity;
};

static_assert(sizeof(FramePrefix) == 8);

// The length that means a reset.
inline constexpr std::uint32_t reset_length = 0xffffffff;

enum class ResetReply : std::uint32_t {
    refused = 0,  // the seed is zero or the current one; nothing changed
    reused = 1,   // the backend is kept
    rebuilt = 2,  // the backend was discarded and built anew
};

}  // namespace virtaccel::adapters::stdio

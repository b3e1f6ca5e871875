// fails: could not convert|no matching function
// An ID carries its kind, so a program is not taken for a buffer.

#include "virtaccel/base/id.h"

namespace {

using virtaccel::BufferKind;
using virtaccel::Id;

constexpr auto number(Id<BufferKind> buffer) {
    return buffer.raw;
}

static_assert(number(Id<BufferKind>{7}) == 7);
#ifdef VIRTACCEL_BAD
static_assert(number(Id<virtaccel::ProgramKind>{7}) == 7);
#endif

}  // namespace

#pragma once
// What a benchmark does about a refusal: it ends, because timing failures would be worthless.

#include "virtaccel/base/panic.h"

namespace virtaccel::bench {

// Ends the program if `good` is false.
inline void taken(bool good) {
    VIRTACCEL_CHECK(good);
}

}  // namespace virtaccel::bench

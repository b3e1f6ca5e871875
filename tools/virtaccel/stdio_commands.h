#pragma once
// `virtaccel device --stdio` and `virtaccel guest --stdio`: one end of the protocol on standard
// input and output, for another implementation at the other end. Words for people go to standard
// error.

#include <cstdint>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

struct DeviceOptions {
    BackendChoice backend;
    std::uint32_t request_bytes_max = 1U << 20U;
    std::uint32_t response_bytes_max = 1U << 20U;
    std::uint16_t chain_descriptors_max = 16;
};

// Serves until standard input ends.
[[nodiscard]] OrFailure<void> serve_device(const DeviceOptions& options);

struct GuestOptions {
    bool strict = false;  // our own answer where the protocol leaves two open
};

// Asks everything a guest can ask; a failure unless every answer is right.
[[nodiscard]] OrFailure<void> drive_guest(const GuestOptions& options);

}  // namespace virtaccel::cli

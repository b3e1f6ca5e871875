#pragma once
// `virtaccel info`: what a guest is told by a device over a backend.

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

struct InfoOptions {
    BackendChoice backend;
    bool json = false;
};

[[nodiscard]] OrFailure<void> show_info(const InfoOptions& options);

}  // namespace virtaccel::cli

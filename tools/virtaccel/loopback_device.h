#pragma once
// The device that `run` and `info` talk to: in this process, for this user, so its budget is wide.

#include "adapters/loopback/loopback.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/backend/contract.h"

namespace virtaccel::cli {

// A device over a backend of `source`, which outlives it, with the largest frames there are.
[[nodiscard]] OrFailure<adapters::loopback::Loopback> make_loopback_device(
    BackendSource& source, backend::RefusalSink refusals);

}  // namespace virtaccel::cli

#pragma once
// The last case: the guest's own library, with all its checks, does work on the device.

#include "adapters/stdio/driver_stream.h"
#include "tools/virtaccel/probe/probe.h"

namespace virtaccel::cli::probe {

// Opens a session over `stream`, copies a buffer with a mock program, and looks at the result.
void run_session(Probe& probe, adapters::stdio::DriverStream& stream);

}  // namespace virtaccel::cli::probe

#pragma once
// A recorded session again, against a fresh device in this process. The one thing to know: object
// IDs are the device's to choose, so each recorded one is replaced by the one that the fresh device
// gave in its place.

#include <string>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/recording.h"

namespace virtaccel::cli {

// Sends every request and compares statuses and payload sizes, and how events ended; the failure
// says where the first difference is. A recorded end of an event is waited for. An empty name in
// `choice` stands for the recorded backend.
[[nodiscard]] OrFailure<void> replay_recording(const Recording& recording, const std::string& path,
                                               BackendChoice choice);

}  // namespace virtaccel::cli

#pragma once
// `virtaccel replay`: a recording against a device of this process, or a schedule against a device
// and the model of one; or random schedules. The one thing to know: a failure with `Exit::failed`
// means that something parts, and one with `Exit::usage` that there is nothing to replay.

#include <cstdint>
#include <optional>
#include <string>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

// Runs whatever the file is. `backend` is for recordings only.
[[nodiscard]] OrFailure<void> replay_file(const std::string& path,
                                          const std::optional<BackendChoice>& backend);

struct RandomOptions {
    std::uint64_t seed = 1;       // of the first schedule
    std::uint64_t schedules = 1;  // each with the next seed
    std::uint64_t steps = 1000;
    std::string write;  // where a schedule that parts is written; empty for nowhere
};

[[nodiscard]] OrFailure<void> replay_random(const RandomOptions& options);

}  // namespace virtaccel::cli

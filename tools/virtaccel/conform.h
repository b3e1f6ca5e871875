#pragma once
// `virtaccel conform`: the standard cases on a backend, or the device cases on a device, ours or
// anybody's, and what they found as a table, as files, and as an exit code.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

struct ConformOptions {
    // What is judged. A backend alone is judged itself; with the device `loopback` it is what that
    // device has behind it.
    std::optional<std::string> backend;
    // "loopback", or "stdio:COMMAND ARG...".
    std::optional<std::string> device;
    // "mock", "tosa" or "none"; unless it is said, what the backend takes.
    std::optional<std::string> program;
    // How long a device may take to answer, and an event to end.
    std::uint32_t timeout_ms = 10'000;
    // What the device has, or was started with.
    std::uint32_t request_bytes_max = 1U << 20U;
    std::uint32_t response_bytes_max = 1U << 20U;
    std::uint16_t chain_descriptors_max = 16;
    // The cases that are run: those that match one of these; all of them if there are none.
    std::vector<std::string> patterns;
    // Names and titles, in place of a run.
    bool list = false;
    // Where reports go; "-" is standard output in place of the table. Empty: nowhere.
    std::string json;
    std::string junit;
    std::string badge;
    std::string ulp;
};

// A failure if a case failed, or if a report cannot be written.
[[nodiscard]] OrFailure<void> run_conform(const ConformOptions& options);

}  // namespace virtaccel::cli

#include "tools/virtaccel/stdio_commands.h"

#include <csignal>
#include <cstdint>

#include <fmt/core.h>
#include <unistd.h>

#include "adapters/stdio/device_stream.h"
#include "adapters/stdio/driver_stream.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/peer.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/session_case.h"
#include "tools/virtaccel/refusals.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"

namespace virtaccel::cli {
namespace {

// What one foreign guest may make this host spend.
constexpr std::uint64_t budget_bytes = std::uint64_t{1} << 30U;

// A closed pipe is reported as an error, in place of a signal that ends the program without a word.
void ignore_closed_pipes() {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
}

}  // namespace

OrFailure<void> serve_device(const DeviceOptions& options) {
    ignore_closed_pipes();
    VIRTACCEL_TRY_ASSIGN(auto source, BackendSource::find(host::heap(), options.backend));
    Refusals refusals;
    device::Options device;
    device.config.chain_descriptors_max = options.chain_descriptors_max;
    device.config.request_bytes_max = options.request_bytes_max;
    device.config.response_bytes_max = options.response_bytes_max;
    device.policy = {.buffer_bytes_max = budget_bytes, .program_resident_bytes_max = budget_bytes};
    device.refusals = refusals.sink();
    auto endpoint = device::Endpoint::make(host::heap(), source.factory(), device);
    if (!endpoint) {
        return failure(fmt::format("The device over the backend ({}) cannot be made: {}",
                                   source.name(), device::explain(endpoint.error())));
    }
    VIRTACCEL_TRY(adapters::stdio::DeviceStream(*endpoint, STDIN_FILENO, STDOUT_FILENO).serve());
    return {};
}

OrFailure<void> drive_guest(const GuestOptions& options) {
    ignore_closed_pipes();
    adapters::stdio::DriverStream stream{STDIN_FILENO, STDOUT_FILENO};
    probe::StreamPeer peer{stream};
    probe::Probe probe{peer, options.strict, say};
    probe::run_all(probe);
    if (probe.failure().empty()) {
        probe::run_session(probe, stream);
    }
    const auto tally = probe.tally();
    if (tally.wrong != 0) {
        return failure(
            fmt::format("The device at the other end gives wrong answers ({} of {}); "
                        "see the lines above that begin with WRONG.",
                        tally.wrong, tally.right + tally.wrong));
    }
    say(fmt::format("All {} answers are right.", tally.right));
    return {};
}

}  // namespace virtaccel::cli

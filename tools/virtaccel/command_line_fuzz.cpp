// Any words as a command line: it ends with one of the exit codes, and a command is run only with
// what its options allow. The one thing to know: the commands themselves are stood in for here, so
// that nothing is opened, written or started.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/cpu.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/command_line.h"
#include "tools/virtaccel/conform.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/inspect.h"
#include "tools/virtaccel/limited_backend.h"
#include "tools/virtaccel/named_file.h"
#include "tools/virtaccel/replay.h"
#include "tools/virtaccel/run_model.h"
#include "tools/virtaccel/show_info.h"
#include "tools/virtaccel/stdio_commands.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {

namespace {

void check_named(const std::vector<NamedFile>& files) {
    for (const NamedFile& file : files) {
        VIRTACCEL_CHECK(!file.name.empty() && !file.path.empty());
        VIRTACCEL_CHECK(file.name.find('=') == std::string::npos);
    }
}

void check_frames(std::uint32_t request_bytes_max, std::uint32_t response_bytes_max,
                  std::uint32_t chain_descriptors_max) {
    VIRTACCEL_CHECK(request_bytes_max >= protocol::request_bytes_min &&
                    request_bytes_max <= protocol::frame_bytes_max);
    VIRTACCEL_CHECK(response_bytes_max >= protocol::response_bytes_min &&
                    response_bytes_max <= protocol::frame_bytes_max);
    VIRTACCEL_CHECK(chain_descriptors_max >= protocol::chain_descriptors_min &&
                    chain_descriptors_max <= protocol::chain_descriptors_max);
}

}  // namespace

std::string backend_names() {
    return "cpu, mock, null";
}

OrFailure<void> run_model(const RunOptions& options) {
    VIRTACCEL_CHECK(options.repeat >= 1 && options.repeat <= 1'000'000);
    const auto threads = options.backend.threads.value_or(1);
    VIRTACCEL_CHECK(threads >= 1 && threads <= backends::cpu::Options::threads_max);
    check_named(options.inputs);
    check_named(options.outputs);
    return {};
}

OrFailure<void> show_info(const InfoOptions& options) {
    return options.json ? failure("There is no device here; ask for one.") : OrFailure<void>{};
}

OrFailure<void> inspect_model(const InspectOptions& options) {
    return options.json ? failure("There is no model here; ask for one.") : OrFailure<void>{};
}

OrFailure<void> serve_device(const DeviceOptions& options) {
    check_frames(options.request_bytes_max, options.response_bytes_max,
                 options.chain_descriptors_max);
    VIRTACCEL_CHECK(options.backend.limits.has_value());
    const AdvertisedLimits& limits = *options.backend.limits;
    VIRTACCEL_CHECK(limits.bindings_per_submission >= 1 &&
                    limits.bindings_per_submission <= protocol::bindings_max);
    VIRTACCEL_CHECK(limits.buffer_bytes >= 1 && limits.artifact_bytes >= 1);
    return {};
}

OrFailure<void> drive_guest(const GuestOptions& options) {
    return options.strict ? failure("There is no device here; ask for one.") : OrFailure<void>{};
}

OrFailure<void> run_conform(const ConformOptions& options) {
    check_frames(options.request_bytes_max, options.response_bytes_max,
                 options.chain_descriptors_max);
    VIRTACCEL_CHECK(options.timeout_ms >= 10 && options.timeout_ms <= 86'400'000);
    VIRTACCEL_CHECK(!options.program || *options.program == "mock" || *options.program == "tosa" ||
                    *options.program == "none");
    return {};
}

OrFailure<void> replay_file(const std::string& path, const std::optional<BackendChoice>& backend) {
    static_cast<void>(backend);
    return path.empty() ? failure("The file has no name; give one.", Exit::usage)
                        : OrFailure<void>{};
}

OrFailure<void> replay_random(const RandomOptions& options) {
    VIRTACCEL_CHECK(options.steps >= 1 && options.steps <= 1'000'000'000);
    VIRTACCEL_CHECK(options.schedules >= 1 && options.schedules <= 1'000'000'000);
    return {};
}

}  // namespace virtaccel::cli

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    // Words end with a line, as no shell lets a zero byte into one.
    std::string text{reinterpret_cast<const char*>(data), bytes};
    std::ranges::replace(text, '\0', ' ');
    std::vector<const char*> words{"virtaccel"};
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') {
            text[i] = '\0';
            words.push_back(text.data() + start);
            start = i + 1;
        }
    }
    const int code = virtaccel::cli::run_command_line(words);
    VIRTACCEL_CHECK(code >= 0 && code <= 3);
    return 0;
}

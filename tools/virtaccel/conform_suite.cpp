#include "tools/virtaccel/conform_suite.h"

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/clock.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/conform.h"
#include "tools/virtaccel/conform_device.h"
#include "tools/virtaccel/conform_words.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/numeric_suite.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/mock_subject.h"
#include "virtaccel/conformance/ring_device.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/tosa_sample.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {
namespace {

using conformance::CaseResult;
using conformance::SampleProgram;

constexpr std::string_view stdio_prefix = "stdio:";
constexpr std::uint64_t budget_bytes = std::uint64_t{1} << 30U;
constexpr std::uint32_t queue_size_min = 128;
constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t pause_between_polls_ns = 100'000;
constexpr std::uint32_t pauses_per_ms = ns_per_ms / pause_between_polls_ns;
// After so many cases in a row that ran into the time limit, a program is given up.
constexpr std::uint32_t silent_cases_max = 5;

OrFailure<BackendSource> find_backend(const std::string& name) {
    BackendChoice choice;
    choice.name = name;
    return BackendSource::find(host::heap(), std::move(choice));
}

// The kind of program that a backend takes, unless the user says which.
std::string program_of(const ConformOptions& options, std::string_view backend) {
    const std::string_view usual = backend == "mock" ? "mock" : backend == "null" ? "none" : "tosa";
    return options.program.value_or(std::string{usual});
}

bool takes_tosa(const ConformOptions& options) {
    const std::string_view backend = options.backend ? *options.backend : std::string_view{};
    return program_of(options, backend.substr(0, backend.find(':'))) == "tosa";
}

std::optional<SampleProgram> choose_sample(const ConformOptions& options,
                                           std::string_view backend) {
    const std::string program = program_of(options, backend);
    if (program == "mock") {
        return conformance::reference_sample();
    }
    return program == "tosa" ? std::optional{conformance::tosa_sample()} : std::nullopt;
}

conformance::Patience patience_of(const ConformOptions& options) {
    return {.state = nullptr,
            .pause = [](void*) { host::pause_ns(pause_between_polls_ns); },
            .pauses_max = options.timeout_ms * pauses_per_ms};
}

wire::Config config_of(const ConformOptions& options) {
    wire::Config config;
    config.chain_descriptors_max = options.chain_descriptors_max;
    config.request_bytes_max = options.request_bytes_max;
    config.response_bytes_max = options.response_bytes_max;
    return config;
}

conformance::DeviceSubject device_subject(const ConformOptions& options, std::string_view backend,
                                          conformance::DeviceUnderTest& device) {
    return {.memory = host::heap(),
            .device = &device,
            .program = choose_sample(options, backend),
            .patience = patience_of(options)};
}

// The part of all cases that a row belongs to.
template <class Row>
std::string_view group_of(const Row& row) {
    if constexpr (requires { row.group; }) {
        return row.group;
    } else {
        return "device";
    }
}

// `run` takes a row and keeps what it needs alive. The rows live as long as the program.
template <class Rows, class Run>
Suite suite_of(std::string subject, const Rows& rows, const Run& run) {
    Suite suite{.subject = std::move(subject), .cases = {}};
    for (const auto& row : rows) {
        suite.cases.push_back(
            {.name = row.name, .title = row.title, .group = group_of(row), .run = [run, &row] {
                 return run(row);
             }});
    }
    return suite;
}

OrFailure<Suite> backend_suite(const ConformOptions& options) {
    struct State {
        BackendSource source;
        conformance::BackendSubject subject{};
    };

    VIRTACCEL_TRY_ASSIGN(auto source, find_backend(*options.backend));
    const auto state = std::make_shared<State>(std::move(source));
    state->subject = {.memory = host::heap(),
                      .factory = state->source.factory(),
                      .program = choose_sample(options, state->source.name()),
                      .patience = patience_of(options)};
    Suite suite =
        suite_of(fmt::format("backend {}", state->source.name()), conformance::backend_cases(),
                 [state](const conformance::BackendCase& row) {
                     return conformance::run_backend_case(state->subject, row);
                 });
    if (takes_tosa(options)) {
        append_numeric_cases(suite.cases, {state, &state->subject});
    }
    return suite;
}

OrFailure<Suite> loopback_suite(const ConformOptions& options) {
    struct State {
        BackendSource source;
        std::optional<conformance::RingDevice> device{};
        conformance::DeviceSubject subject{};
    };

    VIRTACCEL_TRY_ASSIGN(auto source, find_backend(options.backend.value_or("mock")));
    const auto state = std::make_shared<State>(std::move(source));
    conformance::RingDeviceOptions ring;
    ring.queue_size =
        std::max(queue_size_min, std::bit_ceil(std::uint32_t{options.chain_descriptors_max}));
    ring.device.config = config_of(options);
    ring.device.policy = {.buffer_bytes_max = budget_bytes,
                          .program_resident_bytes_max = budget_bytes};
    state->device.emplace(host::heap(), state->source.factory(), ring);
    if (!state->device->unfit().empty()) {
        return failure(fmt::format("The device over the backend ({}) cannot be made: {}",
                                   state->source.name(), state->device->unfit()));
    }
    state->subject = device_subject(options, state->source.name(), *state->device);
    return suite_of(fmt::format("device loopback over {}", state->source.name()),
                    conformance::device_cases(), [state](const conformance::DeviceCase& row) {
                        return conformance::run_device_case(state->subject, row);
                    });
}

struct ChildState {
    ChildState(std::vector<std::string> words, const ConformOptions& options)
        : device(std::move(words), config_of(options), options.timeout_ms * ns_per_ms),
          subject(device_subject(options, "mock", device)),
          timeout_ns(options.timeout_ms * ns_per_ms) {}

    ChildDevice device;
    conformance::DeviceSubject subject;
    std::uint64_t timeout_ns = 0;
    std::uint32_t silent_cases = 0;  // in a row, up to now
};

// The case, or the sentence about the program that ended it.
std::expected<CaseResult, std::string> try_on_child(ChildState& state,
                                                    const conformance::DeviceCase& row) {
    if (const auto alive = state.device.revive(); !alive) {
        return std::unexpected{alive.error().message};
    }
    CaseResult result = conformance::run_device_case(state.subject, row);
    if (!state.device.failure().empty()) {
        return std::unexpected{state.device.failure()};
    }
    return result;
}

// One case on another program's device. What ends the program ends the case as failed; the next one
// gets a fresh program, unless it has been silent too often.
CaseResult run_on_child(ChildState& state, const conformance::DeviceCase& row) {
    const auto failed = [&row](const std::string& reason) {
        return CaseResult{.name = row.name,
                          .title = row.title,
                          .outcome = conformance::Outcome::failed,
                          .reason = reason};
    };
    if (state.silent_cases == silent_cases_max) {
        return failed(
            fmt::format("The case is not run: the program did not answer in the last "
                        "{} cases; make it answer those first.",
                        silent_cases_max));
    }
    const std::uint64_t begin_ns = host::now_ns();
    const auto result = try_on_child(state, row);
    const bool was_silent = !result && host::now_ns() - begin_ns >= state.timeout_ns;
    state.silent_cases = was_silent ? state.silent_cases + 1 : 0;
    return result ? *result : failed(result.error());
}

OrFailure<Suite> stdio_suite(const ConformOptions& options) {
    const auto command = std::string_view{*options.device}.substr(stdio_prefix.size());
    const auto words = split_words(command);
    if (!words || words->empty()) {
        return failure(fmt::format("The device (stdio:{}) {}; write stdio:COMMAND ARG... with one "
                                   "blank between words, and quotes around words with blanks.",
                                   command, words ? "names no command" : "has an open quote"),
                       Exit::usage);
    }
    if (options.backend) {
        return failure(fmt::format("The device ({}) brings a backend of its own; leave --backend "
                                   "({}) out, and say with --program what it takes.",
                                   *options.device, *options.backend),
                       Exit::usage);
    }
    // A closed pipe is an error of the case, not the end of this program.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    const auto state = std::make_shared<ChildState>(*words, options);
    VIRTACCEL_TRY(state->device.revive());
    return suite_of(
        fmt::format("device {}", *options.device), conformance::device_cases(),
        [state](const conformance::DeviceCase& row) { return run_on_child(*state, row); });
}

template <class Rows>
void append(std::vector<SuiteCase>& cases, const Rows& rows) {
    for (const auto& row : rows) {
        cases.push_back(
            {.name = row.name, .title = row.title, .group = group_of(row), .run = nullptr});
    }
}

}  // namespace

std::vector<SuiteCase> list_cases(const ConformOptions& options) {
    std::vector<SuiteCase> cases;
    if (!options.device) {
        append(cases, conformance::backend_cases());
        if (takes_tosa(options)) {
            append_numeric_cases(cases, nullptr);
        }
    }
    if (options.device || !options.backend) {
        append(cases, conformance::device_cases());
    }
    return cases;
}

OrFailure<Suite> make_suite(const ConformOptions& options) {
    if (!options.device) {
        if (!options.backend) {
            return failure(
                "There is nothing to judge; name a backend (--backend cpu) or a device (--device "
                "loopback, --device \"stdio:COMMAND ARG...\").",
                Exit::usage);
        }
        return backend_suite(options);
    }
    if (*options.device == "loopback") {
        return loopback_suite(options);
    }
    if (options.device->starts_with(stdio_prefix)) {
        return stdio_suite(options);
    }
    return failure(fmt::format("The device ({}) is not known; choose loopback or \"stdio:COMMAND "
                               "ARG...\".",
                               *options.device),
                   Exit::usage);
}

}  // namespace virtaccel::cli

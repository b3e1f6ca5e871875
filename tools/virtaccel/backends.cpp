#include "tools/virtaccel/backends.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "backends/cpu/capabilities.h"
#include "backends/cpu/cpu.h"
#include "backends/null/capabilities.h"
#include "backends/null/null.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/limited_backend.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/mock/reference.h"

namespace virtaccel::cli {
namespace {

// `made`, within the limits that the user gave.
Result<backend::AnyBackend> limited(const Memory& memory, const BackendChoice& choice,
                                    Result<backend::AnyBackend> made) {
    if (!made || !choice.limits) {
        return made;
    }
    return backend::make_owned<LimitedBackend>(memory, *std::move(made), *choice.limits);
}

Result<backend::AnyBackend> make_cpu(const Memory& memory, const BackendChoice& choice) {
    const backends::cpu::Options options{.threads = choice.threads.value_or(1)};
    return limited(memory, choice, backends::cpu::make(memory, options));
}

// The mock has the limits it is told to have: its own are those of a fixture.
Result<backend::AnyBackend> make_mock(const Memory& memory, const BackendChoice& choice) {
    mock::ReferenceOptions options;
    if (choice.mock) {
        options.complete_at = choice.mock->complete_at;
        options.pending_polls = choice.mock->pending_polls;
        if (!choice.mock->can_cancel) {
            options.identity.capabilities =
                options.identity.capabilities - CapabilityBit::event_cancellation;
        }
    }
    if (choice.limits) {
        options.identity.limits.bindings_per_submission = choice.limits->bindings_per_submission;
        options.identity.limits.buffer_bytes = choice.limits->buffer_bytes;
        options.identity.limits.artifact_bytes = choice.limits->artifact_bytes;
    }
    return backend::make_owned<mock::Reference>(memory, memory, options);
}

Result<backend::AnyBackend> make_null(const Memory& memory, const BackendChoice& choice) {
    return limited(memory, choice,
                   backend::make_owned<backends::null::NullBackend>(memory, memory));
}

constexpr std::array rows{
    BackendRow{.name = "cpu",
               .summary = "TOSA models on this machine's processor",
               .has_threads = true,
               .make = make_cpu,
               .capabilities = backends::cpu::capabilities},
    BackendRow{.name = "mock",
               .summary = "the reference backend: barrier, copy, fill, xor; no models",
               .has_threads = false,
               .make = make_mock,
               .capabilities = lowering::no_capabilities},
    BackendRow{.name = "null",
               .summary = "refuses every program",
               .has_threads = false,
               .make = make_null,
               .capabilities = backends::null::capabilities},
};

}  // namespace

std::span<const BackendRow> backend_rows() {
    return rows;
}

std::string backend_names() {
    std::string names;
    for (const BackendRow& row : rows) {
        names += names.empty() ? "" : ", ";
        names += row.name;
    }
    return names;
}

OrFailure<BackendSource> BackendSource::find(const Memory& memory, BackendChoice choice) {
    const std::string_view whole = choice.name;
    const auto name = whole.substr(0, whole.find(':'));
    const auto* row = std::ranges::find(rows, name, &BackendRow::name);
    if (row == rows.end()) {
        return failure(fmt::format("The backend ({}) is not known; choose one of ({}).", name,
                                   backend_names()),
                       Exit::usage);
    }
    if (name.size() != whole.size()) {
        return failure(fmt::format("The backend ({}) has no device ({}) to choose; leave the colon "
                                   "and what follows it out.",
                                   name, whole.substr(name.size() + 1)),
                       Exit::usage);
    }
    if (choice.threads && !row->has_threads) {
        return failure(fmt::format("The backend ({}) has no threads to choose ({}); leave "
                                   "--threads out.",
                                   name, *choice.threads),
                       Exit::usage);
    }
    if (choice.mock && row->make != make_mock) {
        return failure(fmt::format("The backend ({}) takes neither --complete nor --no-cancel, "
                                   "which are for (mock); leave them out.",
                                   name),
                       Exit::usage);
    }
    return BackendSource{memory, std::move(choice), *row};
}

backend::BackendFactory BackendSource::factory() {
    return {
        .state = this,
        .make = [](void* self) { return static_cast<const BackendSource*>(self)->make(); },
    };
}

Result<backend::AnyBackend> BackendSource::make() const {
    return row_->make(memory_, choice_);
}

}  // namespace virtaccel::cli

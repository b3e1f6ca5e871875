#include "virtaccel/device/core.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/identity.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/dispatch.h"
#include "virtaccel/device/ids.h"
#include "virtaccel/device/options.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

// Why a backend of that identity cannot be shown to a guest, if so.
std::expected<void, Unfit> judge(const DeviceIdentity& identity) {
    const DeviceLimits& limits = identity.limits;
    if (identity.capabilities.has_any(capabilities_reserved)) {
        return std::unexpected{Unfit::capability_is_reserved};
    }
    if (!identity.capabilities.has_any(capabilities_memory)) {
        return std::unexpected{Unfit::memory_domain_is_missing};
    }
    if (limits.bindings_per_submission > protocol::bindings_max) {
        return std::unexpected{Unfit::bindings_over_limit};
    }
    if (!backend::are_limits(limits)) {
        return std::unexpected{Unfit::limit_is_zero};
    }
    // A driver judges the same identity by the schema, which must not find anything else.
    const wire::FrameLimits no_limits;
    VIRTACCEL_CHECK(wire::validate(wire::to_record(identity), {.limits = no_limits}) == Status::ok);
    return {};
}

std::expected<void, Unfit> judge(const Options& options) {
    const wire::FrameLimits no_limits;
    if (wire::validate(options.config, {.limits = no_limits}) != Status::ok) {
        return std::unexpected{Unfit::config_out_of_range};
    }
    if (options.policy.buffer_bytes_max == 0 || options.policy.program_resident_bytes_max == 0) {
        return std::unexpected{Unfit::policy_is_zero};
    }
    if (options.first_serial == 0 || options.first_serial > serial_end) {
        return std::unexpected{Unfit::serial_out_of_range};
    }
    return {};
}

}  // namespace

Tables::Tables(const Memory& memory, const DeviceLimits& limits)
    : contexts(memory, limits.contexts),
      buffers(memory, std::uint64_t{limits.contexts} * limits.buffers_per_context),
      programs(memory, std::uint64_t{limits.contexts} * limits.programs_per_context),
      queues(memory, std::uint64_t{limits.contexts} * limits.queues_per_context),
      events(memory, std::uint64_t{limits.contexts} * limits.events_per_context) {}

bool Tables::have_directories() const {
    return contexts.has_directory() && buffers.has_directory() && programs.has_directory() &&
           queues.has_directory() && events.has_directory();
}

Core::Core(const Memory& source, backend::AnyBackend used_backend, const DeviceIdentity& judged,
           const Options& given)
    : memory(source),
      bookkeeping(source, given.bookkeeping_bytes_max),
      backend(std::move(used_backend)),
      identity(judged),
      options(given),
      limits(wire::frame_limits(given.config, judged)),
      info(wire::to_record(judged)),
      tables(bookkeeping.memory(), judged.limits),
      serials(given.first_serial),
      ledger(given.policy),
      references(bookkeeping.memory()),
      bindings(bookkeeping.memory(), limits.bindings_max),
      parts(bookkeeping.memory(), source) {}

bool Core::complete() const {
    return tables.have_directories() && bindings.ready();
}

std::expected<Core*, Unfit> Core::make(const Memory& memory, backend::AnyBackend backend,
                                       const Options& options) {
    if (!backend) {
        return std::unexpected{Unfit::no_backend};
    }
    if (const auto fit = judge(options); !fit) {
        return std::unexpected{fit.error()};
    }
    const DeviceIdentity identity = backend.identity();
    if (const auto fit = judge(identity); !fit) {
        return std::unexpected{fit.error()};
    }
    void* const place = memory.allocate(memory.state, sizeof(Core), alignof(Core));
    if (place == nullptr) {
        return std::unexpected{Unfit::no_memory};
    }
    Core* const core =
        std::construct_at(static_cast<Core*>(place), memory, std::move(backend), identity, options);
    if (!core->complete()) {
        drop(core);
        return std::unexpected{Unfit::no_memory};
    }
    return core;
}

void Core::drop(Core* core) {
    core->untaken_load = {};
    core->orphaned = true;
    if (core->pending_loads == 0) {
        core->end_waiting();
    }
}

void Core::drop_backend() {
    VIRTACCEL_CHECK(discard_required);
    backend_unwanted = true;
    if (pending_loads == 0) {
        end_waiting();
    }
}

void Core::end_waiting() {
    if (orphaned) {
        const Memory source = memory;
        std::destroy_at(this);
        source.release(source.state, this, sizeof(Core), alignof(Core));
    } else if (backend_unwanted) {
        backend = {};
    }
}

Status Core::told(Status failure) {
    if (failure == Status::device_lost) {
        lose();
    }
    const bool is_tellable =
        is_known(failure) && failure != Status::ok && failure != Status::stale_object;
    return is_tellable ? failure : Status::internal_error;
}

}  // namespace virtaccel::device

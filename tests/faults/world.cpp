#include "tests/faults/world.h"

#include <cstdint>
#include <span>
#include <utility>

#include "tests/faults/hands.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/options.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/audit_backend.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::faults {

namespace {

constexpr std::uint32_t frame_bytes = 1024;

// An event is pending once, so that there is something to cancel; the limits are small, so that
// thousands of devices are made fast.
mock::ReferenceOptions reference_options() {
    mock::ReferenceOptions options{.complete_at = mock::CompleteAt::poll, .pending_polls = 1};
    options.identity.limits = {.contexts = 2,
                               .buffers_per_context = 4,
                               .programs_per_context = 2,
                               .queues_per_context = 2,
                               .events_per_context = 4,
                               .bindings_per_submission = 4,
                               .buffer_bytes = buffer_bytes,
                               .artifact_bytes = 64};
    return options;
}

Result<backend::AnyBackend> wrap(Twin twin, const Memory& memory, backend::AnyBackend inner) {
    return twin == nullptr ? Result<backend::AnyBackend>{std::move(inner)}
                           : twin(memory, std::move(inner));
}

}  // namespace

device::Options device_options() {
    device::Options options;
    options.config.chain_descriptors_max = 8;
    options.config.request_bytes_max = frame_bytes;
    options.config.response_bytes_max = frame_bytes;
    options.policy = {.buffer_bytes_max = (2 * buffer_bytes) + (buffer_bytes / 8),
                      .program_resident_bytes_max = 1024};
    return options;
}

World::World(const Memory& memory, std::span<const mock::Fault> faults, const Twins& twins)
    : memory_(memory),
      faults_(faults),
      twins_(twins),
      audit_(memory, {.objects_max = 64, .calls_kept = 0}) {
    for (const mock::Fault& fault : faults) {
        VIRTACCEL_CHECK(script_.add(fault).has_value());
    }
}

backend::BackendFactory World::factory() {
    return {.state = this,
            .make = [](void* self) { return static_cast<World*>(self)->make_backend(); }};
}

Result<backend::AnyBackend> World::make_backend() {
    VIRTACCEL_TRY_ASSIGN(auto reference, backend::make_owned<mock::Reference>(memory_, memory_,
                                                                              reference_options()));
    VIRTACCEL_TRY_ASSIGN(auto behind, wrap(twins_.under_fault, memory_, std::move(reference)));
    VIRTACCEL_TRY_ASSIGN(
        auto fault, backend::make_owned<mock::FaultBackend>(memory_, script_, std::move(behind)));
    VIRTACCEL_TRY_ASSIGN(auto judged, wrap(twins_.under_audit, memory_, std::move(fault)));
    VIRTACCEL_TRY_ASSIGN(
        auto audited, backend::make_owned<mock::AuditBackend>(memory_, audit_, std::move(judged)));
    return wrap(twins_.over_audit, memory_, std::move(audited));
}

}  // namespace virtaccel::faults

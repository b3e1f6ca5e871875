// Events: what is known of them, and who decided it.
#include <bit>
#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/release.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {

Status observe(Core& core, Live<EventKind> event) {
    if (is_terminal(event->known)) {
        return Status::ok;
    }
    const auto polled = core.backend.poll(event->handle);
    if (!polled) {
        return core.told(polled.error());
    }
    const EventPhase phase = polled->phase;
    Status error = polled->error;
    if (phase == EventPhase::failed) {
        error = core.told(error);
    } else if (phase > EventPhase::cancelled || error != Status::ok) {
        return Status::internal_error;
    }
    event->known = {phase, error};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::poll_event>& call) {
    VIRTACCEL_TRY_ASSIGN(const auto event, core.find<EventKind>(call.request.object_id));
    if (const auto status = observe(core, event); status != Status::ok) {
        return status;
    }
    // One word, as it goes out: state, error, zero.
    const wire::le64 word = static_cast<std::uint64_t>(event->known.phase) |
                            static_cast<std::uint64_t>(event->known.error) << 16U;
    call.reply = std::bit_cast<wire::EventState>(word);
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::cancel_event>& call) {
    if (!core.identity.capabilities.has(CapabilityBit::event_cancellation)) {
        return Status::unsupported;
    }
    VIRTACCEL_TRY_ASSIGN(const auto event, core.find<EventKind>(call.request.object_id));
    if (is_terminal(event->known)) {
        return Status::busy;
    }
    const auto status = core.backend.cancel(event->handle);
    if (status != Status::ok) {
        return core.told(status);
    }
    event->known = {.phase = EventPhase::cancelled, .error = Status::ok};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::destroy_event>& call) {
    return release_by_id<EventKind>(core, call.request.object_id);
}

}  // namespace virtaccel::device

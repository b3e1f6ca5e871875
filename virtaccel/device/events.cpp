// Events: what is known of them, and who decided it.
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

namespace virtaccel::device {
namespace {

// What the backend says of an event, as the protocol can say it: INTERNAL_ERROR if it makes no
// sense, and an error the protocol does not know ends the event as failed with INTERNAL_ERROR.
Result<backend::EventStatus> sensible(backend::EventStatus said) {
    if (said.phase == EventPhase::failed) {
        if (said.error == Status::ok || !is_known(said.error)) {
            said.error = Status::internal_error;
        }
        return said;
    }
    if (said.phase > EventPhase::cancelled || said.error != Status::ok) {
        return fail(Status::internal_error);
    }
    return said;
}

}  // namespace

Result<backend::EventStatus> observe(Core& core, Live<EventKind> event) {
    if (is_terminal(event->known)) {
        return event->known;
    }
    const auto polled = core.backend.poll(event->handle);
    if (!polled) {
        return fail(core.told(polled.error()));
    }
    VIRTACCEL_TRY_ASSIGN(const auto status, sensible(*polled));
    event->known = status;
    if (status.error == Status::device_lost) {
        core.lose();
    }
    return status;
}

AnswerOf<Opcode::poll_event> on(Core& core, const Call<Opcode::poll_event>& call) {
    VIRTACCEL_TRY_ASSIGN(const auto event, core.find<EventKind>(call.request.object_id));
    VIRTACCEL_TRY_ASSIGN(const auto status, observe(core, event));
    return wire::EventState{.state = static_cast<std::uint16_t>(status.phase),
                            .error = static_cast<std::uint16_t>(status.error),
                            .reserved = {}};
}

AnswerOf<Opcode::cancel_event> on(Core& core, const Call<Opcode::cancel_event>& call) {
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

AnswerOf<Opcode::destroy_event> on(Core& core, const Call<Opcode::destroy_event>& call) {
    return release_by_id<EventKind>(core, call.request.object_id);
}

}  // namespace virtaccel::device

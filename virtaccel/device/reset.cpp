// The one bounded pass that gives everything up (spec §7): users before what they use, no waiting,
// no second try, and no call to a backend that was lost.
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/device/release.h"

namespace virtaccel::device {
namespace {

// True if the event is terminal, or was cancelled just now because the backend can do that.
bool ends_event(Core& core, Live<EventKind> event) {
    if (observe(core, event) != Status::ok || core.discard_required) {
        return false;
    }
    if (is_terminal(event->known)) {
        return true;
    }
    if (!core.identity.capabilities.has(CapabilityBit::event_cancellation)) {
        return false;
    }
    const Status cancelled = core.backend.cancel(event->handle);
    if (cancelled == Status::ok) {
        event->known = {.phase = EventPhase::cancelled, .error = Status::ok};
        return true;
    }
    // Too late to cancel: it has ended just now.
    return core.told(cancelled) == Status::busy && observe(core, event) == Status::ok &&
           is_terminal(event->known) && !core.discard_required;
}

template <class Kind>
bool may_end(Core& core, Live<Kind> object) {
    if constexpr (std::is_same_v<Kind, EventKind>) {
        return ends_event(core, object);
    } else {
        return object->users == 0;
    }
}

template <class Kind>
void release_all(Core& core, Tally& released) {
    core.tables.of<Kind>().for_each([&](Live<Kind> object) {
        if (core.discard_required || !may_end(core, object)) {
            return;
        }
        const auto bytes = charge_of(*object);
        if (release(core, object) == Status::ok) {
            ++released.objects;
            released.bytes += bytes;
        }
    });
}

// Parts are the device's own and can always be given up; a join under way keeps the bytes that it
// reads.
void end_parts(Core& core, Tally& released) {
    core.tables.programs.for_each([&](Live<ProgramKind> program) {
        if (program->part != nullptr) {
            const auto before = core.ledger.programs.charged_bytes();
            end_part(core, program);
            ++released.objects;
            released.bytes += before - core.ledger.programs.charged_bytes();
        }
    });
}

template <class Kind>
void quarantine_all(Core& core) {
    core.tables.of<Kind>().for_each([&](Live<Kind> object) { quarantine(core, object); });
    core.tables.of<Kind>().clear();
}

template <class... Kind>
void give_up(Core& core, Tally& released, Kinds<Kind...> /*order*/) {
    if (!core.discard_required) {
        (release_all<Kind>(core, released), ...);
    }
    (quarantine_all<Kind>(core), ...);
}

}  // namespace

ResetReport Core::reset() {
    untaken_load = {};
    ++epoch;
    ledger.programs.clear_reservations();
    Tally released;
    end_parts(*this, released);
    give_up(*this, released, ResetOrder{});
    if (ledger.buffers.charged_bytes() != 0 || ledger.programs.charged_bytes() != 0) {
        lose();  // all objects are gone and their charges are not
    }
    needs_reset = discard_required;
    return {.discard = discard_required, .released = released, .quarantined = ledger.quarantined};
}

}  // namespace virtaccel::device

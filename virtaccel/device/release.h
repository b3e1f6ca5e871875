#pragma once
// The one way in which an object of any kind ends: begin, the backend's call, then commit, restore
// or quarantine (spec §6, "Release").

#include <cstdint>
#include <type_traits>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/ledger.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/references.h"

namespace virtaccel::device {

// How an operation ended; one whose outcome contradicts itself ended nobody knows how.
template <class Outcome>
[[nodiscard]] backend::Certainty settle(const Outcome& outcome) {
    const bool done = outcome.certainty == backend::Certainty::done;
    if (done ? outcome.status != Status::ok : outcome.certainty != backend::Certainty::rejected) {
        return backend::Certainty::indeterminate;
    }
    return outcome.certainty;
}

// Ends an object's charge; false if the books contradict themselves.
template <class Kind>
[[nodiscard]] bool refund(Ledger& ledger, const Entry<Kind>& object) {
    if constexpr (std::is_same_v<Kind, BufferKind>) {
        return ledger.buffers.refund(object.charged_bytes);
    } else if constexpr (std::is_same_v<Kind, ProgramKind>) {
        return ledger.programs.refund(object.charged_bytes);
    } else {
        return true;
    }
}

// The object is gone: gives up its charge and what it retained.
template <class Kind>
void commit(Core& core, Live<Kind> object) {
    if (!refund(core.ledger, *object)) {
        core.lose();
    }
    if constexpr (std::is_same_v<Kind, EventKind>) {
        core.references.let_go(object->buffers);
        --object->program->users;
        --object->queue->users;
    }
    if constexpr (!std::is_same_v<Kind, ContextKind>) {
        --object->context->users;
        --(object->context->*count_of<Kind>);
    }
    core.tables.of<Kind>().vacate(object);
}

// Nobody knows whether the object is gone: its ID is, its charge moves, and what it retained stays
// retained.
template <class Kind>
void quarantine(Core& core, Live<Kind> object) {
    (void)refund(core.ledger, *object);  // lost either way
    ++core.ledger.quarantined.objects;
    core.ledger.quarantined.bytes += charge_of(*object);
    core.tables.of<Kind>().bury(object);
    core.lose();
}

// Ends a part, whatever reads its artifact.
inline void end_part(Core& core, Live<ProgramKind> part) {
    core.parts.unload(part->context->parted, *part->part);
    commit(core, part);
}

// Gives `object`, which nothing uses, back to the backend. Parts are not the backend's: such a
// program ends here, or is BUSY while a join reads its artifact.
template <class Kind>
[[nodiscard]] Status release(Core& core, Live<Kind> object) {
    if constexpr (std::is_same_v<Kind, ProgramKind>) {
        if (object->part != nullptr) {
            if (backend::Parts::is_in_use(*object->part)) {
                return Status::busy;
            }
            end_part(core, object);
            return Status::ok;
        }
    }
    const auto outcome = core.backend.release(object->handle);
    switch (settle(outcome)) {
        case backend::Certainty::done:
            commit(core, object);
            return Status::ok;
        case backend::Certainty::rejected:
            return core.told(outcome.status);  // the same ID stays live
        case backend::Certainty::indeterminate:
            break;
    }
    quarantine(core, object);
    return Status::device_lost;
}

// Gives back what the guest has not seen yet, of `bytes` real bytes, and answers `why`; if that
// cannot be proven to have happened, the device is lost.
template <class Kind>
[[nodiscard]] Status give_back(Core& core, backend::Handle<Kind> handle, std::uint64_t bytes,
                               Status why) {
    if (settle(core.backend.release(handle)) == backend::Certainty::done) {
        return why;
    }
    ++core.ledger.quarantined.objects;
    core.ledger.quarantined.bytes += bytes;
    core.lose();
    return Status::device_lost;
}

// True if other objects stand on `object`. Whether an event has ended is the backend's to say: to
// ask by polling could be what ends it.
template <class Kind>
[[nodiscard]] bool is_used(const Entry<Kind>& object) {
    if constexpr (std::is_same_v<Kind, EventKind>) {
        return false;
    } else {
        return object.users != 0;
    }
}

// The release commands of all kinds.
template <class Kind>
[[nodiscard]] Status release_by_id(Core& core, Id<Kind> id) {
    const auto object = core.find(id);
    if (!object) {
        return object.error();
    }
    return is_used(**object) ? Status::busy : release(core, *object);
}

}  // namespace virtaccel::device

#include "virtaccel/mock/fault.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

using backend::Certainty;
using backend::EventStatus;
using backend::ReleaseOutcome;
using backend::SubmitOutcome;

namespace {

bool is_before(const std::optional<Fault>& fault) {
    return fault && fault->action == Action::error_before;
}

}  // namespace

// Makes something with `make()`, or fails before or after that; `undo(made)` gives it up again.
template <class Made, class Make, class Undo>
Result<Made> FaultBackend::create(Call call, Make make, Undo undo) {
    const auto fault = script_->take(call);
    if (is_before(fault)) {
        return fail(fault->status);
    }
    const Result<Made> made = make();
    if (!fault || !made) {
        return made;
    }
    const ReleaseOutcome undone = undo(*made);
    return fail(undone.certainty == Certainty::done ? fault->status : Status::device_lost);
}

template <class Release>
ReleaseOutcome FaultBackend::release(Call call, Release release) {
    const auto fault = script_->take(call);
    if (fault && fault->action == Action::rejected) {
        return ReleaseOutcome::rejected(fault->status);
    }
    const ReleaseOutcome outcome = release();
    return fault ? ReleaseOutcome{Certainty::indeterminate, fault->status} : outcome;
}

template <class Move>
Status FaultBackend::transfer(Call call, Move move) {
    const auto fault = script_->take(call);
    if (is_before(fault)) {
        return fault->status;
    }
    const Status moved = move();
    return fault && moved == Status::ok ? fault->status : moved;
}

Result<backend::ContextHandle> FaultBackend::create_context() {
    return create<backend::ContextHandle>(
        Call::create_context, [this] { return Forwarding::create_context(); },
        [this](backend::ContextHandle made) { return Forwarding::destroy_context(made); });
}

ReleaseOutcome FaultBackend::destroy_context(backend::ContextHandle context) {
    return release(Call::destroy_context, [&] { return Forwarding::destroy_context(context); });
}

Result<backend::Allocation> FaultBackend::allocate(backend::ContextHandle context,
                                                   const backend::BufferRequest& request) {
    return create<backend::Allocation>(
        Call::allocate, [&] { return Forwarding::allocate(context, request); },
        [this](const backend::Allocation& made) { return Forwarding::free(made.buffer); });
}

ReleaseOutcome FaultBackend::free(backend::BufferHandle buffer) {
    return release(Call::free, [&] { return Forwarding::free(buffer); });
}

Status FaultBackend::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    return transfer(Call::write, [&] { return Forwarding::write(buffer, offset, source); });
}

Status FaultBackend::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    return transfer(Call::read, [&] { return Forwarding::read(buffer, offset, target); });
}

Result<backend::PreparedHandle> FaultBackend::prepare(const backend::Artifact& artifact) {
    return create<backend::PreparedHandle>(
        Call::prepare, [&] { return Forwarding::prepare(artifact); },
        [this](backend::PreparedHandle made) {
            Forwarding::abandon(made);
            return ReleaseOutcome::released();
        });
}

void FaultBackend::abandon(backend::PreparedHandle prepared) {
    (void)script_->take(Call::abandon);  // counted, and has nothing to do wrong
    Forwarding::abandon(prepared);
}

Result<backend::LoadedProgram> FaultBackend::load(backend::ContextHandle context,
                                                  backend::PreparedHandle prepared) {
    bool consumed = false;
    auto loaded = create<backend::LoadedProgram>(
        Call::load,
        [&] {
            consumed = true;
            return Forwarding::load(context, prepared);
        },
        [this](const backend::LoadedProgram& made) { return Forwarding::unload(made.program); });
    if (!consumed) {
        Forwarding::abandon(prepared);  // a load consumes what was prepared, also when it fails
    }
    return loaded;
}

ReleaseOutcome FaultBackend::unload(backend::ProgramHandle program) {
    return release(Call::unload, [&] { return Forwarding::unload(program); });
}

Result<backend::QueueHandle> FaultBackend::create_queue(backend::ContextHandle context) {
    return create<backend::QueueHandle>(
        Call::create_queue, [&] { return Forwarding::create_queue(context); },
        [this](backend::QueueHandle made) { return Forwarding::destroy_queue(made); });
}

ReleaseOutcome FaultBackend::destroy_queue(backend::QueueHandle queue) {
    return release(Call::destroy_queue, [&] { return Forwarding::destroy_queue(queue); });
}

SubmitOutcome FaultBackend::submit(const backend::Submission& submission) {
    const auto fault = script_->take(Call::submit);
    if (fault && fault->action == Action::rejected) {
        return SubmitOutcome::rejected(fault->status);
    }
    const SubmitOutcome outcome = Forwarding::submit(submission);
    if (!fault || outcome.certainty != Certainty::done) {
        return outcome;
    }
    if (fault->action == Action::error_after) {
        return take_back(outcome.event, fault->status);
    }
    if (fault->action == Action::event_fails) {
        let_fail(outcome.event, fault->status);
        return outcome;
    }
    return SubmitOutcome::indeterminate(fault->status, outcome.event);
}

// Only what can still be cancelled, and then destroyed, has not happened.
SubmitOutcome FaultBackend::take_back(backend::EventHandle event, Status status) {
    if (Forwarding::cancel(event) != Status::ok) {
        return SubmitOutcome::indeterminate(status, event);
    }
    switch (Forwarding::destroy_event(event).certainty) {
        case Certainty::done:
            return SubmitOutcome::rejected(status);
        case Certainty::rejected:
            return SubmitOutcome::indeterminate(status, event);
        case Certainty::indeterminate:
            break;
    }
    return SubmitOutcome::indeterminate(Status::device_lost, event);
}

Result<EventStatus> FaultBackend::poll(backend::EventHandle event) {
    const auto fault = script_->take(Call::poll);
    if (is_before(fault)) {
        return fail(fault->status);
    }
    const auto polled = script_->events_held() ? EventStatus{} : look_at(event);
    return fault && polled ? fail(fault->status) : polled;
}

Status FaultBackend::cancel(backend::EventHandle event) {
    const auto fault = script_->take(Call::cancel);
    return fault ? fault->status : Forwarding::cancel(event);
}

ReleaseOutcome FaultBackend::destroy_event(backend::EventHandle event) {
    if (script_->events_held()) {
        return ReleaseOutcome::rejected(Status::busy);
    }
    return release(Call::destroy_event, [&] { return end(event); });
}

void FaultBackend::let_fail(backend::EventHandle event, Status error) {
    auto* const vacant = std::ranges::find(failing_, Status::ok, &Failing::error);
    VIRTACCEL_CHECK(vacant != failing_.end());
    *vacant = {.event = event, .error = error};
}

FaultBackend::Failing* FaultBackend::find(backend::EventHandle event) {
    auto* const found = std::ranges::find_if(failing_, [event](const Failing& failing) {
        return failing.error != Status::ok && failing.event == event;
    });
    return found == failing_.end() ? nullptr : found;
}

Result<EventStatus> FaultBackend::look_at(backend::EventHandle event) {
    const auto polled = Forwarding::poll(event);
    const Failing* const failing = find(event);
    const bool ended =
        polled && (polled->phase == EventPhase::complete || polled->phase == EventPhase::failed);
    if (failing == nullptr || !ended) {
        return polled;
    }
    return EventStatus{.phase = EventPhase::failed, .error = failing->error};
}

ReleaseOutcome FaultBackend::end(backend::EventHandle event) {
    Failing* const failing = find(event);
    if (failing != nullptr && failing->error == Status::device_lost) {
        const auto status = look_at(event);
        if (!status || status->phase == EventPhase::failed) {
            return ReleaseOutcome::rejected(Status::device_lost);
        }
    }
    const ReleaseOutcome outcome = Forwarding::destroy_event(event);
    if (failing != nullptr && outcome.certainty != Certainty::rejected) {
        *failing = {};
    }
    return outcome;
}

}  // namespace virtaccel::mock

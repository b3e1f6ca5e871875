#include "virtaccel/mock/fault.h"

#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::mock {

using backend::Certainty;
using backend::ReleaseOutcome;
using backend::SubmitOutcome;

template <class Release>
ReleaseOutcome FaultBackend::release(Call call, Release release) {
    const auto failure = script_->take(call);
    if (failure && failure->certainty == Certainty::rejected) {
        return ReleaseOutcome::rejected(failure->status);
    }
    const ReleaseOutcome outcome = release();
    return failure ? ReleaseOutcome{failure->certainty, failure->status} : outcome;
}

Result<backend::ContextHandle> FaultBackend::create_context() {
    const auto failure = script_->take(Call::create_context);
    return failure ? fail(failure->status) : Forwarding::create_context();
}

ReleaseOutcome FaultBackend::destroy_context(backend::ContextHandle context) {
    return release(Call::destroy_context, [&] { return Forwarding::destroy_context(context); });
}

Result<backend::Allocation> FaultBackend::allocate(backend::ContextHandle context,
                                                   const backend::BufferRequest& request) {
    const auto failure = script_->take(Call::allocate);
    return failure ? fail(failure->status) : Forwarding::allocate(context, request);
}

ReleaseOutcome FaultBackend::free(backend::BufferHandle buffer) {
    return release(Call::free, [&] { return Forwarding::free(buffer); });
}

Status FaultBackend::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    const auto failure = script_->take(Call::write);
    return failure ? failure->status : Forwarding::write(buffer, offset, source);
}

Status FaultBackend::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    const auto failure = script_->take(Call::read);
    return failure ? failure->status : Forwarding::read(buffer, offset, target);
}

Result<backend::PreparedHandle> FaultBackend::prepare(const backend::Artifact& artifact) {
    const auto failure = script_->take(Call::prepare);
    return failure ? fail(failure->status) : Forwarding::prepare(artifact);
}

Result<backend::LoadedProgram> FaultBackend::load(backend::ContextHandle context,
                                                  backend::PreparedHandle prepared) {
    const auto failure = script_->take(Call::load);
    if (failure) {
        Forwarding::abandon(prepared);  // a load consumes what was prepared, also when it fails
        return fail(failure->status);
    }
    return Forwarding::load(context, prepared);
}

ReleaseOutcome FaultBackend::unload(backend::ProgramHandle program) {
    return release(Call::unload, [&] { return Forwarding::unload(program); });
}

Result<backend::QueueHandle> FaultBackend::create_queue(backend::ContextHandle context) {
    const auto failure = script_->take(Call::create_queue);
    return failure ? fail(failure->status) : Forwarding::create_queue(context);
}

ReleaseOutcome FaultBackend::destroy_queue(backend::QueueHandle queue) {
    return release(Call::destroy_queue, [&] { return Forwarding::destroy_queue(queue); });
}

SubmitOutcome FaultBackend::submit(const backend::Submission& submission) {
    const auto failure = script_->take(Call::submit);
    if (failure && failure->certainty == Certainty::rejected) {
        return SubmitOutcome::rejected(failure->status);
    }
    const SubmitOutcome outcome = Forwarding::submit(submission);
    if (failure && outcome.certainty == Certainty::done) {
        return SubmitOutcome::indeterminate(failure->status, outcome.event);
    }
    return outcome;
}

Result<backend::EventStatus> FaultBackend::poll(backend::EventHandle event) {
    const auto failure = script_->take(Call::poll);
    if (failure) {
        return fail(failure->status);
    }
    return script_->events_held() ? backend::EventStatus{} : Forwarding::poll(event);
}

Status FaultBackend::cancel(backend::EventHandle event) {
    const auto failure = script_->take(Call::cancel);
    return failure ? failure->status : Forwarding::cancel(event);
}

ReleaseOutcome FaultBackend::destroy_event(backend::EventHandle event) {
    return release(Call::destroy_event, [&] { return Forwarding::destroy_event(event); });
}

}  // namespace virtaccel::mock

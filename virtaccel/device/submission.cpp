// SUBMIT: resolves its bindings, hands them to the backend, and retains what it was told to.
#include <cstdint>
#include <span>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/entry.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/references.h"
#include "virtaccel/device/release.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {
namespace {

// OK if a binding's range lies in its buffer and the buffer's usage allows its access.
Status judge_range(const backend::Binding& binding, const Entry<BufferKind>& buffer) {
    if (!fits(binding.range, buffer.bytes)) {
        return Status::out_of_bounds;
    }
    return buffer.usage.has_any(usage_allowing(binding.access)) ? Status::ok
                                                                : Status::permission_denied;
}

// Finds the buffers of all bindings: STALE_OBJECT if one is not live or not of `context`. Otherwise
// the first failure of a range or an access, in slot order, which weighs less than the quota.
Result<Status> resolve(Core& core, const Entry<ContextKind>& context) {
    Status status = Status::ok;
    bool all_found = true;
    backend::Binding* const resolved = core.bindings.resolved();
    Reference* const references = core.bindings.references();
    core.bindings.in_slot_order([&](const wire::Binding& binding, std::uint32_t index) {
        const auto buffer = core.find<BufferKind>(binding.buffer_id);
        all_found = buffer && (*buffer)->context == &context;
        if (!all_found) {
            return false;
        }
        backend::Binding& target = resolved[index];
        target.buffer = (*buffer)->handle;
        target.range = {binding.offset, binding.bytes};
        target.slot = binding.slot;
        target.access = static_cast<Access>(std::uint8_t{binding.access});
        references[index].buffer = &**buffer;
        if (status == Status::ok) {
            status = judge_range(target, **buffer);
        }
        return true;
    });
    if (!all_found) {
        return fail(Status::stale_object);
    }
    return status;
}

}  // namespace

Answer on(Core& core, const Call<Opcode::submit>& call) {
    const wire::Submit& request = call.request;
    VIRTACCEL_TRY_ASSIGN(const auto queue, core.find<QueueKind>(request.queue_id));
    VIRTACCEL_TRY_ASSIGN(const auto program, core.find<ProgramKind>(request.program_id));
    Entry<ContextKind>& context = *queue->context;
    if (program->context != &context) {
        return Status::stale_object;
    }
    VIRTACCEL_TRY_ASSIGN(const auto ranges, resolve(core, context));
    VIRTACCEL_TRY_ASSIGN(const auto vacant, core.reserve_in<EventKind>(context));
    if (ranges != Status::ok) {
        return ranges;
    }
    const std::uint32_t count = core.bindings.count();
    if (!core.references.reserve(count)) {
        return Status::out_of_memory;
    }
    if (program->part != nullptr) [[unlikely]] {
        return Status::incompatible;  // no bindings fit a part
    }
    const auto outcome = core.backend.submit({
        .queue = queue->handle,
        .program = program->handle,
        .bindings = {core.bindings.resolved(), count},
        .timeout_ns = request.timeout_ns,
    });
    const auto certainty = settle(outcome);
    if (certainty == backend::Certainty::rejected) {
        return core.told(outcome.status);
    }
    const auto event = core.publish(vacant, outcome.event, context);
    event->queue = &*queue;
    event->program = &*program;
    event->known = {};
    core.references.retain(event->buffers, {core.bindings.references(), count});
    ++queue->users;
    ++program->users;
    call.reply = {event.id()};
    return certainty == backend::Certainty::done ? Answer{Status::ok}
                                                 : Answer::with_reply(core.told(outcome.status));
}

}  // namespace virtaccel::device

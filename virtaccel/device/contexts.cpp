// What holds other objects: the device itself, contexts and execution queues.
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/release.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::device {

Answer on(Core& core, const Call<Opcode::get_device_info>& call) {
    call.reply = core.info;
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::create_context>& call) {
    auto& table = core.tables.contexts;
    VIRTACCEL_TRY_ASSIGN(const auto vacant, core.reserve<ContextKind>(table.size()));
    const auto made = core.backend.create_context();
    if (!made) {
        return core.told(made.error());
    }
    const auto context = table.occupy(vacant, core.serials.take(), *made);
    context->buffers = context->programs = context->queues = context->events = 0;
    call.reply = {context.id()};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::destroy_context>& call) {
    return release_by_id<ContextKind>(core, call.request.object_id);
}

Answer on(Core& core, const Call<Opcode::create_queue>& call) {
    VIRTACCEL_TRY_ASSIGN(const auto context, core.find<ContextKind>(call.request.context_id));
    VIRTACCEL_TRY_ASSIGN(const auto vacant, core.reserve_in<QueueKind>(*context));
    const auto made = core.backend.create_queue(context->handle);
    if (!made) {
        return core.told(made.error());
    }
    call.reply = {core.publish(vacant, *made, *context).id()};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::destroy_queue>& call) {
    return release_by_id<QueueKind>(core, call.request.object_id);
}

}  // namespace virtaccel::device

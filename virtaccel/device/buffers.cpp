// Buffers: allocation against the budget and the backend's own report, and content copies.
#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/ledger.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/release.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {
namespace {

// The properties that a domain and a usage promise (spec §6).
bool keeps_promises(const backend::MemoryProperties& properties,
                    const backend::BufferRequest& wanted) {
    const bool program_usable = wanted.usage.has_any(usage_program);
    const bool shared = wanted.domain == MemoryDomain::shared;
    const bool host_visible = wanted.domain == MemoryDomain::host || shared;
    const bool device_local = wanted.domain == MemoryDomain::device;
    return (properties.host_visible || !host_visible) &&
           (properties.device_local || !device_local) &&
           (properties.direct_binding || !(program_usable || shared));
}

// OK if the allocation is what was asked for and the host affords what it really costs. A backend
// that gives less than it was asked for is a fault of the host: INTERNAL_ERROR.
Status judge(const backend::Allocation& allocation, const backend::BufferRequest& wanted,
             const Account& account) {
    if (allocation.descriptor != wanted || allocation.backing_bytes < wanted.bytes ||
        !is_power_of_two(allocation.alignment) || allocation.alignment < wanted.alignment ||
        !keeps_promises(allocation.properties, wanted)) {
        return Status::internal_error;
    }
    return account.affords(allocation.backing_bytes) ? Status::ok : Status::resource_limit;
}

// The buffer a transfer names, if the whole range may be moved now by its `needed` usage.
Result<Live<BufferKind>> find_for_transfer(Core& core, BufferId id, ByteRange range,
                                           UsageBit needed) {
    VIRTACCEL_TRY_ASSIGN(const auto buffer, core.find(id));
    if (buffer->users != 0) {
        return fail(Status::busy);
    }
    if (!fits(range, buffer->bytes)) {
        return fail(Status::out_of_bounds);
    }
    if (!buffer->usage.has(needed)) {
        return fail(Status::permission_denied);
    }
    return buffer;
}

}  // namespace

Answer on(Core& core, const Call<Opcode::allocate_buffer>& call) {
    const wire::AllocateBuffer& request = call.request;
    const backend::BufferRequest wanted{
        .bytes = request.bytes,
        .alignment = request.alignment,
        .domain = static_cast<MemoryDomain>(std::uint8_t{request.memory_domain}),
        .usage = Usage{std::uint32_t{request.usage}},
    };
    Account& account = core.ledger.buffers;
    if (!account.affords(wanted.bytes)) {
        return Status::resource_limit;
    }
    VIRTACCEL_TRY_ASSIGN(const auto context, core.find<ContextKind>(request.context_id));
    VIRTACCEL_TRY_ASSIGN(const auto vacant, core.reserve_in<BufferKind>(*context));
    const auto made = core.backend.allocate(context->handle, wanted);
    if (!made) {
        return core.told(made.error());
    }
    if (const auto status = judge(*made, wanted, account); status != Status::ok) {
        return give_back(core, made->buffer, made->backing_bytes, status);
    }
    account.charge(made->backing_bytes);
    const auto buffer = core.publish(vacant, made->buffer, *context);
    buffer->bytes = wanted.bytes;
    buffer->charged_bytes = made->backing_bytes;
    buffer->usage = wanted.usage;
    call.reply = {buffer.id()};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::free_buffer>& call) {
    return release_by_id<BufferKind>(core, call.request.object_id);
}

Answer on(Core& core, const Call<Opcode::write_buffer>& call) {
    const wire::WriteBuffer& request = call.request;
    VIRTACCEL_TRY_ASSIGN(const auto buffer,
                         find_for_transfer(core, request.buffer_id, {request.offset, request.bytes},
                                           UsageBit::transfer_destination));
    Reader source = call.tail();
    const auto status = core.backend.write(buffer->handle, request.offset, source);
    if (status != Status::ok) {
        return core.told(status);
    }
    return source.remaining() == 0 ? Status::ok : Status::internal_error;
}

Answer on(Core& core, const Call<Opcode::read_buffer>& call) {
    const wire::ReadBuffer& request = call.request;
    VIRTACCEL_TRY_ASSIGN(const auto buffer,
                         find_for_transfer(core, request.buffer_id, {request.offset, request.bytes},
                                           UsageBit::transfer_source));
    Writer target = call.payload(request.bytes);
    const auto status = core.backend.read(buffer->handle, request.offset, target);
    if (status != Status::ok) {
        return core.told(status);
    }
    return target.remaining() == 0 ? Status::ok : Status::internal_error;
}

}  // namespace virtaccel::device

// Programs: an artifact is prepared, here or elsewhere, and then made resident within the budget.
#include <algorithm>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/device/ledger.h"
#include "virtaccel/device/load_record.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/device/release.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

backend::Artifact make_artifact(const Core& core, const wire::LoadProgram& request,
                                Reader payload) {
    backend::Artifact artifact{
        .format = request.format,
        .target = {},
        .resident_bytes_max = request.resident_bytes,
        .payload = payload,
        .refusals = core.options.refusals,
    };
    std::ranges::copy(request.target, artifact.target.begin());
    return artifact;
}

namespace {

// Takes a part in (spec/parts.md). It is a program of the device's own: copied here and now, as a
// write of a buffer is, and unknown to the backend.
Answer load_part(Core& core, const backend::Artifact& artifact, Live<ContextKind> context,
                 Vacant<ProgramKind> vacant, wire::Object<ProgramKind>& reply) {
    VIRTACCEL_TRY_ASSIGN(const auto loaded, core.parts.load(context->parted, artifact,
                                                            core.identity.limits.artifact_bytes));
    // No more than was declared, which the budget affords.
    core.ledger.programs.charge(loaded.resident_bytes);
    const auto program = core.publish(vacant, backend::ProgramHandle{}, *context);
    program->charged_bytes = loaded.resident_bytes;
    program->part = loaded.part;
    loaded.part->charged_bytes = &program->charged_bytes;
    reply = {program.id()};
    return Status::ok;
}

}  // namespace

Answer on(Core& core, const Call<Opcode::load_program>& call) {
    const wire::LoadProgram& request = call.request;
    if (!core.ledger.programs.affords(request.resident_bytes)) {
        return Status::resource_limit;
    }
    VIRTACCEL_TRY_ASSIGN(const auto context, core.find<ContextKind>(request.context_id));
    VIRTACCEL_TRY_ASSIGN(const auto vacant, core.reserve_in<ProgramKind>(*context));
    auto artifact = make_artifact(core, request, call.tail());
    if (artifact.format == parts::part_format) {
        return load_part(core, artifact, context, vacant, call.reply);
    }
    backend::Joined joined;
    if (artifact.format == parts::join_format) {
        VIRTACCEL_TRY_ASSIGN(joined, backend::Parts::join(context->parted, artifact));
        artifact = backend::Parts::artifact_of(joined, artifact);
    }
    if (core.pending_loads < core.options.deferred_loads_max) {
        return defer(core, call, joined);
    }
    return load_prepared(core, request, core.backend.prepare(artifact), call.reply);
}

Answer load_prepared(Core& core, const wire::LoadProgram& request,
                     Result<backend::PreparedHandle> prepared, wire::Object<ProgramKind>& reply) {
    if (!prepared) {
        return core.told(prepared.error());
    }
    // Both are asked again: a deferred load was overtaken by other requests.
    const auto context = core.find<ContextKind>(request.context_id);
    if (!context) {
        core.backend.abandon(*prepared);
        return context.error();
    }
    const auto vacant = core.reserve_in<ProgramKind>(**context);
    if (!vacant) {
        core.backend.abandon(*prepared);
        return vacant.error();
    }
    const auto loaded = core.backend.load((*context)->handle, *prepared);
    if (!loaded) {
        return core.told(loaded.error());
    }
    // The guest set the ceiling, so that breaking it is a limit exceeded, not a fault of the host.
    Account& account = core.ledger.programs;
    if (loaded->resident_bytes > request.resident_bytes ||
        !account.affords(loaded->resident_bytes)) {
        return give_back(core, loaded->program, loaded->resident_bytes, Status::resource_limit);
    }
    account.charge(loaded->resident_bytes);
    const auto program = core.publish(*vacant, loaded->program, **context);
    program->charged_bytes = loaded->resident_bytes;
    program->part = nullptr;
    reply = {program.id()};
    return Status::ok;
}

Answer on(Core& core, const Call<Opcode::unload_program>& call) {
    return release_by_id<ProgramKind>(core, call.request.object_id);
}

}  // namespace virtaccel::device

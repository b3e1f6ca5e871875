#pragma once
// One handler for each command: steps 7 and 8 of spec §5, objects, quotas and preconditions in the
// protocol's order, then the backend. A command of the table without a handler here does not
// compile (dispatch.h). A handler changes no state unless its answer replies or the backend failed.

#include <optional>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

using wire::Opcode;

AnswerOf<Opcode::get_device_info> on(Core& core, const Call<Opcode::get_device_info>& call);
AnswerOf<Opcode::create_context> on(Core& core, const Call<Opcode::create_context>& call);
AnswerOf<Opcode::destroy_context> on(Core& core, const Call<Opcode::destroy_context>& call);
AnswerOf<Opcode::allocate_buffer> on(Core& core, const Call<Opcode::allocate_buffer>& call);
AnswerOf<Opcode::free_buffer> on(Core& core, const Call<Opcode::free_buffer>& call);
AnswerOf<Opcode::write_buffer> on(Core& core, const Call<Opcode::write_buffer>& call);
AnswerOf<Opcode::read_buffer> on(Core& core, const Call<Opcode::read_buffer>& call);
AnswerOf<Opcode::load_program> on(Core& core, const Call<Opcode::load_program>& call);
AnswerOf<Opcode::unload_program> on(Core& core, const Call<Opcode::unload_program>& call);
AnswerOf<Opcode::create_queue> on(Core& core, const Call<Opcode::create_queue>& call);
AnswerOf<Opcode::destroy_queue> on(Core& core, const Call<Opcode::destroy_queue>& call);
AnswerOf<Opcode::submit> on(Core& core, const Call<Opcode::submit>& call);
AnswerOf<Opcode::poll_event> on(Core& core, const Call<Opcode::poll_event>& call);
AnswerOf<Opcode::cancel_event> on(Core& core, const Call<Opcode::cancel_event>& call);
AnswerOf<Opcode::destroy_event> on(Core& core, const Call<Opcode::destroy_event>& call);

// Where an event stands. A terminal state is asked for once and remembered, so that it is stable
// whatever the backend says later; a device loss seen here ends the backend's use.
[[nodiscard]] Result<backend::EventStatus> observe(Core& core, Live<EventKind> event);

[[nodiscard]] constexpr bool is_terminal(backend::EventStatus status) {
    return status.phase != EventPhase::pending;
}

// The second half of LOAD_PROGRAM: makes what `prepare` gave resident. Consumes it, also on
// failure.
[[nodiscard]] AnswerOf<Opcode::load_program> load_prepared(
    Core& core, const wire::LoadProgram& request, Result<backend::PreparedHandle> prepared);

// Puts a LOAD_PROGRAM aside as `core.untaken_load`, holding room for it in the budget.
[[nodiscard]] AnswerOf<Opcode::load_program> defer(Core& core,
                                                   const Call<Opcode::load_program>& call);

}  // namespace virtaccel::device

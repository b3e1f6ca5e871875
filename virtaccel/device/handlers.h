#pragma once
// One handler for each command: steps 7 and 8 of spec §5, objects, quotas and preconditions in the
// protocol's order, then the backend. A command of the table without a handler here does not
// compile (dispatch.h). A handler changes no state unless its answer replies or the backend failed.

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/object_table.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

Answer on(Core& core, const Call<Opcode::get_device_info>& call);
Answer on(Core& core, const Call<Opcode::create_context>& call);
Answer on(Core& core, const Call<Opcode::destroy_context>& call);
Answer on(Core& core, const Call<Opcode::allocate_buffer>& call);
Answer on(Core& core, const Call<Opcode::free_buffer>& call);
Answer on(Core& core, const Call<Opcode::write_buffer>& call);
Answer on(Core& core, const Call<Opcode::read_buffer>& call);
Answer on(Core& core, const Call<Opcode::load_program>& call);
Answer on(Core& core, const Call<Opcode::unload_program>& call);
Answer on(Core& core, const Call<Opcode::create_queue>& call);
Answer on(Core& core, const Call<Opcode::destroy_queue>& call);
Answer on(Core& core, const Call<Opcode::submit>& call);
Answer on(Core& core, const Call<Opcode::poll_event>& call);
Answer on(Core& core, const Call<Opcode::cancel_event>& call);
Answer on(Core& core, const Call<Opcode::destroy_event>& call);

// Brings what is known of an event up to date: a terminal state is asked for once and remembered,
// so that it is stable whatever the backend says later. A device loss seen here ends the backend's
// use. Unless OK, nothing is known now.
[[nodiscard]] Status observe(Core& core, Live<EventKind> event);

[[nodiscard]] constexpr bool is_terminal(const backend::EventStatus& status) {
    return status.phase != EventPhase::pending;
}

// The second half of LOAD_PROGRAM: makes what `prepare` gave resident. Consumes it, also on
// failure.
[[nodiscard]] Answer load_prepared(Core& core, const wire::LoadProgram& request,
                                   Result<backend::PreparedHandle> prepared,
                                   wire::Object<ProgramKind>& reply);

// Puts a LOAD_PROGRAM aside as `core.untaken_load`, holding room for it in the budget, and what it
// joins, if it does.
[[nodiscard]] Answer defer(Core& core, const Call<Opcode::load_program>& call,
                           const backend::Joined& joined);

}  // namespace virtaccel::device

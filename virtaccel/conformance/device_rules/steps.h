#pragma once
// Small steps that several rules are made of. Internal to this module.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

// Ends the case as skipped without a sample program.
[[nodiscard]] Check need_program(const Stage& stage);

// The harness' control; ends the case as skipped where there is none, or no program.
[[nodiscard]] Checked<Control*> need_control(Stage& stage);

[[nodiscard]] Checked<ProgramId> load_sample(Stage& stage, ContextId context);

// SUBMIT that has to succeed.
[[nodiscard]] Checked<EventId> submit(Stage& stage, const Scene& scene,
                                      const std::vector<wire::Binding>& bindings,
                                      std::uint64_t timeout_ns = 0);

// Waits for the event to complete and destroys it.
[[nodiscard]] Check finish(Stage& stage, EventId event);

// A submission of the sample from its beginning to its end.
[[nodiscard]] Check submit_and_finish(Stage& stage, const Scene& scene);

// A buffer of the sample's slot `index` that holds what the program needs before, of `usage` alone.
[[nodiscard]] Checked<BufferId> bare_buffer(Stage& stage, ContextId context, std::size_t index);

}  // namespace virtaccel::conformance::rules

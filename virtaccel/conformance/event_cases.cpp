#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

bool is(const wire::EventState& state, EventPhase phase) {
    return state.state == static_cast<std::uint16_t>(phase);
}

Check expect_stable(Caller& caller, EventId event, const wire::EventState& state) {
    for (int i = 0; i < 3; ++i) {
        VIRTACCEL_TRY_ASSIGN(const wire::EventState again, caller.poll(event));
        VIRTACCEL_TRY(expect(again.state == state.state && again.error == state.error,
                             "A terminal event changes from the state (",
                             std::uint16_t{state.state}, ") to (", std::uint16_t{again.state},
                             ")."));
    }
    return {};
}

Check expect_gone(Caller& caller, EventId event) {
    VIRTACCEL_TRY(expect_refusal("POLL_EVENT of a destroyed event",
                                 caller.call<Opcode::poll_event>({.object_id = event}),
                                 Status::stale_object));
    return expect_refusal("DESTROY_EVENT of a destroyed event",
                          caller.call<Opcode::destroy_event>({.object_id = event}),
                          Status::stale_object);
}

// Everything that the event references is BUSY, whatever its state.
Check expect_referenced(BackendRig& rig, const Scene& scene) {
    Caller& caller = rig.caller();
    wire::WriteBuffer write;
    write.buffer_id = scene.buffers[0];
    write.bytes = std::uint64_t{1};
    VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER of a bound buffer",
                                 caller.call<Opcode::write_buffer>(write, Bytes(1)), Status::busy));
    VIRTACCEL_TRY(expect_refusal("FREE_BUFFER of a bound buffer",
                                 caller.call<Opcode::free_buffer>({.object_id = scene.buffers[0]}),
                                 Status::busy));
    VIRTACCEL_TRY(expect_refusal("UNLOAD_PROGRAM of a submitted program",
                                 caller.call<Opcode::unload_program>({.object_id = scene.program}),
                                 Status::busy));
    VIRTACCEL_TRY(expect_refusal("DESTROY_QUEUE of a queue with an event",
                                 caller.call<Opcode::destroy_queue>({.object_id = scene.queue}),
                                 Status::busy));
    return expect_refusal("DESTROY_CONTEXT of a context with children",
                          caller.call<Opcode::destroy_context>({.object_id = scene.context}),
                          Status::busy);
}

// A pending event is not destroyed; one that has ended meanwhile is.
Check check_early_release(BackendRig& rig, const Scene& scene) {
    Caller& caller = rig.caller();
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    const Reply early = caller.call<Opcode::destroy_event>({.object_id = event});
    if (early.ok()) {
        return expect_gone(caller, event);
    }
    VIRTACCEL_TRY(expect_refusal("DESTROY_EVENT of a pending event", early, Status::busy));
    VIRTACCEL_TRY(expect_referenced(rig, scene));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(caller.destroy(event));
    return expect_gone(caller, event);
}

Check check_stability(BackendRig& rig) {
    Caller& caller = rig.caller();
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    VIRTACCEL_TRY(expect_referenced(rig, scene));
    VIRTACCEL_TRY_ASSIGN(const wire::EventState state, rig.wait(event));
    VIRTACCEL_TRY(expect(is(state, EventPhase::complete), "The sample does not complete."));
    VIRTACCEL_TRY(expect_stable(caller, event, state));
    VIRTACCEL_TRY(expect_referenced(rig, scene));
    VIRTACCEL_TRY(caller.destroy(event));
    VIRTACCEL_TRY(expect_gone(caller, event));
    VIRTACCEL_TRY(rig.check_outputs(scene));
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(check_early_release(rig, scene));
    }
    return rig.tear_down(scene);
}

// An event of a finite timeout ends: complete, or because its time is over.
Check expect_end(BackendRig& rig, EventId event) {
    VIRTACCEL_TRY_ASSIGN(const wire::EventState state, rig.wait(event));
    const bool expired = is(state, EventPhase::failed) &&
                         state.error == static_cast<std::uint16_t>(Status::deadline_expired);
    VIRTACCEL_TRY(expect(is(state, EventPhase::complete) || expired,
                         "An event with a timeout ends in the state (", std::uint16_t{state.state},
                         ") with the error (", static_cast<Status>(std::uint16_t{state.error}),
                         ")."));
    return rig.caller().destroy(event);
}

Check check_timeouts(BackendRig& rig) {
    constexpr std::uint64_t ten_minutes_ns = 600'000'000'000;
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    const auto before = rig.diagnostics();
    const auto bindings = rig.bindings_of(scene);
    for (const std::uint64_t timeout_ns :
         {std::uint64_t{0}, ten_minutes_ns, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
        VIRTACCEL_TRY_ASSIGN(const EventId event,
                             expect_id<EventKind>(say("SUBMIT with the timeout (", timeout_ns, ")"),
                                                  rig.submit(scene, bindings, timeout_ns)));
        VIRTACCEL_TRY(rig.wait_for_completion(event));
        VIRTACCEL_TRY(rig.caller().destroy(event));
    }
    const Reply hasty = rig.submit(scene, bindings, 1);
    if (hasty.ok()) {
        VIRTACCEL_TRY_ASSIGN(const EventId event,
                             expect_id<EventKind>("SUBMIT with the timeout (1)", hasty));
        VIRTACCEL_TRY(expect_end(rig, event));
    } else {
        VIRTACCEL_TRY(expect_refusal("SUBMIT whose time is over before it is admitted", hasty,
                                     Status::deadline_expired));
    }
    VIRTACCEL_TRY(expect_equal("The number of live resources after timeouts",
                               rig.diagnostics().live_resources, before.live_resources));
    return rig.tear_down(scene);
}

// One submission that is cancelled after some polls: whoever comes first decides, once.
Check check_race(BackendRig& rig, const Scene& scene, int polls) {
    Caller& caller = rig.caller();
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    for (int i = 0; i < polls; ++i) {
        VIRTACCEL_TRY(caller.poll(event));
    }
    const Reply answer = caller.call<Opcode::cancel_event>({.object_id = event});
    if (answer.ok()) {
        VIRTACCEL_TRY_ASSIGN(const wire::EventState state, caller.poll(event));
        VIRTACCEL_TRY(expect(is(state, EventPhase::cancelled),
                             "CANCEL_EVENT is answered with OK, and the event is in the state (",
                             std::uint16_t{state.state}, "); it has to be cancelled."));
        VIRTACCEL_TRY(expect_stable(caller, event, state));
    } else {
        VIRTACCEL_TRY(expect_refusal("CANCEL_EVENT", answer, Status::busy));
        VIRTACCEL_TRY_ASSIGN(const wire::EventState state, rig.wait(event));
        VIRTACCEL_TRY(expect(!is(state, EventPhase::cancelled),
                             "CANCEL_EVENT is answered with BUSY, and the event is cancelled."));
        VIRTACCEL_TRY(expect_stable(caller, event, state));
    }
    VIRTACCEL_TRY(expect_refusal("CANCEL_EVENT of a terminal event",
                                 caller.call<Opcode::cancel_event>({.object_id = event}),
                                 Status::busy));
    VIRTACCEL_TRY(caller.destroy(event));
    return expect_gone(caller, event);
}

// A device asks a backend to cancel what was pending a moment ago: if it has ended, BUSY.
Check check_late_cancel(const BackendSubject& subject) {
    VIRTACCEL_TRY_ASSIGN(auto backend, make_backend(subject));
    const Direct direct{backend, subject};
    VIRTACCEL_TRY_ASSIGN(const Act act, direct.set_up());
    VIRTACCEL_TRY_ASSIGN(const auto event, direct.submit(act));
    VIRTACCEL_TRY(direct.wait(event));
    return expect_status("The cancellation of an event that has ended", backend.cancel(event),
                         Status::busy);
}

Check check_cancellation(BackendRig& rig) {
    if (!rig.identity().capabilities.has(CapabilityBit::event_cancellation)) {
        VIRTACCEL_TRY(expect_refusal(
            "CANCEL_EVENT on a device that cannot cancel",
            rig.caller().call<Opcode::cancel_event>({.object_id = EventId{~std::uint64_t{0}}}),
            Status::unsupported));
        return skipped("The backend does not advertise the cancellation of events.");
    }
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    VIRTACCEL_TRY(check_late_cancel(rig.subject()));
    for (int round = 0; round < 64; ++round) {
        VIRTACCEL_TRY(check_race(rig, scene, round % 4));
    }
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(rig.caller().destroy(event));
    return rig.tear_down(scene);
}

}  // namespace

Check event_pending_release_terminal_stability(const BackendSubject& subject) {
    return on_rig(subject, check_stability);
}

Check timeout_finite_admission(const BackendSubject& subject) {
    return on_rig(subject, check_timeouts);
}

Check event_cancellation_races(const BackendSubject& subject) {
    return on_rig(subject, check_cancellation);
}

}  // namespace virtaccel::conformance::cases

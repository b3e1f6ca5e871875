// Events: one state after the other, one decision, and then none (spec §2, §6).

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

constexpr int looks = 5;

Check expect_phase(Caller& caller, std::string_view what, EventId event, EventPhase wanted) {
    VIRTACCEL_TRY_ASSIGN(const wire::EventState state, caller.poll(event));
    return expect_equal(say("The state of ", what), std::uint16_t{state.state},
                        static_cast<std::uint16_t>(wanted));
}

// CANCEL_EVENT, whose answer is up to the device.
Reply cancel(Caller& caller, EventId event) {
    return caller.call<Opcode::cancel_event>({.object_id = event});
}

Check need_cancellation(const Stage& stage) {
    if (!stage.capabilities().has(CapabilityBit::event_cancellation)) {
        return skipped("The device does not advertise the cancellation of events.");
    }
    return {};
}

// A submission whose event stays pending, which is what `control` sees to.
Checked<EventId> hold(Stage& stage, Control& control, const Scene& scene) {
    if (!control.hold_events(true)) {
        return skipped("The harness cannot hold events.");
    }
    return stage.submit(scene);
}

// ---- whatever the harness can do

// Every look at a terminal event shows the same bytes.
Check terminal_never_changes(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY_ASSIGN(const wire::EventState first, stage.caller().poll(cast.event));
    for (int i = 0; i < looks; ++i) {
        VIRTACCEL_TRY_ASSIGN(const wire::EventState again, stage.caller().poll(cast.event));
        VIRTACCEL_TRY(expect(std::memcmp(&first, &again, sizeof first) == 0,
                             "A terminal event is in another state when it is polled again."));
    }
    return take_down(stage, cast);
}

Check completes_without_error(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY(expect_phase(stage.caller(), "a submission that is right", cast.event,
                               EventPhase::complete));
    return take_down(stage, cast);
}

Check cancel_terminal(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY(need_cancellation(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY(expect_refusal("CANCEL_EVENT of an event that is complete",
                                 cancel(stage.caller(), cast.event), Status::busy));
    VIRTACCEL_TRY(expect_phase(stage.caller(), "an event that was too late to cancel", cast.event,
                               EventPhase::complete));
    return take_down(stage, cast);
}

// Cancelled or not: the answer and the event say the same, and one says it for ever.
Check cancel_decides_once(const DeviceCaseInput& input) {
    constexpr int rounds = 8;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY(need_cancellation(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    for (int i = 0; i < rounds; ++i) {
        VIRTACCEL_TRY_ASSIGN(const EventId event, stage.submit(scene));
        const Reply reply = cancel(caller, event);
        if (!reply.ok()) {
            VIRTACCEL_TRY(expect_refusal("CANCEL_EVENT that comes too late", reply, Status::busy));
            VIRTACCEL_TRY(stage.wait(event));
        }
        const EventPhase wanted = reply.ok() ? EventPhase::cancelled : EventPhase::complete;
        for (int look = 0; look < looks; ++look) {
            VIRTACCEL_TRY(expect_phase(caller, "an event after CANCEL_EVENT", event, wanted));
        }
        VIRTACCEL_TRY(expect_refusal("A second CANCEL_EVENT", cancel(caller, event), Status::busy));
        VIRTACCEL_TRY(caller.destroy(event));
    }
    return stage.tear_down(scene);
}

// Every event of a context is its own: what becomes of one says nothing of another.
Check events_are_apart(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage, true));
    if (cast.info.events_per_context_max < 2) {
        return skipped("A context has no two events.");
    }
    const EventId first = cast.event;
    VIRTACCEL_TRY_ASSIGN(cast.event, stage.submit(cast.scene));
    VIRTACCEL_TRY(caller.destroy(first));
    VIRTACCEL_TRY(stage.wait_for_completion(cast.event));
    return take_down(stage, cast);
}

// ---- with events that the harness holds

Check pending_is_busy_to_destroy(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(Control* const control, need_control(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, hold(stage, *control, scene));
    for (int i = 0; i < looks; ++i) {
        VIRTACCEL_TRY(expect_refusal("DESTROY_EVENT of a pending event",
                                     caller.call<Opcode::destroy_event>({.object_id = event}),
                                     Status::busy));
        VIRTACCEL_TRY(expect_phase(caller, "an event that is held", event, EventPhase::pending));
    }
    (void)control->hold_events(false);
    VIRTACCEL_TRY(finish(stage, event));
    return stage.tear_down(scene);
}

Check pending_keeps_everything(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(Control* const control, need_control(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, hold(stage, *control, scene));
    VIRTACCEL_TRY(expect_refusal("DESTROY_QUEUE under a pending event",
                                 caller.call<Opcode::destroy_queue>({.object_id = scene.queue}),
                                 Status::busy));
    VIRTACCEL_TRY(expect_refusal("UNLOAD_PROGRAM under a pending event",
                                 caller.call<Opcode::unload_program>({.object_id = scene.program}),
                                 Status::busy));
    for (const BufferId buffer : scene.buffers) {
        VIRTACCEL_TRY(expect_refusal("FREE_BUFFER under a pending event",
                                     caller.call<Opcode::free_buffer>({.object_id = buffer}),
                                     Status::busy));
        wire::WriteBuffer write;
        write.buffer_id = buffer;
        write.bytes = 1;
        VIRTACCEL_TRY(expect_refusal("WRITE_BUFFER under a pending event",
                                     caller.call<Opcode::write_buffer>(write, Bytes(1)),
                                     Status::busy));
    }
    (void)control->hold_events(false);
    VIRTACCEL_TRY(finish(stage, event));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

// Whatever else the harness lets an event do, a cancelled one stays cancelled.
Check cancel_pending(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_cancellation(stage));
    VIRTACCEL_TRY_ASSIGN(Control* const control, need_control(stage));
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, hold(stage, *control, scene));
    const Reply reply = cancel(caller, event);
    (void)control->hold_events(false);
    if (reply.answered && reply.status == Status::busy) {
        return skipped("The backend has ended the event, though it shows it as pending.");
    }
    VIRTACCEL_TRY(expect_ok("CANCEL_EVENT of a pending event", reply));
    for (int i = 0; i < looks; ++i) {
        VIRTACCEL_TRY(
            expect_phase(caller, "an event that was cancelled", event, EventPhase::cancelled));
    }
    VIRTACCEL_TRY(
        expect_refusal("CANCEL_EVENT of a cancelled event", cancel(caller, event), Status::busy));
    VIRTACCEL_TRY(caller.destroy(event));
    return stage.tear_down(scene);
}

constexpr std::array cases{
    DeviceCase{"poll-event.terminal-never-changes", "a terminal state never changes",
               terminal_never_changes},
    DeviceCase{"poll-event.complete-without-error", "a submission that is right completes",
               completes_without_error},
    DeviceCase{"poll-event.each-its-own", "an event outlives another one's end", events_are_apart},
    DeviceCase{"cancel-event.terminal-is-busy", "an event that is decided is BUSY to cancel",
               cancel_terminal},
    DeviceCase{"cancel-event.decides-once", "cancellation and completion race to one result",
               cancel_decides_once},
    DeviceCase{"cancel-event.pending", "a pending event is cancelled for ever", cancel_pending},
    DeviceCase{"destroy-event.pending-is-busy", "a pending event cannot be destroyed",
               pending_is_busy_to_destroy},
    DeviceCase{"submit.pending-keeps-everything",
               "a pending event keeps its queue, its program and its buffers",
               pending_keeps_everything},
};

}  // namespace

std::span<const DeviceCase> event_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

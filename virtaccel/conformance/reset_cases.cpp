#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_case_list.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/flight.h"
#include "virtaccel/conformance/probes.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

constexpr std::string_view no_reset = "The transport has no reset.";

bool untouched(std::span<const std::byte> room) {
    return std::ranges::all_of(room, [](std::byte byte) { return byte == canary; });
}

// After a reset, what was under way before is neither completed nor written to.
Check expect_silence(RingAccess& ring, Flights& flights) {
    VIRTACCEL_TRY(
        expect(!ring.driver().next_used(), "A chain of before the reset is completed after it."));
    for (const Flight& flight : flights.all()) {
        VIRTACCEL_TRY(expect(flight.reply || untouched(flight.response),
                             "The answer to a request of before the reset is written after it."));
    }
    return {};
}

// Requests that the device has not seen when it is reset.
Check check_unseen_requests(Stage& stage, RingAccess& ring) {
    Flights flights{ring};
    for (int i = 0; i < 4; ++i) {
        flights.launch(frame_of(Opcode::create_context, stage.caller().next_request_id(),
                                Caller::payload_of(wire::CreateContext{})),
                       24);
    }
    VIRTACCEL_TRY(expect(stage.device_under_test().reset(), "The device cannot be reset."));
    ring.kick();
    return expect_silence(ring, flights);
}

// A load that the device is working on when it is reset.
Check check_late_load(Stage& stage, RingAccess& ring, Control& control) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    if (!control.hold_loads(true)) {
        return {};
    }
    Flights flights{ring};
    flights.launch(frame_of(Opcode::load_program, caller.next_request_id(),
                            stage.load_payload(context, stage.sample().artifact)),
                   24);
    ring.kick();
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(expect_equal("The number of held requests", flights.under_way(), 1));
    VIRTACCEL_TRY(expect(stage.device_under_test().reset(), "The device cannot be reset."));
    (void)control.hold_loads(false);
    ring.kick();
    return expect_silence(ring, flights);
}

// Every command on an object of before the reset.
template <Opcode op, class Kind>
Check expect_stale(Caller& caller, std::string_view what, Id<Kind> id) {
    return expect_refusal(say(what, " of an ID of before the reset"),
                          caller.call<op>({.object_id = id}), Status::stale_object);
}

// The device answers nothing but DEVICE_LOST, and says so where its transport has a place for it.
Check expect_lost(Stage& stage) {
    const auto shown = stage.device_under_test().needs_reset();
    VIRTACCEL_TRY(expect(shown.value_or(true), "The device does not show that it needs a reset."));
    constexpr std::uint64_t never_given = 0xfffffffffff00001;
    for (const Probe& probe : make_probes(stage.capabilities(), never_given)) {
        VIRTACCEL_TRY(expect_refusal(say(probe.name, " on a device that needs a reset"),
                                     stage.caller().call_raw(probe.opcode, probe.payload),
                                     Status::device_lost));
    }
    return {};
}

// A reset makes it work again.
Check expect_recovery(Stage& stage) {
    VIRTACCEL_TRY(expect(stage.device_under_test().reset(), "The device cannot be reset."));
    const auto shown = stage.device_under_test().needs_reset();
    VIRTACCEL_TRY(
        expect(!shown.value_or(false), "The device still shows that it needs a reset after one."));
    VIRTACCEL_TRY_ASSIGN(const ContextId context, stage.caller().create_context());
    return stage.caller().destroy(context);
}

Check check_lost_release(Stage& stage) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(context, 16, usage_known)));
    if (!stage.device_under_test().control()->lose_next_release()) {
        return skipped("The harness cannot make a release indeterminate.");
    }
    VIRTACCEL_TRY(expect_refusal("FREE_BUFFER whose outcome nobody knows",
                                 caller.call<Opcode::free_buffer>({.object_id = buffer}),
                                 Status::device_lost));
    VIRTACCEL_TRY(expect_lost(stage));
    return expect_recovery(stage);
}

Check check_lost_response(Stage& stage) {
    if (!stage.device_under_test().control()->lose_next_response()) {
        return skipped("The harness cannot make a response unwritable.");
    }
    const Reply reply = stage.caller().call<Opcode::create_context>();
    VIRTACCEL_TRY(expect(!reply.ok() && reply.payload.empty(),
                         "CREATE_CONTEXT succeeds without having been able to say so."));
    VIRTACCEL_TRY(expect_lost(stage));
    return expect_recovery(stage);
}

}  // namespace

Check nothing_late_after_reset(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    RingAccess* const ring = stage.device_under_test().ring();
    if (ring == nullptr) {
        return skipped("The transport carries one request at a time.");
    }
    if (!stage.device_under_test().reset()) {
        return skipped(no_reset);
    }
    VIRTACCEL_TRY(check_unseen_requests(stage, *ring));
    VIRTACCEL_TRY(stage.caller().device_info());
    Control* const control = stage.device_under_test().control();
    if (control != nullptr && stage.has_sample()) {
        VIRTACCEL_TRY(check_late_load(stage, *ring, *control));
    }
    return expect_recovery(stage);
}

Check old_names_after_reset(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const QueueId queue, caller.create_queue(context));
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(context, 16, usage_known)));
    Scene scene;
    EventId event;
    if (stage.has_sample()) {
        VIRTACCEL_TRY_ASSIGN(scene, stage.set_up());
        VIRTACCEL_TRY_ASSIGN(event, stage.submit(scene));
        VIRTACCEL_TRY(stage.wait(event));
    }
    if (!stage.device_under_test().reset()) {
        return skipped(no_reset);
    }
    // The same kinds again, so that whatever is used again is.
    VIRTACCEL_TRY_ASSIGN(const ContextId next, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId next_buffer,
                         caller.allocate(stage.buffer_request(next, 16, usage_known)));
    VIRTACCEL_TRY(expect_stale<Opcode::free_buffer>(caller, "FREE_BUFFER", buffer));
    VIRTACCEL_TRY(expect_stale<Opcode::destroy_queue>(caller, "DESTROY_QUEUE", queue));
    VIRTACCEL_TRY(expect_stale<Opcode::destroy_context>(caller, "DESTROY_CONTEXT", context));
    VIRTACCEL_TRY(expect_refusal(
        "ALLOCATE_BUFFER in a context of before the reset",
        caller.call<Opcode::allocate_buffer>(stage.buffer_request(context, 16, usage_known)),
        Status::stale_object));
    if (stage.has_sample()) {
        VIRTACCEL_TRY(
            expect_stale<Opcode::unload_program>(caller, "UNLOAD_PROGRAM", scene.program));
        VIRTACCEL_TRY(expect_stale<Opcode::poll_event>(caller, "POLL_EVENT", event));
        VIRTACCEL_TRY(expect_stale<Opcode::destroy_event>(caller, "DESTROY_EVENT", event));
    }
    Caller again{stage.device_under_test()};  // begins with the same request IDs once more
    VIRTACCEL_TRY(again.device_info());
    VIRTACCEL_TRY(again.destroy(next_buffer));
    return again.destroy(next);
}

Check needs_reset(const DeviceCaseInput& input) {
    if (input.stage.device_under_test().control() == nullptr) {
        return skipped("The device runs elsewhere, where nothing can be made to fail.");
    }
    VIRTACCEL_TRY(check_lost_release(input.stage));
    return check_lost_response(input.stage);
}

}  // namespace virtaccel::conformance::cases

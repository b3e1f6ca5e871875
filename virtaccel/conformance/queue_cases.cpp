#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_case_list.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/flight.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

constexpr std::size_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

Checked<RingAccess*> need_ring(Stage& stage) {
    RingAccess* const ring = stage.device_under_test().ring();
    if (ring == nullptr) {
        return skipped("The transport carries one request at a time.");
    }
    return ring;
}

Bytes info_frame(Caller& caller) {
    return frame_of(Opcode::get_device_info, caller.next_request_id(), {});
}

// Many requests at once, answered in whatever order.
Check check_batch(Stage& stage, RingAccess& ring) {
    Flights flights{ring};
    const std::size_t count = ring.driver().ring().size / 2;
    for (std::size_t i = 0; i < count; ++i) {
        flights.launch(info_frame(stage.caller()), info_bytes);
    }
    ring.kick();
    VIRTACCEL_TRY(flights.collect());
    return flights.expect_all_ok();
}

// A load that takes its time is overtaken, and then answered under its own ID.
Check check_overtaking(Stage& stage, RingAccess& ring, Control& control) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const SampleProgram& sample = stage.sample();
    Flights flights{ring};
    if (!control.hold_loads(true)) {
        return caller.destroy(context);
    }
    flights.launch(frame_of(Opcode::load_program, caller.next_request_id(),
                            stage.load_payload(context, sample.artifact)),
                   24);
    flights.launch(info_frame(caller), info_bytes);
    flights.launch(info_frame(caller), info_bytes);
    ring.kick();
    VIRTACCEL_TRY(flights.collect());
    const std::size_t under_way = flights.under_way();
    (void)control.hold_loads(false);
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(
        expect_equal("The number of requests that wait for a slow LOAD_PROGRAM", under_way, 1));
    VIRTACCEL_TRY(flights.expect_all_ok());
    VIRTACCEL_TRY_ASSIGN(const ProgramId program,
                         expect_id<ProgramKind>("LOAD_PROGRAM", *flights.all()[0].reply));
    VIRTACCEL_TRY(caller.destroy(program));
    return caller.destroy(context);
}

// Fills a driver's queue and empties it again, `rounds` times.
Check check_backpressure(Stage& stage, RingAccess& ring, queue::DriverPort& port) {
    constexpr int rounds = 3;
    const auto request = ring.room(sizeof(wire::RequestHeader));
    const auto response = ring.room(info_bytes * port.depth_max());
    std::ranges::copy(info_frame(stage.caller()), request.begin());
    const std::array readable{Piece{.data = request.data(), .size = request.size()}};
    for (int round = 0; round < rounds; ++round) {
        std::uint32_t posted = 0;
        for (; posted < port.depth_max(); ++posted) {
            const std::array writable{
                Piece{.data = response.data() + (posted * info_bytes), .size = info_bytes}};
            VIRTACCEL_TRY(expect(port.post(readable, writable, posted) == queue::Posted::ok,
                                 "A queue for (", port.depth_max(), ") requests is full after (",
                                 posted, ")."));
        }
        const std::array last{Piece{.data = response.data(), .size = info_bytes}};
        VIRTACCEL_TRY(expect(port.post(readable, last, posted) == queue::Posted::full,
                             "A full queue takes another request."));
        ring.kick();
        std::uint32_t completed = 0;
        while (const auto completion = port.next()) {
            const auto room = response.subspan(completion->cookie * info_bytes, info_bytes);
            VIRTACCEL_TRY(
                expect_ok("A request of a full queue", read_reply(room, completion->used_bytes)));
            ++completed;
        }
        VIRTACCEL_TRY(expect_equal("The number of answers to a full queue", completed, posted));
        VIRTACCEL_TRY(expect(!port.broken(), "The device broke the rules of a full queue."));
    }
    return {};
}

// A driver that wants no interrupts gets none, and finds its completions; one that does gets them.
Check check_interrupts(Stage& stage, RingAccess& ring) {
    Flights flights{ring};
    ring.driver().ring().want_interrupts(false);
    const std::uint64_t before = ring.interrupts();
    flights.launch(info_frame(stage.caller()), info_bytes);
    ring.kick();
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(expect_equal("The number of interrupts to a driver that wants none",
                               ring.interrupts() - before, 0));
    ring.driver().ring().want_interrupts(true);
    flights.launch(info_frame(stage.caller()), info_bytes);
    ring.kick();
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(expect(ring.interrupts() != before,
                         "The device completes a request and does not tell a driver that wants "
                         "to know."));
    return flights.expect_all_ok();
}

// What a driver offers between the device's last look and its falling asleep, without a
// notification as the device still asks for none, is found.
Check check_lost_wakeup(Stage& stage, RingAccess& ring, Control& control) {
    struct Late {
        Flights flights;
        Caller& caller;
    };

    Late late{.flights = Flights{ring}, .caller = stage.caller()};
    const bool arranged = control.before_it_sleeps(
        [](void* state) {
            auto& self = *static_cast<Late*>(state);
            self.flights.launch(info_frame(self.caller), info_bytes);
        },
        &late);
    if (!arranged) {
        return {};
    }
    late.flights.launch(info_frame(stage.caller()), info_bytes);
    ring.kick();
    VIRTACCEL_TRY(late.flights.collect());
    VIRTACCEL_TRY(expect_equal("The number of requests offered", late.flights.all().size(), 2));
    return late.flights.expect_all_ok();
}

}  // namespace

Check out_of_order_completion(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(input.stage));
    VIRTACCEL_TRY(check_batch(input.stage, *ring));
    Control* const control = input.stage.device_under_test().control();
    return control != nullptr && input.stage.has_sample()
               ? check_overtaking(input.stage, *ring, *control)
               : Check{};
}

Check submit_is_no_wait(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    if (!stage.has_sample()) {
        return skipped("The subject supplies no program.");
    }
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    Control* const control = stage.device_under_test().control();
    const bool held = control != nullptr && control->hold_events(true);
    VIRTACCEL_TRY_ASSIGN(const EventId event, stage.submit(scene));
    for (int i = 0; i < 3; ++i) {
        VIRTACCEL_TRY_ASSIGN(const wire::EventState state, stage.caller().poll(event));
        VIRTACCEL_TRY(
            expect(!held || state.state == static_cast<std::uint16_t>(EventPhase::pending),
                   "An event is in the state (", std::uint16_t{state.state},
                   ") while it has to be pending."));
    }
    if (held) {
        VIRTACCEL_TRY(expect_refusal(
            "DESTROY_EVENT of a pending event",
            stage.caller().call<Opcode::destroy_event>({.object_id = event}), Status::busy));
        (void)control->hold_events(false);
    }
    VIRTACCEL_TRY(stage.wait_for_completion(event));
    VIRTACCEL_TRY(stage.caller().destroy(event));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

Check full_queue(const DeviceCaseInput& input) {
    DeviceUnderTest& device = input.stage.device_under_test();
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(input.stage));
    queue::DriverRing port{input.subject.memory,
                           {.chain_descriptors_max = device.config().chain_descriptors_max,
                            .addresses = ring->addresses(),
                            .device = {}}};
    if (!device.reset()) {
        return skipped("The device cannot be reset, so its ring cannot be handed to a driver.");
    }
    VIRTACCEL_TRY(expect(port.start(ring->driver().ring()).has_value(),
                         "A driver cannot start on the ring."));
    VIRTACCEL_TRY(check_backpressure(input.stage, *ring, port));
    VIRTACCEL_TRY(expect(device.reset(), "The device cannot be reset."));
    return {};
}

Check suppressed_notifications(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(input.stage));
    VIRTACCEL_TRY(check_interrupts(input.stage, *ring));
    Control* const control = input.stage.device_under_test().control();
    return control != nullptr ? check_lost_wakeup(input.stage, *ring, *control) : Check{};
}

}  // namespace virtaccel::conformance::cases

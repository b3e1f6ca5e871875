// The command queue (spec §8), as a driver of a split ring sees it.

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/flight.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

Checked<RingAccess*> need_ring(Stage& stage) {
    RingAccess* const ring = stage.device_under_test().ring();
    if (ring == nullptr) {
        return skipped("The transport carries one request at a time.");
    }
    return ring;
}

template <Opcode op>
void launch(Flights& flights, Caller& caller, const wire::RequestOf<op>& request,
            std::size_t capacity, std::span<const std::byte> tail = {}) {
    flights.launch(frame_of(op, caller.next_request_id(), Caller::payload_of(request, tail)),
                   capacity);
}

// Two writes to one place, a read of it and its end, all offered at once: each sees what came
// before it and nothing of what comes after.
Check taken_in_order(const DeviceCaseInput& input) {
    constexpr std::uint64_t bytes = 4;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(stage));
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(context, bytes, usage_known)));
    wire::WriteBuffer write;
    write.buffer_id = buffer;
    write.bytes = bytes;
    wire::ReadBuffer read;
    read.buffer_id = buffer;
    read.bytes = bytes;
    Flights flights{*ring};
    launch<Opcode::write_buffer>(flights, caller, write, 16, Bytes(bytes, std::byte{1}));
    launch<Opcode::write_buffer>(flights, caller, write, 16, Bytes(bytes, std::byte{2}));
    launch<Opcode::read_buffer>(flights, caller, read, 16 + bytes);
    launch<Opcode::free_buffer>(flights, caller, {.object_id = buffer}, 16);
    ring->kick();
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(flights.expect_all_ok());
    VIRTACCEL_TRY(expect(flights.all()[2].reply->payload == Bytes(bytes, std::byte{2}),
                         "Chains are not taken in the order in which they are available."));
    return caller.destroy(context);
}

// A request that is refused and one that gets no answer are in nobody's way.
Check bad_frames_stop_nobody(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(stage));
    constexpr std::size_t info_bytes = 16 + sizeof(wire::DeviceInfo);
    Flights flights{*ring};
    launch<Opcode::get_device_info>(flights, caller, {}, info_bytes);
    launch<Opcode::get_device_info>(flights, caller, {}, info_bytes - 1);
    launch<Opcode::free_buffer>(flights, caller, {.object_id = BufferId{never_given}}, 16);
    launch<Opcode::get_device_info>(flights, caller, {}, info_bytes);
    ring->kick();
    VIRTACCEL_TRY(flights.collect());
    VIRTACCEL_TRY(expect_equal("The number of requests without an answer", flights.under_way(), 0));
    VIRTACCEL_TRY(expect_ok("A request before bad ones", *flights.all()[0].reply));
    VIRTACCEL_TRY(expect_unanswered("a request without room", *flights.all()[1].reply));
    VIRTACCEL_TRY(
        expect_refusal("A request that is refused", *flights.all()[2].reply, Status::stale_object));
    return expect_ok("A request behind bad ones", *flights.all()[3].reply);
}

// Once more around the ring, with every chain length that fits: no descriptor is lost or kept.
Check around_the_ring(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(stage));
    const std::size_t chain_max = stage.device_under_test().config().chain_descriptors_max;
    constexpr std::size_t info_bytes = 16 + sizeof(wire::DeviceInfo);
    const std::size_t exchanges = std::size_t{3} * ring->driver().ring().size;
    for (std::size_t i = 0; i < exchanges; ++i) {
        const std::size_t pieces = 1 + (i % (chain_max - 1));
        const std::size_t every = (info_bytes + pieces - 1) / pieces;
        const Reply reply =
            caller.send(frame_of(Opcode::get_device_info, caller.next_request_id(), {}), info_bytes,
                        {}, {.every = every});
        VIRTACCEL_TRY(
            expect_ok(say("GET_DEVICE_INFO with room in pieces of (", every, ") bytes"), reply));
    }
    return {};
}

constexpr std::array cases{
    DeviceCase{"ring.taken-in-order", "chains are taken in the order in which they are available",
               taken_in_order},
    DeviceCase{"ring.bad-frames-stop-nobody", "a refused request is in no other's way",
               bad_frames_stop_nobody},
    DeviceCase{"ring.around-and-around", "indices wrap, and no descriptor is lost",
               around_the_ring},
};

}  // namespace

std::span<const DeviceCase> ring_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

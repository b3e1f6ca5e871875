#include <algorithm>
#include <bit>
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
#include "virtaccel/conformance/probes.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/testing/chains.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using queue::testing::ChainFault;
using wire::Opcode;

namespace {

// An ID no device has given out: serials start low.
constexpr std::uint64_t never_given = 0xfffffffffff00001;
constexpr std::size_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

Checked<RingAccess*> need_ring(Stage& stage) {
    RingAccess* const ring = stage.device_under_test().ring();
    if (ring == nullptr) {
        return skipped("The transport has no descriptors.");
    }
    return ring;
}

Check expect_answer(std::string_view what, const Reply& reply, const Probe& probe) {
    return probe.answer == Status::ok ? expect_ok(what, reply)
                                      : expect_refusal(what, reply, probe.answer);
}

Bytes probe_frame(Caller& caller, const Probe& probe) {
    return frame_of(probe.opcode, caller.next_request_id(), probe.payload);
}

// The request in two descriptors, cut at every byte.
Check check_request_splits(Caller& caller, const Probe& probe) {
    const std::size_t bytes = sizeof(wire::RequestHeader) + probe.payload.size();
    for (std::size_t at = 1; at < bytes; ++at) {
        const Reply reply = caller.send(probe_frame(caller, probe), probe.capacity, {.first = at});
        VIRTACCEL_TRY(expect_answer(say(probe.name, " cut at byte (", at, ")"), reply, probe));
    }
    return {};
}

// The room for the answer in two descriptors, cut at every byte.
Check check_response_splits(Caller& caller, const Probe& probe, const Bytes& wanted) {
    for (std::size_t at = 1; at < probe.capacity; ++at) {
        const Reply reply =
            caller.send(probe_frame(caller, probe), probe.capacity, {}, {.first = at});
        const auto what = say(probe.name, " with room cut at byte (", at, ")");
        VIRTACCEL_TRY(expect_answer(what, reply, probe));
        VIRTACCEL_TRY(expect(reply.payload == wanted, what, " has another payload than uncut."));
    }
    return {};
}

// A write and a read of real data whose frames are cut after every `every` bytes, as far as the
// device walks such chains.
Check check_crumbs(Stage& stage, BufferId buffer, std::size_t every) {
    constexpr std::size_t size = 61;
    Caller& caller = stage.caller();
    const std::size_t chain_max = stage.device_under_test().config().chain_descriptors_max;
    const auto pieces_of = [every](std::size_t bytes) { return (bytes + every - 1) / every; };
    Bytes data(size);
    for (std::size_t i = 0; i < size; ++i) {
        data[i] = static_cast<std::byte>((i * 5) + every);
    }
    wire::WriteBuffer write;
    write.buffer_id = buffer;
    write.bytes = std::uint64_t{size};
    const Bytes frame =
        frame_of(Opcode::write_buffer, caller.next_request_id(), Caller::payload_of(write, data));
    if (pieces_of(frame.size()) + pieces_of(16) > chain_max) {
        return caller.write(buffer, 0, data);
    }
    VIRTACCEL_TRY(expect_ok(say("WRITE_BUFFER in pieces of (", every, ") bytes"),
                            caller.send(frame, 16, {.every = every}, {.every = every})));
    wire::ReadBuffer read;
    read.buffer_id = buffer;
    read.bytes = std::uint64_t{size};
    const Bytes ask =
        frame_of(Opcode::read_buffer, caller.next_request_id(), Caller::payload_of(read));
    const Reply reply = caller.send(ask, 16 + size, {.every = every}, {.every = every});
    VIRTACCEL_TRY(expect_ok(say("READ_BUFFER in pieces of (", every, ") bytes"), reply));
    return expect(reply.payload == data, "Data written and read in pieces of (", every,
                  ") bytes come back changed.");
}

// A chain with one fault comes back with length 0 and nothing written, and the device goes on.
Check check_fault(Stage& stage, RingAccess& ring, ChainFault fault) {
    constexpr int rounds = 20;
    const auto request = ring.room(sizeof(wire::RequestHeader));
    const auto response = ring.room(info_bytes);
    std::ranges::copy(frame_of(Opcode::get_device_info, stage.caller().next_request_id(), {}),
                      request.begin());
    const auto range_of = [&](std::span<std::byte> bytes) {
        const queue::AddressMap map = ring.addresses();
        return ByteRange{
            .offset = map.address + (std::bit_cast<std::uintptr_t>(bytes.data()) - map.host),
            .bytes = bytes.size()};
    };
    const std::uint32_t chain_max = stage.device_under_test().config().chain_descriptors_max;
    for (int round = 0; round < rounds; ++round) {
        const std::uint16_t head = queue::testing::lay_bad_chain(
            ring.driver(), 0, {.request = range_of(request), .response = range_of(response)}, fault,
            {.ram_end = 0, .chain_descriptors_max = chain_max});
        ring.driver().offer(head);
        ring.kick();
        const auto name = queue::testing::name_of(fault);
        const auto used = ring.driver().next_used();
        VIRTACCEL_TRY(expect(used.has_value(), "A bad chain (", name, ") does not come back."));
        VIRTACCEL_TRY(expect_equal(say("The used ID of a bad chain (", name, ")"), used->id, head));
        VIRTACCEL_TRY(
            expect_equal(say("The used length of a bad chain (", name, ")"), used->bytes, 0));
        VIRTACCEL_TRY(expect(std::ranges::all_of(response, [](std::byte b) { return b == canary; }),
                             "A bad chain (", name, ") is written to."));
        VIRTACCEL_TRY(
            expect(!ring.driver().next_used(), "A bad chain (", name, ") comes back twice."));
        VIRTACCEL_TRY(stage.caller().device_info());
    }
    return {};
}

// The longest chain that a device has to walk is one it walks.
Check check_longest_chain(Stage& stage) {
    const std::size_t chain_max = stage.device_under_test().config().chain_descriptors_max;
    const std::size_t crumbs = std::min(chain_max - 1, info_bytes);
    const std::size_t first = info_bytes - crumbs + 1;
    const Reply reply =
        stage.caller().send(frame_of(Opcode::get_device_info, stage.caller().next_request_id(), {}),
                            info_bytes, {}, {.every = 1, .first = first});
    return expect_ok(say("GET_DEVICE_INFO in (", 1 + crumbs, ") descriptors"), reply);
}

}  // namespace

Check one_readable_and_one_writable(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    const Reply reply = caller.call<Opcode::get_device_info>({}, {}, info_bytes);
    VIRTACCEL_TRY(expect_ok("GET_DEVICE_INFO", reply));
    return expect_equal("The used length of GET_DEVICE_INFO", reply.used_bytes, info_bytes);
}

Check every_byte_split(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_ring(input.stage));
    if (input.stage.device_under_test().config().chain_descriptors_max < 3) {
        return skipped("The device walks no chain of three descriptors.");
    }
    Caller& caller = input.stage.caller();
    for (const Probe& probe : make_probes(input.stage.capabilities(), never_given)) {
        const Reply whole = caller.send(probe_frame(caller, probe), probe.capacity);
        VIRTACCEL_TRY(expect_answer(probe.name, whole, probe));
        VIRTACCEL_TRY(check_request_splits(caller, probe));
        VIRTACCEL_TRY(check_response_splits(caller, probe, whole.payload));
    }
    const Bytes create = Caller::payload_of(wire::CreateContext{});
    for (std::size_t at = 1; at < sizeof(wire::RequestHeader) + create.size(); ++at) {
        const Bytes frame = frame_of(Opcode::create_context, caller.next_request_id(), create);
        VIRTACCEL_TRY_ASSIGN(const ContextId context,
                             expect_id<ContextKind>(say("CREATE_CONTEXT cut at byte (", at, ")"),
                                                    caller.send(frame, 24, {.first = at})));
        VIRTACCEL_TRY(caller.destroy(context));
    }
    return {};
}

Check segments_concatenate(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(need_ring(input.stage));
    Caller& caller = input.stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(input.stage.buffer_request(context, 100, usage_known)));
    for (const std::size_t every : {1U, 3U, 5U, 7U, 11U, 16U, 17U, 24U, 40U}) {
        VIRTACCEL_TRY(check_crumbs(input.stage, buffer, every));
    }
    VIRTACCEL_TRY(caller.destroy(buffer));
    return caller.destroy(context);
}

Check missing_side(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    for (int round = 0; round < 20; ++round) {
        const Bytes frame = frame_of(Opcode::create_context, caller.next_request_id(),
                                     Caller::payload_of(wire::CreateContext{}));
        VIRTACCEL_TRY(
            expect_unanswered("a request without room for an answer", caller.send(frame, 0)));
        VIRTACCEL_TRY(expect_unanswered("room without a request", caller.send({}, 64)));
        VIRTACCEL_TRY(caller.device_info());
    }
    return {};
}

Check readable_after_writable(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(input.stage));
    return check_fault(input.stage, *ring, ChainFault::readable_after_writable);
}

Check malformed_chains(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(RingAccess* const ring, need_ring(input.stage));
    VIRTACCEL_TRY(check_longest_chain(input.stage));
    for (const ChainFault fault :
         {ChainFault::empty_readable, ChainFault::empty_writable, ChainFault::loop_of_readable,
          ChainFault::loop_of_writable, ChainFault::loop_to_the_head, ChainFault::too_long,
          ChainFault::indirect, ChainFault::indirect_and_next,
          ChainFault::next_outside_the_table}) {
        const std::size_t chain_max =
            input.stage.device_under_test().config().chain_descriptors_max;
        if (fault != ChainFault::too_long || chain_max < ring->driver().ring().size) {
            VIRTACCEL_TRY(check_fault(input.stage, *ring, fault));
        }
    }
    return {};
}

}  // namespace virtaccel::conformance::cases

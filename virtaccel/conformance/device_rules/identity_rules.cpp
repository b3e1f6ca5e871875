// What the device says of itself (spec §2, §3), and what holds for every frame (spec §5).

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

wire::Config config_of(const DeviceCaseInput& input) {
    return input.stage.device_under_test().config();
}

Check expect_between(std::string_view what, std::uint64_t found, std::uint64_t low,
                     std::uint64_t high) {
    return expect(found >= low && found <= high, what, " is (", found, ") and not from (", low,
                  ") to (", high, ").");
}

Check config_version(const DeviceCaseInput& input) {
    return expect_equal("protocol_major", std::uint16_t{config_of(input).protocol_major},
                        protocol::version_major);
}

Check config_queues(const DeviceCaseInput& input) {
    return expect_equal("command_queue_count", std::uint16_t{config_of(input).command_queue_count},
                        protocol::command_queues);
}

Check config_chain(const DeviceCaseInput& input) {
    const std::uint16_t found = config_of(input).chain_descriptors_max;
    VIRTACCEL_TRY(expect_between("max_chain_descriptors", found, protocol::chain_descriptors_min,
                                 protocol::chain_descriptors_max));
    RingAccess* const ring = input.stage.device_under_test().ring();
    return expect(ring == nullptr || found <= ring->driver().ring().size,
                  "max_chain_descriptors is (", found, ") and more than the queue has.");
}

Check config_request(const DeviceCaseInput& input) {
    return expect_between("max_request_bytes", std::uint32_t{config_of(input).request_bytes_max},
                          protocol::request_bytes_min, protocol::frame_bytes_max);
}

Check config_response(const DeviceCaseInput& input) {
    return expect_between("max_response_bytes", std::uint32_t{config_of(input).response_bytes_max},
                          protocol::response_bytes_min, protocol::frame_bytes_max);
}

// ---- DeviceInfo

Check info_reserved(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, input.stage.caller().device_info());
    return expect_equal("The reserved field of DeviceInfo",
                        std::bit_cast<std::uint16_t>(info.reserved), 0);
}

Check info_capabilities(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, input.stage.caller().device_info());
    return expect_equal("The part of the capabilities that 1.0 reserves",
                        std::uint64_t{info.capabilities} & capabilities_reserved.bits, 0);
}

Check info_domain(const DeviceCaseInput& input) {
    return expect(input.stage.capabilities().has_any(capabilities_memory),
                  "The device offers no memory domain.");
}

Check info_limits(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, input.stage.caller().device_info());
    VIRTACCEL_TRY(expect(info.contexts_max != 0, "max_contexts is zero."));
    VIRTACCEL_TRY(expect(info.buffers_per_context_max != 0, "max_buffers_per_context is zero."));
    VIRTACCEL_TRY(expect(info.programs_per_context_max != 0, "max_programs_per_context is zero."));
    VIRTACCEL_TRY(expect(info.queues_per_context_max != 0, "max_queues_per_context is zero."));
    VIRTACCEL_TRY(expect(info.events_per_context_max != 0, "max_events_per_context is zero."));
    VIRTACCEL_TRY(expect(info.buffer_bytes_max != 0, "max_buffer_bytes is zero."));
    return expect(info.artifact_bytes_max != 0, "max_artifact_bytes is zero.");
}

Check info_bindings(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, input.stage.caller().device_info());
    return expect_between("max_bindings_per_submission",
                          std::uint32_t{info.bindings_per_submission_max}, 1,
                          protocol::bindings_max);
}

Check info_again(const DeviceCaseInput& input) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo before, input.stage.caller().device_info());
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(input.stage, true));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo after, input.stage.caller().device_info());
    VIRTACCEL_TRY(expect(std::memcmp(&before, &after, sizeof before) == 0,
                         "GET_DEVICE_INFO answers otherwise once there are objects."));
    return take_down(input.stage, cast);
}

// ---- frames

// GET_DEVICE_INFO under that request ID; the answer's header has to name it.
Check expect_echo(Caller& caller, Draft draft, std::uint64_t request_id, bool good) {
    draft.request_id = request_id;
    draft.flags = good ? 0 : 1;
    const Reply reply = send(caller, draft);
    const auto what = say("A request with the ID (", request_id, ")");
    return good ? expect_ok(what, reply) : expect_refusal(what, reply, Status::unsupported);
}

Draft info_draft() {
    return draft_of<Opcode::get_device_info>({}, sizeof(wire::DeviceInfo));
}

Check request_id_is_echoed(const DeviceCaseInput& input) {
    constexpr std::uint64_t high_bit = std::uint64_t{1} << 63U;
    for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{1} << 32U, high_bit, most}) {
        for (const bool good : {true, false}) {
            VIRTACCEL_TRY(expect_echo(input.stage.caller(), info_draft(), id, good));
        }
    }
    return {};
}

Check request_id_again(const DeviceCaseInput& input) {
    for (int i = 0; i < 3; ++i) {
        VIRTACCEL_TRY(expect_echo(input.stage.caller(), info_draft(), 77, true));
    }
    return {};
}

// As many bytes as a request may have are too many for GET_DEVICE_INFO, but not for the device.
Check largest_request(const DeviceCaseInput& input) {
    Draft draft = info_draft();
    draft.payload.resize(std::uint32_t{config_of(input).request_bytes_max} - header_bytes);
    return expect_refusal("A request of max_request_bytes with a payload that it must not have",
                          send(input.stage.caller(), draft), Status::invalid_argument);
}

// Too little room for a header at all: nothing is written, whatever else is wrong.
Check no_room_for_a_header(const DeviceCaseInput& input) {
    Draft draft = info_draft();
    draft.capacity = sizeof(wire::ResponseHeader) - 1;
    for (const bool bent : {false, true}) {
        draft.flags = bent ? 1 : 0;
        draft.request_id = bent ? 0 : 5;
        VIRTACCEL_TRY(expect_unanswered("A request with room for 15 bytes",
                                        send(input.stage.caller(), draft)));
    }
    draft.payload.resize(std::uint32_t{config_of(input).request_bytes_max});
    return expect_unanswered("A request that is too large with room for 15 bytes",
                             send(input.stage.caller(), draft));
}

// An error response is 16 bytes however much room there is, and 16 are enough for it.
Check sixteen_bytes_are_enough(const DeviceCaseInput& input) {
    Draft draft = info_draft();
    draft.flags = 1;
    for (const std::size_t capacity : {std::size_t{16}, std::size_t{17}, std::size_t{4096}}) {
        draft.capacity = capacity;
        VIRTACCEL_TRY(expect_refusal(say("A refusal with room for (", capacity, ") bytes"),
                                     send(input.stage.caller(), draft), Status::unsupported));
    }
    return {};
}

constexpr std::array cases{
    DeviceCase{"config.major-version", "protocol_major is 1", config_version},
    DeviceCase{"config.one-queue", "there is one command queue", config_queues},
    DeviceCase{"config.chain-descriptors",
               "max_chain_descriptors is 2 to 256 and at most the queue's size", config_chain},
    DeviceCase{"config.request-bytes", "max_request_bytes is 97 to 16 MiB", config_request},
    DeviceCase{"config.response-bytes", "max_response_bytes is 92 to 16 MiB", config_response},
    DeviceCase{"device-info.reserved", "the reserved field is zero", info_reserved},
    DeviceCase{"device-info.reserved-capabilities", "no reserved capability is advertised",
               info_capabilities},
    DeviceCase{"device-info.memory-domain", "a memory domain is offered", info_domain},
    DeviceCase{"device-info.limits", "no limit is zero", info_limits},
    DeviceCase{"device-info.bindings", "a submission may have 1 to 4096 bindings", info_bindings},
    DeviceCase{"device-info.never-changes", "the answer is the same once there are objects",
               info_again},
    DeviceCase{"frame.request-id-is-echoed", "every answer names its request",
               request_id_is_echoed},
    DeviceCase{"frame.request-id-again", "a request ID may be used again once it is answered",
               request_id_again},
    DeviceCase{"frame.largest", "a frame of max_request_bytes is looked at", largest_request},
    DeviceCase{"frame.no-room-for-a-header", "room for 15 bytes: length 0, whatever is wrong",
               no_room_for_a_header},
    DeviceCase{"frame.refusal-in-16-bytes", "a refusal has 16 bytes and needs no more",
               sixteen_bytes_are_enough},
};

}  // namespace

std::span<const DeviceCase> identity_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

// GET_DEVICE_INFO, the frame itself, and what all commands of one object have in common.

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {
namespace {

constexpr std::uint32_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

constexpr std::array one_object_commands{
    wire::Opcode::destroy_context, wire::Opcode::free_buffer, wire::Opcode::unload_program,
    wire::Opcode::destroy_queue,   wire::Opcode::poll_event,  wire::Opcode::cancel_event,
    wire::Opcode::destroy_event,
};

constexpr std::array<std::uint16_t, 7> unassigned_opcodes{0x0000, 0x0002, 0x0102, 0x0204,
                                                          0x0504, 0x0600, 0xffff};

// What a lookup answers for an ID that names nothing: a device that cannot cancel does not look.
Status not_found(const Probe& probe, wire::Opcode opcode) {
    const bool cancels = probe.identity().capabilities.has(CapabilityBit::event_cancellation);
    return opcode == wire::Opcode::cancel_event && !cancels ? Status::unsupported
                                                            : Status::stale_object;
}

}  // namespace

void check_device_info(World& world) {
    Probe& probe = world.probe();
    const Request info{wire::Opcode::get_device_info};
    const auto record = probe.accepts_record<wire::DeviceInfo>("on an empty device", info);
    if (record) {
        probe.set_identity(wire::to_identity(*record));
    }
    const auto again = probe.accepts_record<wire::DeviceInfo>("again", info);
    probe.judge(record && again && wire::encode(*record) == wire::encode(*again),
                "GET_DEVICE_INFO again", "the same answer");
    probe.accepts("with room for it exactly", info.with_capacity(info_bytes),
                  sizeof(wire::DeviceInfo));
    probe.ignores("with one byte of room too few", info.with_capacity(info_bytes - 1));
    probe.ignores("with room for a header only", info.with_capacity(sizeof(wire::ResponseHeader)));
}

void check_frames(World& world) {
    Probe& probe = world.probe();
    const Request info{wire::Opcode::get_device_info};
    probe.ignores("with 15 bytes of room", info.with_capacity(15));
    probe.ignores("with no room", info.with_capacity(0));
    probe.ignores("of 15 bytes", info.cut_to(15));
    probe.ignores("of no bytes", info.cut_to(0));
    probe.refuses("with request ID zero", info.with_request_id(0), Status::invalid_argument);
    probe.refuses("with flag 0", info.with_flags(1), Status::unsupported);
    probe.refuses("with flag 15", info.with_flags(0x8000), Status::unsupported);
    probe.refuses("that claims a payload", info.with_payload_bytes(1), Status::invalid_argument);
    probe.refuses("that claims a huge payload", info.with_payload_bytes(0xffffffff),
                  Status::invalid_argument);
    probe.refuses("with a trailing byte", info.plus(1).with_payload_bytes(0),
                  Status::invalid_argument);
    probe.refuses("with a payload", info.plus(1), Status::invalid_argument);
    probe.refuses("with a flag, ID zero before it", info.with_flags(1).with_request_id(0),
                  Status::invalid_argument);
    probe.refuses("with a flag, length before it", info.with_flags(1).with_payload_bytes(1),
                  Status::invalid_argument);
    probe.refuses("with a flag, before its payload", info.with_flags(1).plus(1),
                  Status::unsupported);
    probe.refuses("with a flag and room for a header only",
                  info.with_flags(1).with_capacity(sizeof(wire::ResponseHeader)),
                  Status::unsupported);
    for (const auto opcode : unassigned_opcodes) {
        probe.refuses(fmt::format("opcode {:#06x}", opcode), Request{opcode}, Status::unsupported);
    }
    const auto huge = info.plus(protocol::frame_bytes_max);
    probe.refuses("larger than any frame", huge, Status::resource_limit);
    probe.refuses("larger than any frame, before ID zero", huge.with_request_id(0),
                  Status::resource_limit);
    probe.refuses("larger than any frame, before a wrong length", huge.with_payload_bytes(0),
                  Status::resource_limit);
    probe.ignores("larger than any frame, with 15 bytes of room", huge.with_capacity(15));
    probe.accepts("after all that", info, sizeof(wire::DeviceInfo));
}

void check_one_object_commands(World& world) {
    Probe& probe = world.probe();
    for (const auto opcode : one_object_commands) {
        const Request request{opcode, unknown_id<ContextKind>};
        probe.refuses("with the zero ID", {opcode, ContextId{}}, Status::invalid_argument);
        probe.refuses("with an unknown ID", request, not_found(probe, opcode));
        probe.refuses_either("with an ID of a zero low half", {opcode, ContextId{1ULL << 32U}},
                             not_found(probe, opcode), Status::invalid_argument);
        probe.refuses("without its ID", Request{opcode}, Status::invalid_argument);
        probe.refuses("of 7 bytes", request.plus(-1), Status::invalid_argument);
        probe.refuses("of 9 bytes", request.plus(1), Status::invalid_argument);
        probe.refuses("with a flag, before its length", request.plus(-1).with_flags(1),
                      Status::unsupported);
    }
    probe.ignores("with room for a header only, before the unknown ID",
                  Request{wire::Opcode::poll_event, unknown_id<EventKind>}.with_capacity(16));
    probe.refuses("with room for a header only, after the zero ID",
                  Request{wire::Opcode::poll_event, EventId{}}.with_capacity(16),
                  Status::invalid_argument);
}

void check_object_ids(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto queue = world.queue(context);
    const auto buffer = world.buffer(context, usage_transfer);
    const auto program = world.program(context, {});
    for (const auto opcode : one_object_commands) {
        const bool of_events = opcode == wire::Opcode::poll_event ||
                               opcode == wire::Opcode::cancel_event ||
                               opcode == wire::Opcode::destroy_event;
        const std::array kinds{
            std::pair{opcode == wire::Opcode::destroy_context, context.raw},
            std::pair{opcode == wire::Opcode::destroy_queue, queue.raw},
            std::pair{opcode == wire::Opcode::free_buffer, buffer.raw},
            std::pair{opcode == wire::Opcode::unload_program, program.raw},
        };
        for (const auto& [own, raw] : kinds) {
            if (of_events || !own) {
                probe.refuses("with the ID of another kind", {opcode, ContextId{raw}},
                              not_found(probe, opcode));
            }
        }
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
        const BufferId wrong{buffer.raw ^ (1ULL << bit)};
        const bool low_half_is_zero = (wrong.raw & 0xffffffffU) == 0;
        probe.refuses_either("with one bit of its ID turned", {wire::Opcode::free_buffer, wrong},
                             Status::stale_object,
                             low_half_is_zero ? Status::invalid_argument : Status::stale_object);
    }
    probe.accepts("after all that", {wire::Opcode::free_buffer, buffer});
    probe.refuses("a second time", {wire::Opcode::free_buffer, buffer}, Status::stale_object);
}

}  // namespace virtaccel::cli::probe

#include "virtaccel/conformance/caller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

using wire::Opcode;

Bytes frame_of(Opcode opcode, std::uint64_t request_id, std::span<const std::byte> payload) {
    wire::RequestHeader header;
    header.opcode = static_cast<std::uint16_t>(opcode);
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    header.request_id = request_id;
    return Caller::payload_of(header, payload);
}

std::vector<Piece> cut(std::span<std::byte> bytes, Cut where) {
    std::vector<Piece> pieces;
    std::size_t size = where.first != 0 ? where.first : where.every;
    for (std::size_t at = 0; at < bytes.size(); at += pieces.back().size) {
        const std::size_t rest = bytes.size() - at;
        pieces.push_back(
            {.data = bytes.data() + at, .size = size == 0 ? rest : std::min(size, rest)});
        size = where.every;
    }
    return pieces;
}

Reply read_reply(std::span<const std::byte> room, std::uint32_t used_bytes) {
    Reply reply{.answered = true, .used_bytes = used_bytes};
    const std::size_t used = std::min<std::size_t>(used_bytes, room.size());
    if (used >= sizeof(wire::ResponseHeader)) {
        reply.header = wire::load<wire::ResponseHeader>(room.data());
        reply.status = static_cast<Status>(std::uint16_t{reply.header.status});
        const auto payload = room.first(used).subspan(sizeof(wire::ResponseHeader));
        reply.payload.assign(payload.begin(), payload.end());
        reply.header_fits = reply.header.payload_bytes == payload.size() && reply.header.flags == 0;
    }
    reply.rest_untouched =
        used == used_bytes &&
        std::ranges::all_of(room.subspan(used), [](std::byte byte) { return byte == canary; });
    return reply;
}

Reply Caller::send(Bytes frame, std::size_t capacity, Cut readable, Cut writable) {
    // Past the room lie bytes that are not the device's at all.
    constexpr std::size_t beyond = 64;
    Bytes room(capacity + beyond, canary);
    const auto response = std::span{room}.first(capacity);
    const auto used = device_->exchange(cut(frame, readable), cut(response, writable));
    if (!used) {
        return {};
    }
    Reply reply = read_reply(response, *used);
    if (frame.size() >= sizeof(wire::RequestHeader) && reply.used_bytes != 0) {
        const auto header = wire::load<wire::RequestHeader>(frame.data());
        reply.header_fits = reply.header_fits && std::uint64_t{reply.header.request_id} ==
                                                     std::uint64_t{header.request_id};
    }
    reply.rest_untouched =
        reply.rest_untouched && std::ranges::all_of(std::span{room}.subspan(capacity),
                                                    [](std::byte byte) { return byte == canary; });
    return reply;
}

Reply Caller::call_raw(Opcode opcode, std::span<const std::byte> payload, std::size_t capacity) {
    return send(frame_of(opcode, next_request_id(), payload), capacity);
}

Checked<wire::DeviceInfo> Caller::device_info() {
    const Reply reply = call<Opcode::get_device_info>();
    VIRTACCEL_TRY(expect_ok("GET_DEVICE_INFO", reply));
    VIRTACCEL_TRY(expect_equal("The payload of GET_DEVICE_INFO", reply.payload.size(),
                               sizeof(wire::DeviceInfo)));
    return reply.as<wire::DeviceInfo>();
}

Checked<ContextId> Caller::create_context() {
    return expect_id<ContextKind>("CREATE_CONTEXT", call<Opcode::create_context>());
}

Checked<QueueId> Caller::create_queue(ContextId context) {
    wire::CreateQueue request;
    request.context_id = context;
    return expect_id<QueueKind>("CREATE_QUEUE", call<Opcode::create_queue>(request));
}

Checked<BufferId> Caller::allocate(const wire::AllocateBuffer& request) {
    return expect_id<BufferKind>("ALLOCATE_BUFFER", call<Opcode::allocate_buffer>(request));
}

namespace {

// How much of `bytes` goes into a frame of at most `frame_bytes_max`, of which `overhead` are spent
// already. Never nothing: a device with an impossible limit gets its request all the same.
std::size_t part_of(std::uint64_t bytes, std::uint32_t frame_bytes_max, std::size_t overhead) {
    const std::size_t room = frame_bytes_max > overhead ? frame_bytes_max - overhead : 1;
    return std::min(static_cast<std::size_t>(bytes), room);
}

}  // namespace

Check Caller::write(BufferId buffer, std::uint64_t offset, std::span<const std::byte> bytes) {
    constexpr std::size_t overhead = sizeof(wire::RequestHeader) + sizeof(wire::WriteBuffer);
    while (!bytes.empty()) {
        const auto part =
            bytes.first(part_of(bytes.size(), device_->config().request_bytes_max, overhead));
        wire::WriteBuffer request;
        request.buffer_id = buffer;
        request.offset = offset;
        request.bytes = part.size();
        VIRTACCEL_TRY(expect_ok("WRITE_BUFFER", call<Opcode::write_buffer>(request, part)));
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return {};
}

Checked<Bytes> Caller::read(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
    constexpr std::size_t overhead = sizeof(wire::ResponseHeader);
    Bytes result;
    while (result.size() < bytes) {
        const std::size_t part =
            part_of(bytes - result.size(), device_->config().response_bytes_max, overhead);
        wire::ReadBuffer request;
        request.buffer_id = buffer;
        request.offset = offset + result.size();
        request.bytes = std::uint64_t{part};
        const Reply reply = call<Opcode::read_buffer>(request, {}, part + overhead);
        VIRTACCEL_TRY(expect_ok("READ_BUFFER", reply));
        VIRTACCEL_TRY(expect_equal("The payload of READ_BUFFER", reply.payload.size(), part));
        result.insert(result.end(), reply.payload.begin(), reply.payload.end());
    }
    return result;
}

Checked<wire::EventState> Caller::poll(EventId event) {
    const Reply reply = call<Opcode::poll_event>({.object_id = event});
    VIRTACCEL_TRY(expect_ok("POLL_EVENT", reply));
    VIRTACCEL_TRY(
        expect_equal("The payload of POLL_EVENT", reply.payload.size(), sizeof(wire::EventState)));
    const auto state = reply.as<wire::EventState>();
    const wire::FrameLimits limits;
    VIRTACCEL_TRY(expect(wire::validate(state, {.limits = limits}) == Status::ok,
                         "POLL_EVENT gives a state (", std::uint16_t{state.state},
                         ") with an error (", std::uint16_t{state.error},
                         ") that do not go together."));
    return state;
}

Check Caller::destroy(ContextId context) {
    return expect_ok("DESTROY_CONTEXT", call<Opcode::destroy_context>({.object_id = context}));
}

Check Caller::destroy(BufferId buffer) {
    return expect_ok("FREE_BUFFER", call<Opcode::free_buffer>({.object_id = buffer}));
}

Check Caller::destroy(ProgramId program) {
    return expect_ok("UNLOAD_PROGRAM", call<Opcode::unload_program>({.object_id = program}));
}

Check Caller::destroy(QueueId queue) {
    return expect_ok("DESTROY_QUEUE", call<Opcode::destroy_queue>({.object_id = queue}));
}

Check Caller::destroy(EventId event) {
    return expect_ok("DESTROY_EVENT", call<Opcode::destroy_event>({.object_id = event}));
}

Check expect_ok(std::string_view what, const Reply& reply) {
    VIRTACCEL_TRY(expect(reply.answered, what, " is not answered."));
    VIRTACCEL_TRY(expect(reply.used_bytes >= sizeof(wire::ResponseHeader), what,
                         " is answered with (", reply.used_bytes, ") bytes; a header has 16."));
    VIRTACCEL_TRY(expect_status(what, reply.status, Status::ok));
    VIRTACCEL_TRY(expect(reply.header_fits, what,
                         " is answered by a header that does not fit the request or its payload."));
    return expect(reply.rest_untouched, what, " touches bytes past the used length (",
                  reply.used_bytes, ").");
}

Check expect_refusal(std::string_view what, const Reply& reply, Status wanted) {
    VIRTACCEL_TRY(expect(reply.answered, what, " is not answered."));
    VIRTACCEL_TRY(expect_equal(say("The used length of ", what), reply.used_bytes,
                               sizeof(wire::ResponseHeader)));
    VIRTACCEL_TRY(expect_status(what, reply.status, wanted));
    VIRTACCEL_TRY(
        expect(reply.header_fits, what, " is refused by a header that does not fit the request."));
    return expect(reply.rest_untouched, what, " touches bytes past the refusal.");
}

Check expect_unanswered(std::string_view what, const Reply& reply) {
    VIRTACCEL_TRY(expect(reply.answered, "The chain of ", what, " does not come back."));
    VIRTACCEL_TRY(expect_equal(say("The used length of ", what), reply.used_bytes, 0));
    return expect(reply.rest_untouched, what, " is answered with length 0 but bytes are written.");
}

}  // namespace virtaccel::conformance

#include "virtaccel/device/dispatch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

static_assert(handles_every_command<Core>, "a row of wire::commands has no handler (handlers.h)");

// The header of a response, in two words as it goes out.
std::array<wire::le64, 2> make_header(const Frame& frame, Status status,
                                      std::uint64_t payload_bytes) {
    return {payload_bytes << 32U | static_cast<std::uint16_t>(status), frame.header.request_id};
}

static_assert(offsetof(wire::ResponseHeader, payload_bytes) == 4 &&
              offsetof(wire::ResponseHeader, request_id) == 8);

// Commands whose success leaves nothing behind that the guest would have to know of.
constexpr bool only_looks(Opcode op) {
    return op == Opcode::get_device_info || op == Opcode::read_buffer || op == Opcode::poll_event;
}

// The payload by itself (step 5).
template <Opcode op>
Answer judge_payload(Core& core, Call<op>& call) {
    using Request = wire::RequestOf<op>;
    constexpr std::size_t fixed = wire::fixed_bytes<Request>;
    constexpr wire::Tail tail = std::get<wire::row_of<op>()>(wire::commands).request_tail;
    const std::uint64_t payload_bytes = call.frame.readable.bytes - header_bytes;
    if (tail == wire::Tail::none ? payload_bytes != fixed : payload_bytes < fixed) {
        return Status::invalid_argument;
    }
    if constexpr (fixed == 0) {
        return Status::ok;
    } else {
        if (!copy_out<header_bytes, fixed>(call.frame.readable, &call.request)) {
            return Answer::silence();
        }
        const wire::Around around{.limits = core.limits, .tail_bytes = payload_bytes - fixed};
        const Status status = wire::validate(call.request, around);
        if constexpr (tail != wire::Tail::bindings) {
            return status;
        } else {
            if (status != Status::ok) {
                return status;
            }
            Reader tail_reader = call.tail();
            const auto judged =
                core.bindings.fetch(tail_reader, call.request.binding_count, core.limits);
            if (!judged.ok()) {
                return judged;
            }
            return wire::first_failure(call.request, around,
                                       wire::Schema<Request>::checks_after_tail);
        }
    }
}

// What does not succeed, or does not yet.
Served respond_otherwise(const Frame& frame, Answer answer) {
    if (answer.deferred() || answer.silent()) {
        return {.used_bytes = 0, .deferred = answer.deferred()};
    }
    return refuse(frame, answer.status());
}

template <Opcode op>
Served respond(Core& core, const Frame& frame, Answer answer, const wire::ReplyOf<op>& reply,
               std::uint64_t data_bytes) {
    if (!answer.replies()) [[unlikely]] {
        return respond_otherwise(frame, answer);
    }
    const auto payload_bytes = wire::fixed_bytes<wire::ReplyOf<op>> + data_bytes;
    if (!copy_in(frame.writable, make_header(frame, answer.status(), payload_bytes), reply))
        [[unlikely]] {
        // The guest will not learn what happened: its view and ours have parted (spec §7).
        core.needs_reset |= !only_looks(op);
        return {};
    }
    return {.used_bytes = static_cast<std::uint32_t>(header_bytes + payload_bytes)};
}

// How much data the reply carries behind its fixed part.
template <Opcode op>
std::uint64_t data_bytes_of(const wire::RequestOf<op>& request) {
    if constexpr (std::get<wire::row_of<op>()>(wire::commands).reply_tail == wire::Tail::data) {
        return request.bytes;
    } else {
        return 0;
    }
}

template <Opcode op>
Served run(Core& core, const Frame& frame) {
    wire::ReplyOf<op> reply;
    Call<op> call{.frame = frame, .reply = reply, .request = {}};
    const auto judged = judge_payload<op>(core, call);
    if (!judged.ok()) [[unlikely]] {
        return respond_otherwise(frame, judged);
    }
    const std::uint64_t data_bytes = data_bytes_of<op>(call.request);
    if (frame.writable.bytes < header_bytes + wire::fixed_bytes<wire::ReplyOf<op>> + data_bytes)
        [[unlikely]] {
        return {};
    }
    if (core.needs_reset) [[unlikely]] {
        return refuse(frame, Status::device_lost);
    }
    return respond<op>(core, frame, on(core, call), reply, data_bytes);
}

using Runner = Served (*)(Core& core, const Frame& frame);

constexpr std::array<Runner, wire::command_count> runners = std::apply(
    [](const auto&... row) {
        return std::array{&run<std::remove_cvref_t<decltype(row)>::opcode>...};
    },
    wire::commands);

}  // namespace

Served Core::serve(const PieceList& readable, const PieceList& writable) {
    if (readable.bytes < header_bytes || writable.bytes < header_bytes) {
        return {};
    }
    Frame frame{.readable = readable, .writable = writable, .header = {}};
    if (!copy_out<0, header_bytes>(readable, &frame.header)) {
        return {};
    }
    if (readable.bytes > limits.request_bytes_max) {
        return refuse(frame, Status::resource_limit);
    }
    const wire::Around around{.limits = limits, .tail_bytes = readable.bytes - header_bytes};
    if (const auto status = wire::validate(frame.header, around); status != Status::ok) {
        return refuse(frame, status);
    }
    const auto command = wire::command_index(frame.header.opcode);
    if (command == wire::command_count) {
        return refuse(frame, Status::unsupported);
    }
    return runners[command](*this, frame);
}

Served refuse(const Frame& frame, Status status) {
    return copy_in(frame.writable, make_header(frame, status, 0), wire::Empty{})
               ? Served{.used_bytes = header_bytes}
               : Served{};
}

Served respond_late(Core& core, const Frame& frame, Answer answer,
                    const wire::Object<ProgramKind>& reply) {
    return respond<Opcode::load_program>(core, frame, answer, reply, 0);
}

}  // namespace virtaccel::device

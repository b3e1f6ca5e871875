#include "virtaccel/device/dispatch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

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

// A response without a data tail, as it goes out.
template <class Reply>
struct Response {
    wire::ResponseHeader header;
    Reply payload;
};

template <>
struct Response<wire::Empty> {
    wire::ResponseHeader header;
};

template <class Reply>
Response<Reply> make_response(const Frame& frame, const Answer<Reply>& answer,
                              std::uint64_t data_bytes) {
    Response<Reply> response;
    response.header.status = static_cast<std::uint16_t>(answer.status);
    response.header.payload_bytes =
        static_cast<std::uint32_t>(wire::fixed_bytes<Reply> + data_bytes);
    response.header.request_id = frame.header.request_id;
    if constexpr (!std::is_empty_v<Reply>) {
        response.payload = answer.reply;
    }
    static_assert(sizeof response == header_bytes + wire::fixed_bytes<Reply>);
    return response;
}

// Commands whose success leaves nothing behind that the guest would have to know of.
constexpr bool only_looks(Opcode op) {
    return op == Opcode::get_device_info || op == Opcode::read_buffer || op == Opcode::poll_event;
}

// The payload by itself (step 5). Nothing if the guest's bytes are out of reach.
template <Opcode op>
std::optional<Status> judge_payload(Core& core, Call<op>& call) {
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
            return std::nullopt;
        }
        const wire::Around around{.limits = core.limits, .tail_bytes = payload_bytes - fixed};
        const Status status = wire::validate(call.request, around);
        if constexpr (tail != wire::Tail::bindings) {
            return status;
        } else {
            if (status != Status::ok) {
                return status;
            }
            const auto judged =
                core.bindings.fetch(call.tail(), call.request.binding_count, core.limits);
            if (judged != Status::ok) {
                return judged;
            }
            return wire::first_failure(call.request, around,
                                       wire::Schema<Request>::checks_after_tail);
        }
    }
}

template <Opcode op>
Served run(Core& core, const Frame& frame) {
    Call<op> call{.frame = frame, .request = {}};
    const auto judged = judge_payload<op>(core, call);
    if (judged != Status::ok) [[unlikely]] {
        return judged ? refuse(frame, *judged) : Served{};
    }
    std::uint64_t data_bytes = 0;
    if constexpr (std::get<wire::row_of<op>()>(wire::commands).reply_tail == wire::Tail::data) {
        data_bytes = call.request.bytes;
    }
    if (frame.writable.bytes < header_bytes + wire::fixed_bytes<wire::ReplyOf<op>> + data_bytes)
        [[unlikely]] {
        return {};
    }
    if (core.needs_reset) [[unlikely]] {
        return refuse(frame, Status::device_lost);
    }
    return respond<op>(core, frame, on(core, call), data_bytes);
}

using Runner = Served (*)(Core& core, const Frame& frame);

constexpr std::array<Runner, wire::command_count> runners = std::apply(
    [](const auto&... row) {
        return std::array{&run<std::remove_cvref_t<decltype(row)>::opcode>...};
    },
    wire::commands);

}  // namespace

Served dispatch(Core& core, const Frame& frame, std::size_t command) {
    return runners[command](core, frame);
}

Served refuse(const Frame& frame, Status status) {
    const auto response = make_response<wire::Empty>(frame, status, 0);
    return copy_in(frame.writable, response) ? Served{.used_bytes = sizeof response} : Served{};
}

template <wire::Opcode op>
Served respond(Core& core, const Frame& frame, const AnswerOf<op>& answer,
               std::uint64_t data_bytes) {
    if (answer.deferred) {
        return {.deferred = true};
    }
    if (!answer.replies) [[unlikely]] {
        return refuse(frame, answer.status);
    }
    const auto response = make_response(frame, answer, data_bytes);
    if (copy_in(frame.writable, response)) [[likely]] {
        return {.used_bytes = static_cast<std::uint32_t>(sizeof response + data_bytes)};
    }
    // The guest will not learn what happened: its view and ours have parted (spec §7).
    core.needs_reset |= !only_looks(op);
    return {};
}

template Served respond<wire::Opcode::load_program>(
    Core& core, const Frame& frame, const AnswerOf<wire::Opcode::load_program>& answer,
    std::uint64_t data_bytes);

}  // namespace virtaccel::device

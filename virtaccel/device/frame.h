#pragma once
// One request on its way through the checks of spec §5, and the few ways to answer it. Bytes of the
// other side are copied here once; handlers see the copy.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <type_traits>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

inline constexpr std::size_t header_bytes = sizeof(wire::RequestHeader);
static_assert(sizeof(wire::ResponseHeader) == header_bytes);

// A request whose header was copied, and where its answer goes. Both lists hold a header's bytes.
struct Frame {
    const PieceList& readable;
    const PieceList& writable;
    wire::RequestHeader header;
};

// Copies the `size` bytes at `offset`; false if there are fewer or the lease has ended.
template <std::size_t offset, std::size_t size>
[[nodiscard]] bool copy_out(const PieceList& readable, void* target) {
    const Piece& first = readable.pieces.front();
    if (first.size >= offset + size && readable.lease.holds()) [[likely]] {
        std::memcpy(target, first.data + offset, size);
        return true;
    }
    Reader reader(readable);
    return reader.skip(offset) && reader.copy_to(target, size);
}

// Copies `bytes` to the start of `writable`; false if there is no room or the lease has ended.
template <class Bytes>
[[nodiscard]] bool copy_in(const PieceList& writable, const Bytes& bytes) {
    static_assert(std::is_trivially_copyable_v<Bytes>);
    const Piece& first = writable.pieces.front();
    if (first.size >= sizeof bytes && writable.lease.holds()) [[likely]] {
        std::memcpy(first.data, &bytes, sizeof bytes);
        return true;
    }
    Writer writer(writable);
    return writer.copy_from(&bytes, sizeof bytes);
}

// A command whose payload passed every check that needs no object.
template <wire::Opcode op>
struct Call {
    const Frame& frame;
    wire::RequestOf<op> request;

    // What follows the fixed part of the payload.
    [[nodiscard]] Reader tail() const {
        Reader reader(frame.readable);
        (void)reader.skip(header_bytes + wire::fixed_bytes<wire::RequestOf<op>>);
        return reader;
    }

    // Where `bytes` bytes of response payload go.
    [[nodiscard]] Writer payload(std::uint64_t bytes) const {
        Writer writer(frame.writable);
        (void)writer.skip(header_bytes);
        return writer.first(bytes);
    }
};

// What a handler decided: a failure, a reply, a reply with a failure (an indeterminate SUBMIT), or
// that the answer comes later.
template <class Reply>
struct Answer {
    Status status = Status::ok;
    bool replies = false;
    bool deferred = false;
    Reply reply;

    // OK for commands with an empty reply, a failure for all.
    Answer(Status given) : status(given), replies(given == Status::ok) {
        VIRTACCEL_CHECK(std::is_empty_v<Reply> || given != Status::ok);
    }

    Answer(const std::unexpected<Status>& failure) : status(failure.error()) {}

    Answer(const Reply& given, Status with = Status::ok)
        : status(with), replies(true), reply(given) {}

    [[nodiscard]] static Answer later() {
        Answer answer{Status::busy};
        answer.deferred = true;
        return answer;
    }
};

template <wire::Opcode op>
using AnswerOf = Answer<wire::ReplyOf<op>>;

}  // namespace virtaccel::device

#pragma once
// One request on its way through the checks of spec §5, and the few ways to answer it. Bytes of the
// other side are copied here once; handlers see the copy.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {

using wire::Opcode;

inline constexpr std::size_t header_bytes = sizeof(wire::RequestHeader);
static_assert(sizeof(wire::ResponseHeader) == header_bytes);

// A request whose header was copied, and where its answer goes. Both lists hold a header's bytes.
struct Frame {
    const PieceList& readable;
    const PieceList& writable;
    wire::RequestHeader header;
};

// The general ways of `copy_out` and `copy_in`, for bytes that lie in more than one piece.
[[nodiscard]] bool gather(const PieceList& readable, std::size_t offset, void* target,
                          std::size_t size);
[[nodiscard]] bool scatter(const PieceList& writable, const std::array<wire::le64, 2>& header,
                           const void* reply, std::size_t size);

// Copies the `size` bytes at `offset`; false if there are fewer or the lease has ended.
template <std::size_t offset, std::size_t size>
[[nodiscard]] bool copy_out(const PieceList& readable, void* target) {
    const Piece& first = readable.pieces.front();
    if (first.size < offset + size || !readable.lease.holds()) [[unlikely]] {
        return gather(readable, offset, target, size);
    }
    std::memcpy(target, first.data + offset, size);
    return true;
}

// Writes a response: its header in two words, and a fixed payload. Each goes out from where it is,
// so that nothing is assembled only to be copied. False if the lease has ended.
template <class Reply>
[[nodiscard]] bool copy_in(const PieceList& writable, const std::array<wire::le64, 2>& header,
                           const Reply& reply) {
    constexpr std::size_t fixed = wire::fixed_bytes<Reply>;
    const Piece& first = writable.pieces.front();
    if (first.size < header_bytes + fixed || !writable.lease.holds()) [[unlikely]] {
        return scatter(writable, header, &reply, fixed);
    }
    std::memcpy(first.data, &header[0], sizeof header[0]);
    std::memcpy(first.data + sizeof header[0], &header[1], sizeof header[1]);
    std::memcpy(first.data + header_bytes, &reply, fixed);
    return true;
}

// A command whose payload passed every check that needs no object, and where its reply goes.
template <Opcode op>
struct Call {
    const Frame& frame;
    wire::ReplyOf<op>& reply;
    wire::RequestOf<op> request;

    // What follows the fixed part of the payload.
    [[nodiscard]] Reader tail() const {
        constexpr std::size_t offset = header_bytes + wire::fixed_bytes<wire::RequestOf<op>>;
        return {frame.readable, offset, frame.readable.bytes};
    }

    // Where `bytes` bytes of response payload go.
    [[nodiscard]] Writer payload(std::uint64_t bytes) const {
        return {frame.writable, header_bytes, bytes};
    }
};

// What was decided about a command: success or a failure, which an `Answer` is made from, or one of
// the others below. One word, so that it travels in a register.
class Answer {
  public:
    Answer(Status status)
        : word_(static_cast<std::uint32_t>(status) | (status == Status::ok ? replies_bit : 0)) {}

    Answer(const std::unexpected<Status>& failure) : Answer(failure.error()) {}

    // A failure that has a reply none the less: an indeterminate SUBMIT.
    [[nodiscard]] static Answer with_reply(Status status) {
        Answer answer{status};
        answer.word_ |= replies_bit;
        return answer;
    }

    // The answer comes later.
    [[nodiscard]] static Answer later() {
        Answer answer{Status::ok};
        answer.word_ = deferred_bit;
        return answer;
    }

    // None: the guest's bytes are out of reach, because a reset came between.
    [[nodiscard]] static Answer silence() {
        Answer answer{Status::ok};
        answer.word_ = silence_bit;
        return answer;
    }

    // Success, and nothing else.
    [[nodiscard]] bool ok() const { return word_ == replies_bit; }

    [[nodiscard]] Status status() const { return static_cast<Status>(word_ & 0xffffU); }

    [[nodiscard]] bool replies() const { return (word_ & replies_bit) != 0; }

    [[nodiscard]] bool deferred() const { return (word_ & deferred_bit) != 0; }

    [[nodiscard]] bool silent() const { return (word_ & silence_bit) != 0; }

  private:
    static constexpr std::uint32_t replies_bit = 1U << 16U;
    static constexpr std::uint32_t deferred_bit = 1U << 17U;
    static constexpr std::uint32_t silence_bit = 1U << 18U;

    std::uint32_t word_;
};

}  // namespace virtaccel::device

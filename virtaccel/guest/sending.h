#pragma once
// What the client's operations share: how a call is refused before it is sent, and bulk data that
// stand outside of a chain. Private to the client.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {

[[nodiscard]] inline std::unexpected<Failure> not_sent(wire::Opcode opcode, Status status,
                                                       Cause cause) {
    return std::unexpected{
        Failure{.status = status, .opcode = opcode, .kind = FailureKind::not_sent, .cause = cause}};
}

[[nodiscard]] inline std::unexpected<Failure> foreign_handle(wire::Opcode opcode) {
    return std::unexpected{Failure{.status = Status::stale_object,
                                   .opcode = opcode,
                                   .kind = FailureKind::invalidated,
                                   .cause = Cause::handle}};
}

[[nodiscard]] inline std::unexpected<Failure> queue_full(wire::Opcode opcode) {
    return std::unexpected{Failure{.status = Status::busy,
                                   .opcode = opcode,
                                   .kind = FailureKind::backpressure,
                                   .cause = Cause::queue_full}};
}

// Appends the nonempty pieces of `from` to `to`.
[[nodiscard]] inline Piece* append(Piece* to, const PieceList& from) {
    return std::ranges::copy_if(
               from.pieces, to, [](std::size_t size) { return size != 0; }, &Piece::size)
        .out;
}

// Bulk data outside of the chain's area: none, behind the request, or behind the response. Three
// types, because most commands have none and should not pay for asking.
struct NoBulk {
    // Pieces that need no room in a chain.
    static constexpr std::size_t pieces_at_hand = 0;

    static constexpr std::uint64_t request_bytes() { return 0; }

    static constexpr std::uint64_t response_bytes() { return 0; }

    static constexpr std::size_t pieces() { return 0; }

    static constexpr Piece* append_to_request(Piece* to) { return to; }

    static constexpr Piece* append_to_response(Piece* to) { return to; }
};

struct RequestBulk : NoBulk {
    static constexpr std::size_t pieces_at_hand = 1;
    const PieceList& list;

    explicit RequestBulk(const PieceList& pieces) : list(pieces) {}

    [[nodiscard]] std::uint64_t request_bytes() const { return list.bytes; }

    [[nodiscard]] std::size_t pieces() const { return list.pieces.size(); }

    Piece* append_to_request(Piece* to) const { return append(to, list); }
};

struct ResponseBulk : NoBulk {
    static constexpr std::size_t pieces_at_hand = 1;
    const PieceList& list;

    explicit ResponseBulk(const PieceList& pieces) : list(pieces) {}

    [[nodiscard]] std::uint64_t response_bytes() const { return list.bytes; }

    [[nodiscard]] std::size_t pieces() const { return list.pieces.size(); }

    Piece* append_to_response(Piece* to) const { return append(to, list); }
};

}  // namespace virtaccel::guest

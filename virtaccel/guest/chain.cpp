#include "virtaccel/guest/chain.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/failure.h"

namespace virtaccel::guest {

Chain::Chain(std::span<std::byte> area) : area_(area) {}

Result<Chain> Chain::make(const Memory& memory, std::size_t area_bytes) {
    Chain chain;
    const auto lines = std::max<std::size_t>(
        1, (area_bytes / cache_line_bytes) + (area_bytes % cache_line_bytes == 0 ? 0 : 1));
    chain.owned_area_ = Array<Line>{memory, lines};
    if (chain.owned_area_.empty()) {
        return fail(Status::out_of_memory);
    }
    chain.area_ =
        std::as_writable_bytes(std::span{chain.owned_area_.data(), lines}).first(area_bytes);
    return chain;
}

Chain::Chain(Chain&& other) noexcept {
    *this = std::move(other);
}

Chain& Chain::operator=(Chain&& other) noexcept {
    // A client and a device still hold the address of a chain in flight.
    VIRTACCEL_CHECK(!in_flight() && !other.in_flight());
    if (this == &other) {
        return *this;
    }
    tag = other.tag;
    area_ = std::exchange(other.area_, {});
    response_offset_ = other.response_offset_;
    response_bytes_ = other.response_bytes_;
    request_id_ = other.request_id_;
    payload_ = other.payload_;
    failure_ = other.failure_;
    has_event_ = other.has_event_;
    stage_ = std::exchange(other.stage_, Stage::idle);
    subject_ = other.subject_;
    read_into_ = other.read_into_;
    many_pieces_ = std::move(other.many_pieces_);
    owned_area_ = std::move(other.owned_area_);
    return *this;
}

Chain::~Chain() {
    VIRTACCEL_CHECK(!in_flight());
}

Status Chain::reserve_pieces(const Memory& memory, std::size_t pieces) {
    VIRTACCEL_CHECK(!in_flight());
    Array<Piece> room{memory, pieces + fixed_pieces};
    if (room.empty()) {
        return Status::out_of_memory;
    }
    many_pieces_ = std::move(room);
    return Status::ok;
}

std::optional<Failure> Chain::failure() const {
    if (stage_ == Stage::failed) {
        return failure_;
    }
    return std::nullopt;
}

}  // namespace virtaccel::guest

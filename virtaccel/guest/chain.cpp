#include "virtaccel/guest/chain.h"

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
    chain.owned_area_ = Array<std::byte>{memory, area_bytes};
    if (chain.owned_area_.empty() && area_bytes != 0) {
        return fail(Status::out_of_memory);
    }
    chain.area_ = {chain.owned_area_.data(), chain.owned_area_.size()};
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
    expected_ = other.expected_;
    response_ = other.response_;
    failure_ = other.failure_;
    opcode_ = other.opcode_;
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
    if (pieces + fixed_pieces <= few_pieces_.size()) {
        return Status::ok;
    }
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

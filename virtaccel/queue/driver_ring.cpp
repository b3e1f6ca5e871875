#include "virtaccel/queue/driver_ring.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue {

std::expected<void, RingRefusal> DriverRing::start(const RingMemory& ring) {
    if (auto checked = check_ring(ring); !checked) {
        return checked;
    }
    if (options_.chain_descriptors_max < ring_size_min ||
        options_.chain_descriptors_max > ring_size_max) {
        return std::unexpected{RingRefusal::bad_chain_limit};
    }
    if (records_.size() < ring.size || following_.size() < ring.size) {
        records_ = Array<Record>{memory_, ring.size};
        following_ = Array<std::uint16_t>{memory_, ring.size};
        if (records_.empty() || following_.empty()) {
            ring_ = {};
            free_count_ = 0;
            broken_ = true;
            return std::unexpected{RingRefusal::out_of_memory};
        }
    }
    ring_ = ring;
    chain_max_ = std::min(options_.chain_descriptors_max, ring.size);
    make_empty();
    return {};
}

void DriverRing::reset() {
    if (ring_.size != 0) {
        make_empty();
    }
}

// A reset without chains in flight leaves the free list as it is: any order of it will do.
void DriverRing::make_empty() {
    if (in_flight_ != 0 || free_count_ != ring_.size) {
        for (std::uint32_t i = 0; i < ring_.size; ++i) {
            records_[i] = {};
            following_[i] = static_cast<std::uint16_t>(i + 1);
        }
        free_head_ = 0;
        free_count_ = ring_.size;
        in_flight_ = 0;
    }
    next_available_ = 0;
    next_used_ = 0;
    seen_used_ = 0;
    broken_ = false;
    ring_.want_interrupts(true);
    ring_.want_notifications(true);
    ring_.publish_used_index(0);
    ring_.publish_available_index(0);
}

// Writes the descriptor of `piece`, in the direction and with the successor that `flags` says, to
// the first free one.
inline DriverRing::Tail DriverRing::put(const Piece& piece, std::uint16_t flags, Tail tail) {
    const AddressMap& map = options_.addresses;
    const std::uint64_t offset = std::bit_cast<std::uintptr_t>(piece.data) - map.host;
    VIRTACCEL_CHECK(piece.size - 1 < std::numeric_limits<std::uint32_t>::max());
    VIRTACCEL_CHECK(fits({.offset = offset, .bytes = piece.size}, map.bytes));
    const std::uint32_t next = following_[tail.next];
    ring_.store_descriptor(tail.next, {.address = map.address + offset,
                                       .bytes = static_cast<std::uint32_t>(piece.size),
                                       .flags = flags,
                                       .next = static_cast<std::uint16_t>(next)});
    return {.last = tail.next, .next = next, .bytes = tail.bytes + piece.size};
}

Posted DriverRing::post(std::span<const Piece> readable, std::span<const Piece> writable,
                        std::uint64_t cookie) {
    if (broken_) [[unlikely]] {
        return Posted::broken;
    }
    const std::size_t pieces = readable.size() + writable.size();
    VIRTACCEL_CHECK(!readable.empty() && !writable.empty() && pieces <= chain_max_);
    if (pieces > free_count_) [[unlikely]] {
        return Posted::full;
    }
    const std::uint16_t head = free_head_;
    Tail tail{.last = head, .next = head};
    for (const Piece& piece : readable) {
        tail = put(piece, descriptor_next, tail);
    }
    tail.bytes = 0;
    for (const Piece& piece : writable.first(writable.size() - 1)) {
        tail = put(piece, descriptor_next | descriptor_write, tail);
    }
    tail = put(writable.back(), descriptor_write, tail);
    records_[head] = {.cookie = cookie,
                      .writable_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                          tail.bytes, std::numeric_limits<std::uint32_t>::max())),
                      .pieces = static_cast<std::uint16_t>(pieces),
                      .last = static_cast<std::uint16_t>(tail.last)};
    free_head_ = static_cast<std::uint16_t>(tail.next);
    free_count_ -= static_cast<std::uint32_t>(pieces);
    ++in_flight_;
    ring_.store_available(next_available_++, head);
    ring_.publish_available_index(next_available_);
    return Posted::ok;
}

void DriverRing::kick() {
    if (broken_) [[unlikely]] {
        return;
    }
    order_publication(options_.threads);
    if (ring_.notifications_wanted()) {
        options_.device();
    }
}

std::nullopt_t DriverRing::fail() {
    broken_ = true;
    seen_used_ = next_used_;
    return std::nullopt;
}

// Looks for new completions once the known ones are taken; more than are in flight is a lie.
bool DriverRing::look() {
    if (broken_) [[unlikely]] {
        return false;
    }
    seen_used_ = ring_.used_index();
    const auto arrived = static_cast<std::uint16_t>(seen_used_ - next_used_);
    if (arrived > in_flight_) [[unlikely]] {
        fail();
        return false;
    }
    return arrived != 0;
}

std::optional<Completion> DriverRing::next() {
    if (next_used_ == seen_used_ && !look()) {
        return std::nullopt;
    }
    const UsedEntry entry = ring_.load_used(next_used_);
    if (entry.id >= ring_.size) [[unlikely]] {
        return fail();
    }
    Record& record = records_[entry.id];
    if (record.pieces == 0 || entry.bytes > record.writable_bytes) [[unlikely]] {
        return fail();
    }
    ++next_used_;
    following_[record.last] = free_head_;
    free_head_ = static_cast<std::uint16_t>(entry.id);
    free_count_ += record.pieces;
    record.pieces = 0;
    --in_flight_;
    return Completion{.cookie = record.cookie, .used_bytes = entry.bytes};
}

bool DriverRing::want_notifications(bool wanted) {
    if (ring_.size == 0) {
        return false;
    }
    ring_.want_interrupts(wanted);
    if (!wanted) {
        return false;
    }
    order_publication(options_.threads);
    return next_used_ != seen_used_ || look();
}

}  // namespace virtaccel::queue

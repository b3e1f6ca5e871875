#include "virtaccel/queue/device_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <utility>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue {

std::expected<void, RingRefusal> DeviceRing::start(const RingMemory& ring,
                                                   std::uint16_t next_available) {
    stop();
    if (auto checked = check_ring(ring); !checked) {
        return checked;
    }
    if (options_.chain_descriptors_max < ring_size_min ||
        options_.chain_descriptors_max > ring_size_max) {
        return std::unexpected{RingRefusal::bad_chain_limit};
    }
    const std::uint32_t chain_max = std::min(options_.chain_descriptors_max, ring.size);
    const std::size_t pieces = chain_max * map_->pieces_max();
    if (pieces_.size() < pieces) {
        pieces_ = Array<Piece>{memory_, pieces};
    }
    if (outstanding_.size() < ring.size) {
        outstanding_ = Array<bool>{memory_, ring.size};
    }
    if (pieces_.size() < pieces || outstanding_.size() < ring.size) {
        return std::unexpected{RingRefusal::out_of_memory};
    }
    ring_ = ring;
    chain_max_ = chain_max;
    begin_epoch(next_available, ring.used_index());
    return {};
}

std::uint16_t DeviceRing::stop() {
    const std::uint16_t next = next_available_;
    begin_epoch(next, 0);
    ring_ = {};
    return next;
}

void DeviceRing::reset() {
    if (ring_.size == 0) {
        return;
    }
    ring_.want_notifications(true);
    ring_.publish_used_index(0);
    begin_epoch(0, 0);
}

void DeviceRing::begin_epoch(std::uint16_t next_available, std::uint16_t next_used) {
    __atomic_store_n(&epoch_, epoch_ + 1, __ATOMIC_RELAXED);
    if (outstanding_count_ != 0) {
        std::ranges::fill(outstanding_, false);
        outstanding_count_ = 0;
    }
    next_available_ = next_available;
    seen_available_ = next_available;
    next_used_ = next_used;
    unflushed_ = false;
    broken_ = false;
}

// Looks for new chains once the known ones are popped. A well-behaved driver never has more in the
// ring than its size; one that claims so would have old entries walked again.
inline bool DeviceRing::look() {
    if (broken_ || ring_.size == 0) [[unlikely]] {
        return false;
    }
    seen_available_ = ring_.available_index();
    const auto arrived = static_cast<std::uint16_t>(seen_available_ - next_available_);
    if (arrived > ring_.size) [[unlikely]] {
        broken_ = true;
        seen_available_ = next_available_;
        return false;
    }
    return arrived != 0;
}

// Takes a head that exists and is not outstanding. Another one cannot even be completed: that would
// complete someone else's chain.
inline bool DeviceRing::claim(std::uint16_t head) {
    if (head >= ring_.size || outstanding_[head]) [[unlikely]] {
        return false;
    }
    outstanding_[head] = true;
    ++outstanding_count_;
    return true;
}

// The pieces of one chain, in `pieces_`; its end is null if the chain breaks a rule.
struct DeviceRing::Walk {
    const Piece* writable = nullptr;
    const Piece* end = nullptr;
    std::uint64_t readable_bytes = 0;
    std::uint64_t writable_bytes = 0;
};

// Walks the chain at `head` (spec §5 step 1): readable descriptors, then writable ones. A loop is
// found as a chain that is too long, an indirect descriptor as one that is neither.
inline DeviceRing::Walk DeviceRing::walk(std::uint16_t head) {
    constexpr std::uint16_t kind = descriptor_next | descriptor_write | descriptor_indirect;
    const RingMemory ring = ring_;
    std::uint32_t left = chain_max_;
    Piece* piece = pieces_.data();
    Descriptor at = ring.load_descriptor(head);
    const auto take = [&] {
        piece = map_->translate({.offset = at.address, .bytes = at.bytes}, piece);
        return piece != nullptr;
    };
    const auto follow = [&] {
        if (at.next >= ring.size || --left == 0) [[unlikely]] {
            return false;
        }
        at = ring.load_descriptor(at.next);
        return true;
    };
    std::uint64_t readable_bytes = 0;
    while ((at.flags & kind) == descriptor_next) {
        readable_bytes += at.bytes;
        if (!take() || !follow()) [[unlikely]] {
            return {};
        }
    }
    const Piece* const writable = piece;
    std::uint64_t writable_bytes = 0;
    while ((at.flags & kind) == (descriptor_next | descriptor_write)) {
        writable_bytes += at.bytes;
        if (!take() || !follow()) [[unlikely]] {
            return {};
        }
    }
    if ((at.flags & kind) != descriptor_write || readable_bytes == 0 || !take()) [[unlikely]] {
        return {};
    }
    return {.writable = writable,
            .end = piece,
            .readable_bytes = readable_bytes,
            .writable_bytes = writable_bytes + at.bytes};
}

std::optional<Chain> DeviceRing::pop() {
    if (next_available_ == seen_available_ && !look()) {
        return std::nullopt;
    }
    return pop_seen();
}

// One pass over at most as many heads as the queue has. Apart, so that looking at an empty ring is
// cheap.
[[gnu::noinline]] std::optional<Chain> DeviceRing::pop_seen() {
    std::uint32_t heads = ring_.size;
    do {
        const std::uint16_t head = ring_.load_available(next_available_++);
        if (!claim(head)) [[unlikely]] {
            ++ignored_;
            continue;
        }
        const Walk found = walk(head);
        if (found.end == nullptr) [[unlikely]] {
            ++malformed_;
            complete(head, 0);
            continue;
        }
        const Lease lease{.live = &epoch_, .epoch = epoch_};
        return std::optional<Chain>{
            std::in_place, head,
            PieceList{.pieces = {std::as_const(pieces_).data(), found.writable},
                      .bytes = found.readable_bytes,
                      .lease = lease},
            PieceList{.pieces = {found.writable, found.end},
                      .bytes = found.writable_bytes,
                      .lease = lease}};
    } while (--heads != 0 && (next_available_ != seen_available_ || look()));
    return std::nullopt;
}

bool DeviceRing::complete(std::uint16_t head, std::uint32_t used_bytes) {
    if (head >= ring_.size || !outstanding_[head]) [[unlikely]] {
        return false;
    }
    outstanding_[head] = false;
    --outstanding_count_;
    ring_.store_used(next_used_++, {.id = head, .bytes = used_bytes});
    ring_.publish_used_index(next_used_);
    unflushed_ = true;
    return true;
}

void DeviceRing::flush() {
    if (!unflushed_) {
        return;
    }
    unflushed_ = false;
    order_publication(options_.threads);
    if (ring_.interrupts_wanted()) {
        options_.driver();
    }
}

bool DeviceRing::want_notifications(bool wanted) {
    if (ring_.size == 0) [[unlikely]] {
        return false;
    }
    ring_.want_notifications(wanted);
    if (!wanted) {
        return false;
    }
    order_publication(options_.threads);
    return next_available_ != seen_available_ || look();
}

}  // namespace virtaccel::queue

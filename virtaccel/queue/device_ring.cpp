#include "virtaccel/queue/device_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue {

namespace {

constexpr std::uint32_t heads_per_word = 64;

[[nodiscard]] constexpr std::uint64_t bit_of(std::uint16_t head) {
    return std::uint64_t{1} << (head % heads_per_word);
}

}  // namespace

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
    const std::size_t words = (ring.size + heads_per_word - 1) / heads_per_word;
    if (outstanding_.size() < words) {
        outstanding_ = Array<std::uint64_t>{memory_, words};
    }
    if (pieces_.size() < pieces || outstanding_.size() < words) {
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
        std::fill(outstanding_.begin(), outstanding_.end(), 0);
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
bool DeviceRing::look() {
    if (broken_) {
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
bool DeviceRing::claim(std::uint16_t head) {
    if (head >= ring_.size) [[unlikely]] {
        return false;
    }
    std::uint64_t& word = outstanding_[head / heads_per_word];
    if ((word & bit_of(head)) != 0) [[unlikely]] {
        return false;
    }
    word |= bit_of(head);
    ++outstanding_count_;
    return true;
}

// Fills `chain` from the descriptors at `head` (spec §5 step 1); false if they break a rule. A loop
// is found as a chain that is too long.
bool DeviceRing::walk(std::uint16_t head, Chain& chain) {
    Piece* const first = pieces_.data();
    Piece* const end = first + pieces_.size();
    Piece* piece = first;
    Piece* first_writable = nullptr;
    std::uint64_t readable_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint16_t at = head;
    for (std::uint32_t left = chain_max_; left != 0; --left) {
        const Descriptor descriptor = ring_.load_descriptor(at);
        if (descriptor.bytes == 0 || (descriptor.flags & descriptor_indirect) != 0) {
            return false;
        }
        if ((descriptor.flags & descriptor_write) == 0) {
            if (first_writable != nullptr) {
                return false;
            }
        } else if (first_writable == nullptr) {
            first_writable = piece;
            readable_bytes = bytes;
        }
        bytes += descriptor.bytes;
        const ByteRange range{descriptor.address, descriptor.bytes};
        if (std::byte* const run = map_->find(range); run != nullptr) [[likely]] {
            *piece++ = {.data = run, .size = descriptor.bytes};
        } else {
            const std::size_t count = map_->split(range, {piece, end});
            if (count == 0) {
                return false;
            }
            piece += count;
        }
        if ((descriptor.flags & descriptor_next) == 0) {
            if (first_writable == nullptr || first_writable == first) {
                return false;
            }
            const Lease lease{.live = &epoch_, .epoch = epoch_};
            chain.head = head;
            chain.readable = {
                .pieces = {first, first_writable}, .bytes = readable_bytes, .lease = lease};
            chain.writable = {
                .pieces = {first_writable, piece}, .bytes = bytes - readable_bytes, .lease = lease};
            return true;
        }
        at = descriptor.next;
        if (at >= ring_.size) {
            return false;
        }
    }
    return false;
}

std::optional<Chain> DeviceRing::pop() {
    std::optional<Chain> chain;
    for (std::uint32_t heads = ring_.size; heads != 0; --heads) {
        if (next_available_ == seen_available_ && !look()) {
            return chain;
        }
        const std::uint16_t head = ring_.load_available(next_available_++);
        if (!claim(head)) [[unlikely]] {
            ++ignored_;
            continue;
        }
        if (walk(head, chain.emplace())) [[likely]] {
            return chain;
        }
        chain.reset();
        ++malformed_;
        complete(head, 0);
    }
    return chain;
}

bool DeviceRing::complete(std::uint16_t head, std::uint32_t used_bytes) {
    if (head >= ring_.size) [[unlikely]] {
        return false;
    }
    std::uint64_t& word = outstanding_[head / heads_per_word];
    if ((word & bit_of(head)) == 0) [[unlikely]] {
        return false;
    }
    word &= ~bit_of(head);
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
    if (ring_.size == 0) {
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

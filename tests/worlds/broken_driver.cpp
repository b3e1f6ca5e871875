#include "tests/worlds/broken_driver.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tests/worlds/ring_ends.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::worlds {

void BrokenDriver::reset() {
    for (std::uint32_t i = 0; i < ring_.size; ++i) {
        records_[i] = {};
        free_[i] = static_cast<std::uint8_t>(i);
    }
    free_count_ = ring_.size;
    in_flight_ = 0;
    next_available_ = 0;
    next_used_ = 0;
    wanted_ = true;
    ring_.want_interrupts(true);
    ring_.want_notifications(true);
    ring_.publish_used_index(0);
    ring_.publish_available_index(0);
}

queue::Posted BrokenDriver::post(std::span<const Piece> readable, std::span<const Piece> writable,
                                 std::uint64_t cookie) {
    const std::size_t count = readable.size() + writable.size();
    if (count > free_count_) {
        return queue::Posted::full;
    }
    if (flaw_ == Flaw::kicks_by_memory) {
        wanted_ = ring_.notifications_wanted();
    }
    Record record{.cookie = cookie, .count = static_cast<std::uint32_t>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        record.descriptors[i] = free_[--free_count_];
    }
    for (std::size_t i = 0; i < count; ++i) {
        const bool reads = i < readable.size();
        const Piece& piece = reads ? readable[i] : writable[i - readable.size()];
        const bool last = i + 1 == count;
        const unsigned flags =
            (reads ? 0U : queue::descriptor_write) | (last ? 0U : queue::descriptor_next);
        const auto offset = std::bit_cast<std::uintptr_t>(piece.data) - addresses_.host;
        ring_.store_descriptor(
            record.descriptors[i],
            {.address = addresses_.address + offset,
             .bytes = static_cast<std::uint32_t>(piece.size),
             .flags = static_cast<std::uint16_t>(flags),
             .next = static_cast<std::uint16_t>(last ? 0 : record.descriptors[i + 1])});
    }
    const std::uint16_t head = record.descriptors[0];
    records_[head].cookie = record.cookie;
    records_[head].descriptors = record.descriptors;
    records_[head].count = record.count;
    ++in_flight_;
    const std::uint16_t index = next_available_++;
    if (flaw_ == Flaw::publishes_first) {
        ring_.publish_available_index(next_available_);
        ring_.store_available(index, head);
        return queue::Posted::ok;
    }
    ring_.store_available(index, head);
    ring_.publish_available_index(next_available_);
    return queue::Posted::ok;
}

void BrokenDriver::kick() {
    queue::order_publication(queue::RingThreads::two);
    if (flaw_ != Flaw::kicks_by_memory) {
        wanted_ = ring_.notifications_wanted();
    }
    if (wanted_) {
        device_();
    }
}

bool BrokenDriver::has_arrived() const {
    const std::uint16_t index = ring_.used_index();
    return flaw_ == Flaw::compares_indexes ? index > next_used_ : index != next_used_;
}

std::optional<queue::Completion> BrokenDriver::next() {
    if (!has_arrived()) {
        return std::nullopt;
    }
    const queue::UsedEntry entry = ring_.load_used(next_used_++);
    const Record& record = records_[entry.id % ring_.size];
    for (std::uint32_t i = record.count; i != 0 && free_count_ < free_.size(); --i) {
        free_[free_count_++] = record.descriptors[i - 1];
    }
    if (flaw_ == Flaw::frees_twice && free_count_ < free_.size()) {
        free_[free_count_++] = record.descriptors[0];
    }
    --in_flight_;
    return queue::Completion{.cookie = record.cookie, .used_bytes = entry.bytes};
}

bool BrokenDriver::want_notifications(bool wanted) {
    ring_.want_interrupts(wanted);
    if (!wanted || flaw_ == Flaw::never_looks_again) {
        return false;
    }
    queue::order_publication(queue::RingThreads::two);
    return has_arrived();
}

}  // namespace virtaccel::worlds

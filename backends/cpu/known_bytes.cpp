#include "backends/cpu/known_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backends/cpu/block.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/panic.h"

namespace virtaccel::backends::cpu {

std::byte* KnownBytes::make(ValueId value, std::uint64_t bytes, std::uint32_t last_use) {
    VIRTACCEL_CHECK(bytes <= left_bytes_);
    const auto place = kept_.size();
    kept_.push_back({.block = Block{memory_, static_cast<std::size_t>(bytes)},
                     .bytes = bytes,
                     .last_use = last_use,
                     .is_read_by_steps = false,
                     .values = {value}});
    left_bytes_ -= bytes;
    places_[kept_.back().block.data()] = place;
    if (bytes >= forgotten_bytes_min) {
        ends_.emplace(last_use, place);
    }
    return kept_.back().block.data();
}

KnownBytes::Kept* KnownBytes::find(const std::byte* address) {
    const auto found = places_.find(address);
    return found == places_.end() ? nullptr : &kept_[found->second];
}

void KnownBytes::share(ValueId value, const std::byte* address, std::uint32_t last_use) {
    if (Kept* const kept = find(address)) {
        kept->last_use = std::max(kept->last_use, last_use);
        kept->values.push_back(value);
    }
}

void KnownBytes::keep(const std::byte* address) {
    if (Kept* const kept = find(address)) {
        kept->is_read_by_steps = true;
    }
}

Block KnownBytes::take(const std::byte* address) {
    Kept* const kept = find(address);
    return kept == nullptr ? Block{} : std::move(kept->block);
}

void KnownBytes::drop(Kept& kept) {
    places_.erase(kept.block.data());
    left_bytes_ += kept.bytes;
    kept.block = {};
}

void KnownBytes::clear() {
    kept_.clear();
    places_.clear();
    ends_ = {};
}

}  // namespace virtaccel::backends::cpu

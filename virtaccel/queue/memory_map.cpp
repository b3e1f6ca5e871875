#include "virtaccel/queue/memory_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::queue {

// The index of the first region that starts after `address`.
std::size_t MemoryMap::index_after(std::uint64_t address) const {
    const auto known = regions();
    const auto* const after = std::upper_bound(
        known.data(), known.data() + known.size(), address,
        [](std::uint64_t a, const MemoryRegion& region) { return a < region.address; });
    return static_cast<std::size_t>(after - known.data());
}

std::expected<void, MapRefusal> MemoryMap::add(const MemoryRegion& region) {
    if (region.bytes == 0 || region.host == nullptr) {
        return std::unexpected{MapRefusal::empty};
    }
    if (!is_range({region.address, region.bytes})) {
        return std::unexpected{MapRefusal::wraps};
    }
    const std::size_t after = index_after(region.address);
    if (after > 0) {
        const MemoryRegion& before = regions_[after - 1];
        if (region.address - before.address < before.bytes) {
            return std::unexpected{MapRefusal::overlaps};
        }
    }
    if (after < count_ && regions_[after].address - region.address < region.bytes) {
        return std::unexpected{MapRefusal::overlaps};
    }
    if (count_ == regions_.size()) {
        return std::unexpected{MapRefusal::full};
    }
    std::copy_backward(regions_.begin() + after, regions_.begin() + count_,
                       regions_.begin() + count_ + 1);
    regions_[after] = region;
    ++count_;
    return {};
}

bool MemoryMap::remove(std::uint64_t address) {
    const std::size_t after = index_after(address);
    if (after == 0 || regions_[after - 1].address != address) {
        return false;
    }
    std::copy(regions_.begin() + after, regions_.begin() + count_, regions_.begin() + after - 1);
    --count_;
    last_ = {};
    return true;
}

void MemoryMap::clear() {
    count_ = 0;
    if (!regions_.empty()) {
        last_ = {};
    }
}

std::byte* MemoryMap::find(ByteRange range) {
    const auto in = [range](const MemoryRegion& region) {
        return fits({.offset = range.offset - region.address, .bytes = range.bytes}, region.bytes);
    };
    if (!in(last_)) {
        const std::size_t after = index_after(range.offset);
        if (after == 0 || !in(regions_[after - 1])) {
            return nullptr;
        }
        last_ = regions_[after - 1];
    }
    return at(last_, range.offset - last_.address);
}

Piece* MemoryMap::translate_elsewhere(ByteRange range, Piece* target) {
    std::size_t next = index_after(range.offset);
    if (!is_range(range) || next == 0) {
        return nullptr;
    }
    for (--next; next < count_; ++next) {
        const MemoryRegion& region = regions_[next];
        const std::uint64_t offset = range.offset - region.address;
        if (offset >= region.bytes) {
            return nullptr;
        }
        const std::uint64_t bytes = std::min(range.bytes, region.bytes - offset);
        *target++ = {.data = at(region, offset), .size = static_cast<std::size_t>(bytes)};
        last_ = region;
        range = {.offset = range.offset + bytes, .bytes = range.bytes - bytes};
        if (range.bytes == 0) {
            return target;
        }
    }
    return nullptr;
}

}  // namespace virtaccel::queue

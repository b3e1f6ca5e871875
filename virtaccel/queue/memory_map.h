#pragma once
// The guest's memory as a device sees it: ranges of guest addresses and the host memory behind
// them. The one thing to know: it remembers the last region it found, so one map serves one thread;
// when a region goes, the ring that used it is stopped first, which ends its leases.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string_view>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::queue {

// `bytes` bytes of guest memory from guest address `address` on, mapped at `host`.
struct MemoryRegion {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::byte* host = nullptr;
};

enum class MapRefusal : std::uint8_t { empty, wraps, overlaps, full };

// One full sentence for a person.
[[nodiscard]] constexpr std::string_view explain(MapRefusal refusal) {
    switch (refusal) {
        case MapRefusal::empty:
            return "The memory region is empty or not mapped: announce only mapped memory.";
        case MapRefusal::wraps:
            return "The memory region wraps around the end of the address space: announce a "
                   "shorter one.";
        case MapRefusal::overlaps:
            return "The memory region overlaps another one: remove that one first.";
        case MapRefusal::full:
            return "There is no room for another memory region: announce fewer.";
    }
    return "The memory region is refused.";
}

class MemoryMap {
  public:
    // A map without regions that holds at most `regions_max`, which is allocated here: if the
    // memory refuses, every `add` is refused as full.
    MemoryMap(const Memory& memory, std::size_t regions_max) : regions_(memory, regions_max) {}

    // For two ends in one process: an address is a pointer. Address 0 stays outside.
    [[nodiscard]] static MemoryMap identity() { return {}; }

    // Takes a region that overlaps none. `region.host` stays mapped until `remove` or `clear`.
    [[nodiscard]] std::expected<void, MapRefusal> add(const MemoryRegion& region);

    // Removes the region that starts at `address`; false if none does.
    bool remove(std::uint64_t address);

    void clear();

    // The regions in ascending order of address; none in an identity map.
    [[nodiscard]] std::span<const MemoryRegion> regions() const {
        return {regions_.data(), count_};
    }

    // The most pieces that one range can have.
    [[nodiscard]] std::size_t pieces_max() const { return regions_.empty() ? 1 : regions_.size(); }

    // Where `range` lies if one region holds all of it; null otherwise. `range.bytes` is nonzero.
    [[nodiscard]] std::byte* find(ByteRange range);

    // Writes the pieces of `range`, which may cross from a region into an adjacent one, to `target`
    // and returns their end; null if it is empty or some byte is in no region, and then `target`
    // holds anything. `target` has room for `pieces_max()` pieces.
    [[nodiscard]] Piece* translate(ByteRange range, Piece* target) {
        const std::uint64_t offset = range.offset - last_.address;
        // Of an empty range, one less is more than any region has.
        if (offset < last_.bytes && range.bytes - 1 < last_.bytes - offset) [[likely]] {
            *target = {.data = at(last_, offset), .size = static_cast<std::size_t>(range.bytes)};
            return target + 1;
        }
        return translate_elsewhere(range, target);
    }

  private:
    MemoryMap() : last_{.address = 1, .bytes = std::numeric_limits<std::uint64_t>::max() - 1} {
        last_.host = std::bit_cast<std::byte*>(std::uintptr_t{1});
    }

    // An integer sum: in an identity map there is no object that holds both ends.
    [[nodiscard]] static std::byte* at(const MemoryRegion& region, std::uint64_t offset) {
        return std::bit_cast<std::byte*>(std::bit_cast<std::uintptr_t>(region.host) +
                                         static_cast<std::uintptr_t>(offset));
    }

    [[nodiscard]] std::size_t index_after(std::uint64_t address) const;
    [[nodiscard]] Piece* translate_elsewhere(ByteRange range, Piece* target);

    MemoryRegion last_;
    Array<MemoryRegion> regions_;
    std::size_t count_ = 0;
};

}  // namespace virtaccel::queue

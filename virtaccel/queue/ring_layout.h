#pragma once
// Where the three parts of a split virtqueue lie (virtio 1.3, 2.7): offsets, sizes, alignments and
// the checks of a placement. The one thing to know: a placement comes from the other side, so it is
// checked before anything is read through it.

#include <cstdint>
#include <expected>
#include <string_view>

#include "virtaccel/base/checked.h"

namespace virtaccel::queue {

// A queue of one descriptor could not hold the shortest chain, so virtio's smallest is not ours.
inline constexpr std::uint32_t ring_size_min = 2;
inline constexpr std::uint32_t ring_size_max = 32768;

inline constexpr std::uint64_t descriptor_bytes = 16;
inline constexpr std::uint64_t available_entry_bytes = 2;
inline constexpr std::uint64_t used_entry_bytes = 8;
// Flags and index in front of the entries of both rings.
inline constexpr std::uint64_t ring_header_bytes = 4;
// The event word behind the entries, which we never use but which is part of the layout.
inline constexpr std::uint64_t ring_event_bytes = 2;

inline constexpr std::uint64_t descriptors_alignment = 16;
inline constexpr std::uint64_t available_alignment = 2;
inline constexpr std::uint64_t used_alignment = 4;

// Why a ring is refused before its first use.
enum class RingRefusal : std::uint8_t {
    bad_size,
    misaligned,
    outside_memory,
    bad_chain_limit,
    out_of_memory,
};

// One full sentence for a person.
[[nodiscard]] constexpr std::string_view explain(RingRefusal refusal) {
    switch (refusal) {
        case RingRefusal::bad_size:
            return "The queue size is not a power of two from 2 to 32768: choose one that is.";
        case RingRefusal::misaligned:
            return "A part of the ring is misaligned: place descriptors at 16, the available ring "
                   "at 2 and the used ring at 4 bytes.";
        case RingRefusal::outside_memory:
            return "A part of the ring does not lie inside one region of the guest's memory: move "
                   "it there.";
        case RingRefusal::bad_chain_limit:
            return "The chain limit is not from 2 to 32768 descriptors: choose one that is.";
        case RingRefusal::out_of_memory:
            return "There is no memory for the ring's bookkeeping: use a smaller queue.";
    }
    return "The ring is refused.";
}

[[nodiscard]] constexpr bool is_ring_size(std::uint32_t size) {
    return size >= ring_size_min && size <= ring_size_max && is_power_of_two(size);
}

[[nodiscard]] constexpr std::uint64_t descriptors_bytes(std::uint32_t size) {
    return size * descriptor_bytes;
}

[[nodiscard]] constexpr std::uint64_t available_bytes(std::uint32_t size) {
    return ring_header_bytes + size * available_entry_bytes + ring_event_bytes;
}

[[nodiscard]] constexpr std::uint64_t used_bytes(std::uint32_t size) {
    return ring_header_bytes + size * used_entry_bytes + ring_event_bytes;
}

// A ring in one block: the descriptors at offset 0, then the other two parts.
struct RingLayout {
    std::uint32_t size = 0;
    std::uint64_t available_offset = 0;
    std::uint64_t used_offset = 0;
    std::uint64_t bytes = 0;
};

// The layout for `size` descriptors (a ring size) whose parts start at multiples of `alignment` (a
// power of two, at least 4): a cache line keeps the two ends off each other's lines.
[[nodiscard]] constexpr RingLayout lay_out_ring(std::uint32_t size,
                                                std::uint64_t alignment = used_alignment) {
    const auto align = [alignment](std::uint64_t at) {
        return (at + alignment - 1) & ~(alignment - 1);
    };
    const std::uint64_t available = align(descriptors_bytes(size));
    const std::uint64_t used = align(available + available_bytes(size));
    return {.size = size,
            .available_offset = available,
            .used_offset = used,
            .bytes = align(used + used_bytes(size))};
}

// Where a driver says that its ring lies: addresses as the driver counts them.
struct RingPlacement {
    std::uint32_t size = 0;
    std::uint64_t descriptors = 0;
    std::uint64_t available = 0;
    std::uint64_t used = 0;
};

// The placement of `layout` at `address`.
[[nodiscard]] constexpr RingPlacement place_ring(const RingLayout& layout, std::uint64_t address) {
    return {.size = layout.size,
            .descriptors = address,
            .available = address + layout.available_offset,
            .used = address + layout.used_offset};
}

// The size, the alignments, and that no part wraps around the end of the address space.
[[nodiscard]] constexpr std::expected<void, RingRefusal> check_placement(
    const RingPlacement& placement) {
    if (!is_ring_size(placement.size)) {
        return std::unexpected{RingRefusal::bad_size};
    }
    if (placement.descriptors % descriptors_alignment != 0 ||
        placement.available % available_alignment != 0 || placement.used % used_alignment != 0) {
        return std::unexpected{RingRefusal::misaligned};
    }
    if (!is_range({placement.descriptors, descriptors_bytes(placement.size)}) ||
        !is_range({placement.available, available_bytes(placement.size)}) ||
        !is_range({placement.used, used_bytes(placement.size)})) {
        return std::unexpected{RingRefusal::outside_memory};
    }
    return {};
}

}  // namespace virtaccel::queue

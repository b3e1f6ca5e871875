#pragma once
// A ring's three parts in our address space, and the only functions that touch them. The one thing
// to know: the other side may write at any time, so every word is read once, by an atomic load, and
// the copy is used. Words are little-endian.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>

#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/ring_layout.h"
#ifdef VIRTACCEL_WATCHED_WORDS
#include "virtaccel/queue/testing/watched_words.h"
#endif

namespace virtaccel::queue {

inline constexpr std::uint16_t descriptor_next = 1;
inline constexpr std::uint16_t descriptor_write = 2;
inline constexpr std::uint16_t descriptor_indirect = 4;

// The one flag of each ring: no interrupts (available ring), no notifications (used ring).
inline constexpr std::uint16_t ring_silent = 1;

// Whether the two ends of a ring may run at the same time. With one thread, orders that only
// another processor could see are not paid for.
enum class RingThreads : std::uint8_t { one, two };

// One entry of the descriptor table.
struct Descriptor {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint16_t flags = 0;
    std::uint16_t next = 0;
    friend constexpr bool operator==(const Descriptor&, const Descriptor&) = default;
};

// One entry of the used ring.
struct UsedEntry {
    std::uint32_t id = 0;
    std::uint32_t bytes = 0;
    friend constexpr bool operator==(const UsedEntry&, const UsedEntry&) = default;
};

// The other side's words, one access each, and what keeps two accesses in order. `Word` is an
// unsigned integer; `at` is aligned for it.
#ifdef VIRTACCEL_WATCHED_WORDS
template <class Word>
[[nodiscard]] inline Word load_word(const std::byte* at, int order = __ATOMIC_RELAXED) {
    return static_cast<Word>(testing::watched_load(at, sizeof(Word), order));
}

template <class Word>
inline void store_word(std::byte* at, Word word, int order = __ATOMIC_RELAXED) {
    testing::watched_store(at, sizeof(Word), word, order);
}

inline void order_publication(RingThreads threads) {
    if (threads != RingThreads::one) {
        testing::watched_fence();
    }
}
#else
template <class Word>
[[nodiscard]] constexpr Word little(Word word) {
    return std::endian::native == std::endian::little ? word : std::byteswap(word);
}

template <class Word>
[[nodiscard]] inline Word load_word(const std::byte* at, int order = __ATOMIC_RELAXED) {
    return little(__atomic_load_n(reinterpret_cast<const Word*>(at), order));
}

template <class Word>
inline void store_word(std::byte* at, Word word, int order = __ATOMIC_RELAXED) {
    __atomic_store_n(reinterpret_cast<Word*>(at), little(word), order);
}

// Orders our published index before our reading of the other side's flags (or our flags before its
// index): without it both ends could miss each other and sleep.
inline void order_publication(RingThreads threads) {
    if (threads == RingThreads::one) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        return;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

// The parts of a ring of `size` descriptors. A view: whoever made it keeps the memory in place.
// Indices count modulo 2^16 and entries are found modulo the size.
struct RingMemory {
    std::uint32_t size = 0;
    std::byte* descriptors = nullptr;
    std::byte* available = nullptr;
    std::byte* used = nullptr;

    [[nodiscard]] Descriptor load_descriptor(std::uint32_t index) const {
        const std::byte* at = descriptors + index * descriptor_bytes;
        const auto address = load_word<std::uint64_t>(at);
        const auto rest = load_word<std::uint64_t>(at + 8);
        return {.address = address,
                .bytes = static_cast<std::uint32_t>(rest),
                .flags = static_cast<std::uint16_t>(rest >> 32U),
                .next = static_cast<std::uint16_t>(rest >> 48U)};
    }

    void store_descriptor(std::uint32_t index, const Descriptor& descriptor) const {
        std::byte* at = descriptors + index * descriptor_bytes;
        store_word<std::uint64_t>(at, descriptor.address);
        store_word<std::uint64_t>(at + 8, descriptor.bytes |
                                              std::uint64_t{descriptor.flags} << 32U |
                                              std::uint64_t{descriptor.next} << 48U);
    }

    [[nodiscard]] std::uint16_t load_available(std::uint16_t index) const {
        return load_word<std::uint16_t>(available_entry(index));
    }

    void store_available(std::uint16_t index, std::uint16_t head) const {
        store_word<std::uint16_t>(available_entry(index), head);
    }

    [[nodiscard]] UsedEntry load_used(std::uint16_t index) const {
        const std::byte* at = used_entry(index);
        return {.id = load_word<std::uint32_t>(at), .bytes = load_word<std::uint32_t>(at + 4)};
    }

    void store_used(std::uint16_t index, const UsedEntry& entry) const {
        std::byte* at = used_entry(index);
        store_word<std::uint32_t>(at, entry.id);
        store_word<std::uint32_t>(at + 4, entry.bytes);
    }

    // What stands before an index is visible to whoever sees the index.
    [[nodiscard]] std::uint16_t available_index() const {
        return load_word<std::uint16_t>(available + 2, __ATOMIC_ACQUIRE);
    }

    void publish_available_index(std::uint16_t index) const {
        store_word<std::uint16_t>(available + 2, index, __ATOMIC_RELEASE);
    }

    [[nodiscard]] std::uint16_t used_index() const {
        return load_word<std::uint16_t>(used + 2, __ATOMIC_ACQUIRE);
    }

    void publish_used_index(std::uint16_t index) const {
        store_word<std::uint16_t>(used + 2, index, __ATOMIC_RELEASE);
    }

    // The driver asks the device to tell it of completions; the device asks the driver to tell it
    // of new chains.
    [[nodiscard]] bool interrupts_wanted() const {
        return (load_word<std::uint16_t>(available) & ring_silent) == 0;
    }

    void want_interrupts(bool wanted) const {
        store_word<std::uint16_t>(available, wanted ? std::uint16_t{0} : ring_silent);
    }

    [[nodiscard]] bool notifications_wanted() const {
        return (load_word<std::uint16_t>(used) & ring_silent) == 0;
    }

    void want_notifications(bool wanted) const {
        store_word<std::uint16_t>(used, wanted ? std::uint16_t{0} : ring_silent);
    }

  private:
    [[nodiscard]] std::byte* available_entry(std::uint16_t index) const {
        return available + ring_header_bytes + (index & (size - 1)) * available_entry_bytes;
    }

    [[nodiscard]] std::byte* used_entry(std::uint16_t index) const {
        return used + ring_header_bytes + (index & (size - 1)) * used_entry_bytes;
    }
};

// The ring of `layout` at `base`, which is aligned as the layout is.
[[nodiscard]] inline RingMemory ring_at(std::byte* base, const RingLayout& layout) {
    return {.size = layout.size,
            .descriptors = base,
            .available = base + layout.available_offset,
            .used = base + layout.used_offset};
}

// The ring at `placement`, each part inside one region of `map`.
[[nodiscard]] inline std::expected<RingMemory, RingRefusal> find_ring(
    MemoryMap& map, const RingPlacement& placement) {
    if (const auto checked = check_placement(placement); !checked) {
        return std::unexpected{checked.error()};
    }
    const RingMemory ring{
        .size = placement.size,
        .descriptors = map.find({placement.descriptors, descriptors_bytes(placement.size)}),
        .available = map.find({placement.available, available_bytes(placement.size)}),
        .used = map.find({placement.used, used_bytes(placement.size)})};
    if (ring.descriptors == nullptr || ring.available == nullptr || ring.used == nullptr) {
        return std::unexpected{RingRefusal::outside_memory};
    }
    return ring;
}

// The size, and that our own addresses are aligned: a region may be mapped at an odd one.
[[nodiscard]] inline std::expected<void, RingRefusal> check_ring(const RingMemory& ring) {
    if (ring.descriptors == nullptr || ring.available == nullptr || ring.used == nullptr) {
        return std::unexpected{RingRefusal::outside_memory};
    }
    const auto address = [](const std::byte* part) { return std::bit_cast<std::uintptr_t>(part); };
    return check_placement({.size = ring.size,
                            .descriptors = address(ring.descriptors),
                            .available = address(ring.available),
                            .used = address(ring.used)});
}

}  // namespace virtaccel::queue

#pragma once
// The two ends of a ring without manners: each writes what it is told and checks nothing, so that a
// test can do what no well-behaved end does. The one thing to know: nothing here allocates, and
// descriptors are the caller's to choose.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/queue/ring_memory.h"

namespace virtaccel::queue::testing {

// One descriptor of a chain, before it has a place in the table.
struct Link {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint16_t flags = 0;  // `descriptor_next` is added where another link follows
};

class RawDriver {
  public:
    explicit RawDriver(const RingMemory& ring) : ring_(ring) { make_empty(); }

    // As after a transport's reset.
    void make_empty() {
        ring_.want_interrupts(true);
        ring_.want_notifications(true);
        ring_.publish_available_index(0);
        ring_.publish_used_index(0);
        next_used_ = 0;
    }

    [[nodiscard]] const RingMemory& ring() const { return ring_; }

    // Writes `links` to the descriptors from `first` on, around the table's end. Returns the head.
    std::uint16_t lay(std::uint16_t first, std::span<const Link> links) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            const bool last = i + 1 == links.size();
            const std::uint16_t next = last ? std::uint16_t{0} : descriptor_next;
            ring_.store_descriptor(index(first + i),
                                   {.address = links[i].address,
                                    .bytes = links[i].bytes,
                                    .flags = static_cast<std::uint16_t>(links[i].flags | next),
                                    .next = last ? std::uint16_t{0} : index(first + i + 1)});
        }
        return index(first);
    }

    // Changes one descriptor that is already there.
    template <class Change>
    void change(std::uint16_t at, Change&& change) {
        Descriptor descriptor = ring_.load_descriptor(at);
        change(descriptor);
        ring_.store_descriptor(at, descriptor);
    }

    // Puts `head`, which may be anything, into the available ring.
    void offer(std::uint16_t head) {
        const std::uint16_t next = ring_.available_index();
        ring_.store_available(next, head);
        ring_.publish_available_index(static_cast<std::uint16_t>(next + 1));
    }

    // The next used entry, as it stands.
    [[nodiscard]] std::optional<UsedEntry> next_used() {
        if (next_used_ == ring_.used_index()) {
            return std::nullopt;
        }
        return ring_.load_used(next_used_++);
    }

  private:
    [[nodiscard]] std::uint16_t index(std::size_t at) const {
        return static_cast<std::uint16_t>(at & (ring_.size - 1));
    }

    RingMemory ring_;
    std::uint16_t next_used_ = 0;
};

class RawDevice {
  public:
    explicit RawDevice(const RingMemory& ring) : ring_(ring) {}

    // The next available head, as it stands.
    [[nodiscard]] std::optional<std::uint16_t> next_available() {
        if (next_available_ == ring_.available_index()) {
            return std::nullopt;
        }
        return ring_.load_available(next_available_++);
    }

    // Puts an entry, which may be anything, into the used ring.
    void use(const UsedEntry& entry) {
        const std::uint16_t next = ring_.used_index();
        ring_.store_used(next, entry);
        ring_.publish_used_index(static_cast<std::uint16_t>(next + 1));
    }

  private:
    RingMemory ring_;
    std::uint16_t next_available_ = 0;
};

}  // namespace virtaccel::queue::testing

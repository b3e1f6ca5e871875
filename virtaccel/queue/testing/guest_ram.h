#pragma once
// A guest's memory for tests: one block that the device knows from a guest address on, handed out
// from the bottom up. The one thing to know: addresses here are the guest's; `at` gives the bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/queue/memory_map.h"

namespace virtaccel::queue::testing {

class GuestRam {
  public:
    static constexpr std::size_t page_bytes = 4096;

    // `pages` zeroed pages from guest address `address` on. `memory` outlives them, and has them.
    GuestRam(const Memory& memory, std::size_t pages, std::uint64_t address = 0x10000)
        : pages_(memory, pages), address_(address) {
        VIRTACCEL_CHECK(!pages_.empty());
    }

    [[nodiscard]] MemoryRegion region() {
        return {.address = address_, .bytes = bytes().size(), .host = bytes().data()};
    }

    [[nodiscard]] std::span<std::byte> bytes() {
        return {pages_.data()->bytes, pages_.size() * page_bytes};
    }

    [[nodiscard]] std::uint64_t address() const { return address_; }

    // The first guest address behind the memory.
    [[nodiscard]] std::uint64_t end() const { return address_ + pages_.size() * page_bytes; }

    // The bytes of `range`, which lies inside.
    [[nodiscard]] std::span<std::byte> at(ByteRange range) {
        VIRTACCEL_CHECK(fits({range.offset - address_, range.bytes}, bytes().size()));
        return bytes().subspan(static_cast<std::size_t>(range.offset - address_),
                               static_cast<std::size_t>(range.bytes));
    }

    // Bytes nobody has yet, at a multiple of `alignment` (a power of two).
    [[nodiscard]] ByteRange take(std::uint64_t bytes, std::uint64_t alignment = 1) {
        const std::uint64_t start = (address_ + taken_ + alignment - 1) & ~(alignment - 1);
        VIRTACCEL_CHECK(fits({start - address_, bytes}, this->bytes().size()));
        taken_ = start - address_ + bytes;
        return {.offset = start, .bytes = bytes};
    }

    void fill(ByteRange range, std::uint8_t value) {
        std::ranges::fill(at(range), static_cast<std::byte>(value));
    }

    // True if every byte of `range` is `value`.
    [[nodiscard]] bool holds(ByteRange range, std::uint8_t value) {
        return std::ranges::all_of(
            at(range), [value](std::byte byte) { return byte == static_cast<std::byte>(value); });
    }

  private:
    struct alignas(page_bytes) Page {
        std::byte bytes[page_bytes];
    };

    Array<Page> pages_;
    std::uint64_t address_;
    std::uint64_t taken_ = 0;
};

}  // namespace virtaccel::queue::testing

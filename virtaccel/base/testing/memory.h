#pragma once
// A `Memory` for tests: it counts what is out, and refuses when told to. The one thing to know: a
// test fails the Nth allocation, for every N, and then looks whether anything stayed behind.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "virtaccel/base/memory.h"

namespace virtaccel::testing {

// Passes allocations on to `source`, which outlives it, and counts them. Not for several threads.
class CountingMemory {
  public:
    explicit CountingMemory(Memory source) : source_(source) {}

    // The counted memory. This object stays where it is while anything is allocated from it.
    [[nodiscard]] Memory memory() {
        return {
            .state = this,
            .allocate = [](void* self, std::size_t bytes, std::size_t alignment) -> void* {
                return static_cast<CountingMemory*>(self)->allocate(bytes, alignment);
            },
            .release =
                [](void* self, void* block, std::size_t bytes, std::size_t alignment) {
                    static_cast<CountingMemory*>(self)->release(block, bytes, alignment);
                },
        };
    }

    // Refuses every allocation after `count` more.
    void refuse_after(std::uint64_t count) { left_ = count; }

    // Refuses nothing again.
    void refuse_nothing() { left_ = std::numeric_limits<std::uint64_t>::max(); }

    // Allocations granted so far, refused so far, and not yet released.
    [[nodiscard]] std::uint64_t granted() const { return granted_; }

    [[nodiscard]] std::uint64_t refused() const { return refused_; }

    [[nodiscard]] std::uint64_t live_blocks() const { return live_blocks_; }

    [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }

    // The most bytes that were not yet released at once, since it was made or asked to forget.
    [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

    void forget_peak() { peak_bytes_ = live_bytes_; }

  private:
    void* allocate(std::size_t bytes, std::size_t alignment) {
        void* block = left_ == 0 ? nullptr : source_.allocate(source_.state, bytes, alignment);
        if (block == nullptr) {
            ++refused_;
            return nullptr;
        }
        --left_;
        ++granted_;
        ++live_blocks_;
        live_bytes_ += bytes;
        peak_bytes_ = std::max(peak_bytes_, live_bytes_);
        return block;
    }

    void release(void* block, std::size_t bytes, std::size_t alignment) {
        --live_blocks_;
        live_bytes_ -= bytes;
        source_.release(source_.state, block, bytes, alignment);
    }

    Memory source_;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t granted_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t live_blocks_ = 0;
    std::uint64_t live_bytes_ = 0;
    std::uint64_t peak_bytes_ = 0;
};

}  // namespace virtaccel::testing

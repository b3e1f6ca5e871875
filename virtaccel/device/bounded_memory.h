#pragma once
// A memory that gives at most so many bytes at once: whatever a guest makes grow ends at a named
// limit of the host's, not at the host's end.

#include <cstddef>
#include <cstdint>

#include "virtaccel/base/memory.h"

namespace virtaccel::device {

// Stays in place: what `memory()` gives refers to it.
class BoundedMemory {
  public:
    BoundedMemory(const Memory& source, std::uint64_t bytes_max)
        : source_(source), left_bytes_(bytes_max) {}

    BoundedMemory(const BoundedMemory&) = delete;
    BoundedMemory& operator=(const BoundedMemory&) = delete;
    ~BoundedMemory() = default;

    [[nodiscard]] Memory memory() {
        return {.state = this, .allocate = &BoundedMemory::allocate, .release = &release};
    }

  private:
    static void* allocate(void* state, std::size_t bytes, std::size_t alignment) {
        auto& self = *static_cast<BoundedMemory*>(state);
        if (bytes > self.left_bytes_) {
            return nullptr;
        }
        void* const block = self.source_.allocate(self.source_.state, bytes, alignment);
        if (block != nullptr) {
            self.left_bytes_ -= bytes;
        }
        return block;
    }

    static void release(void* state, void* block, std::size_t bytes, std::size_t alignment) {
        auto& self = *static_cast<BoundedMemory*>(state);
        self.left_bytes_ += bytes;
        self.source_.release(self.source_.state, block, bytes, alignment);
    }

    Memory source_;
    std::uint64_t left_bytes_;
};

}  // namespace virtaccel::device

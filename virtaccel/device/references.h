#pragma once
// The buffers an event retains. The first few stand in the event's entry, the rest in blocks that a
// pool keeps, so that a submission takes no memory from the host once the pool is warm.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"

namespace virtaccel::device {

template <class Kind>
struct Entry;

struct Reference {
    Entry<BufferKind>* buffer = nullptr;
};

// One link of a list of references; 128 bytes.
struct ReferenceBlock {
    ReferenceBlock* next = nullptr;
    std::array<Reference, 15> items{};
};

// Retained buffers, in slot order; a buffer that is bound twice stands here twice.
struct References {
    std::uint32_t count = 0;
    std::array<Reference, 4> first{};
    ReferenceBlock* rest = nullptr;
};

// Where blocks come from and go back to. Grows in slabs, never shrinks before it ends.
class ReferencePool {
  public:
    explicit ReferencePool(const Memory& memory) : memory_(memory) {}

    ReferencePool(const ReferencePool&) = delete;
    ReferencePool& operator=(const ReferencePool&) = delete;
    ~ReferencePool();

    // Makes sure that the next `retain` of `count` buffers succeeds; false if there is no memory.
    [[nodiscard]] bool reserve(std::size_t count);

    // Puts `items`, for which `reserve` made room, into `references` and counts one user more for
    // each buffer.
    void retain(References& references, std::span<const Reference> items);

    // Takes the blocks of `references` back and counts one user less for each buffer.
    void let_go(References& references);

  private:
    struct Slab {
        Slab* next = nullptr;
        std::array<ReferenceBlock, 31> blocks;
    };

    Memory memory_;
    Slab* slabs_ = nullptr;
    ReferenceBlock* vacant_ = nullptr;
    std::size_t vacant_count_ = 0;
};

}  // namespace virtaccel::device

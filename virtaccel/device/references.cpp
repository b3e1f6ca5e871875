#include "virtaccel/device/references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "virtaccel/base/id.h"

namespace virtaccel::device {
namespace {

constexpr std::size_t inline_count = std::tuple_size_v<decltype(References::first)>;
constexpr std::size_t block_count = std::tuple_size_v<decltype(ReferenceBlock::buffers)>;

// The blocks that hold what does not fit in the entry.
std::size_t blocks_for(std::size_t count) {
    return count <= inline_count ? 0 : (count - inline_count + block_count - 1) / block_count;
}

}  // namespace

ReferencePool::~ReferencePool() {
    while (slabs_ != nullptr) {
        memory_.release_array(std::exchange(slabs_, slabs_->next), 1);
    }
}

bool ReferencePool::reserve(std::size_t count) {
    const std::size_t needed = blocks_for(count);
    while (vacant_count_ < needed) {
        Slab* const slab = memory_.make_array<Slab>(1);
        if (slab == nullptr) {
            return false;
        }
        slab->next = std::exchange(slabs_, slab);
        for (ReferenceBlock& block : slab->blocks) {
            block.next = std::exchange(vacant_, &block);
        }
        vacant_count_ += slab->blocks.size();
    }
    return true;
}

void ReferencePool::fill(References& references, std::span<Entry<BufferKind>* const> buffers) {
    references.count = static_cast<std::uint32_t>(buffers.size());
    const auto inlined = buffers.first(std::min(buffers.size(), inline_count));
    std::ranges::copy(inlined, references.first.begin());
    buffers = buffers.subspan(inlined.size());
    ReferenceBlock** link = &references.rest;
    while (!buffers.empty()) {
        ReferenceBlock* const block = std::exchange(vacant_, vacant_->next);
        --vacant_count_;
        const auto part = buffers.first(std::min(buffers.size(), block_count));
        std::ranges::copy(part, block->buffers.begin());
        buffers = buffers.subspan(part.size());
        *link = block;
        link = &block->next;
    }
    *link = nullptr;
}

void ReferencePool::drain(References& references) {
    while (references.rest != nullptr) {
        ReferenceBlock* const block = std::exchange(references.rest, references.rest->next);
        block->next = std::exchange(vacant_, block);
        ++vacant_count_;
    }
    references.count = 0;
}

}  // namespace virtaccel::device

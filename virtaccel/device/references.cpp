#include "virtaccel/device/references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "virtaccel/device/entry.h"

namespace virtaccel::device {
namespace {

constexpr std::size_t inline_count = std::tuple_size_v<decltype(References::first)>;
constexpr std::size_t block_count = std::tuple_size_v<decltype(ReferenceBlock::items)>;

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

void ReferencePool::retain(References& references, std::span<const Reference> items) {
    references.count = static_cast<std::uint32_t>(items.size());
    Reference* target = references.first.data();
    std::size_t room = inline_count;
    ReferenceBlock** link = &references.rest;
    for (const Reference item : items) {
        if (room == 0) {
            ReferenceBlock* const block = std::exchange(vacant_, vacant_->next);
            --vacant_count_;
            *link = block;
            link = &block->next;
            target = block->items.data();
            room = block_count;
        }
        ++item.buffer->users;
        *target++ = item;
        --room;
    }
    *link = nullptr;
}

void ReferencePool::let_go(References& references) {
    std::size_t left = references.count;
    const auto uncount = [&left](const auto& items) {
        const std::size_t count = std::min(left, items.size());
        for (std::size_t i = 0; i < count; ++i) {
            --items[i].buffer->users;
        }
        left -= count;
    };
    uncount(references.first);
    while (references.rest != nullptr) {
        ReferenceBlock* const block = std::exchange(references.rest, references.rest->next);
        uncount(block->items);
        block->next = std::exchange(vacant_, block);
        ++vacant_count_;
    }
    references.count = 0;
}

}  // namespace virtaccel::device

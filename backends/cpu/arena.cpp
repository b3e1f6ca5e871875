#include "backends/cpu/arena.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <new>

#include "backends/cpu/block.h"
#include "virtaccel/base/checked.h"

namespace virtaccel::backends::cpu {

namespace {

std::uint64_t rounded(std::uint64_t bytes) {
    const auto up = checked_align_up(bytes == 0 ? 1 : bytes, Block::alignment);
    if (!up) {
        throw std::bad_alloc{};
    }
    return *up;
}

}  // namespace

std::uint64_t ArenaPlan::take(std::uint64_t bytes) {
    const std::uint64_t wanted = rounded(bytes);
    if (const auto fit = gaps_by_size_.lower_bound({wanted, 0}); fit != gaps_by_size_.end()) {
        const auto [found, offset] = *fit;
        erase(gaps_.find(offset));
        if (found != wanted) {
            insert(offset + wanted, found - wanted);
        }
        return offset;
    }
    // A gap at the end is made longer.
    std::uint64_t offset = size_;
    if (!gaps_.empty()) {
        const auto last = std::prev(gaps_.end());
        if (last->first + last->second == size_) {
            offset = last->first;
            erase(last);
        }
    }
    if (__builtin_add_overflow(offset, wanted, &size_)) {
        throw std::bad_alloc{};
    }
    return offset;
}

void ArenaPlan::give(std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t first = offset;
    std::uint64_t size = rounded(bytes);
    const auto next = gaps_.find(first + size);
    if (next != gaps_.end()) {
        size += next->second;
        erase(next);
    }
    const auto after = gaps_.lower_bound(first);
    if (after != gaps_.begin()) {
        const auto previous = std::prev(after);
        if (previous->first + previous->second == first) {
            first = previous->first;
            size += previous->second;
            erase(previous);
        }
    }
    insert(first, size);
}

void ArenaPlan::insert(std::uint64_t offset, std::uint64_t bytes) {
    gaps_.emplace(offset, bytes);
    gaps_by_size_.emplace(bytes, offset);
}

void ArenaPlan::erase(std::map<std::uint64_t, std::uint64_t>::iterator gap) {
    gaps_by_size_.erase({gap->second, gap->first});
    gaps_.erase(gap);
}

}  // namespace virtaccel::backends::cpu

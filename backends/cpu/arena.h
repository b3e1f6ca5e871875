#pragma once
// Who lies where in one arena, so that values which live at different times share bytes.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace virtaccel::backends::cpu {

// Offsets for blocks that come and go, best fit first; grows at its end. All offsets and sizes are
// multiples of Block::alignment. Throws std::bad_alloc.
class ArenaPlan {
  public:
    // The offset of `bytes` bytes (rounded up, at least one unit) that nobody has.
    [[nodiscard]] std::uint64_t take(std::uint64_t bytes);

    // Gives back what `take(bytes)` gave.
    void give(std::uint64_t offset, std::uint64_t bytes);

    // The bytes that an arena needs for all that was taken so far.
    [[nodiscard]] std::uint64_t size() const { return size_; }

  private:
    void insert(std::uint64_t offset, std::uint64_t bytes);
    void erase(std::map<std::uint64_t, std::uint64_t>::iterator gap);

    std::map<std::uint64_t, std::uint64_t> gaps_;                     // offset, bytes
    std::set<std::pair<std::uint64_t, std::uint64_t>> gaps_by_size_;  // bytes, offset
    std::uint64_t size_ = 0;
};

}  // namespace virtaccel::backends::cpu

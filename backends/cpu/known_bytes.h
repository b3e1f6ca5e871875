#pragma once
// The bytes of values that are known while a graph is lowered and are not as the model has them:
// computed from constants, or copied to an address that suits them. The one thing to know: they go
// as soon as nobody can want them, so that a model whose weights are all converted and then packed
// is not in memory three times.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/memory.h"

namespace virtaccel::backends::cpu {

class KnownBytes {
  public:
    // Fewer bytes than this are kept to the end: operators look back at shapes and the like.
    static constexpr std::uint64_t forgotten_bytes_min = std::uint64_t{64} << 10U;

    KnownBytes(const Memory& memory, std::uint64_t bytes_max)
        : memory_(memory), left_bytes_(bytes_max) {}

    // How many bytes more there may be.
    [[nodiscard]] std::uint64_t left_bytes() const { return left_bytes_; }

    // Zeroed bytes for `value`, at most `left_bytes()`, which operators read up to the position
    // `last_use`. Throws std::bad_alloc.
    [[nodiscard]] std::byte* make(ValueId value, std::uint64_t bytes, std::uint32_t last_use);

    // Another value lies in the bytes at `address`, if they are some of these.
    void share(ValueId value, const std::byte* address, std::uint32_t last_use);

    // A step reads what is at `address`: it stays.
    void keep(const std::byte* address);

    // Drops all that no operator after `position` reads and no step, and calls `forget(ValueId)`
    // for each value that lay there.
    template <class Forget>
    void drop_until(std::uint32_t position, Forget forget) {
        while (!ends_.empty() && ends_.top().first <= position) {
            const auto place = ends_.top().second;
            ends_.pop();
            Kept& kept = kept_[place];
            if (kept.last_use > position) {
                ends_.emplace(kept.last_use, place);
            } else if (!kept.is_read_by_steps) {
                for (const ValueId value : kept.values) {
                    forget(value);
                }
                drop(kept);
            }
        }
    }

    // The block at `address` for good, or an empty one if it is none of these.
    [[nodiscard]] Block take(const std::byte* address);

    void clear();

  private:
    struct Kept {
        Block block;
        std::uint64_t bytes = 0;
        std::uint32_t last_use = 0;
        bool is_read_by_steps = false;
        std::vector<ValueId> values;
    };

    using End = std::pair<std::uint32_t, std::size_t>;  // a position, and a place in `kept_`

    [[nodiscard]] Kept* find(const std::byte* address);
    void drop(Kept& kept);

    Memory memory_;
    std::uint64_t left_bytes_;
    std::vector<Kept> kept_;
    std::unordered_map<const std::byte*, std::size_t> places_;
    // When each might go; of those only that are large enough.
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace virtaccel::backends::cpu

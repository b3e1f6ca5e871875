#pragma once
// How work is cut into parts of nearly one size.

#include <cstdint>

namespace virtaccel::backends::cpu::ops {

struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;

    [[nodiscard]] constexpr std::uint64_t size() const { return end - first; }
};

// The items of part `part` of `parts`; all parts together are 0 to `count`.
[[nodiscard]] constexpr Range range_of(std::uint64_t count, std::uint32_t parts,
                                       std::uint32_t part) {
    const std::uint64_t share = count / parts;
    const std::uint64_t rest = count % parts;
    const std::uint64_t first = (share * part) + (part < rest ? part : rest);
    return {.first = first, .end = first + share + (part < rest ? 1 : 0)};
}

static_assert(range_of(10, 3, 0).size() == 4 && range_of(10, 3, 2).end == 10);

}  // namespace virtaccel::backends::cpu::ops

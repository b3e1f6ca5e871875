#pragma once
// How work is cut into parts of nearly one size.

#include <cstdint>

namespace virtaccel::backends::cpu::ops {

struct Range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;

    [[nodiscard]] constexpr std::uint64_t size() const { return end - first; }
};

// The items of part `part` of `parts`; all parts together are 0 to `count`. Neighbouring parts
// together are of nearly one size too, so that threads which each take some have as much to do.
[[nodiscard]] constexpr Range range_of(std::uint64_t count, std::uint32_t parts,
                                       std::uint32_t part) {
    const std::uint64_t share = count / parts;
    const std::uint64_t rest = count % parts;
    const auto border = [&](std::uint64_t i) { return (share * i) + (rest * i / parts); };
    return {.first = border(part), .end = border(std::uint64_t{part} + 1)};
}

static_assert(range_of(10, 3, 0).size() == 3 && range_of(10, 3, 2).end == 10);
static_assert(range_of(14, 4, 1).end == 7);

}  // namespace virtaccel::backends::cpu::ops

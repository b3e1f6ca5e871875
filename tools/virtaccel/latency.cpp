#include "tools/virtaccel/latency.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/base/panic.h"

namespace virtaccel::cli {

Latency summarize(std::span<const std::uint64_t> runs_ns) {
    VIRTACCEL_CHECK(!runs_ns.empty());
    std::vector<std::uint64_t> sorted(runs_ns.begin(), runs_ns.end());
    std::ranges::sort(sorted);
    constexpr double ns_per_ms = 1e6;
    const auto rank_ms = [&sorted](std::size_t percent) {
        const auto rank = ((sorted.size() * percent) + 99) / 100;
        return static_cast<double>(sorted[rank - 1]) / ns_per_ms;
    };
    return {.min_ms = static_cast<double>(sorted.front()) / ns_per_ms,
            .p50_ms = rank_ms(50),
            .p90_ms = rank_ms(90),
            .p99_ms = rank_ms(99)};
}

}  // namespace virtaccel::cli

#pragma once
// What many runs took, in a few numbers.

#include <cstdint>
#include <span>

namespace virtaccel::cli {

// The shortest, and the time that 50, 90 and 99 of 100 runs do not exceed (nearest rank).
struct Latency {
    double min_ms = 0;
    double p50_ms = 0;
    double p90_ms = 0;
    double p99_ms = 0;
};

// `runs_ns` is not empty.
[[nodiscard]] Latency summarize(std::span<const std::uint64_t> runs_ns);

}  // namespace virtaccel::cli

#pragma once
// All that can be said about a graph before anybody lowers it, for one target: the plain analysis,
// what may be made cheaper, what it costs, and what its data must be like.

#include <cstdint>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/hints.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"

namespace virtaccel::tosa {

// `hints` and `macs` have one element for each of Graph::operators(). `macs_total` is of the live
// operators, each counted once, however often its block runs.
struct TargetAnalysis {
    Analysis graph;
    std::vector<OperatorHints> hints;
    std::vector<std::uint64_t> macs;
    std::uint64_t macs_total = 0;
    std::uint64_t peak_arena_bytes = 0;
    std::vector<OperatorIndex> foldable;  // live operators whose results are known at load
    std::vector<RuntimeCondition> conditions;
    Specialisation specialisation;
};

// Refuses what validate_for() and analyze() refuse, and numbers that 64 bits do not count
// (RESOURCE_LIMIT). Throws nothing.
[[nodiscard]] Checked<TargetAnalysis> analyze_for(const Graph& graph,
                                                  const Target& target) noexcept;

}  // namespace virtaccel::tosa

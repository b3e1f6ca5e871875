#pragma once
// What running a graph costs, as far as the graph alone says: multiplications, and memory for what
// lives between operators. Both are what a plain runner needs; a backend may do with less.

#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::tosa {

// The multiply-accumulates of a valid operator as TOSA defines it: of convolutions and matrix
// products, padding included; zero for all others. Nothing where the number does not fit.
[[nodiscard]] std::optional<std::uint64_t> macs_of(const Operator& op,
                                                   std::span<const Tensor> tensors);

// The most bytes that lie between operators at one time, if each computed tensor takes its own from
// its producer to its last reader, aliases share those of what they stand for, and slots lie
// elsewhere. No arena is smaller unless its owner computes in place. Throws std::bad_alloc.
[[nodiscard]] std::uint64_t peak_arena_bytes(const Graph& graph, const Analysis& analysis);

}  // namespace virtaccel::tosa

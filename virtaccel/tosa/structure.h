#pragma once
// The first walk over a flatbuffer: after it, every table, vector and string that the graph's
// readers touch lies inside the bytes. Inside `tosa` only.
// The one thing to know: flatbuffers' own generated walk is not used for what repeats, because
// tables may share vectors, and a small file can then keep it busy for hours. Here each count meets
// its limit before a loop follows it.

#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace tosa {
struct TosaGraph;
}  // namespace tosa

namespace virtaccel::tosa {

// How many of each the tables of a graph need room for.
struct Counts {
    std::uint32_t blocks = 0;
    std::uint32_t operators = 0;
    std::uint32_t tensors = 0;
    std::uint32_t operands = 0;  // of operators and blocks
};

struct Structure {
    const ::tosa::TosaGraph* graph = nullptr;
    Counts counts;
};

[[nodiscard]] Checked<Structure> check_structure(std::span<const std::byte> bytes,
                                                 const Limits& limits);

}  // namespace virtaccel::tosa

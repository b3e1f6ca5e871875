#pragma once
// What a backend may make cheaper without a look at its own hardware: results that need no bytes of
// their own, results that fit over their inputs, and pairs that are commonly computed in one pass.
// Hints are about what is possible, never about what pays.

#include <cstdint>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {

// How two operators, of which the second is the only reader of the first, become one.
enum class Fusion : std::uint8_t {
    none,
    padding,      // PAD becomes the reader's own padding, if its value allows it
    epilogue,     // the reader works on each result before it is stored
    chain,        // both are elementwise
    composition,  // both move elements: together they move them once
};

// "epilogue"; empty for none.
[[nodiscard]] std::string_view name_of(Fusion fusion);

// What may be done about one operator. Of a dead one, nothing is said.
struct OperatorHints {
    // Its output is this tensor's bytes under another shape (RESHAPE, IDENTITY).
    TensorIndex alias_of = nowhere;
    // Bit i: its output may be computed over input i, element by element. That input is computed by
    // an operator, has as many bytes, is behind no slot, and nobody needs it afterwards, nor what
    // shares its bytes as an alias.
    std::uint32_t in_place = 0;
    // The only reader of its output, with which it may be fused.
    OperatorIndex fuses_into = nowhere;
    Fusion fusion = Fusion::none;
};

// Which tensors share bytes if all aliases do. A tensor that is no alias is its own owner;
// `last_uses` are those of TensorLife, an owner's over all its aliases.
struct Aliases {
    std::vector<TensorIndex> owners;
    std::vector<std::uint32_t> last_uses;
};

// Throws std::bad_alloc, as hints_for() does.
[[nodiscard]] Aliases aliases_of(const Graph& graph, const Analysis& analysis);

// One for each of Graph::operators(). The graph is valid, and `analysis` its own.
[[nodiscard]] std::vector<OperatorHints> hints_for(const Graph& graph, const Analysis& analysis);

}  // namespace virtaccel::tosa

#pragma once
// What a backend wants to know about a graph before it lowers it: who makes each tensor, how long
// it lives, what need not be run, what is known at load, and which slots a submission binds. All
// IDs are dense indexes into the graph's tables; the analysis outlives neither the graph nor its
// bytes.

#include <cstdint>
#include <vector>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"

namespace virtaccel::tosa {

// Where a tensor's value comes from.
enum class Origin : std::uint8_t {
    unused,    // no live operator and no slot touches it
    input,     // a slot
    constant,  // the file: Tensor::data
    folded,    // live operators that read only constants and folded tensors
    computed,  // a live operator that reads something else
    variable,  // state
};

// A tensor's life, in positions of Analysis::order. Two tensors of one block may share memory if
// their closed ranges [defined_at, last_use] have no position in common. Tensors of different
// blocks: that is for who knows how blocks are run to say, because a loop's run again.
struct TensorLife {
    Origin origin = Origin::unused;
    OperatorIndex producer = nowhere;    // the live operator whose output it is
    std::uint32_t defined_at = nowhere;  // position of the producer; before its block for an
                                         // inner block's input; `nowhere` if there is none
    std::uint32_t first_use = nowhere;   // position of the first live reader; `nowhere` if none
    std::uint32_t last_use = nowhere;    // position of the last live reader (of the producer if
                                         // none); the position after its block for an output
    std::uint32_t slot = nowhere;        // the first slot bound to it
    std::uint32_t state = nowhere;       // of a variable: index into Analysis::states
};

enum class SlotKind : std::uint8_t { input, output };

// What a submission binds. A slot's number is its position: inputs first, then outputs (spec §10).
// One tensor may be behind an input and several outputs.
struct Slot {
    SlotKind kind = SlotKind::input;
    TensorIndex tensor = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
};

// Where a block's live operators stand in Analysis::order, with those of the blocks they run.
struct BlockPlace {
    IndexRange positions;
    std::uint32_t callers = 0;  // live operators that run it, each counted as often as it does
};

// A graph, analysed. `order` holds the live operators in executable order: those that an output of
// their block depends on, and those that write variables. An operator that runs blocks is followed
// by theirs; a block that several operators run stands behind the first. The rest are `dead`.
struct Analysis {
    std::vector<OperatorIndex> order;
    std::vector<OperatorIndex> dead;
    std::vector<TensorLife> tensors;  // one for each of Graph::tensors()
    std::vector<BlockPlace> blocks;   // one for each of Graph::blocks()
    std::vector<Slot> slots;
    // Variables of one name, in whichever blocks, that a live operator or a slot touches: the first
    // of them, or the first with a value in the file.
    std::vector<TensorIndex> states;
    std::uint32_t input_count = 0;       // slots below this are inputs
    std::uint64_t constant_bytes = 0;    // of live constants
    std::uint64_t activation_bytes = 0;  // of computed tensors that are behind no slot, all at once
    std::uint64_t slot_bytes = 0;
    std::uint64_t state_bytes = 0;
};

// Refuses variables of one name that are not alike (INVALID_ARGUMENT), and byte counts whose sum
// does not exist (RESOURCE_LIMIT). As good as linear in the graph. Throws nothing.
[[nodiscard]] Checked<Analysis> analyze(const Graph& graph) noexcept;

}  // namespace virtaccel::tosa

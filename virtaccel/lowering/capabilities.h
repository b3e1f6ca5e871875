#pragma once
// What a backend says it takes, before anything is loaded: for a scheduler that chooses among
// backends, and for people. The one thing to know: a descriptor is conservative. What it takes, the
// backend loads as long as memory lasts; what it does not, the backend may still load, because the
// backend keeps the final word.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/bits.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::lowering {

// Where tensors of a type may stand: behind an input slot, behind an output slot, in the file, and
// between operators.
enum class DTypeRole : std::uint8_t {
    input = 1U << 0U,
    output = 1U << 1U,
    constant = 1U << 2U,
    intermediate = 1U << 3U,
};
using DTypeRoles = BitSet<DTypeRole>;

inline constexpr DTypeRoles all_roles = DTypeRoles{DTypeRole::input} | DTypeRole::output |
                                        DTypeRole::constant | DTypeRole::intermediate;

// SHAPE needs no row: it stands wherever operators ask for it.
struct DTypeCapability {
    tosa::DType dtype = tosa::DType::unknown;
    DTypeRoles roles = all_roles;
    bool is_parameter_only = false;  // constants only where TOSA demands them (zero points, shifts)
};

// What is not taken though TOSA allows it.
enum class OperatorConstraint : std::uint8_t {
    propagating_nan = 1U << 0U,      // NaN mode PROPAGATE only
    zero_padding = 1U << 1U,         // no padding in the attribute
    zero_zero_points = 1U << 2U,     // zero points that are known and zero
    zero_shift = 1U << 3U,           // of MUL
    constant_parameters = 1U << 4U,  // what TOSA wants constant is, whatever the target offers
};
using OperatorConstraints = BitSet<OperatorConstraint>;

// The element types of an operator's first input and first output.
struct OperandTypes {
    tosa::DType input = tosa::DType::unknown;
    tosa::DType output = tosa::DType::unknown;
};

// A live operator of a valid graph.
struct OperatorInGraph {
    const tosa::Graph& graph;
    const tosa::Analysis& analysis;
    const tosa::Operator& op;

    [[nodiscard]] const tosa::Tensor& input(std::size_t i) const {
        return graph.tensors()[op.inputs[i]];
    }

    [[nodiscard]] const tosa::Tensor& output() const { return graph.tensors()[op.outputs[0]]; }

    [[nodiscard]] bool is_known(std::size_t i) const {
        const tosa::Origin origin = analysis.tensors[op.inputs[i]].origin;
        return origin == tosa::Origin::constant || origin == tosa::Origin::folded;
    }
};

struct OperatorCapability {
    tosa::Op op = tosa::Op::unknown;
    OperatorConstraints constraints{};
    // Empty means all that the target and its element types allow.
    std::span<const OperandTypes> types{};
    // What else is against an operator: the end of a sentence that begins with it ("must have
    // constant weights"), or nothing. Null if nothing ever is.
    std::string_view (*objection)(const OperatorInGraph& candidate) = nullptr;
};

// Which of the conditions that depend on data (tosa/conditions.h) a backend lives with. Those about
// results that leave their type do not count: whatever comes out is right.
enum class RuntimeConditionSupport : std::uint8_t {
    none,
    advisory_only,  // REQUIRE: the caller promises, the backend does not look
    all,            // ERROR_IF too: operands are checked in each run
};

struct GraphLimits {
    std::uint32_t regions_max = 1;
    std::uint32_t blocks_max = 1;
    std::uint32_t rank_max = tosa::rank_max;
    std::int32_t dimension_max = std::numeric_limits<std::int32_t>::max();
    std::uint64_t tensor_bytes_max = std::numeric_limits<std::uint64_t>::max();
    RuntimeConditionSupport runtime_conditions = RuntimeConditionSupport::none;
};

// One kind of graphs that a backend takes. All shapes are static. A backend with several
// descriptors takes a graph that one of them takes as a whole.
struct CapabilityDescriptor {
    std::string_view name;  // "float", "integer"
    tosa::Target target;
    std::vector<DTypeCapability> dtypes;
    std::vector<OperatorCapability> operators;
    GraphLimits limits;
};

// Asks a backend, which need not have been made. None at all means that it takes no TOSA. Throws
// std::bad_alloc, as the functions below do.
using CapabilityProvider = std::vector<CapabilityDescriptor> (*)();

// The provider of a backend that runs no TOSA.
[[nodiscard]] std::vector<CapabilityDescriptor> no_capabilities();

// One reason against a graph: a full sentence. `op` is `nowhere` if it is about the graph.
struct CapabilityReason {
    tosa::OperatorIndex op = tosa::nowhere;
    tosa::Text sentence;
};

// Why `descriptor` does not take a graph that `analysis` is of: at most one reason for each live
// operator, in their order, and one for the graph; none if it does.
[[nodiscard]] std::vector<CapabilityReason> reasons_against(const CapabilityDescriptor& descriptor,
                                                            const tosa::Graph& graph,
                                                            const tosa::TargetAnalysis& analysis);

}  // namespace virtaccel::lowering

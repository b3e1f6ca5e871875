#include "virtaccel/tosa/analyze_for.h"

#include <cstdint>
#include <new>
#include <optional>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/cost.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/hints.h"
#include "virtaccel/tosa/place.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

// Those of all operators, and the sum over the live ones.
Checked<void> count_macs(const Graph& graph, TargetAnalysis& result) {
    for (const Operator& op : graph.operators()) {
        const std::optional<std::uint64_t> macs = macs_of(op, graph.tensors());
        if (!macs) {
            return refuse_operator(Status::resource_limit, op,
                                   "has more multiplications than 64 bits count.");
        }
        result.macs.push_back(*macs);
    }
    std::optional<std::uint64_t> sum = 0;
    for (const OperatorIndex index : result.graph.order) {
        sum = sum ? checked_add(*sum, result.macs[index]) : sum;
    }
    if (!sum) {
        return refuse(Status::resource_limit,
                      "The model has more multiplications than 64 bits count.");
    }
    result.macs_total = *sum;
    return {};
}

void list_foldable(const Graph& graph, TargetAnalysis& result) {
    for (const OperatorIndex index : result.graph.order) {
        const Operator& op = graph.operators()[index];
        if (!op.outputs.empty() &&
            result.graph.tensors[op.outputs.front()].origin == Origin::folded) {
            result.foldable.push_back(index);
        }
    }
}

Checked<TargetAnalysis> analyze_valid(const Graph& graph) {
    TargetAnalysis result;
    VIRTACCEL_TRY_ASSIGN(result.graph, analyze(graph));
    result.hints = hints_for(graph, result.graph);
    VIRTACCEL_TRY(count_macs(graph, result));
    result.peak_arena_bytes = peak_arena_bytes(graph, result.graph);
    list_foldable(graph, result);
    result.conditions = conditions_of(graph, result.graph);
    result.specialisation = specialisation_of(graph, result.graph);
    return result;
}

}  // namespace

Checked<TargetAnalysis> analyze_for(const Graph& graph, const Target& target) noexcept {
    VIRTACCEL_TRY(validate_for(graph, target));
    try {
        return analyze_valid(graph);
    } catch (const std::bad_alloc&) {
        return refuse(Status::out_of_memory,
                      "There is no memory to analyse the model: free some and try again.");
    }
}

}  // namespace virtaccel::tosa

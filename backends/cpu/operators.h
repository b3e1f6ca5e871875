#pragma once
// Which operators this backend runs: one row for each, with the element types it takes and how it
// becomes steps.

#include <cstddef>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

class Lowering;

// The element types of an operator's first input and first output.
struct Types {
    tosa::DType input = tosa::DType::unknown;
    tosa::DType output = tosa::DType::unknown;
};

// What of a graph an objection looks at.
struct Candidate {
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

struct OperatorSupport {
    tosa::Op op = tosa::Op::unknown;
    // Empty means any.
    std::span<const Types> types;
    // What is against a valid operator of these types: the end of a sentence that begins with it
    // ("must have constant weights"), or nothing. Null if nothing ever is.
    std::string_view (*objection)(const Candidate& candidate) = nullptr;
    void (*lower)(Lowering& lowering, const tosa::Operator& op) = nullptr;
};

// The row of `op`, or null.
[[nodiscard]] const OperatorSupport* support_of(tosa::Op op);

// Whether every live operator of a valid graph is in the table. Says one sentence for each that is
// not.
[[nodiscard]] bool admit(const tosa::Graph& graph, const tosa::Analysis& analysis,
                         const backend::RefusalSink& refusals);

}  // namespace virtaccel::backends::cpu

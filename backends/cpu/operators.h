#pragma once
// Which operators this backend runs: one row for each, with the element types it takes and how it
// becomes steps.

#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

class Lowering;

// The element types of an operator's first input and first output.
using Types = lowering::OperandTypes;

// What of a graph an objection looks at.
using Candidate = lowering::OperatorInGraph;

struct OperatorSupport {
    tosa::Op op = tosa::Op::unknown;
    // Empty means any.
    std::span<const Types> types;
    // What is against a valid operator of these types: the end of a sentence that begins with it
    // ("must have constant weights"), or nothing. Null if nothing ever is.
    std::string_view (*objection)(const Candidate& candidate) = nullptr;
    void (*lower)(Lowering& lowering, const tosa::Operator& op) = nullptr;
};

// All rows.
[[nodiscard]] std::span<const OperatorSupport> supported_operators();

// The row of `op`, or null.
[[nodiscard]] const OperatorSupport* support_of(tosa::Op op);

// Whether an operator of such a signature is run, as far as its types decide it.
[[nodiscard]] bool takes(const tosa::OperatorRow& row, const tosa::Signature& signature);

// Whether every live operator of a valid graph is in the table. Says one sentence for each that is
// not.
[[nodiscard]] bool admit(const tosa::Graph& graph, const tosa::Analysis& analysis,
                         const backend::RefusalSink& refusals);

}  // namespace virtaccel::backends::cpu

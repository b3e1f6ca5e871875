#pragma once
// Which operators this backend runs, in all their element types: one row for each, with how it
// becomes steps.

#include <span>

#include "virtaccel/backend/contract.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu {

class Lowering;

struct OperatorSupport {
    tosa::Op op = tosa::Op::unknown;
    void (*lower)(Lowering& lowering, const tosa::Operator& op) = nullptr;
};

// All rows.
[[nodiscard]] std::span<const OperatorSupport> supported_operators();

// The row of `op`, or null.
[[nodiscard]] const OperatorSupport* support_of(tosa::Op op);

// Whether every live operator of a valid graph is in the table. Says one sentence for each that is
// not.
[[nodiscard]] bool admit(const tosa::Graph& graph, const tosa::Analysis& analysis,
                         const backend::RefusalSink& refusals);

}  // namespace virtaccel::backends::cpu

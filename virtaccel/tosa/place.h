#pragma once
// Sentences that begin with the operator they are about. Inside `tosa` only.

#include <expected>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// "Operator 12 (CONV2D) " and the rest, which the parts say.
template <class... Parts>
[[nodiscard]] std::unexpected<Refusal> refuse_operator(Status status, const Operator& op,
                                                       const Parts&... parts) {
    auto refusal = refuse(status, "Operator ", op.index, " (", name_of(op.op), ") ", parts...);
    refusal.error().operator_index = op.index;
    return refusal;
}

}  // namespace virtaccel::tosa

#pragma once
// Operands that TOSA wants constant and that arrive at run time instead (the DYNAMIC extension).
// Whoever runs such a graph checks them here first: the rules are those that validate_for() follows
// for constants, so that after this a backend may trust a value as it trusts a constant.

#include <cstddef>
#include <span>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"

namespace virtaccel::tosa {

// The bytes that a tensor has in a run, encoded as byte_count() says.
struct SuppliedOperand {
    TensorIndex tensor = 0;
    std::span<const std::byte> bytes;
};

// Whether an operator of a graph that is valid for `target` can run with these values: they have as
// many bytes as their tensors, and give the shape its output declares. `supplied` is in ascending
// order of tensors; those it leaves out, and those of other operators, are not looked at. Refuses
// as validate_for() does. Throws nothing, and allocates nothing.
[[nodiscard]] Checked<void> check_supplied(const Graph& graph, const Operator& op,
                                           std::span<const SuppliedOperand> supplied,
                                           const Target& target) noexcept;

// The same for every operator of the graph; the first that cannot run. A list that is not in
// ascending order is refused.
[[nodiscard]] Checked<void> check_supplied(const Graph& graph,
                                           std::span<const SuppliedOperand> supplied,
                                           const Target& target) noexcept;

}  // namespace virtaccel::tosa

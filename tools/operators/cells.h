#pragma once
// The cells of the table of operators and element types, and their names. The one thing to know: a
// cell is an operator with one of its signatures, so it says all that a backend may depend on.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "virtaccel/tosa/operators.h"

namespace virtaccel::operators {

struct Cell {
    const tosa::OperatorRow& row;
    const tosa::Signature& signature;
};

// Every cell there is, in the order of the operators' table.
[[nodiscard]] std::vector<Cell> all_cells();

// The signature's types: "INT8,INT8,INT32,INT32"; "any" for an operator that has no types.
[[nodiscard]] std::string types_of(const tosa::Signature& signature);

// "CONV2D INT8,INT8,INT32,INT32".
[[nodiscard]] std::string name_of(const Cell& cell);

// The name of the cell that the model `bytes` (at an address that is a multiple of 8) uses the
// operator `name` in, at its first place; a sentence if it does not use it, or is no model.
[[nodiscard]] host::OrError<std::string> cell_of(std::span<const std::byte> bytes,
                                                 std::string_view name);

}  // namespace virtaccel::operators

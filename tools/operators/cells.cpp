#include "tools/operators/cells.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::operators {

std::vector<Cell> all_cells() {
    std::vector<Cell> cells;
    for (const tosa::OperatorRow& row : tosa::operator_rows()) {
        for (const tosa::Signature& signature : row.signatures) {
            cells.push_back({.row = row, .signature = signature});
        }
    }
    return cells;
}

std::string types_of(const tosa::Signature& signature) {
    std::string types;
    for (const tosa::DType type : signature.types) {
        if (type != tosa::DType::unknown) {
            types += types.empty() ? "" : ",";
            types += tosa::name_of(type);
        }
    }
    return types.empty() ? "any" : types;
}

std::string name_of(const Cell& cell) {
    return fmt::format("{} {}", cell.row.name, types_of(cell.signature));
}

host::OrError<std::string> cell_of(std::span<const std::byte> bytes, std::string_view name) {
    const auto graph = tosa::verify(bytes);
    if (!graph) {
        return host::error(std::string{graph.error().sentence.view()});
    }
    for (const tosa::Operator& op : graph->operators()) {
        const tosa::OperatorRow* const row = tosa::row_of(op.op);
        if (row == nullptr || row->name != name) {
            continue;
        }
        if (const auto* const signature = tosa::match(*row, op, graph->tensors())) {
            return name_of({.row = *row, .signature = *signature});
        }
        return host::error(fmt::format("The operator ({}) has types that it does not take.", name));
    }
    return host::error(fmt::format("The model does not use the operator ({}).", name));
}

}  // namespace virtaccel::operators

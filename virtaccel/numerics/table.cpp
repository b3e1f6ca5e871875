#include "virtaccel/numerics/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/accuracy.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

// One line of the table.
struct Line {
    const Case* first = nullptr;
    std::string_view type;
    std::size_t cases = 0;
    std::optional<double> ulp;
};

// The third part of "numerics.matmul.bf16.rounds".
std::string_view type_in(std::string_view name) {
    for (int parts = 0; parts < 2; ++parts) {
        name.remove_prefix(name.find('.') + 1);
    }
    return name.substr(0, name.find('.'));
}

// Three digits are enough to compare.
std::string short_number(double number) {
    constexpr int digits = 3;
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                   std::chars_format::general, digits)
                         .ptr;
    return {buffer.data(), end};
}

void add(std::vector<Line>& lines, const Case& row,
         std::span<const conformance::CaseResult> results) {
    const std::string_view type = type_in(row.name);
    auto line = std::ranges::find_if(
        lines, [&](const Line& other) { return other.first->op == row.op && other.type == type; });
    if (line == lines.end()) {
        line = lines.insert(lines.end(), {.first = &row, .type = type, .cases = 0, .ulp = {}});
    }
    ++line->cases;
    const auto result = std::ranges::find(results, row.name, &conformance::CaseResult::name);
    if (result != results.end() && result->ulp) {
        line->ulp = std::max(line->ulp.value_or(0), *result->ulp);
    }
}

std::string_view source_of(const Case& row) {
    const auto rows = accuracy_rows();
    const auto found = std::ranges::find(rows, row.op, &AccuracyRow::op);
    return found == rows.end() || !float_format(row.output)
               ? "TOSA 1.0: integers and truth values are exact"
               : found->source;
}

}  // namespace

std::string to_table(std::span<const conformance::CaseResult> results) {
    std::vector<Line> lines;
    for (const Case& row : cases()) {
        add(lines, row, results);
    }
    std::string table =
        "| operator | type | cases | bound | measured | says who |\n|---|---|---|---|---|---|\n";
    for (const Line& line : lines) {
        const std::string measured = line.ulp ? short_number(*line.ulp) : "-";
        table.append("| ").append(tosa::name_of(line.first->op));
        table.append(" | ").append(line.type);
        table.append(" | ").append(std::to_string(line.cases));
        table.append(" | ").append(words_of(accuracy_of(line.first->op, line.first->output)));
        table.append(" | ").append(measured);
        table.append(" | ").append(source_of(*line.first)).append(" |\n");
    }
    return table;
}

}  // namespace virtaccel::numerics

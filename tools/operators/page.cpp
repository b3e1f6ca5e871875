#include "tools/operators/page.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "backends/cpu/operators.h"
#include "host/error.h"
#include "tools/operators/cells.h"
#include "virtaccel/base/result.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::operators {
namespace {

using tosa::DType;

constexpr std::string_view introduction =
    "# Operators\n\n"
    "Printed from the operator tables (`virtaccel/tosa`, `backends/cpu`) and from what the tests "
    "found; do not edit, run\n`./run print`.\n\n"
    "TOSA 1.0 has {} operators and {} combinations of an operator and element types. The CPU "
    "backend takes {} of them; {} are\nshown to be right by official tests, as many as the tables "
    "say, which `./run test tosa` runs through the whole stack (see\n"
    "[official-tests.md](official-tests.md)), and {} by tests of ours alone.\n\n"
    "`-` is a type that the operator does not have; `refused` one that the backend refuses when a "
    "model is loaded.\n\n"
    "## By the first operand's type\n\n";

constexpr std::string_view details = R"(
## Where one type does not say all

| operator | types | needs | official tests |
|---|---|---|---|
)";

constexpr std::string_view ours = R"(
## What the official generators make no tests for

| operator | types | needs | shown by |
|---|---|---|---|
)";

constexpr std::array columns{DType::boolean, DType::int4,    DType::int8,    DType::int16,
                             DType::int32,   DType::int48,   DType::fp16,    DType::bf16,
                             DType::fp32,    DType::fp8e4m3, DType::fp8e5m2, DType::unknown};

std::string_view title_of(DType type) {
    return type == DType::unknown ? "any" : tosa::name_of(type);
}

bool is_taken(const Cell& cell) {
    return backends::cpu::support_of(cell.row.op) != nullptr;
}

std::uint64_t passed(const Evidence& evidence, const Cell& cell) {
    const auto found = evidence.passed.find(name_of(cell));
    return found == evidence.passed.end() ? 0 : found->second;
}

// One field of the first table.
std::string field_of(const std::vector<Cell>& cells, const Evidence& evidence) {
    if (cells.empty()) {
        return "-";
    }
    std::uint64_t tests = 0;
    std::size_t refused = 0;
    for (const Cell& cell : cells) {
        tests += passed(evidence, cell);
        refused += is_taken(cell) ? 0 : 1;
    }
    if (refused == cells.size()) {
        return "refused";
    }
    const std::string text = tests == 0 ? "ours" : fmt::format("{}", tests);
    return refused == 0 ? text : fmt::format("{}, {} refused", text, refused);
}

std::string needs_of(const tosa::Needs& needs) {
    std::string text;
    for (std::uint64_t bit = 1; bit != 0 && bit <= tosa::extensions_known.bits; bit <<= 1U) {
        if (needs.extensions.has(tosa::ExtensionBit{bit})) {
            text += text.empty() ? "" : ", ";
            text += tosa::name_of(tosa::ExtensionBit{bit});
        }
    }
    if (!text.empty()) {
        return text;
    }
    if (needs.profiles == tosa::profiles_known) {
        return "either profile";
    }
    return needs.profiles.has(tosa::ProfileBit::integer) ? "PRO-INT" : "PRO-FP";
}

std::string row_of(const Cell& cell, std::string_view last) {
    return fmt::format("| {} | {} | {} | {} |\n", cell.row.name, types_of(cell.signature),
                       needs_of(cell.signature.needs), last);
}

// The cells of an operator whose first operand has a type.
std::vector<Cell> cells_in(const tosa::OperatorRow& row, DType column) {
    std::vector<Cell> cells;
    for (const tosa::Signature& signature : row.signatures) {
        if (signature.types[0] == column) {
            cells.push_back({.row = row, .signature = signature});
        }
    }
    return cells;
}

std::string matrix(const Evidence& evidence) {
    std::string text = "| operator |";
    std::string rule = "|---|";
    for (const DType column : columns) {
        text += fmt::format(" {} |", title_of(column));
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const tosa::OperatorRow& row : tosa::operator_rows()) {
        text += fmt::format("| {} |", row.name);
        for (const DType column : columns) {
            text += fmt::format(" {} |", field_of(cells_in(row, column), evidence));
        }
        text += '\n';
    }
    return text;
}

// The words of a list's line: a cell's name, and the rest.
std::optional<std::pair<std::string, std::string>> split(std::string_view line) {
    const auto first = line.find(' ');
    const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) {
        return std::nullopt;
    }
    return std::pair{std::string{line.substr(0, second)}, std::string{line.substr(second + 1)}};
}

// Calls `take(name, rest)` for each line; the first sentence it returns ends it.
template <class Take>
host::OrError<void> read_lines(std::string_view text, const Take& take) {
    std::set<std::string, std::less<>> names;
    for (const Cell& cell : all_cells()) {
        names.insert(name_of(cell));
    }
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const auto words = split(line);
        if (!words || !names.contains(words->first)) {
            return host::error(fmt::format(
                "The line ({}) names no operator with its types; write it again.", line));
        }
        VIRTACCEL_TRY(take(words->first, words->second));
    }
    return {};
}

}  // namespace

host::OrError<Evidence> read_evidence(std::string_view passed, std::string_view covered) {
    Evidence evidence;
    VIRTACCEL_TRY(read_lines(
        passed, [&](const std::string& name, const std::string& rest) -> host::OrError<void> {
            std::uint64_t count = 0;
            const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
            if (code != std::errc{} || end != rest.data() + rest.size()) {
                return host::error(
                    fmt::format("The number ({}) of ({}) is none; write it again.", rest, name));
            }
            evidence.passed[name] = count;
            return {};
        }));
    VIRTACCEL_TRY(read_lines(
        covered, [&](const std::string& name, const std::string& rest) -> host::OrError<void> {
            evidence.covered[name] = rest;
            return {};
        }));
    return evidence;
}

std::vector<std::string> without_evidence(const Evidence& evidence) {
    std::vector<std::string> names;
    for (const Cell& cell : all_cells()) {
        const std::string name = name_of(cell);
        if (is_taken(cell) && passed(evidence, cell) == 0 && !evidence.covered.contains(name)) {
            names.push_back(name);
        }
    }
    return names;
}

std::string operators_page(const Evidence& evidence) {
    const std::vector<Cell> cells = all_cells();
    std::string many;
    std::string covered;
    std::size_t taken = 0;
    std::size_t official = 0;
    std::size_t own = 0;
    for (const Cell& cell : cells) {
        const auto tests = passed(evidence, cell);
        const auto by = evidence.covered.find(name_of(cell));
        taken += is_taken(cell) ? 1 : 0;
        official += is_taken(cell) && tests != 0 ? 1 : 0;
        if (cell.signature.types[1] != DType::unknown) {
            many += row_of(cell, is_taken(cell) ? fmt::format("{}", tests) : "refused");
        }
        if (tests == 0 && by != evidence.covered.end()) {
            own += is_taken(cell) ? 1 : 0;
            covered += row_of(cell, is_taken(cell) ? by->second : "refused: " + by->second);
        }
    }
    return fmt::format(introduction, tosa::operator_rows().size(), cells.size(), taken, official,
                       own) +
           matrix(evidence) + std::string{details} + many + std::string{ours} + covered;
}

}  // namespace virtaccel::operators

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "tools/virtaccel/console.h"
#include "tools/virtaccel/inspect_report.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/hints.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {
namespace {

template <class Value>
std::string row(std::string_view name, const Value& value) {
    return fmt::format("{:<16}{}\n", name, value);
}

std::string joined(const std::vector<std::string_view>& names) {
    return names.empty() ? "none" : fmt::to_string(fmt::join(names, ", "));
}

std::string slots(const InspectReport& report) {
    std::string text;
    for (const tosa::Slot& slot : report.analysis.graph.slots) {
        const tosa::Tensor& tensor = report.file.graph.tensors()[slot.tensor];
        text += row(
            slot.kind == tosa::SlotKind::input ? "input" : "output",
            fmt::format("{} ({}, shape ({})), {} bytes", visible(tensor.name),
                        tosa::name_of(tensor.dtype), fmt::join(tensor.shape, ", "), tensor.bytes));
    }
    return text;
}

// "operator 12 (CONV2D)".
std::string place(const tosa::Graph& graph, tosa::OperatorIndex index) {
    const tosa::Operator& op = graph.operators()[index];
    return fmt::format("operator {} ({})", op.index, tosa::name_of(op.op));
}

std::string dead(const InspectReport& report) {
    std::string text;
    for (const tosa::OperatorIndex index : report.analysis.graph.dead) {
        text += row("dead", place(report.file.graph, index));
    }
    return text;
}

// How many operators each hint is about.
std::string hints(const InspectReport& report) {
    std::uint64_t aliases = 0;
    std::uint64_t in_place = 0;
    constexpr std::size_t fusions = static_cast<std::size_t>(tosa::Fusion::composition) + 1;
    std::vector<std::uint64_t> fused(fusions);
    for (const tosa::OperatorHints& hint : report.analysis.hints) {
        aliases += hint.alias_of == tosa::nowhere ? 0 : 1;
        in_place += hint.in_place == 0 ? 0 : 1;
        ++fused[static_cast<std::size_t>(hint.fusion)];
    }
    std::string text = fmt::format("{} aliases, {} in place", aliases, in_place);
    for (std::size_t i = 1; i < fusions; ++i) {
        text += fmt::format(", {} {}", fused[i], name_of(static_cast<tosa::Fusion>(i)));
    }
    return row("hints", text);
}

std::string conditions(const InspectReport& report) {
    std::string text;
    for (const tosa::RuntimeCondition& condition : report.analysis.conditions) {
        text += row(condition.is_broken ? "broken" : "condition",
                    fmt::format("{}: input {} {} ({})", place(report.file.graph, condition.op),
                                condition.operand, describe(condition.demand),
                                is_error_if(condition.demand) ? "ERROR_IF" : "REQUIRE"));
    }
    return text;
}

std::string kinds(const InspectReport& report) {
    std::string text = fmt::format("\n{:<24}{:>8}{:>8}{:>10}{:>18}\n", "operator", "count", "live",
                                   "foldable", "MACs");
    for (const KindCount& kind : report.kinds) {
        text += fmt::format("{:<24}{:>8}{:>8}{:>10}{:>18}\n", tosa::name_of(kind.op), kind.count,
                            kind.live, kind.folded, kind.macs);
    }
    text += fmt::format("\n{:<24}{:>8}{:>18}\n", "dtype", "tensors", "bytes");
    for (const TypeCount& type : report.types) {
        text +=
            fmt::format("{:<24}{:>8}{:>18}\n", tosa::name_of(type.dtype), type.tensors, type.bytes);
    }
    return text;
}

std::string verdict_text(const InspectReport& report, const BackendVerdict& verdict) {
    std::string text =
        fmt::format("\nThe backend ({}) {}.\n", verdict.backend,
                    verdict.status == Status::ok
                        ? "takes the model"
                        : fmt::format("refuses the model with {}", status_name(verdict.status)));
    if (!verdict.graph_reason.empty()) {
        text += fmt::format("{:>8} {:<24}no: {}\n", "", "the model", visible(verdict.graph_reason));
    }
    for (const OperatorVerdict& one : verdict.operators) {
        const tosa::Operator& op = report.file.graph.operators()[one.index];
        text += fmt::format("{:>8} {:<24}{}\n", op.index, tosa::name_of(op.op),
                            one.reason.empty() ? "yes" : "no: " + visible(one.reason));
    }
    return text;
}

}  // namespace

std::string to_text(const InspectReport& report) {
    const tosa::Version version = report.file.graph.version();
    const tosa::Analysis& graph = report.analysis.graph;
    std::string text =
        row("model",
            fmt::format("{} ({} bytes, TOSA {}.{}.{})", visible(report.file.path),
                        report.file.bytes.size(), version.major, version.minor, version.patch)) +
        row("profiles", joined(profile_names(report.target.profiles))) +
        row("extensions", joined(extension_names(report.target.extensions))) + slots(report) +
        row("operators",
            fmt::format("{} ({} live, {} dead, {} foldable)", report.file.graph.operators().size(),
                        graph.order.size(), graph.dead.size(), report.analysis.foldable.size())) +
        row("MACs", report.analysis.macs_total) +
        row("constants", fmt::format("{} bytes", graph.constant_bytes)) +
        row("peak arena", fmt::format("{} bytes", report.analysis.peak_arena_bytes)) +
        row("resident_bytes", fmt::format("{} (what a guest declares)", report.resident_bytes));
    if (report.is_sent_by_parts) {
        text += row("parts", fmt::format("The model is larger than a frame carries ({} bytes): a "
                                         "guest sends it in parts.",
                                         report.frame_bytes));
    }
    text += hints(report) + dead(report) + conditions(report) + kinds(report);
    return report.verdict ? text + verdict_text(report, *report.verdict) : text;
}

}  // namespace virtaccel::cli

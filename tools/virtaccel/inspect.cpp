#include "tools/virtaccel/inspect.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/files.h"
#include "host/memory.h"
#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/console.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/graphviz.h"
#include "tools/virtaccel/inspect_picture.h"
#include "tools/virtaccel/inspect_report.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/refusals.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::cli {
namespace {

using lowering::CapabilityDescriptor;
using lowering::CapabilityReason;

// A backend's reasons, kept for the report as they go to standard error.
class KeptRefusals {
  public:
    // This stays where it is while the sink is used.
    [[nodiscard]] backend::RefusalSink sink() {
        return {.state = this, .say = [](void* self, std::string_view line) {
                    auto& kept = *static_cast<KeptRefusals*>(self);
                    kept.refusals_.sink()(line);
                    if (kept.lines_.size() < Refusals::shown_max) {
                        kept.lines_.emplace_back(line);
                    }
                }};
    }

    [[nodiscard]] const Refusals& refusals() const { return refusals_; }

    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

  private:
    Refusals refusals_;
    std::vector<std::string> lines_;
};

// What the descriptor says that has the least against the graph; nothing if there is no descriptor.
std::optional<std::vector<CapabilityReason>> fewest_reasons(
    const std::vector<CapabilityDescriptor>& descriptors, const tosa::Graph& graph,
    const tosa::TargetAnalysis& analysis) {
    std::optional<std::vector<CapabilityReason>> fewest;
    for (const CapabilityDescriptor& descriptor : descriptors) {
        auto reasons = reasons_against(descriptor, graph, analysis);
        if (!fewest || reasons.size() < fewest->size()) {
            fewest = std::move(reasons);
        }
    }
    return fewest;
}

void list_operators(BackendVerdict& verdict, const InspectReport& report,
                    const std::optional<std::vector<CapabilityReason>>& reasons) {
    for (const tosa::OperatorIndex index : report.analysis.graph.order) {
        OperatorVerdict one{.index = index, .reason = {}};
        if (!reasons) {
            one.reason = fmt::format("The backend ({}) runs no TOSA operator: choose another one.",
                                     verdict.backend);
        } else if (const auto found = std::ranges::find(*reasons, index, &CapabilityReason::op);
                   found != reasons->end()) {
            one.reason = found->sentence.view();
        }
        verdict.operators.push_back(std::move(one));
    }
    if (reasons) {
        if (const auto found = std::ranges::find(*reasons, tosa::nowhere, &CapabilityReason::op);
            found != reasons->end()) {
            verdict.graph_reason = found->sentence.view();
        }
    }
}

// The backend's final word: it prepares the model as for a guest, and gives it up.
OrFailure<Status> prepare(const BackendSource& source, const InspectReport& report,
                          KeptRefusals& refusals) {
    auto backend = source.make();
    if (!backend) {
        return failure(
            fmt::format("The backend ({}) cannot be made: {}; free memory, or choose "
                        "another backend.",
                        source.name(), status_name(backend.error())));
    }
    const GraphFile& file = report.file;
    const Piece piece{const_cast<std::byte*>(file.bytes.data()), file.bytes.size()};
    const auto prepared = backend->prepare({.format = tosa::artifact_format,
                                            .target = tosa::encode_target(report.target),
                                            .resident_bytes_max = report.resident_bytes,
                                            .payload = Reader{PieceList::of({&piece, 1})},
                                            .refusals = refusals.sink()});
    if (!prepared) {
        return prepared.error();
    }
    backend->abandon(*prepared);
    return Status::ok;
}

OrFailure<BackendVerdict> judge(const BackendSource& source, const InspectReport& report,
                                KeptRefusals& refusals) {
    BackendVerdict verdict;
    verdict.backend = source.name();
    list_operators(verdict, report,
                   fewest_reasons(source.capabilities(), report.file.graph, report.analysis));
    VIRTACCEL_TRY_ASSIGN(verdict.status, prepare(source, report, refusals));
    verdict.reasons = refusals.lines();
    return verdict;
}

OrFailure<void> write_picture(const InspectReport& report, const std::string& path) {
    VIRTACCEL_TRY_ASSIGN(const auto svg, render_svg(picture_of(report)));
    VIRTACCEL_TRY_ASSIGN(auto file, host::NewFile::write(path, svg));
    VIRTACCEL_TRY(file.commit());
    return {};
}

}  // namespace

OrFailure<void> inspect_model(const InspectOptions& options) {
    std::optional<BackendSource> source;
    if (options.backend) {
        VIRTACCEL_TRY_ASSIGN(source, BackendSource::find(host::heap(), *options.backend));
    }
    VIRTACCEL_TRY_ASSIGN(const GraphFile file, read_graph(options.model));
    const tosa::Target target = tosa::target_of(file.graph);
    const auto analysis = tosa::analyze_for(file.graph, target);
    if (!analysis) {
        return failure(fmt::format("The model ({}) cannot be analysed: {}", options.model,
                                   analysis.error().sentence.view()));
    }
    InspectReport report = report_on(file, target, *analysis);
    KeptRefusals refusals;
    if (source) {
        VIRTACCEL_TRY_ASSIGN(report.verdict, judge(*source, report, refusals));
    }
    if (!options.svg.empty()) {
        VIRTACCEL_TRY(write_picture(report, options.svg));
    }
    VIRTACCEL_TRY(print_out(options.json ? to_json(report) + '\n' : to_text(report)));
    if (report.verdict && report.verdict->status != Status::ok) {
        return std::unexpected{refusals.refusals().judge(report.verdict->backend, options.model,
                                                         report.verdict->status)};
    }
    return {};
}

}  // namespace virtaccel::cli

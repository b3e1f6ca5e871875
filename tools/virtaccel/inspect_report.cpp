#include "tools/virtaccel/inspect_report.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/virtaccel/model.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {
namespace {

// Operators of all blocks; those of blocks that operators run are live.
std::vector<KindCount> count_kinds(const tosa::Graph& graph, const tosa::TargetAnalysis& analysis) {
    std::array<KindCount, tosa::op_end> counts{};
    std::vector<bool> is_dead(graph.operators().size());
    for (const tosa::OperatorIndex index : analysis.graph.dead) {
        is_dead[index] = true;
    }
    for (tosa::OperatorIndex i = 0; i < graph.operators().size(); ++i) {
        const tosa::Op op = graph.operators()[i].op;
        KindCount& kind = counts.at(static_cast<std::size_t>(op));
        kind.op = op;
        ++kind.count;
        kind.live += is_dead[i] ? 0 : 1;
        kind.macs += is_dead[i] ? 0 : analysis.macs[i];
    }
    for (const tosa::OperatorIndex index : analysis.foldable) {
        ++counts.at(static_cast<std::size_t>(graph.operators()[index].op)).folded;
    }
    std::vector<KindCount> kinds;
    for (const KindCount& kind : counts) {
        if (kind.count != 0) {
            kinds.push_back(kind);
        }
    }
    return kinds;
}

std::vector<TypeCount> count_types(const tosa::Graph& graph) {
    constexpr auto types = static_cast<std::size_t>(tosa::DType::fp8e5m2) + 1;
    std::array<TypeCount, types> counts{};
    for (const tosa::Tensor& tensor : graph.tensors()) {
        TypeCount& type = counts.at(static_cast<std::size_t>(tensor.dtype));
        type.dtype = tensor.dtype;
        ++type.tensors;
        type.bytes += tensor.bytes;
    }
    std::vector<TypeCount> used;
    for (const TypeCount& type : counts) {
        if (type.tensors != 0) {
            used.push_back(type);
        }
    }
    return used;
}

}  // namespace

InspectReport report_on(const GraphFile& file, const tosa::Target& target,
                        const tosa::TargetAnalysis& analysis) {
    constexpr std::uint64_t frame_bytes =
        protocol::frame_bytes_max - sizeof(wire::RequestHeader) - sizeof(wire::LoadProgram);
    return {.file = file,
            .target = target,
            .analysis = analysis,
            .kinds = count_kinds(file.graph, analysis),
            .types = count_types(file.graph),
            .resident_bytes = guest::resident_bytes_for(file.bytes.size()),
            .is_sent_by_parts = file.bytes.size() > frame_bytes,
            .frame_bytes = frame_bytes,
            .verdict = {}};
}

std::vector<std::string_view> profile_names(tosa::Profiles profiles) {
    std::vector<std::string_view> names;
    if (profiles.has(tosa::ProfileBit::integer)) {
        names.emplace_back("PRO-INT");
    }
    if (profiles.has(tosa::ProfileBit::floating_point)) {
        names.emplace_back("PRO-FP");
    }
    return names;
}

std::vector<std::string_view> extension_names(tosa::Extensions extensions) {
    std::vector<std::string_view> names;
    for (std::uint64_t bit = 1; bit <= tosa::extensions_known.bits; bit <<= 1U) {
        if (extensions.has(static_cast<tosa::ExtensionBit>(bit))) {
            names.push_back(name_of(static_cast<tosa::ExtensionBit>(bit)));
        }
    }
    return names;
}

}  // namespace virtaccel::cli

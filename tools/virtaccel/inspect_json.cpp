#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

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

using Json = nlohmann::ordered_json;

Json slots(const InspectReport& report, tosa::SlotKind kind) {
    Json list = Json::array();
    for (const tosa::Slot& slot : report.analysis.graph.slots) {
        const tosa::Tensor& tensor = report.file.graph.tensors()[slot.tensor];
        if (slot.kind == kind) {
            list.push_back({{"name", tensor.name},
                            {"dtype", tosa::name_of(tensor.dtype)},
                            {"shape", Json(std::vector<std::int32_t>(tensor.shape.begin(),
                                                                     tensor.shape.end()))},
                            {"bytes", tensor.bytes}});
        }
    }
    return list;
}

Json kinds(const InspectReport& report) {
    Json list = Json::array();
    for (const KindCount& kind : report.kinds) {
        list.push_back({{"kind", tosa::name_of(kind.op)},
                        {"count", kind.count},
                        {"live", kind.live},
                        {"foldable", kind.folded},
                        {"macs", kind.macs}});
    }
    return list;
}

Json types(const InspectReport& report) {
    Json list = Json::array();
    for (const TypeCount& type : report.types) {
        list.push_back({{"dtype", tosa::name_of(type.dtype)},
                        {"tensors", type.tensors},
                        {"bytes", type.bytes}});
    }
    return list;
}

// Positions in the file; of several blocks, each operator's in its own.
Json places(const InspectReport& report, std::span<const tosa::OperatorIndex> indexes) {
    Json list = Json::array();
    for (const tosa::OperatorIndex index : indexes) {
        list.push_back(report.file.graph.operators()[index].index);
    }
    return list;
}

// Only what there is something to say about.
Json hints(const InspectReport& report) {
    Json list = Json::array();
    for (const tosa::OperatorIndex index : report.analysis.graph.order) {
        const tosa::OperatorHints& hint = report.analysis.hints[index];
        Json one{{"operator", report.file.graph.operators()[index].index}};
        if (hint.alias_of != tosa::nowhere) {
            one["alias_of"] = report.file.graph.tensors()[hint.alias_of].name;
        }
        if (hint.in_place != 0) {
            one["in_place"] = hint.in_place;
        }
        if (hint.fusion != tosa::Fusion::none) {
            one["fusion"] = name_of(hint.fusion);
            one["with"] = report.file.graph.operators()[hint.fuses_into].index;
        }
        if (one.size() > 1) {
            list.push_back(one);
        }
    }
    return list;
}

Json conditions(const InspectReport& report) {
    Json list = Json::array();
    for (const tosa::RuntimeCondition& condition : report.analysis.conditions) {
        list.push_back({{"operator", report.file.graph.operators()[condition.op].index},
                        {"input", condition.operand},
                        {"demand", describe(condition.demand)},
                        {"error_if", is_error_if(condition.demand)},
                        {"broken", condition.is_broken}});
    }
    return list;
}

Json verdict(const InspectReport& report, const BackendVerdict& verdict) {
    Json operators = Json::array();
    for (const OperatorVerdict& one : verdict.operators) {
        const tosa::Operator& op = report.file.graph.operators()[one.index];
        operators.push_back({{"operator", op.index},
                             {"kind", tosa::name_of(op.op)},
                             {"takes", one.reason.empty()},
                             {"reason", one.reason}});
    }
    return {{"name", verdict.backend},
            {"takes", verdict.status == Status::ok},
            {"status", status_name(verdict.status)},
            {"reasons", verdict.reasons},
            {"graph_reason", verdict.graph_reason},
            {"operators", operators}};
}

}  // namespace

std::string to_json(const InspectReport& report) {
    const tosa::Version version = report.file.graph.version();
    const tosa::Analysis& graph = report.analysis.graph;
    Json json{{"model", report.file.path},
              {"bytes", report.file.bytes.size()},
              {"version", {version.major, version.minor, version.patch}},
              {"profiles", profile_names(report.target.profiles)},
              {"extensions", extension_names(report.target.extensions)},
              {"inputs", slots(report, tosa::SlotKind::input)},
              {"outputs", slots(report, tosa::SlotKind::output)},
              {"operators", kinds(report)},
              {"dtypes", types(report)},
              {"dead", places(report, graph.dead)},
              {"foldable", places(report, report.analysis.foldable)},
              {"constant_bytes", graph.constant_bytes},
              {"macs", report.analysis.macs_total},
              {"peak_arena_bytes", report.analysis.peak_arena_bytes},
              {"resident_bytes", report.resident_bytes},
              {"sent_by_parts", report.is_sent_by_parts},
              {"hints", hints(report)},
              {"conditions", conditions(report)},
              {"specialise_on", report.analysis.specialisation.slots}};
    if (report.verdict) {
        json["backend"] = verdict(report, *report.verdict);
    }
    // Bytes of a file that are no UTF-8 are shown as what they are not.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace virtaccel::cli

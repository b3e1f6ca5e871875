#pragma once
// What `inspect` tells: for a person as lines, for a program as one JSON object.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/virtaccel/model.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {

// The operators of one kind; `live` and `folded` of them.
struct KindCount {
    tosa::Op op = tosa::Op::unknown;
    std::uint64_t count = 0;
    std::uint64_t live = 0;
    std::uint64_t folded = 0;
    std::uint64_t macs = 0;  // of the live ones
};

struct TypeCount {
    tosa::DType dtype = tosa::DType::unknown;
    std::uint64_t tensors = 0;
    std::uint64_t bytes = 0;
};

// One live operator; taken if there is no reason against it.
struct OperatorVerdict {
    tosa::OperatorIndex index = 0;
    std::string reason;
};

// `status` and `reasons` are the backend's final word; `operators` and `graph_reason` what its
// descriptor says.
struct BackendVerdict {
    std::string_view backend;
    Status status = Status::ok;
    std::vector<std::string> reasons;
    std::vector<OperatorVerdict> operators;
    std::string graph_reason;
};

struct InspectReport {
    const GraphFile& file;
    tosa::Target target;
    const tosa::TargetAnalysis& analysis;
    std::vector<KindCount> kinds;  // in the order of the operators' numbers
    std::vector<TypeCount> types;  // in the order of the types' numbers
    std::uint64_t resident_bytes = 0;
    bool is_sent_by_parts = false;  // it is larger than `frame_bytes`
    std::uint64_t frame_bytes = 0;  // the largest artifact that one frame carries
    std::optional<BackendVerdict> verdict;
};

// The report on a graph whose analysis is `analysis`, which outlives it as `file` does; without a
// verdict.
[[nodiscard]] InspectReport report_on(const GraphFile& file, const tosa::Target& target,
                                      const tosa::TargetAnalysis& analysis);

// "PRO-INT", "PRO-FP".
[[nodiscard]] std::vector<std::string_view> profile_names(tosa::Profiles profiles);
[[nodiscard]] std::vector<std::string_view> extension_names(tosa::Extensions extensions);

[[nodiscard]] std::string to_text(const InspectReport& report);

// One object, without a line end inside or at its end.
[[nodiscard]] std::string to_json(const InspectReport& report);

}  // namespace virtaccel::cli

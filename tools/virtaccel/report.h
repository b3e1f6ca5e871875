#pragma once
// What `run` and `info` tell: for a person as lines, for a program as one JSON object.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/virtaccel/latency.h"
#include "tools/virtaccel/model.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {

// Both ways, measured in turns.
struct Comparison {
    Latency direct;
    Latency loopback;

    // What the stack adds to the median, in percent of the backend alone.
    [[nodiscard]] double overhead_percent() const {
        return 100 * (loopback.p50_ms - direct.p50_ms) / direct.p50_ms;
    }
};

struct RunReport {
    const Model& model;
    std::string_view backend;
    std::string description;
    std::string_view device;
    std::uint32_t repeat = 1;
    double load_ms = 0;
    Latency latency;
    backend::Diagnostics diagnostics;
    std::optional<Comparison> comparison;
};

struct InfoReport {
    std::string_view backend;
    std::string description;
    wire::Config config;
    DeviceIdentity identity;
};

[[nodiscard]] std::string to_text(const RunReport& report);
[[nodiscard]] std::string to_text(const InfoReport& report);

// One object, without a line end inside or at its end.
[[nodiscard]] std::string to_json(const RunReport& report);
[[nodiscard]] std::string to_json(const InfoReport& report);

}  // namespace virtaccel::cli

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <fmt/format.h>

#include "tools/virtaccel/console.h"
#include "tools/virtaccel/identity_words.h"
#include "tools/virtaccel/latency.h"
#include "tools/virtaccel/model.h"
#include "tools/virtaccel/report.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {
namespace {

template <class Value>
std::string row(std::string_view name, const Value& value) {
    return fmt::format("{:<28}{}\n", name, value);
}

std::string times(std::string_view name, const Latency& latency) {
    return fmt::format("{:<20}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}\n", name, latency.min_ms,
                       latency.p50_ms, latency.p90_ms, latency.p99_ms);
}

std::string table(const RunReport& report) {
    std::string text =
        fmt::format("{:<20}{:>10}{:>10}{:>10}{:>10}\n",
                    fmt::format("ms over {} runs", report.repeat), "min", "p50", "p90", "p99");
    if (!report.comparison) {
        return text + times("latency", report.latency);
    }
    text += times("backend alone", report.comparison->direct);
    text += times("through the stack", report.comparison->loopback);
    return text + fmt::format("The stack adds {:+.2f} % to the median.\n",
                              report.comparison->overhead_percent());
}

}  // namespace

std::string to_text(const RunReport& report) {
    std::string text =
        fmt::format("model    {}\nbackend  {}: {}\ndevice   {}\n", visible(report.model.path),
                    report.backend, report.description, report.device);
    for (const auto& input : report.model.inputs()) {
        text += fmt::format("input    {}\n", describe(input));
    }
    for (const auto& output : report.model.outputs()) {
        text += fmt::format("output   {}\n", describe(output));
    }
    return text + fmt::format("load     {:.3f} ms\n", report.load_ms) + table(report);
}

std::string to_text(const InfoReport& report) {
    const DeviceIdentity& device = report.identity;
    const DeviceLimits& limits = device.limits;
    return row("backend", fmt::format("{}: {}", report.backend, report.description)) +
           row("protocol", fmt::format("{}.{}", std::uint16_t{report.config.protocol_major},
                                       std::uint16_t{report.config.protocol_minor})) +
           row("command queues", std::uint16_t{report.config.command_queue_count}) +
           row("max_chain_descriptors", std::uint16_t{report.config.chain_descriptors_max}) +
           row("max_request_bytes", std::uint32_t{report.config.request_bytes_max}) +
           row("max_response_bytes", std::uint32_t{report.config.response_bytes_max}) +
           row("uuid", uuid_text(device.uuid)) +
           row("class", class_name(device.accelerator_class)) + row("vendor_id", device.vendor_id) +
           row("device_id", device.device_id) +
           row("capabilities",
               fmt::to_string(fmt::join(capability_names(device.capabilities), ", "))) +
           row("max_contexts", limits.contexts) +
           row("max_buffers_per_context", limits.buffers_per_context) +
           row("max_programs_per_context", limits.programs_per_context) +
           row("max_queues_per_context", limits.queues_per_context) +
           row("max_events_per_context", limits.events_per_context) +
           row("max_bindings_per_submission", limits.bindings_per_submission) +
           row("max_buffer_bytes", limits.buffer_bytes) +
           row("max_artifact_bytes", limits.artifact_bytes);
}

}  // namespace virtaccel::cli

// This file and inspect_json.cpp alone see the JSON library.

#include <cstdint>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/virtaccel/identity_words.h"
#include "tools/virtaccel/latency.h"
#include "tools/virtaccel/report.h"
#include "tools/virtaccel/tensor_file.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {
namespace {

using Json = nlohmann::ordered_json;

// Bytes of a file that are no UTF-8 are shown as what they are not.
std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_object(const Latency& latency) {
    return {{"min", latency.min_ms},
            {"p50", latency.p50_ms},
            {"p90", latency.p90_ms},
            {"p99", latency.p99_ms}};
}

Json to_list(std::span<const TensorSlot> slots) {
    Json list = Json::array();
    for (const TensorSlot& slot : slots) {
        list.push_back(
            {{"name", slot.name}, {"dtype", tosa::name_of(slot.dtype)}, {"shape", slot.shape}});
    }
    return list;
}

Json to_object(const backend::Diagnostics& counted) {
    return {{"explicit_transfer_bytes", counted.explicit_transfer_bytes},
            {"staged_bytes", counted.staged_bytes},
            {"staged_count", counted.staged_count},
            {"direct_bindings", counted.direct_bindings},
            {"retained_bytes", counted.retained_bytes},
            {"host_preparation_ns", counted.host_preparation_ns},
            {"device_execution_ns", counted.device_execution_ns},
            {"live_resources", counted.live_resources},
            {"indeterminate_resources", counted.indeterminate_resources}};
}

Json to_object(const wire::Config& config) {
    return {{"protocol_major", std::uint16_t{config.protocol_major}},
            {"protocol_minor", std::uint16_t{config.protocol_minor}},
            {"command_queue_count", std::uint16_t{config.command_queue_count}},
            {"max_chain_descriptors", std::uint16_t{config.chain_descriptors_max}},
            {"max_request_bytes", std::uint32_t{config.request_bytes_max}},
            {"max_response_bytes", std::uint32_t{config.response_bytes_max}}};
}

Json to_object(const DeviceIdentity& identity) {
    return {{"uuid", uuid_text(identity.uuid)},
            {"class", class_name(identity.accelerator_class)},
            {"vendor_id", identity.vendor_id},
            {"device_id", identity.device_id},
            {"capabilities", identity.capabilities.bits},
            {"capability_names", capability_names(identity.capabilities)},
            {"max_contexts", identity.limits.contexts},
            {"max_buffers_per_context", identity.limits.buffers_per_context},
            {"max_programs_per_context", identity.limits.programs_per_context},
            {"max_queues_per_context", identity.limits.queues_per_context},
            {"max_events_per_context", identity.limits.events_per_context},
            {"max_bindings_per_submission", identity.limits.bindings_per_submission},
            {"max_buffer_bytes", identity.limits.buffer_bytes},
            {"max_artifact_bytes", identity.limits.artifact_bytes}};
}

}  // namespace

std::string to_json(const RunReport& report) {
    Json json{{"model", report.model.path},
              {"backend", report.backend},
              {"backend_description", report.description},
              {"device", report.device},
              {"repeat", report.repeat},
              {"load_ms", report.load_ms},
              {"latency_ms", to_object(report.latency)}};
    if (report.comparison) {
        json["compare"] = {{"direct_ms", to_object(report.comparison->direct)},
                           {"loopback_ms", to_object(report.comparison->loopback)},
                           {"overhead_percent", report.comparison->overhead_percent()}};
    }
    json["inputs"] = to_list(report.model.inputs());
    json["outputs"] = to_list(report.model.outputs());
    json["diagnostics"] = to_object(report.diagnostics);
    return dump(json);
}

std::string to_json(const InfoReport& report) {
    return dump({{"backend", {{"name", report.backend}, {"description", report.description}}},
                 {"config", to_object(report.config)},
                 {"device", to_object(report.identity)}});
}

}  // namespace virtaccel::cli

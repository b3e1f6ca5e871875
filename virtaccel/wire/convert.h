#pragma once
// Between wire records and the shared vocabulary: the two places where both are spelled side by
// side.

#include <algorithm>
#include <cstdint>

#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::wire {

// `info` in host byte order. `info` has passed its checks.
[[nodiscard]] constexpr DeviceIdentity to_identity(const DeviceInfo& info) {
    return {
        .uuid = info.uuid.bytes,
        .accelerator_class = static_cast<AcceleratorClass>(std::uint16_t{info.accelerator_class}),
        .vendor_id = info.vendor_id,
        .device_id = info.device_id,
        .capabilities = Capabilities{std::uint64_t{info.capabilities}},
        .limits = {.contexts = info.contexts_max,
                   .buffers_per_context = info.buffers_per_context_max,
                   .programs_per_context = info.programs_per_context_max,
                   .queues_per_context = info.queues_per_context_max,
                   .events_per_context = info.events_per_context_max,
                   .bindings_per_submission = info.bindings_per_submission_max,
                   .buffer_bytes = info.buffer_bytes_max,
                   .artifact_bytes = info.artifact_bytes_max},
    };
}

// The record that says `identity`.
[[nodiscard]] constexpr DeviceInfo to_record(const DeviceIdentity& identity) {
    DeviceInfo info;
    info.uuid.bytes = identity.uuid;
    info.accelerator_class = static_cast<std::uint16_t>(identity.accelerator_class);
    info.vendor_id = identity.vendor_id;
    info.device_id = identity.device_id;
    info.capabilities = identity.capabilities.bits;
    info.contexts_max = identity.limits.contexts;
    info.buffers_per_context_max = identity.limits.buffers_per_context;
    info.programs_per_context_max = identity.limits.programs_per_context;
    info.queues_per_context_max = identity.limits.queues_per_context;
    info.events_per_context_max = identity.limits.events_per_context;
    info.bindings_per_submission_max = identity.limits.bindings_per_submission;
    info.buffer_bytes_max = identity.limits.buffer_bytes;
    info.artifact_bytes_max = identity.limits.artifact_bytes;
    return info;
}

// What a frame between a device of `identity` and its driver may hold, under `config`.
[[nodiscard]] constexpr FrameLimits frame_limits(const Config& config,
                                                 const DeviceIdentity& identity) {
    return {
        .request_bytes_max = config.request_bytes_max,
        .response_bytes_max = config.response_bytes_max,
        .bindings_max = std::min(protocol::bindings_max, identity.limits.bindings_per_submission),
        .buffer_bytes_max = identity.limits.buffer_bytes,
        .artifact_bytes_max = identity.limits.artifact_bytes,
        .capabilities = identity.capabilities,
    };
}

}  // namespace virtaccel::wire

#pragma once
// What a backend may say about itself. The device fetches the identity once, has it judged here,
// and does not start on a bad one; a guest would refuse such a device anyway (spec §5, "What the
// driver checks").

#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

// True if every limit is nonzero and the bindings are within the protocol's hard limit.
[[nodiscard]] constexpr bool are_limits(const DeviceLimits& limits) {
    return limits.contexts != 0 && limits.buffers_per_context != 0 &&
           limits.programs_per_context != 0 && limits.queues_per_context != 0 &&
           limits.events_per_context != 0 && limits.bindings_per_submission != 0 &&
           limits.bindings_per_submission <= protocol::bindings_max && limits.buffer_bytes != 0 &&
           limits.artifact_bytes != 0;
}

// OK; INCOMPATIBLE for a reserved capability or for no memory domain at all; INVALID_ARGUMENT for a
// limit that is zero or, for bindings, over 4096. Unknown capability bits are kept and mean
// nothing.
[[nodiscard]] constexpr Status validate(const DeviceIdentity& identity) {
    if (identity.capabilities.has_any(capabilities_reserved) ||
        !identity.capabilities.has_any(capabilities_memory)) {
        return Status::incompatible;
    }
    return are_limits(identity.limits) ? Status::ok : Status::invalid_argument;
}

}  // namespace virtaccel::backend

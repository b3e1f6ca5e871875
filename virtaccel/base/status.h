#pragma once
// The protocol's status codes (spec §2, "Status"). A value received from the other side may be none
// of these: it stays representable, and is an opaque failure, never success.

#include <cstdint>
#include <string_view>

namespace virtaccel {

enum class Status : std::uint16_t {
    ok = 0,
    unsupported = 1,
    incompatible = 2,
    invalid_argument = 3,
    out_of_bounds = 4,
    busy = 5,
    out_of_memory = 6,
    resource_limit = 7,
    deadline_expired = 8,
    device_lost = 9,
    permission_denied = 10,
    stale_object = 11,
    internal_error = 65535,
};

// One row of the status table: the protocol's spelling and what it tells a guest.
struct StatusRow {
    Status status;
    std::string_view name;
    std::string_view meaning;
};

inline constexpr StatusRow status_rows[] = {
    {Status::ok, "OK", "The command took effect."},
    {Status::unsupported, "UNSUPPORTED", "An opcode, flag, bit or feature that is not offered."},
    {Status::incompatible, "INCOMPATIBLE", "Well formed, but not for this device or program."},
    {Status::invalid_argument, "INVALID_ARGUMENT", "Malformed bytes or a value out of its domain."},
    {Status::out_of_bounds, "OUT_OF_BOUNDS", "A range that leaves its object."},
    {Status::busy, "BUSY", "The object is in use, or the event is already decided."},
    {Status::out_of_memory, "OUT_OF_MEMORY", "The host has no memory for this now."},
    {Status::resource_limit, "RESOURCE_LIMIT",
     "A frame, binding, object or quota limit is exceeded."},
    {Status::deadline_expired, "DEADLINE_EXPIRED", "The submission's timeout passed."},
    {Status::device_lost, "DEVICE_LOST",
     "The device can no longer vouch for this object or itself."},
    {Status::permission_denied, "PERMISSION_DENIED", "The buffer's usage does not allow this."},
    {Status::stale_object, "STALE_OBJECT", "The ID names no live object of this kind and context."},
    {Status::internal_error, "INTERNAL_ERROR", "A fault of the host that has no better name."},
};

// The protocol's spelling of `status`, or "UNKNOWN" for a value the protocol does not assign.
[[nodiscard]] constexpr std::string_view status_name(Status status) {
    for (const StatusRow& row : status_rows) {
        if (row.status == status) {
            return row.name;
        }
    }
    return "UNKNOWN";
}

// True if the protocol assigns `status` a meaning.
[[nodiscard]] constexpr bool is_known(Status status) {
    switch (status) {
        case Status::ok:
        case Status::unsupported:
        case Status::incompatible:
        case Status::invalid_argument:
        case Status::out_of_bounds:
        case Status::busy:
        case Status::out_of_memory:
        case Status::resource_limit:
        case Status::deadline_expired:
        case Status::device_lost:
        case Status::permission_denied:
        case Status::stale_object:
        case Status::internal_error:
            return true;
    }
    return false;
}

}  // namespace virtaccel

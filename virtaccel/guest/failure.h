#pragma once
// Why an operation did not succeed. The one thing to know: `kind` says what still holds afterwards
// and so what a caller may do next; `status` and `cause` are for telling a person.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "virtaccel/base/status.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {

// What still holds after a failure (spec §5, "What the driver checks").
enum class FailureKind : std::uint8_t {
    backpressure,       // not sent: take a completion, then call again with the same chain
    not_sent,           // not sent: the call breaks a rule or a limit; the device never saw it
    retryable,          // refused by the device: nothing changed, every handle stays good
    invalidated,        // the object, or after a reset every object, is gone
    indeterminate,      // DEVICE_LOST: nobody knows; a released object is gone; reset the device
    unknown_status,     // a status 1.0 does not assign: never success, nothing else is known
    recovery_required,  // the device broke the rules or does not answer: reset it before going on
};

// What was noticed, and by whom.
enum class Cause : std::uint8_t {
    answer,         // the device answered with `status`
    queue_full,     // the ring or the request table has no room
    request,        // the request breaks a rule of the protocol or a limit of the device
    chain_busy,     // the chain is still in flight
    chain_room,     // the chain's area or piece list is too small for the request
    handle,         // the handle is empty, of another client, or from before a reset
    client_closed,  // the client waits for a reset
    ring,           // the ring is broken, or completed what was never posted
    used_bytes,     // the used length disagrees with the response or the command
    response,       // the response header has flags set or another request's ID
    reply,          // the reply holds a value that 1.0 does not allow
    time,           // the time to wait ran out
    reset,          // a reset ended the request
    event,          // the submission's event ended as failed or cancelled
    memory,         // the guest's own memory is used up
    config,         // the device has no configuration of protocol 1, or none at all
    parts,          // the artifact needs more than a frame, and the device does not join parts
};

// `status` is the device's answer if `cause` is `answer`, the event's error if it is `event`, else
// the nearest status. Eight bytes, aligned, so that an Outcome travels in two registers.
struct alignas(8) Failure {
    Status status = Status::internal_error;
    wire::Opcode opcode = wire::Opcode::get_device_info;
    FailureKind kind = FailureKind::not_sent;
    Cause cause = Cause::request;

    friend constexpr bool operator==(const Failure&, const Failure&) = default;
};

// A value, or why there is none.
template <class T>
using Outcome = std::expected<T, Failure>;

// What a device's answer `status` (not OK) to any command means for its objects (spec §5, "What the
// driver checks": a stale object is invalidated, a lost device indeterminate).
[[nodiscard]] constexpr FailureKind kind_of_answer(Status status) {
    if (status == Status::stale_object) {
        return FailureKind::invalidated;
    }
    if (status == Status::device_lost) {
        return FailureKind::indeterminate;
    }
    return is_known(status) ? FailureKind::retryable : FailureKind::unknown_status;
}

// Room that is always enough for `describe`.
inline constexpr std::size_t description_bytes_max = 320;

// `failure` as full sentences for a person, written into `room` (cut off at its end) and returned
// as the part written. Allocates nothing.
[[nodiscard]] std::string_view describe(const Failure& failure, std::span<char> room);

}  // namespace virtaccel::guest

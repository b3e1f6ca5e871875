#include "virtaccel/guest/failure.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/status.h"
#include "virtaccel/base/text.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {
namespace {

std::string_view meaning(Status status) {
    const auto* const row = std::ranges::find(status_rows, status, &StatusRow::status);
    return row == std::end(status_rows) ? "Protocol 1.0 does not assign this status."
                                        : row->meaning;
}

// What was noticed, up to the word that the command's name follows.
std::string_view finding(Cause cause) {
    switch (cause) {
        case Cause::answer:
            return "The device refuses the command";
        case Cause::queue_full:
            return "The queue has no room for the command";
        case Cause::request:
            return "The request breaks a rule or a limit of the device, in the command";
        case Cause::chain_busy:
            return "The chain is still in flight with an earlier request, at the command";
        case Cause::chain_room:
            return "The chain has too little room for the command";
        case Cause::handle:
            return "A handle is empty, of another client or from before a reset, at the command";
        case Cause::client_closed:
            return "The client waits for a reset and sends nothing, at the command";
        case Cause::ring:
            return "The device breaks the rules of the ring, at the command";
        case Cause::used_bytes:
            return "The device reports a wrong length of its response to the command";
        case Cause::response:
            return "The device sends a response header that 1.0 forbids to the command";
        case Cause::reply:
            return "The device sends a value that 1.0 forbids in its reply to the command";
        case Cause::time:
            return "The time to wait is over, at the command";
        case Cause::reset:
            return "A reset ends the command";
        case Cause::event:
            return "The submitted work ends without success, after the command";
        case Cause::memory:
            return "The guest has no memory left for the command";
        case Cause::config:
            return "The device has no configuration that protocol 1 allows, at the command";
        case Cause::parts:
            break;  // has a sentence of its own
    }
    return "The operation fails, at the command";
}

std::string_view advice(FailureKind kind) {
    switch (kind) {
        case FailureKind::backpressure:
            return "Take a completion, then call again.";
        case FailureKind::not_sent:
            return "Nothing was sent: correct the call.";
        case FailureKind::retryable:
            return "Nothing was lost: correct the request, or try again later.";
        case FailureKind::invalidated:
            return "The object is gone: make a new one.";
        case FailureKind::indeterminate:
            return "Nobody knows what took effect: reset the device and start anew.";
        case FailureKind::unknown_status:
            return "Treat it as a failure, and update the client.";
        case FailureKind::recovery_required:
            return "Reset the device and start anew.";
    }
    return "";
}

}  // namespace

std::string_view describe(const Failure& failure, std::span<char> room) {
    Text text{room};
    if (failure.cause == Cause::parts) {
        text << "The artifact is larger than one frame, and the device does not join parts "
                "(LOAD_PROGRAM of the first one answers "
             << status_name(failure.status)
             << "): choose a smaller artifact, or a device that follows spec/parts.md.";
        return text.written();
    }
    text << finding(failure.cause) << " ("
         << wire::opcode_name(static_cast<std::uint16_t>(failure.opcode)) << ")";
    if (is_known(failure.status)) {
        text << " with the status (" << status_name(failure.status) << "). ";
    } else {
        text << " with the status (" << static_cast<std::uint16_t>(failure.status) << "). ";
    }
    text << meaning(failure.status) << " " << advice(failure.kind);
    return text.written();
}

}  // namespace virtaccel::guest

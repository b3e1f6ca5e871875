#pragma once
// What a backend is: the operations a device calls, and the truths they must tell (spec §6). An
// implementer writes a class that satisfies `concept Backend`; everyone else uses `AnyBackend`
// (any_backend.h). The one thing to know: every failure says who owns what afterwards, and the two
// kinds of failure, *rejected* (nothing happened) and *indeterminate* (nobody knows), never mix.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

// What stands behind an object on the backend's side: sixteen bytes that only the backend reads.
// The device owns each handle linearly: it is released once, or quarantined and never used again.
template <class KindTag>
struct Handle {
    void* object = nullptr;
    std::uint64_t word = 0;
    friend constexpr bool operator==(const Handle&, const Handle&) = default;
};

using ContextHandle = Handle<ContextKind>;
using BufferHandle = Handle<BufferKind>;
using ProgramHandle = Handle<ProgramKind>;
using QueueHandle = Handle<QueueKind>;
using EventHandle = Handle<EventKind>;

// A prepared, not yet loaded artifact.
struct PreparedKind;
using PreparedHandle = Handle<PreparedKind>;

// How far an operation got that gives something up or takes something on.
enum class Certainty : std::uint8_t {
    done,           // it happened
    rejected,       // nothing happened; whatever was owned before is owned now
    indeterminate,  // nobody knows; the object must never be used again
};

// The end of a release. `status` is not OK exactly when it is not `done`.
struct ReleaseOutcome {
    Certainty certainty = Certainty::done;
    Status status = Status::ok;

    [[nodiscard]] static constexpr ReleaseOutcome released() { return {}; }

    [[nodiscard]] static constexpr ReleaseOutcome rejected(Status why) {
        return {Certainty::rejected, why};
    }

    [[nodiscard]] static constexpr ReleaseOutcome lost(Status why = Status::device_lost) {
        return {Certainty::indeterminate, why};
    }
};

// What a guest asks of a buffer. `alignment` is a power of two, `bytes` is nonzero.
struct BufferRequest {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 1;
    MemoryDomain domain = MemoryDomain::host;
    Usage usage{};
    friend constexpr bool operator==(const BufferRequest&, const BufferRequest&) = default;
};

// What an allocation really is. `shared` domains must be host-visible and directly bound;
// program-usable buffers must be directly bound (spec §6).
struct MemoryProperties {
    bool host_visible = false;
    bool device_local = false;
    bool direct_binding = false;
    friend constexpr bool operator==(const MemoryProperties&, const MemoryProperties&) = default;
};

// An honest report of a new, zeroed buffer. `descriptor` repeats the request; `backing_bytes` is
// what the host really spends (at least `descriptor.bytes`); `alignment` is the real one.
struct Allocation {
    BufferHandle buffer{};
    BufferRequest descriptor{};
    std::uint64_t backing_bytes = 0;
    std::uint64_t alignment = 0;
    MemoryProperties properties{};
};

// Where a backend says why it refuses an artifact: one full sentence per reason. May be called from
// the thread that runs `prepare`; `line` does not outlive the call.
struct RefusalSink {
    void* state = nullptr;
    void (*say)(void* state, std::string_view line) = nullptr;

    void operator()(std::string_view line) const {
        if (say != nullptr) {
            say(state, line);
        }
    }
};

// An artifact as the guest sent it. `payload` reads bytes shared with the guest: copy, check the
// copy, use the copy. If `stable` is not empty, it is all of the payload in one piece of the host's
// own memory, at an address that is a multiple of 64: nobody changes it, so there is nothing to
// copy. Both are valid during `prepare` only.
struct Artifact {
    std::uint32_t format = 0;
    TargetWords target{};
    std::uint64_t resident_bytes_max = 0;
    Reader payload{};
    RefusalSink refusals{};
    std::span<const std::byte> stable{};
};

// A loaded program; `resident_bytes` (at most the artifact's ceiling) is what it keeps.
struct LoadedProgram {
    ProgramHandle program{};
    std::uint64_t resident_bytes = 0;
};

// A program slot bound to a range that lies inside its buffer and agrees with its usage.
struct Binding {
    BufferHandle buffer{};
    ByteRange range{};
    std::uint32_t slot = 0;
    Access access = Access::read;
};

// One submission. `bindings` are in ascending slot order, slots unique, borrowed for the call;
// `timeout_ns` is relative to admission, zero for none.
struct Submission {
    QueueHandle queue{};
    ProgramHandle program{};
    std::span<const Binding> bindings{};
    std::uint64_t timeout_ns = 0;
};

// Accepted and indeterminate submissions own an event; a rejected one retained nothing.
struct SubmitOutcome {
    Certainty certainty = Certainty::rejected;
    Status status = Status::internal_error;
    EventHandle event{};

    [[nodiscard]] static constexpr SubmitOutcome accepted(EventHandle event) {
        return {Certainty::done, Status::ok, event};
    }

    [[nodiscard]] static constexpr SubmitOutcome rejected(Status why) {
        return {Certainty::rejected, why, {}};
    }

    [[nodiscard]] static constexpr SubmitOutcome indeterminate(Status why, EventHandle event) {
        return {Certainty::indeterminate, why, event};
    }
};

// Where an event stands. `error` is not OK exactly when `phase` is failed. Terminal states are
// stable.
struct EventStatus {
    EventPhase phase = EventPhase::pending;
    Status error = Status::ok;
    friend constexpr bool operator==(const EventStatus&, const EventStatus&) = default;
};

// Counters since the backend was made, for conformance, logs and tables. `staged` counts bytes of
// bound ranges that went through another allocation (zero in a sound backend); `live_resources`
// counts what the backend holds for its caller, `indeterminate_resources` what it can no longer
// vouch for.
struct Diagnostics {
    std::uint64_t explicit_transfer_bytes = 0;
    std::uint64_t staged_bytes = 0;
    std::uint64_t staged_count = 0;
    std::uint64_t direct_bindings = 0;
    std::uint64_t retained_bytes = 0;
    std::uint64_t host_preparation_ns = 0;
    std::uint64_t device_execution_ns = 0;
    std::uint64_t live_resources = 0;
    std::uint64_t indeterminate_resources = 0;
};

// Called by a backend, from any thread, after some event became terminal. Polling stays the only
// truth.
struct Notifier {
    void* state = nullptr;
    void (*notify)(void* state) = nullptr;
};

// The contract. All calls but `prepare` and `abandon` come from one thread; none may block for
// long.
//
// identity        who it is, and its limits; the same on every call
// name            the short name a user picks it by ("cpu"), and in `description` what runs it
// create_*        a handle, or a status and nothing retained
// destroy_*       gives a handle up; its children and references are gone (the device's duty)
// allocate        a zeroed buffer with an honest report
// write, read     move all of `source` or `target` between the guest's pieces and a range that lies
//                 in the buffer, one memcpy per piece; a failed write leaves the range unspecified
// prepare         checks and compiles an artifact; pure; any thread; may be abandoned
// load            makes a prepared artifact resident in a context; consumes it, also on failure
// submit          starts a program; see SubmitOutcome
// poll            an event's state, or DEVICE_LOST
// cancel          OK: cancelled. BUSY: already terminal. UNSUPPORTED: cannot
// destroy_event   a terminal event only, without changing what it is: BUSY while it is pending, and
//                 DEVICE_LOST, with nothing destroyed, if that is what it failed with
// set_notifier    may be ignored by a backend whose events end inside its calls
//
// DEVICE_LOST from any of them makes the whole instance discard-only. The end of an instance gives
// back all that it still holds, live or not: so the device discards one.
template <class B>
concept Backend =
    requires(B& b, const B& c, ContextHandle context, BufferHandle buffer, ProgramHandle program,
             QueueHandle queue, EventHandle event, PreparedHandle prepared,
             const BufferRequest& request, const Artifact& artifact, const Submission& submission,
             Reader& source, Writer& target, std::uint64_t offset, Notifier notifier) {
        { c.name() } -> std::same_as<std::string_view>;
        { c.description() } -> std::same_as<std::string_view>;
        { c.identity() } -> std::same_as<DeviceIdentity>;
        { c.diagnostics() } -> std::same_as<Diagnostics>;
        { b.set_notifier(notifier) } -> std::same_as<void>;
        { b.create_context() } -> std::same_as<Result<ContextHandle>>;
        { b.destroy_context(context) } -> std::same_as<ReleaseOutcome>;
        { b.allocate(context, request) } -> std::same_as<Result<Allocation>>;
        { b.free(buffer) } -> std::same_as<ReleaseOutcome>;
        { b.write(buffer, offset, source) } -> std::same_as<Status>;
        { b.read(buffer, offset, target) } -> std::same_as<Status>;
        { b.prepare(artifact) } -> std::same_as<Result<PreparedHandle>>;
        { b.abandon(prepared) } -> std::same_as<void>;
        { b.load(context, prepared) } -> std::same_as<Result<LoadedProgram>>;
        { b.unload(program) } -> std::same_as<ReleaseOutcome>;
        { b.create_queue(context) } -> std::same_as<Result<QueueHandle>>;
        { b.destroy_queue(queue) } -> std::same_as<ReleaseOutcome>;
        { b.submit(submission) } -> std::same_as<SubmitOutcome>;
        { b.poll(event) } -> std::same_as<Result<EventStatus>>;
        { b.cancel(event) } -> std::same_as<Status>;
        { b.destroy_event(event) } -> std::same_as<ReleaseOutcome>;
    };

}  // namespace virtaccel::backend

#pragma once
// A backend that does what a test tells it: keeps buffers in ordinary memory, completes every event
// at once, and, for one call, fails, loses or lies as asked. It counts its calls and audits that
// the device owns each handle linearly.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::device::testing {

enum class Operation : std::uint8_t {
    create_context,
    destroy_context,
    allocate,
    free,
    write,
    read,
    prepare,
    abandon,
    load,
    unload,
    create_queue,
    destroy_queue,
    submit,
    poll,
    cancel,
    destroy_event,
};
inline constexpr std::size_t operation_count = 16;

// How one call ends. `certainty` matters to releases and submissions.
struct Ending {
    Status status = Status::ok;
    backend::Certainty certainty = backend::Certainty::done;

    static constexpr Ending rejected(Status status) {
        return {status, backend::Certainty::rejected};
    }

    static constexpr Ending lost(Status status = Status::device_lost) {
        return {status, backend::Certainty::indeterminate};
    }
};

class ScriptedBackend {
  public:
    ScriptedBackend();
    ScriptedBackend(const ScriptedBackend&) = delete;
    ScriptedBackend& operator=(const ScriptedBackend&) = delete;
    // Frees the bytes of buffers that were never freed.
    ~ScriptedBackend();

    // The next call of `operation` ends like that. One call only.
    void next(Operation operation, Ending ending);
    // What `next` said and was not used up.
    [[nodiscard]] bool has_endings_left() const;

    [[nodiscard]] std::uint32_t calls(Operation operation) const;
    // Of all operations but `poll`, `identity` and the like.
    [[nodiscard]] std::uint32_t calls() const;

    // Handles that are owned by the device now.
    [[nodiscard]] std::uint32_t live() const { return live_count_; }

    // Uses of a handle that the device does not own.
    [[nodiscard]] std::uint32_t misuses() const { return misuses_; }

    // The order in which handles were released: their operations, oldest first.
    [[nodiscard]] std::span<const Operation> releases() const;
    // What the last submission carried.
    [[nodiscard]] std::span<const backend::Binding> bindings() const;

    // What the next calls say; tests set them.
    DeviceIdentity shown;
    backend::EventStatus event_status{.phase = EventPhase::complete};
    // If set, what `poll` says after the next cancellation.
    std::optional<backend::EventStatus> after_cancel;
    std::uint64_t resident_bytes = 64;
    std::uint64_t timeout_ns = 0;  // of the last submission
    // Of the last artifact that was prepared: its format, the first bytes of its payload and their
    // number in all, and whether they are also there to be used in place.
    std::uint32_t artifact_format = 0;
    std::array<std::byte, 256> artifact_start{};
    std::uint64_t artifact_bytes = 0;
    bool artifact_is_stable = false;
    // If set, changes the report of each allocation.
    void (*forge)(backend::Allocation& report) = nullptr;

    // The contract (backend/contract.h).
    [[nodiscard]] std::string_view name() const { return "scripted"; }

    [[nodiscard]] std::string_view description() const { return "what a test says"; }

    [[nodiscard]] DeviceIdentity identity() const { return shown; }

    [[nodiscard]] backend::Diagnostics diagnostics() const { return {}; }

    void set_notifier(backend::Notifier /*notifier*/) { ++notifiers; }

    Result<backend::ContextHandle> create_context();
    backend::ReleaseOutcome destroy_context(backend::ContextHandle context);
    Result<backend::Allocation> allocate(backend::ContextHandle context,
                                         const backend::BufferRequest& request);
    backend::ReleaseOutcome free(backend::BufferHandle buffer);
    Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source);
    Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target);
    Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);
    void abandon(backend::PreparedHandle prepared);
    Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                        backend::PreparedHandle prepared);
    backend::ReleaseOutcome unload(backend::ProgramHandle program);
    Result<backend::QueueHandle> create_queue(backend::ContextHandle context);
    backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue);
    backend::SubmitOutcome submit(const backend::Submission& submission);
    Result<backend::EventStatus> poll(backend::EventHandle event);
    Status cancel(backend::EventHandle event);
    backend::ReleaseOutcome destroy_event(backend::EventHandle event);

    std::uint32_t notifiers = 0;     // how often a notifier was set
    bool partial_transfers = false;  // transfers leave their last byte and say OK

  private:
    static constexpr std::size_t handles_max = 1U << 16U;

    // Counts a call and takes the ending prepared for it.
    Ending begin(Operation operation);
    // A handle that the device owns from now on.
    template <class Handle>
    Result<Handle> make(Operation operation);
    template <class Handle>
    backend::ReleaseOutcome release(Operation operation, const Handle& handle);
    void use(std::uint64_t word);
    void end(std::uint64_t word);
    std::uint64_t own();

    std::array<std::optional<Ending>, operation_count> endings_{};
    std::array<std::uint32_t, operation_count> calls_{};
    std::array<bool, handles_max> live_{};
    std::array<std::byte*, handles_max> bytes_{};
    std::array<Operation, handles_max> releases_{};
    std::array<backend::Binding, protocol::bindings_max> bindings_{};
    std::uint32_t handle_count_ = 0;
    std::uint32_t live_count_ = 0;
    std::uint32_t misuses_ = 0;
    std::uint32_t release_count_ = 0;
    std::size_t binding_count_ = 0;
};

static_assert(backend::Backend<ScriptedBackend>);

}  // namespace virtaccel::device::testing

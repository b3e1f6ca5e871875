#pragma once
// The reference backend (spec §9): four operations, no hardware, and no will of its own. The one
// thing to know: the harness decides when each event ends, from any thread, and one
// compare-exchange per event decides between execution, cancellation and injected failure.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/backend/pool.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::mock {

// Who the reference backend is in the canonical vectors and traces.
inline constexpr DeviceIdentity reference_identity{
    .uuid = {'v', 'i', 'r', 't', 'i', 'o', '-', 'a', 'c', 'c', 'e', 'l', 'm', 'o', 'c', 'k'},
    .accelerator_class = AcceleratorClass::npu,
    .capabilities = capabilities_memory | CapabilityBit::event_cancellation,
    .limits = {.contexts = 64,
               .buffers_per_context = 1024,
               .programs_per_context = 256,
               .queues_per_context = 16,
               .events_per_context = 4096,
               .bindings_per_submission = 256,
               .buffer_bytes = 4096,
               .artifact_bytes = 4000},
};

// When an event ends by itself.
enum class CompleteAt : std::uint8_t {
    submit,  // before SUBMIT is answered
    poll,    // at the first poll, or later: see `pending_polls`
    never,   // only when the harness says so
};

struct ReferenceOptions {
    // Without the cancellation capability, `cancel` answers UNSUPPORTED.
    DeviceIdentity identity = reference_identity;
    CompleteAt complete_at = CompleteAt::poll;
    // With CompleteAt::poll: how many polls of an event find it pending first.
    std::uint32_t pending_polls = 0;
    backend::HostBufferOptions buffers{};
};

class Reference {
  public:
    // `memory` outlives this, and is used from every thread that runs `prepare`.
    explicit Reference(const Memory& memory, const ReferenceOptions& options = {}) noexcept;

    [[nodiscard]] std::string_view name() const { return "mock"; }

    [[nodiscard]] std::string_view description() const { return "the reference backend"; }

    [[nodiscard]] DeviceIdentity identity() const { return options_.identity; }

    [[nodiscard]] backend::Diagnostics diagnostics() const;

    // To be set while no event is pending. Called for every event that ends, on the thread that
    // ends it.
    void set_notifier(backend::Notifier notifier) { notifier_ = notifier; }

    [[nodiscard]] Result<backend::ContextHandle> create_context();
    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle context);

    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle context,
                                                       const backend::BufferRequest& request);
    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer);
    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source);
    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target);

    // UNSUPPORTED for another format; then INCOMPATIBLE for other target words or resident bytes;
    // then as `decode` of reference_artifact.h.
    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);
    void abandon(backend::PreparedHandle prepared);
    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared);
    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program);

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context);
    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue);

    // INCOMPATIBLE if the bindings are not what the program wants. Any timeout is accepted, and
    // none ever expires: there is no clock here.
    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission);
    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event);
    [[nodiscard]] Status cancel(backend::EventHandle event);
    // BUSY while pending; DEVICE_LOST, not destroyed, if the event failed with DEVICE_LOST.
    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event);

    // For the harness, from any thread. The event pending for longest, or nothing.
    [[nodiscard]] std::optional<backend::EventHandle> oldest_pending();

    // Executes a pending event and completes it; false if it is already decided.
    bool complete(backend::EventHandle event);

    // Ends a pending event as failed, unexecuted; false if it is already decided. DEVICE_LOST is
    // the injected loss of the device.
    bool fail_event(backend::EventHandle event, Status error);

    // Completes what is pending, oldest first; how many.
    std::size_t complete_all();

  private:
    // What a submission does, with its ranges resolved.
    struct Execution {
        Operation operation = Operation::barrier;
        std::byte operand{0};
        const std::byte* source = nullptr;
        std::byte* target = nullptr;
        std::size_t bytes = 0;
    };

    struct EventRecord {
        backend::EventCell cell;
        // Which submission this was; read by a harness that looks for the oldest.
        std::atomic<std::uint64_t> order = 0;
        std::uint32_t pending_polls = 0;
        Execution execution;
    };

    using Events = backend::EventPool<EventRecord>;

    [[nodiscard]] static Result<Execution> bind(const ReferenceProgram& program,
                                                std::span<const backend::Binding> bindings);
    static void execute(const Execution& execution);
    void notify() const;

    Memory memory_;
    ReferenceOptions options_;
    backend::HostBuffers buffers_;
    backend::Pool<ReferenceProgram> programs_;
    Events events_;
    backend::Notifier notifier_;
    backend::Diagnostics counters_;
    std::uint64_t contexts_ = 0;
    std::uint64_t live_programs_ = 0;
    std::uint64_t queues_ = 0;
    std::uint64_t submissions_ = 0;
    std::atomic<std::uint64_t> lost_events_ = 0;
};

static_assert(backend::Backend<Reference>);

}  // namespace virtaccel::mock

#pragma once
// The backend that runs nothing: the one to copy when a new one is started, and the one to test
// with when refusal is the point. The one thing to know: contexts, buffers and queues are real,
// made by what backends share, because every backend needs them; every artifact is refused with a
// reason, so there is never a program, and so never an event.

#include <cstdint>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::null {

// Who it is, the same on every call. A copy says what its accelerator is, what memory it has and
// what it can hold: the device refuses a reserved capability, no memory domain or a limit of zero
// (virtaccel/backend/identity.h) and sees to every limit itself. A backend that cannot cancel
// leaves `event_cancellation` out and is never asked to.
inline constexpr DeviceIdentity identity{
    .uuid = {'v', 'i', 'r', 't', 'a', 'c', 'c', 'e', 'l', '-', 'n', 'u', 'l', 'l', '-', '1'},
    .accelerator_class = AcceleratorClass::other,
    .capabilities = CapabilityBit::host_visible_memory,
    .limits = {.contexts = 64,
               .buffers_per_context = 1024,
               .programs_per_context = 1,
               .queues_per_context = 16,
               .events_per_context = 1,
               .bindings_per_submission = 256,
               .buffer_bytes = std::uint64_t{1} << 30U,
               .artifact_bytes = std::uint64_t{16} << 20U},
};

class NullBackend {
  public:
    // `memory` outlives this. Nothing that can fail is done here: a copy that must open a library
    // or a device does so before, in the function its factory calls, and passes in what it opened.
    explicit NullBackend(const Memory& memory) noexcept;

    [[nodiscard]] std::string_view name() const { return "null"; }

    [[nodiscard]] std::string_view description() const { return "refuses every program"; }

    [[nodiscard]] DeviceIdentity identity() const { return null::identity; }

    [[nodiscard]] backend::Diagnostics diagnostics() const;

    // Ignored: no event ever ends here. A copy whose events end on another thread calls it there.
    void set_notifier(backend::Notifier /*notifier*/) {}

    // Never fails: a context holds nothing. A copy that needs something of a vendor's for each
    // context keeps it in a `backend::Pool` and puts a pointer to it into the handle.
    [[nodiscard]] Result<backend::ContextHandle> create_context();
    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle context);

    // Buffers in the host's memory (virtaccel/backend/host_buffer.h). A copy with memory of its own
    // reports what it really got: the device gives back a buffer that falls short.
    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle context,
                                                       const backend::BufferRequest& request);
    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer);
    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source);
    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target);

    // UNSUPPORTED, with the reason. A copy checks format (UNSUPPORTED), target words (INCOMPATIBLE)
    // and bytes here, compiles, and gives the sink one full sentence for each reason against. It
    // runs on any thread, so it touches nothing but the artifact and what it makes.
    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);

    // The rest is never called, as nothing was ever prepared. The comments are for a copy.

    // Frees what `prepare` made and nobody loads.
    void abandon(backend::PreparedHandle prepared);
    // Consumes what was prepared, also when it fails. Reports what the program keeps, which is at
    // most the artifact's ceiling.
    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared);
    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program);

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context);
    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue);

    // Checks the bindings against the program (INCOMPATIBLE), takes a record from a
    // `backend::EventPool`, starts the work and returns at once. No copy of a bound range.
    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission);
    // Where the event stands. A terminal state never changes.
    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event);
    // One compare-exchange (`backend::EventCell`) decides between this and the work's own end.
    [[nodiscard]] Status cancel(backend::EventHandle event);
    // BUSY while pending.
    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event);

  private:
    backend::HostBuffers buffers_;
    std::uint64_t contexts_ = 0;
    std::uint64_t queues_ = 0;
};

// Says at once, and by the missing name, what a copy has forgotten.
static_assert(backend::Backend<NullBackend>);

}  // namespace virtaccel::backends::null

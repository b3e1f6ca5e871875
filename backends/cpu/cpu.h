#pragma once
// The embedded default backend: TOSA models on the processor this runs on. The one thing to know:
// everything a run needs is made by `prepare`; a submission fills in the addresses of the caller's
// buffers and hands over to a worker thread, and neither of them allocates.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/cpu/executor.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/event_pool.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backends::cpu {

inline constexpr DeviceIdentity identity{
    .uuid = {'v', 'i', 'r', 't', 'a', 'c', 'c', 'e', 'l', '-', 'c', 'p', 'u', '-', '0', '1'},
    .accelerator_class = AcceleratorClass::other,
    .capabilities = Capabilities{CapabilityBit::host_visible_memory} |
                    CapabilityBit::event_cancellation | CapabilityBit::shared_memory,
    .limits = {.contexts = 64,
               .buffers_per_context = 4096,
               .programs_per_context = 256,
               .queues_per_context = 16,
               .events_per_context = 4096,
               .bindings_per_submission = 256,
               .buffer_bytes = std::uint64_t{1} << 30U,
               .artifact_bytes = std::uint64_t{256} << 20U},
};

struct Options {
    // Threads that compute one submission together, at least 1, at most `threads_max`.
    std::uint32_t threads = 1;

    static constexpr std::uint32_t threads_max = 256;
};

class CpuBackend {
  public:
    // `memory` outlives this and is used from every thread that runs `prepare`. Use `make`.
    CpuBackend(const Memory& memory, const Options& options, std::unique_ptr<Executor> executor,
               std::string description) noexcept;
    CpuBackend(const CpuBackend&) = delete;
    CpuBackend& operator=(const CpuBackend&) = delete;
    // Waits for the step that is running; what was submitted after it never starts.
    ~CpuBackend();

    [[nodiscard]] std::string_view name() const { return "cpu"; }

    // "TOSA on oneDNN 2.6.3, AVX512_CORE, 1 thread".
    [[nodiscard]] std::string_view description() const { return description_; }

    [[nodiscard]] DeviceIdentity identity() const { return cpu::identity; }

    [[nodiscard]] backend::Diagnostics diagnostics() const;

    // To be set while no event is pending. Called on the thread that ends an event.
    void set_notifier(backend::Notifier notifier) { executor_->set_notifier(notifier); }

    [[nodiscard]] Result<backend::ContextHandle> create_context();
    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle context);

    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle context,
                                                       const backend::BufferRequest& request);
    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer);
    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source);
    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target);

    // UNSUPPORTED for another format or an operator that is not here (a sentence for each);
    // INCOMPATIBLE for target words or a model that does not keep to them; INVALID_ARGUMENT for a
    // malformed model; RESOURCE_LIMIT if it needs more than `resident_bytes_max`.
    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact);
    void abandon(backend::PreparedHandle prepared);
    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared);
    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program);

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context);
    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue);

    // Submissions of all queues run one after the other, in the order they came. INCOMPATIBLE if
    // the bindings are not exactly the program's slots, by number, bytes and access; if a range
    // starts at an address that is no multiple of 4; or if an output shares bytes with another
    // binding.
    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission);
    // Also ends an event whose time has run out before it started.
    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event);
    // A submission that runs stops at the end of its step; waits for that, but not for long, and
    // answers BUSY if it goes on.
    [[nodiscard]] Status cancel(backend::EventHandle event);
    // BUSY while pending.
    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event);

  private:
    struct Loaded;

    [[nodiscard]] bool fill(Event& event, std::span<const backend::Binding> bindings) const;

    Memory memory_;
    Options options_;
    std::string description_;
    backend::HostBuffers buffers_;
    backend::EventPool<Event> events_;
    std::unique_ptr<Executor> executor_;
    Loaded* loaded_ = nullptr;  // the programs, in a list, so that a discard frees them
    backend::Diagnostics counters_;
    std::atomic<std::uint64_t> preparation_ns_ = 0;
    std::uint64_t contexts_ = 0;
    std::uint64_t queues_ = 0;
    std::uint64_t programs_ = 0;
    std::uint64_t program_bytes_ = 0;
};

static_assert(backend::Backend<CpuBackend>);

// A new instance with its own threads. INVALID_ARGUMENT for a number of threads that is out of
// range; OUT_OF_MEMORY if the system gives no threads or no memory.
[[nodiscard]] Result<backend::AnyBackend> make(const Memory& memory, const Options& options = {});

}  // namespace virtaccel::backends::cpu

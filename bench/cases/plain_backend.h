#pragma once
// The backend of the `plain` layers: transfers are one memcpy, submissions end at once, and nothing
// else costs anything, so that what is left in a measurement is the protocol's own work.

#include <cstdint>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::bench {

class PlainBackend {
  public:
    // Every limit is wide enough for every case.
    static constexpr DeviceIdentity limits{
        .uuid = {'v', 'i', 'r', 't', 'a', 'c', 'c', 'e', 'l', '-', 'p', 'l', 'a', 'i', 'n', '0'},
        .capabilities = CapabilityBit::host_visible_memory,
        .limits = {.contexts = 64,
                   .buffers_per_context = 4096,
                   .programs_per_context = 1024,
                   .queues_per_context = 64,
                   .events_per_context = 4096,
                   .bindings_per_submission = 1024,
                   .buffer_bytes = 16U << 20U,
                   .artifact_bytes = 1U << 20U}};

    explicit PlainBackend(const Memory& memory) noexcept : buffers_(memory) {}

    [[nodiscard]] std::string_view name() const { return "plain"; }

    [[nodiscard]] std::string_view description() const { return "memcpy and nothing else"; }

    [[nodiscard]] DeviceIdentity identity() const { return limits; }

    [[nodiscard]] backend::Diagnostics diagnostics() const { return {}; }

    void set_notifier(backend::Notifier /*notifier*/) {}

    [[nodiscard]] Result<backend::ContextHandle> create_context() {
        return backend::ContextHandle{.object = this, .word = 0};
    }

    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle /*context*/) {
        return backend::ReleaseOutcome::released();
    }

    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle /*context*/,
                                                       const backend::BufferRequest& request) {
        return buffers_.allocate(request);
    }

    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer) {
        return buffers_.free(buffer);
    }

    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
        return buffers_.write(buffer, offset, source);
    }

    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
        return buffers_.read(buffer, offset, target);
    }

    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& /*artifact*/) {
        return backend::PreparedHandle{.object = this, .word = 0};
    }

    void abandon(backend::PreparedHandle /*prepared*/) {}

    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle /*context*/,
                                                      backend::PreparedHandle /*prepared*/) {
        return backend::LoadedProgram{.program = {.object = this, .word = 0}, .resident_bytes = 1};
    }

    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle /*program*/) {
        return backend::ReleaseOutcome::released();
    }

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle /*context*/) {
        return backend::QueueHandle{.object = this, .word = 0};
    }

    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle /*queue*/) {
        return backend::ReleaseOutcome::released();
    }

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& /*submission*/) {
        return backend::SubmitOutcome::accepted({.object = this, .word = 0});
    }

    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle /*event*/) {
        return backend::EventStatus{.phase = EventPhase::complete};
    }

    [[nodiscard]] Status cancel(backend::EventHandle /*event*/) { return Status::unsupported; }

    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle /*event*/) {
        return backend::ReleaseOutcome::released();
    }

  private:
    backend::HostBuffers buffers_;
};

static_assert(backend::Backend<PlainBackend>);

}  // namespace virtaccel::bench

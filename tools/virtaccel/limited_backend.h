#pragma once
// A backend that advertises less than it can do, so that a device keeps guests within limits that a
// user gave. Everything else is passed on.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::cli {

// The limits that a user may set.
struct AdvertisedLimits {
    std::uint32_t bindings_per_submission = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t artifact_bytes = 0;
};

class LimitedBackend {
  public:
    LimitedBackend(backend::AnyBackend inner, const AdvertisedLimits& limits) noexcept
        : inner_(std::move(inner)), limits_(limits) {}

    [[nodiscard]] std::string_view name() const { return inner_.name(); }

    [[nodiscard]] std::string_view description() const { return inner_.description(); }

    // The backend's own limits where they are smaller.
    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = inner_.identity();
        DeviceLimits& own = identity.limits;
        own.bindings_per_submission =
            std::min(own.bindings_per_submission, limits_.bindings_per_submission);
        own.buffer_bytes = std::min(own.buffer_bytes, limits_.buffer_bytes);
        own.artifact_bytes = std::min(own.artifact_bytes, limits_.artifact_bytes);
        return identity;
    }

    [[nodiscard]] backend::Diagnostics diagnostics() const { return inner_.diagnostics(); }

    void set_notifier(backend::Notifier notifier) { inner_.set_notifier(notifier); }

    [[nodiscard]] Result<backend::ContextHandle> create_context() {
        return inner_.create_context();
    }

    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle context) {
        return inner_.destroy_context(context);
    }

    [[nodiscard]] Result<backend::Allocation> allocate(backend::ContextHandle context,
                                                       const backend::BufferRequest& request) {
        return inner_.allocate(context, request);
    }

    [[nodiscard]] backend::ReleaseOutcome free(backend::BufferHandle buffer) {
        return inner_.free(buffer);
    }

    [[nodiscard]] Status write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
        return inner_.write(buffer, offset, source);
    }

    [[nodiscard]] Status read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
        return inner_.read(buffer, offset, target);
    }

    [[nodiscard]] Result<backend::PreparedHandle> prepare(const backend::Artifact& artifact) {
        return inner_.prepare(artifact);
    }

    void abandon(backend::PreparedHandle prepared) { inner_.abandon(prepared); }

    [[nodiscard]] Result<backend::LoadedProgram> load(backend::ContextHandle context,
                                                      backend::PreparedHandle prepared) {
        return inner_.load(context, prepared);
    }

    [[nodiscard]] backend::ReleaseOutcome unload(backend::ProgramHandle program) {
        return inner_.unload(program);
    }

    [[nodiscard]] Result<backend::QueueHandle> create_queue(backend::ContextHandle context) {
        return inner_.create_queue(context);
    }

    [[nodiscard]] backend::ReleaseOutcome destroy_queue(backend::QueueHandle queue) {
        return inner_.destroy_queue(queue);
    }

    [[nodiscard]] backend::SubmitOutcome submit(const backend::Submission& submission) {
        return inner_.submit(submission);
    }

    [[nodiscard]] Result<backend::EventStatus> poll(backend::EventHandle event) {
        return inner_.poll(event);
    }

    [[nodiscard]] Status cancel(backend::EventHandle event) { return inner_.cancel(event); }

    [[nodiscard]] backend::ReleaseOutcome destroy_event(backend::EventHandle event) {
        return inner_.destroy_event(event);
    }

  private:
    backend::AnyBackend inner_;
    AdvertisedLimits limits_;
};

static_assert(backend::Backend<LimitedBackend>);

}  // namespace virtaccel::cli

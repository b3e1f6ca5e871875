#include "backends/null/null.h"

#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backends::null {

NullBackend::NullBackend(const Memory& memory) noexcept : buffers_(memory) {}

// What is not set stays zero: nothing is staged, bound, prepared or executed here.
backend::Diagnostics NullBackend::diagnostics() const {
    return {.explicit_transfer_bytes = buffers_.transferred_bytes(),
            .retained_bytes = buffers_.backing_bytes(),
            .live_resources = contexts_ + queues_ + buffers_.live()};
}

Result<backend::ContextHandle> NullBackend::create_context() {
    ++contexts_;
    return backend::ContextHandle{};
}

backend::ReleaseOutcome NullBackend::destroy_context(backend::ContextHandle /*context*/) {
    --contexts_;
    return backend::ReleaseOutcome::released();
}

Result<backend::Allocation> NullBackend::allocate(backend::ContextHandle /*context*/,
                                                  const backend::BufferRequest& request) {
    return buffers_.allocate(request);
}

backend::ReleaseOutcome NullBackend::free(backend::BufferHandle buffer) {
    return buffers_.free(buffer);
}

Status NullBackend::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    return buffers_.write(buffer, offset, source);
}

Status NullBackend::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    return buffers_.read(buffer, offset, target);
}

Result<backend::PreparedHandle> NullBackend::prepare(const backend::Artifact& artifact) {
    artifact.refusals("The null backend runs no program: choose another backend.");
    return fail(Status::unsupported);
}

void NullBackend::abandon(backend::PreparedHandle /*prepared*/) {}

Result<backend::LoadedProgram> NullBackend::load(backend::ContextHandle /*context*/,
                                                 backend::PreparedHandle /*prepared*/) {
    return fail(Status::unsupported);
}

backend::ReleaseOutcome NullBackend::unload(backend::ProgramHandle /*program*/) {
    return backend::ReleaseOutcome::rejected(Status::unsupported);
}

Result<backend::QueueHandle> NullBackend::create_queue(backend::ContextHandle /*context*/) {
    ++queues_;
    return backend::QueueHandle{};
}

backend::ReleaseOutcome NullBackend::destroy_queue(backend::QueueHandle /*queue*/) {
    --queues_;
    return backend::ReleaseOutcome::released();
}

backend::SubmitOutcome NullBackend::submit(const backend::Submission& /*submission*/) {
    return backend::SubmitOutcome::rejected(Status::unsupported);
}

Result<backend::EventStatus> NullBackend::poll(backend::EventHandle /*event*/) {
    return fail(Status::unsupported);
}

Status NullBackend::cancel(backend::EventHandle /*event*/) {
    return Status::unsupported;
}

backend::ReleaseOutcome NullBackend::destroy_event(backend::EventHandle /*event*/) {
    return backend::ReleaseOutcome::rejected(Status::unsupported);
}

}  // namespace virtaccel::backends::null

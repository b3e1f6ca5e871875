#include "virtaccel/device/testing/scripted_backend.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::device::testing {
namespace {

std::size_t index_of(Operation operation) {
    return static_cast<std::size_t>(operation);
}

// The same pattern as a real host: all domains, cancellation, small limits.
DeviceIdentity default_identity() {
    DeviceIdentity identity;
    identity.uuid.fill(7);
    identity.accelerator_class = AcceleratorClass::npu;
    identity.capabilities = capabilities_memory | CapabilityBit::event_cancellation;
    identity.limits = {.contexts = 4,
                       .buffers_per_context = 600,
                       .programs_per_context = 8,
                       .queues_per_context = 4,
                       .events_per_context = 16,
                       .bindings_per_submission = 300,
                       .buffer_bytes = 1U << 20U,
                       .artifact_bytes = 4000};
    return identity;
}

}  // namespace

ScriptedBackend::ScriptedBackend() : shown(default_identity()) {}

ScriptedBackend::~ScriptedBackend() {
    for (const std::byte* bytes : bytes_) {
        delete[] bytes;
    }
}

void ScriptedBackend::next(Operation operation, Ending ending) {
    endings_[index_of(operation)] = ending;
}

bool ScriptedBackend::has_endings_left() const {
    return std::ranges::any_of(endings_, [](const auto& ending) { return ending.has_value(); });
}

std::uint32_t ScriptedBackend::calls(Operation operation) const {
    return calls_[index_of(operation)];
}

std::uint32_t ScriptedBackend::calls() const {
    return std::accumulate(calls_.begin(), calls_.end(), 0U) - calls(Operation::poll);
}

std::span<const Operation> ScriptedBackend::releases() const {
    return {releases_.data(), release_count_};
}

std::span<const backend::Binding> ScriptedBackend::bindings() const {
    return {bindings_.data(), binding_count_};
}

Ending ScriptedBackend::begin(Operation operation) {
    ++calls_[index_of(operation)];
    return std::exchange(endings_[index_of(operation)], std::nullopt).value_or(Ending{});
}

std::uint64_t ScriptedBackend::own() {
    VIRTACCEL_CHECK(handle_count_ + 1 < handles_max);
    live_[++handle_count_] = true;
    ++live_count_;
    return handle_count_;
}

void ScriptedBackend::use(std::uint64_t word) {
    if (word >= handles_max || !live_[word]) {
        ++misuses_;
    }
}

void ScriptedBackend::end(std::uint64_t word) {
    use(word);
    if (word < handles_max && live_[word]) {
        live_[word] = false;
        --live_count_;
        delete[] std::exchange(bytes_[word], nullptr);
    }
}

template <class Handle>
Result<Handle> ScriptedBackend::make(Operation operation) {
    const Ending ending = begin(operation);
    if (ending.certainty != backend::Certainty::done || ending.status != Status::ok) {
        return fail(ending.status);
    }
    return Handle{.word = own()};
}

template <class Handle>
backend::ReleaseOutcome ScriptedBackend::release(Operation operation, const Handle& handle) {
    const Ending ending = begin(operation);
    if (ending.certainty == backend::Certainty::rejected) {
        use(handle.word);
    } else {
        end(handle.word);
        if (release_count_ < handles_max) {
            releases_[release_count_++] = operation;
        }
    }
    return {ending.certainty, ending.status};
}

Result<backend::ContextHandle> ScriptedBackend::create_context() {
    return make<backend::ContextHandle>(Operation::create_context);
}

backend::ReleaseOutcome ScriptedBackend::destroy_context(backend::ContextHandle context) {
    return release(Operation::destroy_context, context);
}

Result<backend::Allocation> ScriptedBackend::allocate(backend::ContextHandle context,
                                                      const backend::BufferRequest& request) {
    use(context.word);
    const auto buffer = make<backend::BufferHandle>(Operation::allocate);
    if (!buffer) {
        return fail(buffer.error());
    }
    bytes_[buffer->word] = new (std::nothrow) std::byte[request.bytes]();
    if (bytes_[buffer->word] == nullptr) {
        end(buffer->word);
        return fail(Status::out_of_memory);
    }
    backend::Allocation report{
        .buffer = *buffer,
        .descriptor = request,
        .backing_bytes = request.bytes,
        .alignment = std::max<std::uint64_t>(request.alignment, 64),
        .properties = {.host_visible = true, .device_local = true, .direct_binding = true},
    };
    if (forge != nullptr) {
        forge(report);
    }
    return report;
}

backend::ReleaseOutcome ScriptedBackend::free(backend::BufferHandle buffer) {
    return release(Operation::free, buffer);
}

Status ScriptedBackend::write(backend::BufferHandle buffer, std::uint64_t offset, Reader& source) {
    use(buffer.word);
    if (const auto status = begin(Operation::write).status; status != Status::ok) {
        return status;
    }
    const std::uint64_t bytes = source.remaining() - (partial_transfers ? 1 : 0);
    return source.copy_to(bytes_[buffer.word] + offset, bytes) ? Status::ok
                                                               : Status::internal_error;
}

Status ScriptedBackend::read(backend::BufferHandle buffer, std::uint64_t offset, Writer& target) {
    use(buffer.word);
    if (const auto status = begin(Operation::read).status; status != Status::ok) {
        return status;
    }
    const std::uint64_t bytes = target.remaining() - (partial_transfers ? 1 : 0);
    return target.copy_from(bytes_[buffer.word] + offset, bytes) ? Status::ok
                                                                 : Status::internal_error;
}

Result<backend::PreparedHandle> ScriptedBackend::prepare(const backend::Artifact& artifact) {
    Reader payload = artifact.payload;
    artifact_format = artifact.format;
    artifact_bytes = payload.remaining();
    const auto start = std::min<std::uint64_t>(artifact_bytes, artifact_start.size());
    if (!payload.copy_to(artifact_start.data(), static_cast<std::size_t>(start))) {
        return fail(Status::internal_error);
    }
    artifact_is_stable =
        artifact.stable.size() == artifact_bytes &&
        std::ranges::equal(artifact.stable.first(static_cast<std::size_t>(start)),
                           std::span{artifact_start}.first(static_cast<std::size_t>(start)));
    auto prepared = make<backend::PreparedHandle>(Operation::prepare);
    if (!prepared) {
        artifact.refusals("The artifact is refused, as the test says.");
    }
    return prepared;
}

void ScriptedBackend::abandon(backend::PreparedHandle prepared) {
    (void)begin(Operation::abandon);
    end(prepared.word);
}

Result<backend::LoadedProgram> ScriptedBackend::load(backend::ContextHandle context,
                                                     backend::PreparedHandle prepared) {
    use(context.word);
    end(prepared.word);
    const auto program = make<backend::ProgramHandle>(Operation::load);
    if (!program) {
        return fail(program.error());
    }
    return backend::LoadedProgram{.program = *program, .resident_bytes = resident_bytes};
}

backend::ReleaseOutcome ScriptedBackend::unload(backend::ProgramHandle program) {
    return release(Operation::unload, program);
}

Result<backend::QueueHandle> ScriptedBackend::create_queue(backend::ContextHandle context) {
    use(context.word);
    return make<backend::QueueHandle>(Operation::create_queue);
}

backend::ReleaseOutcome ScriptedBackend::destroy_queue(backend::QueueHandle queue) {
    return release(Operation::destroy_queue, queue);
}

backend::SubmitOutcome ScriptedBackend::submit(const backend::Submission& submission) {
    use(submission.queue.word);
    use(submission.program.word);
    for (const backend::Binding& binding : submission.bindings) {
        use(binding.buffer.word);
    }
    std::ranges::copy(submission.bindings, bindings_.begin());
    binding_count_ = submission.bindings.size();
    timeout_ns = submission.timeout_ns;
    const Ending ending = begin(Operation::submit);
    if (ending.certainty == backend::Certainty::rejected) {
        return backend::SubmitOutcome::rejected(ending.status);
    }
    return {ending.certainty, ending.status, backend::EventHandle{.word = own()}};
}

Result<backend::EventStatus> ScriptedBackend::poll(backend::EventHandle event) {
    use(event.word);
    if (const auto status = begin(Operation::poll); status.certainty != backend::Certainty::done) {
        return fail(status.status);
    }
    return event_status;
}

Status ScriptedBackend::cancel(backend::EventHandle event) {
    use(event.word);
    event_status = std::exchange(after_cancel, std::nullopt).value_or(event_status);
    return begin(Operation::cancel).status;
}

backend::ReleaseOutcome ScriptedBackend::destroy_event(backend::EventHandle event) {
    return release(Operation::destroy_event, event);
}

}  // namespace virtaccel::device::testing

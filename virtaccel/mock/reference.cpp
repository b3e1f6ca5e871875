#include "virtaccel/mock/reference.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/host_buffer.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/atomic_bytes.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::mock {

using backend::Allocation;
using backend::Artifact;
using backend::Binding;
using backend::BufferHandle;
using backend::BufferRequest;
using backend::ContextHandle;
using backend::Diagnostics;
using backend::EventHandle;
using backend::EventStatus;
using backend::HostBuffer;
using backend::HostBuffers;
using backend::LoadedProgram;
using backend::PreparedHandle;
using backend::ProgramHandle;
using backend::QueueHandle;
using backend::ReleaseOutcome;
using backend::Submission;
using backend::SubmitOutcome;

namespace {

template <class Handle>
ReferenceProgram& program_of(Handle handle) {
    return *static_cast<ReferenceProgram*>(handle.object);
}

std::byte* range_of(const Binding& binding) {
    return HostBuffers::at(binding.buffer).data + binding.range.offset;
}

}  // namespace

Reference::Reference(const Memory& memory, const ReferenceOptions& options) noexcept
    : memory_(memory),
      options_(options),
      buffers_(memory, options.buffers),
      programs_(memory),
      events_(memory) {}

Diagnostics Reference::diagnostics() const {
    Diagnostics result = counters_;
    result.retained_bytes = buffers_.backing_bytes() + (live_programs_ * reference_resident_bytes);
    result.live_resources = contexts_ + buffers_.live() + live_programs_ + queues_ + events_.live();
    result.indeterminate_resources = lost_events_.load(std::memory_order_relaxed);
    return result;
}

// A context and a queue hold nothing; their handles are never looked into.
Result<ContextHandle> Reference::create_context() {
    ++contexts_;
    return ContextHandle{};
}

ReleaseOutcome Reference::destroy_context(ContextHandle /*context*/) {
    --contexts_;
    return ReleaseOutcome::released();
}

Result<Allocation> Reference::allocate(ContextHandle /*context*/, const BufferRequest& request) {
    return buffers_.allocate(request);
}

ReleaseOutcome Reference::free(BufferHandle buffer) {
    return buffers_.free(buffer);
}

// Not HostBuffers::write: an event may be executing on the same bytes on another thread.
Status Reference::write(BufferHandle buffer, std::uint64_t offset, Reader& source) {
    const HostBuffer& record = HostBuffers::at(buffer);
    const auto bytes = source.remaining();
    VIRTACCEL_CHECK(fits({.offset = offset, .bytes = bytes}, record.bytes));
    std::byte* target = record.data + offset;
    const bool moved = source.each(bytes, [&target](const std::byte* run, std::size_t size) {
        store_bytes(target, run, size);
        target += size;
    });
    counters_.explicit_transfer_bytes += moved ? bytes : 0;
    return moved ? Status::ok : Status::internal_error;
}

Status Reference::read(BufferHandle buffer, std::uint64_t offset, Writer& target) {
    const HostBuffer& record = HostBuffers::at(buffer);
    const auto bytes = target.remaining();
    VIRTACCEL_CHECK(fits({.offset = offset, .bytes = bytes}, record.bytes));
    const std::byte* source = record.data + offset;
    const bool moved = target.each(bytes, [&source](std::byte* run, std::size_t size) {
        load_bytes(run, source, size);
        source += size;
    });
    counters_.explicit_transfer_bytes += moved ? bytes : 0;
    return moved ? Status::ok : Status::internal_error;
}

Result<PreparedHandle> Reference::prepare(const Artifact& artifact) {
    if (artifact.format != reference_format) {
        artifact.refusals("The artifact's format is not that of the reference backend's programs.");
        return fail(Status::unsupported);
    }
    if (artifact.target != reference_target ||
        artifact.resident_bytes_max != reference_resident_bytes) {
        artifact.refusals("The target words or the resident bytes are not the fixture's.");
        return fail(Status::incompatible);
    }
    std::array<std::byte, reference_artifact_bytes> bytes{};
    Reader payload = artifact.payload;
    if (payload.remaining() != bytes.size() || !payload.copy_to(bytes.data(), bytes.size())) {
        artifact.refusals("The program is not 24 bytes long.");
        return fail(Status::invalid_argument);
    }
    const auto program = decode(bytes);
    if (!program) {
        artifact.refusals("A field of the program is out of its domain.");
        return fail(program.error());
    }
    auto* const record = memory_.make_array<ReferenceProgram>(1);
    if (record == nullptr) {
        return fail(Status::out_of_memory);
    }
    *record = *program;
    return PreparedHandle{.object = record};
}

void Reference::abandon(PreparedHandle prepared) {
    memory_.release_array(&program_of(prepared), 1);
}

// A loaded program moves into the pool, so that a dropped backend drops it too.
Result<LoadedProgram> Reference::load(ContextHandle /*context*/, PreparedHandle prepared) {
    ReferenceProgram* const program = programs_.take();
    if (program != nullptr) {
        *program = program_of(prepared);
        ++live_programs_;
    }
    abandon(prepared);
    if (program == nullptr) {
        return fail(Status::out_of_memory);
    }
    return LoadedProgram{.program = {.object = program},
                         .resident_bytes = reference_resident_bytes};
}

ReleaseOutcome Reference::unload(ProgramHandle program) {
    programs_.give(&program_of(program));
    --live_programs_;
    return ReleaseOutcome::released();
}

Result<QueueHandle> Reference::create_queue(ContextHandle /*context*/) {
    ++queues_;
    return QueueHandle{};
}

ReleaseOutcome Reference::destroy_queue(QueueHandle /*queue*/) {
    --queues_;
    return ReleaseOutcome::released();
}

SubmitOutcome Reference::submit(const Submission& submission) {
    const auto execution = bind(program_of(submission.program), submission.bindings);
    if (!execution) {
        return SubmitOutcome::rejected(execution.error());
    }
    EventRecord* const record = events_.take();
    if (record == nullptr) {
        return SubmitOutcome::rejected(Status::out_of_memory);
    }
    record->execution = *execution;
    record->pending_polls = options_.pending_polls;
    record->order.store(++submissions_, std::memory_order_relaxed);
    const EventHandle event = events_.publish(*record);
    counters_.direct_bindings += submission.bindings.size();
    if (options_.complete_at == CompleteAt::submit) {
        complete(event);
    }
    return SubmitOutcome::accepted(event);
}

Result<EventStatus> Reference::poll(EventHandle event) {
    EventRecord& record = Events::at(event);
    if (options_.complete_at == CompleteAt::poll) {
        if (record.pending_polls == 0) {
            complete(event);
        } else {
            --record.pending_polls;
        }
    }
    const auto status = record.cell.status(event.word);
    if (!status) {
        return fail(Status::stale_object);
    }
    return *status;
}

Status Reference::cancel(EventHandle event) {
    if (!options_.identity.capabilities.has(CapabilityBit::event_cancellation)) {
        return Status::unsupported;
    }
    if (!Events::at(event).cell.decide(event.word, {.phase = EventPhase::cancelled})) {
        return Status::busy;
    }
    notify();
    return Status::ok;
}

ReleaseOutcome Reference::destroy_event(EventHandle event) {
    return events_.destroy(event);
}

std::optional<EventHandle> Reference::oldest_pending() {
    std::optional<EventHandle> oldest;
    std::uint64_t oldest_order = std::numeric_limits<std::uint64_t>::max();
    events_.each([&](EventRecord& record) {
        const auto use = record.cell.pending_use();
        const auto order = record.order.load(std::memory_order_relaxed);
        if (use && order < oldest_order) {
            oldest = EventHandle{.object = &record, .word = *use};
            oldest_order = order;
        }
    });
    return oldest;
}

bool Reference::complete(EventHandle event) {
    EventRecord& record = Events::at(event);
    if (!record.cell.claim(event.word)) {
        return false;
    }
    execute(record.execution);
    record.cell.finish(event.word, {.phase = EventPhase::complete});
    notify();
    return true;
}

bool Reference::fail_event(EventHandle event, Status error) {
    VIRTACCEL_CHECK(error != Status::ok);
    const EventStatus failed{.phase = EventPhase::failed, .error = error};
    if (!Events::at(event).cell.decide(event.word, failed)) {
        return false;
    }
    if (error == Status::device_lost) {
        lost_events_.fetch_add(1, std::memory_order_relaxed);
    }
    notify();
    return true;
}

std::size_t Reference::complete_all() {
    std::size_t count = 0;
    while (const auto event = oldest_pending()) {
        count += complete(*event) ? 1 : 0;
    }
    return count;
}

// What `program` does to `bindings` (in ascending slot order), or INCOMPATIBLE.
Result<Reference::Execution> Reference::bind(const ReferenceProgram& program,
                                             std::span<const Binding> bindings) {
    const bool is_copy = program.operation == Operation::copy;
    if (bindings.size() != (is_copy ? 2U : 1U)) {
        return fail(Status::incompatible);
    }
    const bool swapped = is_copy && program.second_slot < program.first_slot;
    const Binding& first = bindings[swapped ? 1 : 0];
    const Binding& last = bindings[is_copy && !swapped ? 1 : 0];
    bool fits_program = first.slot == program.first_slot;
    switch (program.operation) {
        case Operation::barrier:
            break;
        case Operation::copy:
            fits_program = fits_program && last.slot == program.second_slot &&
                           first.access == Access::read && last.access == Access::write &&
                           first.range.bytes == last.range.bytes;
            break;
        case Operation::fill:
            fits_program = fits_program && first.access == Access::write;
            break;
        case Operation::exclusive_or:
            fits_program = fits_program && first.access == Access::read_write;
            break;
    }
    if (!fits_program) {
        return fail(Status::incompatible);
    }
    return Execution{.operation = program.operation,
                     .operand = std::byte{program.operand},
                     .source = range_of(first),
                     .target = range_of(last),
                     .bytes = static_cast<std::size_t>(first.range.bytes)};
}

void Reference::execute(const Execution& execution) {
    switch (execution.operation) {
        case Operation::barrier:
            break;
        case Operation::copy:
            move_bytes(execution.target, execution.source, execution.bytes);
            break;
        case Operation::fill:
            fill_bytes(execution.target, execution.operand, execution.bytes);
            break;
        case Operation::exclusive_or:
            xor_bytes(execution.target, execution.operand, execution.bytes);
            break;
    }
}

void Reference::notify() const {
    if (notifier_.notify != nullptr) {
        notifier_.notify(notifier_.state);
    }
}

}  // namespace virtaccel::mock

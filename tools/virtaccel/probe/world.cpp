#include "tools/virtaccel/probe/world.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "host/clock.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {
namespace {

constexpr int polls_max = 1000;
constexpr int polls_without_pause = 100;
constexpr int polls_without_hope = 3;
constexpr std::uint64_t pause_between_polls_ns = 1'000'000;

}  // namespace

MemoryDomain World::domain() const {
    for (const auto domain : {MemoryDomain::host, MemoryDomain::shared}) {
        if (probe_->identity().capabilities.has_all(capability_of(domain))) {
            return domain;
        }
    }
    return MemoryDomain::device;
}

wire::AllocateBuffer World::allocation(ContextId context, Usage usage) const {
    wire::AllocateBuffer record;
    record.context_id = context;
    record.bytes = buffer_bytes;
    record.alignment = 64;
    record.memory_domain = static_cast<std::uint8_t>(domain());
    record.usage = usage.bits;
    return record;
}

wire::LoadProgram World::loading(ContextId context) {
    wire::LoadProgram record;
    record.context_id = context;
    record.format = mock::reference_format;
    for (std::size_t i = 0; i < mock::reference_target.size(); ++i) {
        record.target.at(i) = mock::reference_target.at(i);
    }
    record.payload_bytes = mock::reference_artifact_bytes;
    record.resident_bytes = mock::reference_resident_bytes;
    return record;
}

Request World::load(ContextId context, const mock::ReferenceProgram& program) {
    auto payload = bytes_of(loading(context));
    const auto artifact = mock::encode(program);
    payload.insert(payload.end(), artifact.begin(), artifact.end());
    return Request{wire::Opcode::load_program, std::move(payload)};
}

Request World::write(BufferId buffer, std::uint64_t offset, const Bytes& data) {
    auto payload =
        bytes_of(wire::WriteBuffer{.buffer_id = buffer, .offset = offset, .bytes = data.size()});
    payload.insert(payload.end(), data.begin(), data.end());
    return Request{wire::Opcode::write_buffer, std::move(payload)};
}

Request World::read(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
    return Request{
        wire::Opcode::read_buffer,
        bytes_of(wire::ReadBuffer{.buffer_id = buffer, .offset = offset, .bytes = bytes})};
}

ContextId World::context() {
    return probe_->creates<ContextKind>(
        "of a context", Request{wire::Opcode::create_context, bytes_of(wire::CreateContext{})});
}

QueueId World::queue(ContextId context) {
    wire::CreateQueue record;
    record.context_id = context;
    return probe_->creates<QueueKind>("of a queue",
                                      Request{wire::Opcode::create_queue, bytes_of(record)});
}

BufferId World::buffer(ContextId context, Usage usage) {
    return probe_->creates<BufferKind>(
        "of a buffer",
        Request{wire::Opcode::allocate_buffer, bytes_of(allocation(context, usage))});
}

ProgramId World::program(ContextId context, const mock::ReferenceProgram& program) {
    return probe_->creates<ProgramKind>("of a program", load(context, program));
}

std::optional<EventPhase> World::wait(EventId event) {
    const int polls = events_end_ ? polls_max : polls_without_hope;
    for (int i = 0; i < polls; ++i) {
        const auto answer = probe_->asks("until the event ends", {wire::Opcode::poll_event, event});
        if (!answer || answer->status != Status::ok) {
            probe_->judge(false, "POLL_EVENT of a live event", "OK");
            return std::nullopt;
        }
        const auto record = wire::decode<wire::EventState>(answer->payload);
        if (!record) {
            probe_->judge(false, "POLL_EVENT of a live event", "a state with its own error");
            return std::nullopt;
        }
        if (record->state != 0) {
            return static_cast<EventPhase>(std::uint16_t{record->state});
        }
        if (i > polls_without_pause) {
            host::pause_ns(pause_between_polls_ns);
        }
    }
    events_end_ = false;
    probe_->note("note  the event stays pending: what it would do is not looked at");
    return std::nullopt;
}

bool World::finish(EventId event) {
    const auto phase = wait(event);
    if (!phase) {
        return false;
    }
    probe_->judge(*phase == EventPhase::complete, "POLL_EVENT at the end of the work", "complete");
    probe_->accepts("of a terminal event", {wire::Opcode::destroy_event, event});
    return *phase == EventPhase::complete;
}

Bytes pattern(std::size_t bytes, unsigned first) {
    Bytes result(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        result[i] = static_cast<std::byte>((first + i) % 255 + 1);
    }
    return result;
}

wire::Binding binding(std::uint32_t slot, BufferId buffer, Access access) {
    wire::Binding record;
    record.buffer_id = buffer;
    record.bytes = buffer_bytes;
    record.slot = slot;
    record.access = static_cast<std::uint8_t>(access);
    return record;
}

Request submission(QueueId queue, ProgramId program, std::span<const wire::Binding> bindings) {
    wire::Submit record;
    record.queue_id = queue;
    record.program_id = program;
    record.binding_count = static_cast<std::uint32_t>(bindings.size());
    auto payload = bytes_of(record);
    for (const auto& one : bindings) {
        const auto encoded = wire::encode(one);
        payload.insert(payload.end(), encoded.begin(), encoded.end());
    }
    return Request{wire::Opcode::submit, std::move(payload)};
}

}  // namespace virtaccel::cli::probe

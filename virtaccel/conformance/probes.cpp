#include "virtaccel/conformance/probes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

using wire::Opcode;

namespace {

constexpr std::size_t bare = sizeof(wire::ResponseHeader);
constexpr std::size_t with_id = bare + sizeof(wire::Object<ContextKind>);
constexpr std::size_t read_bytes = 24;

template <Opcode op>
Probe probe_of(std::string_view name, const wire::RequestOf<op>& request, std::size_t capacity,
               std::span<const std::byte> tail = {}) {
    return {.name = name,
            .opcode = op,
            .payload = Caller::payload_of(request, tail),
            .fixed_bytes = wire::fixed_bytes<wire::RequestOf<op>>,
            .capacity = capacity,
            .answer = Status::stale_object};
}

Probe load_probe(std::uint64_t stale) {
    const Bytes artifact(24, std::byte{1});
    wire::LoadProgram load;
    load.context_id = ContextId{stale};
    load.format = std::uint32_t{1};
    load.payload_bytes = artifact.size();
    load.resident_bytes = std::uint64_t{1};
    return probe_of<Opcode::load_program>("LOAD_PROGRAM", load, with_id, artifact);
}

Probe submit_probe(std::uint64_t stale) {
    wire::Submit submit;
    submit.queue_id = QueueId{stale};
    submit.program_id = ProgramId{stale};
    submit.binding_count = std::uint32_t{1};
    wire::Binding binding;
    binding.buffer_id = BufferId{stale};
    binding.bytes = std::uint64_t{1};
    binding.access = std::uint8_t{1};
    return probe_of<Opcode::submit>("SUBMIT", submit, with_id,
                                    std::as_bytes(std::span{&binding, 1}));
}

Probe write_probe(std::uint64_t stale) {
    const Bytes data(9, std::byte{7});
    wire::WriteBuffer write;
    write.buffer_id = BufferId{stale};
    write.bytes = data.size();
    return probe_of<Opcode::write_buffer>("WRITE_BUFFER", write, bare, data);
}

}  // namespace

std::vector<Probe> make_probes(Capabilities capabilities, std::uint64_t stale) {
    std::vector<Probe> probes;
    probes.push_back(
        probe_of<Opcode::get_device_info>("GET_DEVICE_INFO", {}, bare + sizeof(wire::DeviceInfo)));
    probes.back().answer = Status::ok;
    probes.push_back(probe_of<Opcode::destroy_context>("DESTROY_CONTEXT",
                                                       {.object_id = ContextId{stale}}, bare));
    wire::AllocateBuffer allocate;
    allocate.context_id = ContextId{stale};
    allocate.bytes = std::uint64_t{16};
    allocate.alignment = std::uint64_t{8};
    allocate.memory_domain = static_cast<std::uint8_t>(any_domain(capabilities));
    allocate.usage = usage_known.bits;
    probes.push_back(probe_of<Opcode::allocate_buffer>("ALLOCATE_BUFFER", allocate, with_id));
    probes.push_back(
        probe_of<Opcode::free_buffer>("FREE_BUFFER", {.object_id = BufferId{stale}}, bare));
    probes.push_back(write_probe(stale));
    wire::ReadBuffer read;
    read.buffer_id = BufferId{stale};
    read.bytes = read_bytes;
    probes.push_back(probe_of<Opcode::read_buffer>("READ_BUFFER", read, bare + read_bytes));
    probes.push_back(load_probe(stale));
    probes.push_back(
        probe_of<Opcode::unload_program>("UNLOAD_PROGRAM", {.object_id = ProgramId{stale}}, bare));
    wire::CreateQueue queue;
    queue.context_id = ContextId{stale};
    probes.push_back(probe_of<Opcode::create_queue>("CREATE_QUEUE", queue, with_id));
    probes.push_back(
        probe_of<Opcode::destroy_queue>("DESTROY_QUEUE", {.object_id = QueueId{stale}}, bare));
    probes.push_back(submit_probe(stale));
    probes.push_back(probe_of<Opcode::poll_event>("POLL_EVENT", {.object_id = EventId{stale}},
                                                  bare + sizeof(wire::EventState)));
    probes.push_back(
        probe_of<Opcode::cancel_event>("CANCEL_EVENT", {.object_id = EventId{stale}}, bare));
    if (!capabilities.has(CapabilityBit::event_cancellation)) {
        probes.back().answer = Status::unsupported;
    }
    probes.push_back(
        probe_of<Opcode::destroy_event>("DESTROY_EVENT", {.object_id = EventId{stale}}, bare));
    return probes;
}

}  // namespace virtaccel::conformance

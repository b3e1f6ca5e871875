#include "virtaccel/conformance/stage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

using wire::Opcode;

MemoryDomain any_domain(Capabilities capabilities) {
    if (capabilities.has(CapabilityBit::host_visible_memory)) {
        return MemoryDomain::host;
    }
    return capabilities.has(CapabilityBit::shared_memory) ? MemoryDomain::shared
                                                          : MemoryDomain::device;
}

Usage usage_for(Access access) {
    switch (access) {
        case Access::read:
            return UsageBit::program_input;
        case Access::write:
            return UsageBit::program_output;
        case Access::read_write:
            break;
    }
    return UsageBit::mutable_state;
}

Check need_sample(bool has_sample) {
    return expect(
        has_sample,
        "The case needs a program and the subject supplies none: give it a valid artifact.");
}

Check Stage::need_sample() const {
    return conformance::need_sample(has_sample());
}

wire::AllocateBuffer Stage::buffer_request(ContextId context, std::uint64_t bytes, Usage usage) {
    wire::AllocateBuffer request;
    request.context_id = context;
    request.bytes = bytes;
    request.alignment = std::uint64_t{1};
    request.memory_domain = static_cast<std::uint8_t>(any_domain(capabilities_));
    request.usage = usage.bits;
    return request;
}

Bytes Stage::load_payload(ContextId context, std::span<const std::byte> artifact) const {
    wire::LoadProgram request;
    request.context_id = context;
    request.format = program_->format;
    std::ranges::copy(program_->target, request.target.begin());
    request.payload_bytes = artifact.size();
    request.resident_bytes = program_->resident_bytes;
    return Caller::payload_of(request, artifact);
}

Reply Stage::load(ContextId context, std::span<const std::byte> artifact, std::size_t piece_bytes) {
    return caller_.send(
        frame_of(Opcode::load_program, caller_.next_request_id(), load_payload(context, artifact)),
        Caller::room_default, {.every = piece_bytes});
}

Checked<std::vector<BufferId>> Stage::make_buffers(ContextId context) {
    const Usage transfer = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;
    VIRTACCEL_TRY(need_sample());
    std::vector<BufferId> buffers;
    for (const SampleSlot& slot : program_->slots) {
        const auto request =
            buffer_request(context, slot.before.size(), transfer | usage_for(slot.access));
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer, caller_.allocate(request));
        VIRTACCEL_TRY(caller_.write(buffer, 0, slot.before));
        buffers.push_back(buffer);
    }
    return buffers;
}

Checked<Scene> Stage::set_up() {
    VIRTACCEL_TRY(need_sample());
    Scene scene;
    VIRTACCEL_TRY_ASSIGN(scene.context, caller_.create_context());
    VIRTACCEL_TRY_ASSIGN(scene.queue, caller_.create_queue(scene.context));
    VIRTACCEL_TRY_ASSIGN(scene.program,
                         expect_id<ProgramKind>("LOAD_PROGRAM of the sample",
                                                load(scene.context, program_->artifact)));
    VIRTACCEL_TRY_ASSIGN(scene.buffers, make_buffers(scene.context));
    return scene;
}

std::vector<wire::Binding> Stage::bindings_of(const Scene& scene) const {
    std::vector<wire::Binding> bindings;
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        const SampleSlot& slot = program_->slots[i];
        wire::Binding binding;
        binding.buffer_id = scene.buffers[i];
        binding.bytes = slot.before.size();
        binding.slot = slot.slot;
        binding.access = static_cast<std::uint8_t>(slot.access);
        bindings.push_back(binding);
    }
    return bindings;
}

Reply Stage::submit(const Scene& scene, std::span<const wire::Binding> bindings,
                    std::uint64_t timeout_ns) {
    wire::Submit request;
    request.queue_id = scene.queue;
    request.program_id = scene.program;
    request.binding_count = static_cast<std::uint32_t>(bindings.size());
    request.timeout_ns = timeout_ns;
    return caller_.call<Opcode::submit>(request, std::as_bytes(bindings));
}

Checked<EventId> Stage::submit(const Scene& scene) {
    return expect_id<EventKind>("SUBMIT of the sample", submit(scene, bindings_of(scene)));
}

Checked<wire::EventState> Stage::wait(EventId event) {
    for (std::uint32_t pauses = 0; pauses <= patience_.pauses_max; ++pauses) {
        VIRTACCEL_TRY_ASSIGN(const wire::EventState state, caller_.poll(event));
        if (state.state != static_cast<std::uint16_t>(EventPhase::pending)) {
            return state;
        }
        if (patience_.pause != nullptr) {
            patience_.pause(patience_.state);
        }
    }
    return failed("The event is still pending after (", patience_.pauses_max, ") polls.");
}

Check Stage::wait_for_completion(EventId event) {
    VIRTACCEL_TRY_ASSIGN(const wire::EventState state, wait(event));
    return expect(state.state == static_cast<std::uint16_t>(EventPhase::complete),
                  "The sample ends in the state (", std::uint16_t{state.state},
                  ") with the error (", static_cast<Status>(std::uint16_t{state.error}),
                  "); it has to complete.");
}

Check Stage::check_outputs(const Scene& scene) {
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        const SampleSlot& slot = program_->slots[i];
        VIRTACCEL_TRY_ASSIGN(const Bytes bytes,
                             caller_.read(scene.buffers[i], 0, slot.after.size()));
        const auto wrong = std::ranges::mismatch(bytes, slot.after);
        VIRTACCEL_TRY(expect(bytes == slot.after, "After the sample, slot (", slot.slot,
                             ") differs from what it has to hold at byte (",
                             wrong.in1 - bytes.begin(), ")."));
    }
    return {};
}

Check Stage::tear_down(const Scene& scene) {
    for (const BufferId buffer : scene.buffers) {
        VIRTACCEL_TRY(caller_.destroy(buffer));
    }
    VIRTACCEL_TRY(caller_.destroy(scene.program));
    VIRTACCEL_TRY(caller_.destroy(scene.queue));
    return caller_.destroy(scene.context);
}

}  // namespace virtaccel::conformance

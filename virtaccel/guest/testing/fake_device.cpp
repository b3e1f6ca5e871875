#include "virtaccel/guest/testing/fake_device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest::testing {

using wire::Opcode;

Answer FakeDevice::execute(Opcode opcode, const Posted& request) {
    switch (opcode) {
        case Opcode::get_device_info:
            return Answer::of(wire::to_record(identity));
        case Opcode::create_context:
            return make(opcode, 0, {});
        case Opcode::allocate_buffer: {
            const auto record = request.record<wire::AllocateBuffer>();
            Object buffer;
            buffer.content.resize(record.bytes);
            return make(opcode, record.context_id.raw, std::move(buffer));
        }
        case Opcode::load_program: {
            Object program;
            program.content.assign(request.payload.begin() + sizeof(wire::LoadProgram),
                                   request.payload.end());
            return make(opcode, request.record<wire::LoadProgram>().context_id.raw,
                        std::move(program));
        }
        case Opcode::create_queue:
            return make(opcode, request.record<wire::CreateQueue>().context_id.raw, {});
        case Opcode::write_buffer:
        case Opcode::read_buffer:
            return transfer(opcode, request);
        case Opcode::submit:
            return submit(request);
        case Opcode::poll_event:
            return poll(request.record<wire::Object<EventKind>>().object_id.raw);
        case Opcode::cancel_event:
            return cancel(request.record<wire::Object<EventKind>>().object_id.raw);
        default:
            return destroy(request.record<wire::Object<ContextKind>>().object_id.raw);
    }
}

Answer FakeDevice::make(Opcode opcode, std::uint64_t parent, Object object) {
    if (parent != 0 && !objects.contains(parent)) {
        return Answer::refusal(Status::stale_object);
    }
    object.made_by = opcode;
    object.parent = parent;
    objects.emplace(++next_id_, std::move(object));
    return id_answer(next_id_);
}

Answer FakeDevice::destroy(std::uint64_t raw) {
    const auto found = objects.find(raw);
    if (found == objects.end()) {
        return Answer::refusal(Status::stale_object);
    }
    if (is_used(raw) || is_pending(found->second)) {
        return Answer::refusal(Status::busy);
    }
    objects.erase(found);
    return {};
}

bool FakeDevice::is_used(std::uint64_t raw) const {
    return std::ranges::any_of(objects, [raw](const auto& entry) {
        const Object& object = entry.second;
        return object.parent == raw || std::ranges::count(object.references, raw) != 0;
    });
}

bool FakeDevice::is_pending(const Object& event) const {
    return event.made_by == Opcode::submit && !event.cancelled && event.polls < polls_pending;
}

Answer FakeDevice::transfer(Opcode opcode, const Posted& request) {
    const auto record = request.record<wire::WriteBuffer>();
    const auto found = objects.find(record.buffer_id.raw);
    if (found == objects.end()) {
        return Answer::refusal(Status::stale_object);
    }
    auto& content = found->second.content;
    if (is_used(found->first)) {
        return Answer::refusal(Status::busy);
    }
    if (!fits({.offset = record.offset, .bytes = record.bytes}, content.size())) {
        return Answer::refusal(Status::out_of_bounds);
    }
    const auto start = content.begin() + static_cast<std::ptrdiff_t>(std::uint64_t{record.offset});
    if (opcode == Opcode::write_buffer) {
        std::copy(request.payload.begin() + sizeof record, request.payload.end(), start);
        return {};
    }
    Answer answer;
    answer.payload.assign(start, start + static_cast<std::ptrdiff_t>(std::uint64_t{record.bytes}));
    return answer;
}

Answer FakeDevice::submit(const Posted& request) {
    const auto record = request.record<wire::Submit>();
    Object event;
    event.references = {record.queue_id.raw, record.program_id.raw};
    for (std::uint32_t i = 0; i < record.binding_count; ++i) {
        const auto binding = wire::load<wire::Binding>(request.payload.data() + sizeof record +
                                                       (i * sizeof(wire::Binding)));
        event.references.push_back(binding.buffer_id.raw);
    }
    for (const auto raw : event.references) {
        if (!objects.contains(raw)) {
            return Answer::refusal(Status::stale_object);
        }
    }
    return make(Opcode::submit, objects.at(record.queue_id.raw).parent, std::move(event));
}

Answer FakeDevice::poll(std::uint64_t raw) {
    const auto found = objects.find(raw);
    if (found == objects.end()) {
        return Answer::refusal(Status::stale_object);
    }
    if (found->second.cancelled) {
        return event_answer(3);
    }
    if (is_pending(found->second)) {
        ++found->second.polls;
        return event_answer(0);
    }
    return Answer::of(end);
}

Answer FakeDevice::cancel(std::uint64_t raw) {
    const auto found = objects.find(raw);
    if (found == objects.end()) {
        return Answer::refusal(Status::stale_object);
    }
    if (!is_pending(found->second)) {
        return Answer::refusal(Status::busy);
    }
    found->second.cancelled = true;
    return {};
}

bool FakeDevice::wait(void* self, std::uint64_t timeout_ns) {
    auto& device = *static_cast<FakeDevice*>(self);
    if (device.spurious_wakes != 0) {
        --device.spurious_wakes;
        device.now_ns += device.spurious_wake_ns;
        return true;
    }
    if (device.serves == Serves::never) {
        device.now_ns += timeout_ns;
        return false;
    }
    device.serve();
    return true;
}

void FakeDevice::pause(void* self, std::uint64_t duration_ns) {
    auto& device = *static_cast<FakeDevice*>(self);
    ++device.pauses;
    device.now_ns += duration_ns;
}

std::uint64_t FakeDevice::now(void* self) {
    return static_cast<FakeDevice*>(self)->now_ns;
}

Result<wire::Config> FakeDevice::reset(void* self) {
    auto& device = *static_cast<FakeDevice*>(self);
    ++device.resets;
    device.objects.clear();
    device.posted.clear();
    device.completions.clear();
    device.is_broken = false;
    return device.reset_result;
}

}  // namespace virtaccel::guest::testing

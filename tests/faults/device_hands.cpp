#include "tests/faults/device_hands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::faults {

using wire::Opcode;

namespace {

device::Endpoint make_endpoint(World& world) {
    device::Options options = device_options();
    options.deferred_loads_max = 2;
    auto made = device::Endpoint::make(world.memory(), world.factory(), options);
    VIRTACCEL_CHECK(made.has_value());
    return *std::move(made);
}

template <class Record>
std::span<const std::byte> bytes_of(const Record& record) {
    return std::as_bytes(std::span{&record, 1});
}

}  // namespace

DeviceHands::DeviceHands(World& world) : endpoint_(make_endpoint(world)) {}

void DeviceHands::frame(Opcode opcode, std::span<const std::byte> fixed,
                        std::span<const std::byte> tail) {
    wire::RequestHeader header;
    header.opcode = static_cast<std::uint16_t>(opcode);
    header.payload_bytes = static_cast<std::uint32_t>(fixed.size() + tail.size());
    header.request_id = ++request_id_;
    auto* const end = std::ranges::copy(bytes_of(header), request_.data()).out;
    auto* const tail_at = std::ranges::copy(fixed, end).out;
    request_bytes_ =
        static_cast<std::size_t>(std::ranges::copy(tail, tail_at).out - request_.data());
}

// The status of the response, which has to be one.
Status DeviceHands::judge(std::uint32_t used_bytes) {
    const auto header = wire::load<wire::ResponseHeader>(response_.data());
    payload_bytes_ = header.payload_bytes;
    VIRTACCEL_CHECK(used_bytes == sizeof header + payload_bytes_ &&
                    header.request_id == request_id_);
    const auto status = static_cast<Status>(std::uint16_t{header.status});
    lost_ = lost_ || status == Status::device_lost;
    return status;
}

template <class Record>
Record DeviceHands::payload() const {
    return wire::load<Record>(response_.data() + sizeof(wire::ResponseHeader));
}

template <Opcode op>
Status DeviceHands::call(const wire::RequestOf<op>& request, std::span<const std::byte> tail) {
    frame(op, bytes_of(request), tail);
    const auto served = device().serve(std::span{request_}.first(request_bytes_), response_);
    if (!served.deferred) {
        return judge(served.used_bytes);
    }
    const auto finished = device().finish(device().take_load());
    VIRTACCEL_CHECK(finished.has_value());
    return judge(finished->used_bytes);
}

template <Opcode op>
Status DeviceHands::make_with(Thing thing, const wire::RequestOf<op>& request,
                              std::span<const std::byte> tail) {
    const Status status = call<op>(request, tail);
    const bool is_event = op == Opcode::submit && payload_bytes_ != 0;
    if (status == Status::ok || is_event) {
        ids_[static_cast<std::size_t>(thing)] = payload<wire::Object<ContextKind>>().object_id.raw;
    }
    return status;
}

Status DeviceHands::make(Thing thing) {
    switch (thing) {
        case Thing::context:
            return make_with<Opcode::create_context>(thing, {});
        case Thing::source:
        case Thing::target:
            return allocate(thing, buffer_bytes);
        case Thing::program:
            return load();
        case Thing::queue:
            return make_with<Opcode::create_queue>(
                thing, {.context_id = ContextId{id(Thing::context)}, .flags = 0U, .reserved = 0U});
        case Thing::run:
        case Thing::victim:
            return submit(thing);
    }
    return Status::internal_error;
}

Status DeviceHands::allocate(Thing thing, std::uint64_t bytes) {
    wire::AllocateBuffer request;
    request.context_id = ContextId{id(Thing::context)};
    request.bytes = bytes;
    request.alignment = 64;
    request.memory_domain = static_cast<std::uint8_t>(MemoryDomain::host);
    request.usage = usage_known.bits;
    return make_with<Opcode::allocate_buffer>(thing, request);
}

Status DeviceHands::overdraw() {
    const auto held = id(Thing::target);
    const Status status = allocate(Thing::target, 1);
    ids_[static_cast<std::size_t>(Thing::target)] = held;
    return status;
}

Status DeviceHands::load() {
    const auto artifact =
        mock::encode({.operation = mock::Operation::copy, .first_slot = 0, .second_slot = 1});
    wire::LoadProgram request;
    request.context_id = ContextId{id(Thing::context)};
    request.format = mock::reference_format;
    std::ranges::copy(mock::reference_target, request.target.begin());
    request.payload_bytes = artifact.size();
    request.resident_bytes = mock::reference_resident_bytes;
    return make_with<Opcode::load_program>(Thing::program, request, artifact);
}

Status DeviceHands::submit(Thing event) {
    std::array<wire::Binding, 2> bindings;
    for (std::uint32_t slot = 0; slot < bindings.size(); ++slot) {
        bindings[slot].buffer_id = BufferId{id(slot == 0 ? Thing::source : Thing::target)};
        bindings[slot].bytes = buffer_bytes;
        bindings[slot].slot = slot;
        bindings[slot].access = static_cast<std::uint8_t>(slot == 0 ? Access::read : Access::write);
    }
    wire::Submit request;
    request.queue_id = QueueId{id(Thing::queue)};
    request.program_id = ProgramId{id(Thing::program)};
    request.binding_count = static_cast<std::uint32_t>(bindings.size());
    return make_with<Opcode::submit>(event, request, std::as_bytes(std::span{bindings}));
}

template <Opcode op>
Status DeviceHands::release_with(Thing thing) {
    std::uint64_t& held = ids_[static_cast<std::size_t>(thing)];
    wire::RequestOf<op> request;
    request.object_id.raw = held;
    const Status status = call<op>(request);
    // Gone, or said to be: neither may be named again (spec §5).
    if (status == Status::ok || status == Status::stale_object || status == Status::device_lost) {
        held = 0;
    }
    return status;
}

Status DeviceHands::release(Thing thing) {
    switch (thing) {
        case Thing::context:
            return release_with<Opcode::destroy_context>(thing);
        case Thing::source:
        case Thing::target:
            return release_with<Opcode::free_buffer>(thing);
        case Thing::program:
            return release_with<Opcode::unload_program>(thing);
        case Thing::queue:
            return release_with<Opcode::destroy_queue>(thing);
        case Thing::run:
        case Thing::victim:
            return release_with<Opcode::destroy_event>(thing);
    }
    return Status::internal_error;
}

Status DeviceHands::write(std::span<const std::byte> bytes) {
    return call<Opcode::write_buffer>(
        {.buffer_id = BufferId{id(Thing::source)}, .offset = 0U, .bytes = bytes.size()}, bytes);
}

Status DeviceHands::read(std::span<std::byte> bytes) {
    const Status status = call<Opcode::read_buffer>(
        {.buffer_id = BufferId{id(Thing::target)}, .offset = 0U, .bytes = bytes.size()});
    if (status == Status::ok) {
        std::memcpy(bytes.data(), response_.data() + sizeof(wire::ResponseHeader), bytes.size());
    }
    return status;
}

Result<guest::EventStatus> DeviceHands::poll(Thing event) {
    const Status status = call<Opcode::poll_event>({EventId{id(event)}});
    if (status != Status::ok) {
        return fail(status);
    }
    const auto state = payload<wire::EventState>();
    const auto error = static_cast<Status>(std::uint16_t{state.error});
    lost_ = lost_ || error == Status::device_lost;
    return guest::EventStatus{.phase = static_cast<EventPhase>(std::uint16_t{state.state}),
                              .error = error};
}

Status DeviceHands::cancel(Thing event) {
    return call<Opcode::cancel_event>({EventId{id(event)}});
}

void DeviceHands::leave_a_load() {
    const auto artifact = mock::encode({.operation = mock::Operation::barrier});
    wire::LoadProgram request;
    request.context_id = ContextId{id(Thing::context)};
    request.format = mock::reference_format;
    std::ranges::copy(mock::reference_target, request.target.begin());
    request.payload_bytes = artifact.size();
    request.resident_bytes = mock::reference_resident_bytes;
    frame(Opcode::load_program, bytes_of(request), artifact);
    const auto served = device().serve(std::span{request_}.first(request_bytes_), response_);
    VIRTACCEL_CHECK(served.deferred);
    load_.emplace(device().take_load());
    load_->prepare();
}

device::ResetReport DeviceHands::reset() {
    const auto answer = endpoint_.reset();
    VIRTACCEL_CHECK(answer == device::ResetAnswer::reused ||
                    answer == device::ResetAnswer::rebuilt);
    if (load_) {
        VIRTACCEL_CHECK(!device().finish(*std::exchange(load_, std::nullopt)));
    }
    ids_.fill(0);
    lost_ = false;
    return endpoint_.last_report();
}

}  // namespace virtaccel::faults

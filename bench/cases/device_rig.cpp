#include "bench/cases/device_rig.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "bench/cases/fixture.h"
#include "bench/cases/taken.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::bench {
namespace {

device::Endpoint make_endpoint(backend::BackendFactory factory) {
    auto endpoint = device::Endpoint::make(host::heap(), factory, device_options());
    taken(endpoint.has_value());
    return *std::move(endpoint);
}

}  // namespace

device::Options device_options() {
    device::Options options;
    options.config.chain_descriptors_max = std::uint16_t{16};
    options.config.request_bytes_max = protocol::frame_bytes_max;
    options.config.response_bytes_max = protocol::frame_bytes_max;
    options.policy = {.buffer_bytes_max = std::uint64_t{1} << 32U,
                      .program_resident_bytes_max = std::uint64_t{1} << 32U};
    return options;
}

DeviceRig::DeviceRig(backend::BackendFactory factory)
    : endpoint_(make_endpoint(factory)), request_(frame_bytes), response_(frame_bytes) {}

wire::Object<ContextKind> DeviceRig::create_context() {
    return make<wire::Opcode::create_context>({});
}

wire::Object<BufferKind> DeviceRig::allocate(wire::Object<ContextKind> context,
                                             std::uint64_t bytes) {
    wire::AllocateBuffer request;
    request.context_id = context.object_id;
    request.bytes = bytes;
    request.alignment = std::uint64_t{64};
    request.memory_domain = static_cast<std::uint8_t>(MemoryDomain::host);
    request.usage = every_usage.bits;
    return make<wire::Opcode::allocate_buffer>(request);
}

wire::Object<ProgramKind> DeviceRig::load(wire::Object<ContextKind> context) {
    wire::LoadProgram request;
    request.context_id = context.object_id;
    request.format = barrier_format;
    for (std::size_t i = 0; i < barrier_target.size(); ++i) {
        request.target[i] = barrier_target[i];
    }
    request.payload_bytes = barrier_artifact.size();
    request.resident_bytes = barrier_resident_bytes;
    std::memcpy(tail<wire::Opcode::load_program>(), barrier_artifact.data(),
                barrier_artifact.size());
    return make<wire::Opcode::load_program>(request, barrier_artifact.size());
}

wire::Object<QueueKind> DeviceRig::create_queue(wire::Object<ContextKind> context) {
    wire::CreateQueue request;
    request.context_id = context.object_id;
    return make<wire::Opcode::create_queue>(request);
}

void DeviceRig::reset() {
    taken(endpoint_.reset(++seed_) == device::ResetAnswer::reused);
}

}  // namespace virtaccel::bench

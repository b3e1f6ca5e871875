#pragma once
// A guest without manners in front of a whole device: a small guest memory with a ring in it, the
// device's end of that ring, and an endpoint over the reference backend. The one thing to know: a
// request is built byte by byte, so that a test can get any byte of it wrong.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/processor.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/queue/testing/chains.h"
#include "virtaccel/queue/testing/ring_rig.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::known_faults {

using queue::testing::Frame;
using wire::Opcode;

inline constexpr std::uint32_t request_bytes_max = 8192;
inline constexpr std::uint32_t response_bytes_max = 8192;
inline constexpr std::uint32_t info_bytes = sizeof(wire::ResponseHeader) + sizeof(wire::DeviceInfo);

[[nodiscard]] inline device::Options device_options(std::uint16_t chain_descriptors_max) {
    device::Options options;
    options.config.chain_descriptors_max = chain_descriptors_max;
    options.config.request_bytes_max = request_bytes_max;
    options.config.response_bytes_max = response_bytes_max;
    options.policy = {.buffer_bytes_max = 1U << 20U, .program_resident_bytes_max = 1U << 20U};
    return options;
}

// A reference backend in `memory`.
struct MockMaker {
    Memory memory;
    mock::ReferenceOptions options;

    Result<backend::AnyBackend> operator()() const {
        return backend::make_owned<mock::Reference>(memory, memory, options);
    }
};

// A buffer of the host's memory for everything.
[[nodiscard]] inline wire::AllocateBuffer buffer_in(ContextId context, std::uint64_t bytes) {
    wire::AllocateBuffer record;
    record.context_id = context;
    record.bytes = bytes;
    record.alignment = 64;
    record.memory_domain = static_cast<std::uint8_t>(MemoryDomain::host);
    record.usage = usage_known.bits;
    return record;
}

// A program of the reference backend, whose artifact follows.
[[nodiscard]] inline wire::LoadProgram program_in(ContextId context) {
    wire::LoadProgram record;
    record.context_id = context;
    record.format = mock::reference_format;
    std::ranges::copy(mock::reference_target, record.target.begin());
    record.payload_bytes = mock::reference_artifact_bytes;
    record.resident_bytes = mock::reference_resident_bytes;
    return record;
}

struct MachineOptions {
    std::uint32_t queue_size = 8;
    std::uint16_t chain_descriptors_max = 8;
    std::size_t pages = 16;
    mock::ReferenceOptions backend;
};

class Machine {
  public:
    // `memory` is the host's; the guest's comes from the heap.
    explicit Machine(const MachineOptions& options = {}, const Memory& memory = host::heap())
        : rig(host::heap(), {.size = options.queue_size,
                             .pages = options.pages,
                             .device = {.chain_descriptors_max = options.chain_descriptors_max}}),
          maker_{.memory = memory, .options = options.backend} {
        auto made = device::Endpoint::make(memory, backend::factory_from(maker_),
                                           device_options(options.chain_descriptors_max));
        EXPECT_TRUE(made.has_value());
        endpoint.emplace(*std::move(made));
        processor.emplace(*endpoint, rig.device);
    }

    // Room for a request of `record` and `tail_bytes` zeros, which is written there, and for a
    // response of `response_bytes`, filled with 0xA5.
    template <Opcode op>
    Frame frame(const wire::RequestOf<op>& record, std::uint32_t response_bytes,
                std::uint32_t tail_bytes = 0) {
        constexpr auto fixed = static_cast<std::uint32_t>(wire::fixed_bytes<wire::RequestOf<op>>);
        const Frame made =
            rig.take_frame(sizeof(wire::RequestHeader) + fixed + tail_bytes, response_bytes);
        write<op>(made, record);
        return made;
    }

    // The same into room that is there.
    template <Opcode op>
    void write(const Frame& at, const wire::RequestOf<op>& record) {
        constexpr auto fixed = static_cast<std::uint32_t>(wire::fixed_bytes<wire::RequestOf<op>>);
        const wire::RequestHeader header{
            .opcode = static_cast<std::uint16_t>(op),
            .flags = 0,
            .payload_bytes = static_cast<std::uint32_t>(at.request.bytes - sizeof header),
            .request_id = ++request_id_};
        const auto room = rig.ram.at(at.request);
        std::memcpy(room.data(), &header, sizeof header);
        std::memcpy(room.data() + sizeof header, &record, fixed);
        rig.ram.fill(at.response, 0xa5);
    }

    // A GET_DEVICE_INFO with room for exactly its answer.
    Frame info_frame() { return frame<Opcode::get_device_info>({}, info_bytes); }

    // Lets the device look once, with a bound that no test comes near. Whether it is idle then.
    bool look() { return processor->run_until_idle(chains_per_look); }

    // The status in the response, or nothing if it was not written: still 0xA5.
    [[nodiscard]] std::optional<Status> status_of(const Frame& frame) {
        if (rig.ram.holds(frame.response, 0xa5)) {
            return std::nullopt;
        }
        const auto header = wire::load<wire::ResponseHeader>(rig.ram.at(frame.response).data());
        return static_cast<Status>(std::uint16_t{header.status});
    }

    // What the reply's first eight bytes are, which is the ID of a new object.
    template <class Kind>
    [[nodiscard]] Id<Kind> id_in(const Frame& frame) {
        return wire::load<wire::Object<Kind>>(rig.ram.at(frame.response).data() +
                                              sizeof(wire::ResponseHeader))
            .object_id;
    }

    // Serves `frame` as one good chain; the used length.
    std::uint32_t serve(const Frame& frame) {
        rig.offer(0, queue::testing::whole(frame));
        EXPECT_TRUE(look());
        const auto used = rig.driver.next_used();
        EXPECT_TRUE(used.has_value());
        return used ? used->bytes : 0;
    }

    // A reset as a guest does it: both indices at 0, and a new namespace.
    void reset() {
        EXPECT_NE(endpoint->reset(), device::ResetAnswer::refused);
        rig.device.reset();
        rig.driver.make_empty();
    }

    static constexpr std::uint32_t chains_per_look = 1000;

    queue::testing::RingRig rig;
    std::optional<device::Endpoint> endpoint;
    std::optional<device::Processor> processor;

  private:
    MockMaker maker_;
    std::uint64_t request_id_ = 0;
};

}  // namespace virtaccel::known_faults

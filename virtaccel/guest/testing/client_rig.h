#pragma once
// A client on a scripted port, with one handle of each kind: what most tests of the client start
// from. The identity it has heard of is `rig_identity`.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "host/memory.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest::testing {

[[nodiscard]] inline wire::Config rig_config() {
    wire::Config config;
    config.chain_descriptors_max = 16;
    config.request_bytes_max = 4096;
    config.response_bytes_max = 4096;
    return config;
}

[[nodiscard]] inline DeviceIdentity rig_identity() {
    return {.uuid = {1, 2, 3},
            .accelerator_class = AcceleratorClass::npu,
            .vendor_id = 7,
            .device_id = 8,
            .capabilities = Capabilities{CapabilityBit::host_visible_memory} |
                            CapabilityBit::event_cancellation,
            .limits = {.contexts = 4,
                       .buffers_per_context = 16,
                       .programs_per_context = 16,
                       .queues_per_context = 4,
                       .events_per_context = 16,
                       .bindings_per_submission = 8,
                       .buffer_bytes = 1U << 20U,
                       .artifact_bytes = 2000}};
}

template <class KindTag = ContextKind>
[[nodiscard]] Answer id_answer(std::uint64_t raw) {
    return Answer::of(wire::Object<KindTag>{.object_id = Id<KindTag>{raw}});
}

[[nodiscard]] inline Answer event_answer(std::uint16_t state, std::uint16_t error = 0) {
    return Answer::of(wire::EventState{.state = state, .error = error, .reserved = {}});
}

[[nodiscard]] inline Client make_client(ScriptedPort& port, const Memory& memory) {
    auto client = Client::make(port, rig_config(), memory);
    VIRTACCEL_CHECK(client.has_value());
    return *std::move(client);
}

[[nodiscard]] inline Chain make_chain(const Memory& memory, std::size_t data_bytes = 1024) {
    auto chain = Chain::make(memory, Chain::bytes_for_write(data_bytes));
    VIRTACCEL_CHECK(chain.has_value());
    return *std::move(chain);
}

class ClientRig {
  public:
    virtaccel::testing::CountingMemory heap{host::heap()};
    ScriptedPort port;
    Client client = make_client(port, heap.memory());
    Chain chain = make_chain(heap.memory());
    ContextHandle context = client.adopt(ContextId{11});
    BufferHandle buffer = client.adopt(BufferId{12});
    ProgramHandle program = client.adopt(ProgramId{13});
    QueueHandle queue = client.adopt(QueueId{14});
    EventHandle event = client.adopt(EventId{15});

    ClientRig() {
        VIRTACCEL_CHECK(client.get_device_info(chain).has_value());
        const auto identity =
            finish<wire::Opcode::get_device_info>(Answer::of(wire::to_record(rig_identity())));
        VIRTACCEL_CHECK(identity.has_value());
        port.posts = 0;
    }

    ClientRig(const ClientRig&) = delete;
    ClientRig& operator=(const ClientRig&) = delete;

    // Whatever is in flight is ended.
    ~ClientRig() {
        (void)client.finish_reset(rig_config());
        while (client.next() != nullptr) {
        }
    }

    // Answers the oldest request and takes the result of `chain`'s.
    template <wire::Opcode op>
    [[nodiscard]] ResultOf<op> finish(const Answer& answer) {
        port.answer(answer);
        VIRTACCEL_CHECK(client.next() == &chain);
        return client.result<op>(chain);
    }

    // The last request posted.
    [[nodiscard]] const Posted& last() const { return port.posted.back(); }

    // A binding of `buffer`.
    [[nodiscard]] Binding binding(std::uint32_t slot) const {
        return {.slot = slot,
                .access = Access::read,
                .buffer = &buffer,
                .range = {.offset = 0, .bytes = 64}};
    }
};

}  // namespace virtaccel::guest::testing

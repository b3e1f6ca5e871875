#include "bench/cases/full_rig.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "adapters/loopback/loopback.h"
#include "bench/cases/fixture.h"
#include "bench/cases/taken.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::bench {

FullRig::FullRig(backend::BackendFactory factory, std::uint32_t queue_size, std::size_t chains) {
    auto loopback = adapters::loopback::Loopback::make(
        host::heap(), factory, {.queue_size = queue_size, .device = device_options()});
    taken(loopback.has_value());
    loopback_ = std::make_unique<adapters::loopback::Loopback>(*std::move(loopback));
    auto client = guest::Client::make(loopback_->port(), loopback_->config(), host::heap());
    taken(client.has_value());
    client_ = std::make_unique<guest::Client>(*std::move(client));
    constexpr std::size_t bindings = 256;
    for (std::size_t i = 0; i < chains; ++i) {
        // The first chain also carries written data and bindings.
        const std::size_t room = i == 0 ? guest::Chain::bytes_for_write(1U << 20U)
                                        : guest::Chain::bytes_for_bindings(bindings);
        auto chain = guest::Chain::make(host::heap(), room);
        taken(chain.has_value());
        chains_.push_back(*std::move(chain));
    }
    taken(client_->get_device_info(chains_[0]).has_value());
    (void)finish<wire::Opcode::get_device_info>(chains_[0]);
}

guest::ContextHandle FullRig::create_context() {
    taken(client_->create_context(chains_[0]).has_value());
    return *finish<wire::Opcode::create_context>(chains_[0]);
}

guest::BufferHandle FullRig::allocate(const guest::ContextHandle& context, std::uint64_t bytes) {
    const guest::BufferSpec spec{.bytes = bytes, .alignment = 64, .usage = every_usage};
    taken(client_->allocate_buffer(chains_[0], context, spec).has_value());
    return *finish<wire::Opcode::allocate_buffer>(chains_[0]);
}

guest::ProgramHandle FullRig::load(const guest::ContextHandle& context) {
    const guest::ProgramSpec spec{.format = barrier_format,
                                  .target = barrier_target,
                                  .artifact = std::as_bytes(std::span{barrier_artifact}),
                                  .resident_bytes = barrier_resident_bytes};
    taken(client_->load_program(chains_[0], context, spec).has_value());
    return *finish<wire::Opcode::load_program>(chains_[0]);
}

guest::QueueHandle FullRig::create_queue(const guest::ContextHandle& context) {
    taken(client_->create_queue(chains_[0], context).has_value());
    return *finish<wire::Opcode::create_queue>(chains_[0]);
}

void FullRig::reset() {
    client_->begin_reset();
    loopback_->reset();
    taken(client_->finish_reset(loopback_->config()) == Status::ok);
}

}  // namespace virtaccel::bench

#include "virtaccel/conformance/ring_device.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/device/processor.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/queue/testing/raw_ends.h"

namespace virtaccel::conformance {

namespace {

// Enough for every load that the ring can hold.
constexpr std::uint32_t deferred_loads_max = 16;

queue::testing::Link link_of(const Piece& piece, std::uint16_t flags) {
    return {.address = std::bit_cast<std::uintptr_t>(piece.data),
            .bytes = static_cast<std::uint32_t>(piece.size),
            .flags = flags};
}

}  // namespace

std::optional<queue::Chain> HarnessPort::pop() {
    auto chain = port_->pop();
    if (chain && losable_) {
        losable_ = false;
        chain->writable.lease = {.live = &live_, .epoch = live_};
    }
    return chain;
}

bool HarnessPort::want_notifications(bool wanted) {
    if (wanted && act_ != nullptr) {
        std::exchange(act_, nullptr)(state_);
    }
    return port_->want_notifications(wanted);
}

RingDevice::RingDevice(const Memory& memory, backend::BackendFactory factory,
                       const RingDeviceOptions& options)
    : memory_(memory),
      options_(options),
      inner_(factory),
      layout_(queue::lay_out_ring(options.queue_size, sizeof(Line))),
      lines_(static_cast<std::size_t>(layout_.bytes / sizeof(Line))),
      map_(queue::MemoryMap::identity()) {
    options_.device.deferred_loads_max = deferred_loads_max;
    const backend::BackendFactory wrapping{
        .state = this,
        .make = [](void* self) { return static_cast<RingDevice*>(self)->make_backend(); }};
    auto endpoint = device::Endpoint::make(memory, wrapping, options_.device);
    if (!endpoint) {
        unfit_ = device::explain(endpoint.error());
        return;
    }
    endpoint_.emplace(*std::move(endpoint));
    device_.emplace(memory, map_,
                    queue::DeviceRingOptions{
                        .chain_descriptors_max = options_.device.config.chain_descriptors_max,
                        .threads = queue::RingThreads::one,
                        .driver = {.state = this, .call = [](void* self) {
                                       ++static_cast<RingDevice*>(self)->interrupts_;
                                   }}});
    const queue::RingMemory ring = queue::ring_at(lines_.data()->bytes, layout_);
    driver_.emplace(ring);
    if (const auto started = device_->start(ring); !started) {
        unfit_ = queue::explain(started.error());
        return;
    }
    port_.emplace(*device_);
    processor_.emplace(
        *endpoint_, *port_,
        device::LoadRunner{.state = this, .start = [](void* self, device::PendingLoad load) {
                               static_cast<RingDevice*>(self)->loads_.push_back(std::move(load));
                           }});
}

Result<backend::AnyBackend> RingDevice::make_backend() {
    VIRTACCEL_TRY_ASSIGN(backend::AnyBackend inner, inner_.make(inner_.state));
    return backend::make_owned<mock::FaultBackend>(memory_, script_, std::move(inner));
}

std::optional<std::uint32_t> RingDevice::exchange(std::span<const Piece> readable,
                                                  std::span<const Piece> writable) {
    std::vector<queue::testing::Link> links;
    for (const Piece& piece : readable) {
        links.push_back(link_of(piece, 0));
    }
    for (const Piece& piece : writable) {
        links.push_back(link_of(piece, queue::descriptor_write));
    }
    if (links.empty() || links.size() > layout_.size) {
        return std::nullopt;
    }
    const std::uint16_t head = driver_->lay(next_descriptor_, links);
    next_descriptor_ = static_cast<std::uint16_t>((head + links.size()) % layout_.size);
    driver_->offer(head);
    kick();
    const auto used = driver_->next_used();
    if (!used || used->id != head) {
        return std::nullopt;
    }
    return used->bytes;
}

bool RingDevice::reset() {
    if (endpoint_->reset() == device::ResetAnswer::unavailable) {
        return false;
    }
    device_->reset();
    driver_->make_empty();
    next_descriptor_ = 0;
    script_.hold_events(false);
    return true;
}

std::span<std::byte> RingDevice::room(std::size_t bytes) {
    return rooms_.emplace_back(bytes, canary);
}

void RingDevice::kick() {
    while (!processor_->run_until_idle(layout_.size)) {
    }
    if (!loads_held_) {
        finish_loads();
    }
}

void RingDevice::finish_loads() {
    for (device::PendingLoad& load : std::exchange(loads_, {})) {
        load.prepare();
        processor_->finish(std::move(load));
    }
}

bool RingDevice::hold_events(bool held) {
    script_.hold_events(held);
    return true;
}

bool RingDevice::hold_loads(bool held) {
    loads_held_ = held;
    if (!held) {
        finish_loads();
    }
    return true;
}

bool RingDevice::before_it_sleeps(void (*act)(void*), void* state) {
    port_->before_it_sleeps(act, state);
    return true;
}

bool RingDevice::lose_next_release() {
    script_.fail_next(mock::Call::free, {.status = Status::device_lost,
                                         .certainty = backend::Certainty::indeterminate});
    return true;
}

bool RingDevice::lose_next_response() {
    port_->make_next_losable();
    script_.fail_next(mock::Call::create_context,
                      {.status = Status::ok, .state = &*port_, .before = [](void* port) {
                           static_cast<HarnessPort*>(port)->lose();
                       }});
    return true;
}

}  // namespace virtaccel::conformance

#include "adapters/loopback/loopback.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/loopback/alarm.h"
#include "host/clock.h"
#include "host/error.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/processor.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/ring_memory.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::adapters::loopback {

namespace {

constexpr std::size_t line_bytes = 64;

struct alignas(line_bytes) Line {
    std::byte bytes[line_bytes];
};

}  // namespace

struct Loopback::State {
    State(const Memory& from, device::Endpoint made, const Options& options)
        : memory(from),
          layout(queue::lay_out_ring(options.queue_size, line_bytes)),
          lines(from, layout.bytes / line_bytes),
          map(queue::MemoryMap::identity()),
          endpoint(std::move(made)),
          driver(from,
                 {.chain_descriptors_max = options.device.config.chain_descriptors_max,
                  .threads = queue::RingThreads::one,
                  .device = {.state = this,
                             .call = [](void* self) { static_cast<State*>(self)->serve(); }}}),
          device(from, map,
                 {.chain_descriptors_max = options.device.config.chain_descriptors_max,
                  .threads = queue::RingThreads::one}),
          processor(endpoint, device) {}

    [[nodiscard]] std::expected<void, queue::RingRefusal> start() {
        if (lines.empty()) {
            return std::unexpected{queue::RingRefusal::out_of_memory};
        }
        const queue::RingMemory ring = queue::ring_at(lines.data()->bytes, layout);
        if (auto started = driver.start(ring); !started) {
            return started;
        }
        return device.start(ring);
    }

    // No more chains than the ring holds can have been posted.
    void serve() { processor.run(layout.size); }

    device::ResetAnswer after(device::ResetAnswer answer) {
        if (answer != device::ResetAnswer::refused) {
            device.reset();
            driver.reset();
        }
        return answer;
    }

    Memory memory;
    Alarm alarm;  // outlives the backend, whose threads raise it
    queue::RingLayout layout;
    Array<Line> lines;
    queue::MemoryMap map;
    device::Endpoint endpoint;
    queue::DriverRing driver;
    queue::DeviceRing device;
    device::Processor processor;
};

namespace {

// The options that concern the ring; the device judges its own.
[[nodiscard]] host::OrError<void> check(const Options& options) {
    const std::string size = std::to_string(options.queue_size);
    if (!queue::is_ring_size(options.queue_size)) {
        return host::error("The queue size (" + size +
                           ") is not a power of two from 2 to 32768: choose one that is.");
    }
    const std::uint32_t chain_max = options.device.config.chain_descriptors_max;
    if (chain_max > options.queue_size) {
        return host::error("The chain limit (" + std::to_string(chain_max) +
                           ") is greater than the queue size (" + size +
                           "): lower the one or raise the other.");
    }
    return {};
}

}  // namespace

host::OrError<Loopback> Loopback::make(const Memory& memory, backend::BackendFactory factory,
                                       const Options& options) {
    if (auto checked = check(options); !checked) {
        return std::unexpected{std::move(checked).error()};
    }
    auto endpoint = device::Endpoint::make(memory, factory, options.device, options.seed);
    if (!endpoint) {
        return host::error(std::string{device::explain(endpoint.error())});
    }
    void* const block = memory.allocate(memory.state, sizeof(State), alignof(State));
    if (block == nullptr) {
        return host::error(std::string{queue::explain(queue::RingRefusal::out_of_memory)});
    }
    Loopback loopback{
        std::construct_at(static_cast<State*>(block), memory, *std::move(endpoint), options)};
    if (const auto started = loopback.state_->start(); !started) {
        return host::error(std::string{queue::explain(started.error())});
    }
    return loopback;
}

Loopback::Loopback(Loopback&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}

Loopback& Loopback::operator=(Loopback&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

Loopback::~Loopback() {
    if (state_ != nullptr) {
        const Memory memory = state_->memory;
        std::destroy_at(state_);
        memory.release(memory.state, state_, sizeof(State), alignof(State));
    }
}

queue::DriverPort& Loopback::port() {
    return state_->driver;
}

wire::Config Loopback::config() const {
    return state_->endpoint.device().config();
}

device::ResetAnswer Loopback::reset(std::uint64_t seed) {
    return state_->after(state_->endpoint.reset(seed));
}

device::ResetAnswer Loopback::reset() {
    return state_->after(state_->endpoint.reset());
}

device::Endpoint& Loopback::endpoint() {
    return state_->endpoint;
}

guest::Transport Loopback::transport() {
    const auto raise = [](void* self) { static_cast<State*>(self)->alarm.raise(); };
    // Whatever can complete completes in `kick`; should nothing have, only time can pass.
    const auto wait = [](void* self, std::uint64_t timeout_ns) {
        auto& state = *static_cast<State*>(self);
        state.serve();
        if (state.driver.want_notifications(true)) {
            return true;
        }
        host::pause_ns(timeout_ns);
        return false;
    };
    const auto pause = [](void* self, std::uint64_t duration_ns) {
        static_cast<State*>(self)->alarm.sleep(duration_ns);
    };
    const auto reset = [](void* self) -> Result<wire::Config> {
        auto& state = *static_cast<State*>(self);
        if (state.after(state.endpoint.reset()) == device::ResetAnswer::unavailable) {
            return fail(Status::device_lost);
        }
        return state.endpoint.device().config();
    };
    state_->endpoint.set_notifier({.state = state_, .notify = raise});
    return {.port = &state_->driver,
            .waiter = {.state = state_,
                       .wait = wait,
                       .pause = pause,
                       .now_ns = [](void* /*self*/) { return host::now_ns(); }},
            .config = config(),
            .frames = state_->memory,
            .reaches_caller_memory = true,
            .reset = reset,
            .reset_state = state_};
}

}  // namespace virtaccel::adapters::loopback

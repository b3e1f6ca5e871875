#include "tests/faults/stack_hands.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "adapters/loopback/loopback.h"
#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::faults {

namespace {

constexpr guest::BufferSpec buffer_spec{.bytes = buffer_bytes, .usage = usage_known};

adapters::loopback::Loopback make_loopback(World& world) {
    adapters::loopback::Options options{.queue_size = 8, .device = device_options()};
    options.device.deferred_loads_max = 1;
    auto made = adapters::loopback::Loopback::make(world.memory(), world.factory(), options);
    VIRTACCEL_CHECK(made.has_value());
    return *std::move(made);
}

template <class T>
Status status_of(const guest::Outcome<T>& outcome) {
    return outcome ? Status::ok : outcome.error().status;
}

// Keeps what was made.
template <class T>
Status keep(T& place, guest::Outcome<T> made) {
    if (!made) {
        return made.error().status;
    }
    place = *std::move(made);
    return Status::ok;
}

}  // namespace

StackHands::StackHands(World& world)
    : memory_(world.memory()), loopback_(make_loopback(world)), real_(loopback_.transport()) {
    open();
}

StackHands::~StackHands() {
    close();
}

guest::Transport StackHands::transport() {
    guest::Transport transport = real_;
    transport.waiter = {
        .state = this,
        .wait =
            [](void* self, std::uint64_t timeout_ns) {
                const guest::Waiter& waiter = static_cast<StackHands*>(self)->real_.waiter;
                return waiter.wait(waiter.state, timeout_ns);
            },
        .pause =
            [](void* self, std::uint64_t duration_ns) {
                static_cast<StackHands*>(self)->now_ns_ += duration_ns;
            },
        .now_ns = [](void* self) { return static_cast<StackHands*>(self)->now_ns_; }};
    return transport;
}

void StackHands::open() {
    auto opened = guest::Session::open(transport(), memory_, {.bindings_max = 4, .parked_max = 8});
    VIRTACCEL_CHECK(opened.has_value());
    session_.emplace(*std::move(opened));
}

Status StackHands::make(Thing thing) {
    switch (thing) {
        case Thing::context:
            if (!session_) {
                open();
            }
            return keep(held_.context, session_->create_context());
        case Thing::source:
            return keep(held_.source, held_.context.allocate(buffer_spec));
        case Thing::target:
            return keep(held_.target, held_.context.allocate(buffer_spec));
        case Thing::program:
            return load();
        case Thing::queue:
            return keep(held_.queue, held_.context.create_queue());
        case Thing::run:
        case Thing::victim:
            return submit(event(thing));
    }
    return Status::internal_error;
}

Status StackHands::load() {
    const auto artifact =
        mock::encode({.operation = mock::Operation::copy, .first_slot = 0, .second_slot = 1});
    return keep(held_.program,
                held_.context.load({.format = mock::reference_format,
                                    .target = mock::reference_target,
                                    .artifact = artifact,
                                    .resident_bytes = mock::reference_resident_bytes}));
}

Status StackHands::submit(guest::Event& event) {
    const std::array bindings{guest::bind(0, held_.source, Access::read),
                              guest::bind(1, held_.target, Access::write)};
    const Status status = keep(event, held_.queue.submit(held_.program, bindings));
    return status == Status::ok ? event.doubt() : status;
}

guest::Event& StackHands::event(Thing thing) {
    return thing == Thing::run ? held_.run : held_.victim;
}

Status StackHands::overdraw() {
    guest::BufferSpec spec = buffer_spec;
    spec.bytes = 1;
    return status_of(held_.context.allocate(spec));
}

Status StackHands::release(Thing thing) {
    switch (thing) {
        case Thing::context:
            return status_of(held_.context.release());
        case Thing::source:
            return status_of(held_.source.release());
        case Thing::target:
            return status_of(held_.target.release());
        case Thing::program:
            return status_of(held_.program.release());
        case Thing::queue:
            return status_of(held_.queue.release());
        case Thing::run:
        case Thing::victim:
            return status_of(event(thing).release());
    }
    return Status::internal_error;
}

bool StackHands::holds(Thing thing) const {
    switch (thing) {
        case Thing::context:
            return static_cast<bool>(held_.context);
        case Thing::source:
            return static_cast<bool>(held_.source);
        case Thing::target:
            return static_cast<bool>(held_.target);
        case Thing::program:
            return static_cast<bool>(held_.program);
        case Thing::queue:
            return static_cast<bool>(held_.queue);
        case Thing::run:
            return static_cast<bool>(held_.run);
        case Thing::victim:
            return static_cast<bool>(held_.victim);
    }
    return false;
}

Status StackHands::write(std::span<const std::byte> bytes) {
    return status_of(held_.source.write(0, bytes));
}

Status StackHands::read(std::span<std::byte> bytes) {
    return status_of(held_.target.read(0, bytes));
}

Result<guest::EventStatus> StackHands::poll(Thing thing) {
    const auto polled = event(thing).poll();
    if (!polled) {
        return fail(polled.error().status);
    }
    return *polled;
}

Status StackHands::cancel(Thing thing) {
    return status_of(event(thing).cancel());
}

void StackHands::drop(Thing thing) {
    switch (thing) {
        case Thing::context:
            held_.context = {};
            break;
        case Thing::source:
            held_.source = {};
            break;
        case Thing::target:
            held_.target = {};
            break;
        case Thing::program:
            held_.program = {};
            break;
        case Thing::queue:
            held_.queue = {};
            break;
        case Thing::run:
        case Thing::victim:
            event(thing) = {};
            break;
    }
}

void StackHands::close() {
    for (const Thing thing : things) {
        drop(thing);
    }
    session_.reset();
}

// A session recovers; one that has ended leaves the reset to the transport.
device::ResetReport StackHands::reset() {
    if (session_) {
        VIRTACCEL_CHECK(session_->recover().has_value());
        for (const Thing thing : things) {
            drop(thing);
        }
    } else {
        const auto answer = loopback_.reset();
        VIRTACCEL_CHECK(answer == device::ResetAnswer::reused ||
                        answer == device::ResetAnswer::rebuilt);
    }
    return loopback_.endpoint().last_report();
}

}  // namespace virtaccel::faults

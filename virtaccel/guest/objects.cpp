// What a session's objects do. Each operation is one or a few whole commands through the link.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <utility>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/link.h"
#include "virtaccel/guest/parted_load.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {

using wire::Opcode;

namespace {

// Parts of a long transfer end on a multiple of this, so that the next one starts well aligned.
constexpr std::uint64_t part_alignment = 64;

constexpr std::uint64_t pause_min_ns = 1'000;
constexpr std::uint64_t pause_max_ns = 1'000'000;
constexpr std::uint64_t waits_per_pause = 64;

[[nodiscard]] std::unexpected<Failure> refused(Opcode opcode, Status status, Cause cause) {
    return std::unexpected{
        Failure{.status = status, .opcode = opcode, .kind = FailureKind::not_sent, .cause = cause}};
}

// How long one part of a transfer may be if a frame carries `frame_bytes`.
[[nodiscard]] std::size_t part_bytes_max(const detail::Link& link, std::uint64_t frame_bytes) {
    if (!link.transport().reaches_caller_memory) {
        frame_bytes = std::min<std::uint64_t>(frame_bytes, link.options().staging_bytes);
    }
    const auto aligned = frame_bytes & ~(part_alignment - 1);
    return static_cast<std::size_t>(aligned == 0 ? frame_bytes : aligned);
}

// Whether a part goes through the frame, by a copy.
[[nodiscard]] bool is_copied(const detail::Link& link, std::size_t bytes) {
    return bytes <= link.options().copied_bytes_max || !link.transport().reaches_caller_memory;
}

[[nodiscard]] Outcome<void> write_part(detail::Link& link, const BufferHandle& buffer,
                                       std::uint64_t offset, std::span<const std::byte> part) {
    return link.call<Opcode::write_buffer>([&](Client& client, Chain& chain) {
        return is_copied(link, part.size()) ? client.write_buffer(chain, buffer, offset, part)
                                            : client.write_prepared(chain, buffer, offset, part);
    });
}

[[nodiscard]] Outcome<void> read_part(detail::Link& link, const BufferHandle& buffer,
                                      std::uint64_t offset, std::span<std::byte> part) {
    const bool copied = is_copied(link, part.size());
    const auto bytes = link.call<Opcode::read_buffer>([&](Client& client, Chain& chain) {
        return copied ? client.read_buffer(chain, buffer, {.offset = offset, .bytes = part.size()})
                      : client.read_prepared(chain, buffer, offset, part);
    });
    if (!bytes) {
        return std::unexpected{bytes.error()};
    }
    if (copied) {
        std::memcpy(part.data(), bytes->data(), bytes->size());
    }
    return {};
}

// Room that the device can reach for `bytes` bytes of the caller's; none where it reaches those.
[[nodiscard]] Outcome<Array<std::byte>> stage(const detail::Link& link, std::size_t bytes) {
    if (link.transport().reaches_caller_memory || bytes == 0) {
        return Array<std::byte>{};
    }
    Array<std::byte> room{link.transport().frames, bytes};
    if (room.empty()) {
        return refused(Opcode::load_program, Status::out_of_memory, Cause::memory);
    }
    return room;
}

// `bytes` where the device can reach them: in `room`, or where they are if there is none.
[[nodiscard]] std::span<const std::byte> through(Array<std::byte>& room,
                                                 std::span<const std::byte> bytes) {
    if (room.empty() || bytes.empty()) {
        return bytes;
    }
    std::memcpy(room.data(), bytes.data(), bytes.size());
    return {room.data(), bytes.size()};
}

}  // namespace

namespace detail {

template <class KindTag>
Owned<KindTag>::~Owned() {
    if (handle_) {
        link_->dispose(handle_);
    }
}

template <class KindTag>
Outcome<void> Owned<KindTag>::release() {
    if (!handle_) {
        return refused(release_opcode<KindTag>, Status::stale_object, Cause::handle);
    }
    return link_->release(handle_);
}

template class Owned<ContextKind>;
template class Owned<BufferKind>;
template class Owned<ProgramKind>;
template class Owned<QueueKind>;
template class Owned<EventKind>;

}  // namespace detail

Event::~Event() {
    end();
}

Event& Event::operator=(Event&& other) noexcept {
    end();
    doubt_ = other.doubt_;
    Owned::operator=(std::move(other));
    return *this;
}

void Event::end() {
    if (!*this) {
        return;
    }
    const auto released = release();
    if (released || released.error().status != Status::busy) {
        return;  // what is left of the handle is the base's to end
    }
    if (link().identity().capabilities.has(CapabilityBit::event_cancellation)) {
        // BUSY if it has just ended, which is as good.
        [[maybe_unused]] const auto cancelled = cancel();
    }
    [[maybe_unused]] const auto ended = wait(link().options().drop_timeout_ns);
}

Outcome<EventStatus> Event::poll() {
    if (!*this) {
        return refused(Opcode::poll_event, Status::stale_object, Cause::handle);
    }
    return link().call<Opcode::poll_event>(
        [this](Client& client, Chain& chain) { return client.poll_event(chain, handle()); });
}

Outcome<EventStatus> Event::wait(std::uint64_t timeout_ns) {
    auto status = poll();
    if (!status || status->phase != EventPhase::pending) {
        return status;
    }
    const auto& waiter = link().transport().waiter;
    const auto start_ns = waiter.now_ns(waiter.state);
    std::uint64_t waited_ns = 0;
    while (status && status->phase == EventPhase::pending) {
        if (timeout_ns != 0 && waited_ns >= timeout_ns) {
            return std::unexpected{Failure{.status = Status::deadline_expired,
                                           .opcode = Opcode::poll_event,
                                           .kind = FailureKind::retryable,
                                           .cause = Cause::time}};
        }
        auto pause_ns = std::clamp(waited_ns / waits_per_pause, pause_min_ns, pause_max_ns);
        if (timeout_ns != 0) {
            pause_ns = std::min(pause_ns, timeout_ns - waited_ns);
        }
        waiter.pause(waiter.state, pause_ns);
        status = poll();
        waited_ns = waiter.now_ns(waiter.state) - start_ns;
    }
    return status;
}

Outcome<void> Event::cancel() {
    if (!*this) {
        return refused(Opcode::cancel_event, Status::stale_object, Cause::handle);
    }
    return link().call<Opcode::cancel_event>(
        [this](Client& client, Chain& chain) { return client.cancel_event(chain, handle()); });
}

Outcome<void> Buffer::write(std::uint64_t offset, std::span<const std::byte> source) {
    if (!*this) {
        return refused(Opcode::write_buffer, Status::stale_object, Cause::handle);
    }
    if (!fits({.offset = offset, .bytes = source.size()}, bytes_)) {
        return refused(Opcode::write_buffer, Status::out_of_bounds, Cause::request);
    }
    const auto part_max = part_bytes_max(link(), link().client().write_bytes_max());
    while (source.size() > part_max) {
        if (auto written = write_part(link(), handle(), offset, source.first(part_max)); !written) {
            return written;
        }
        source = source.subspan(part_max);
        offset += part_max;
    }
    return write_part(link(), handle(), offset, source);
}

Outcome<void> Buffer::read(std::uint64_t offset, std::span<std::byte> target) {
    if (!*this) {
        return refused(Opcode::read_buffer, Status::stale_object, Cause::handle);
    }
    if (!fits({.offset = offset, .bytes = target.size()}, bytes_)) {
        return refused(Opcode::read_buffer, Status::out_of_bounds, Cause::request);
    }
    const auto part_max = part_bytes_max(link(), link().client().read_bytes_max());
    while (target.size() > part_max) {
        if (auto read = read_part(link(), handle(), offset, target.first(part_max)); !read) {
            return read;
        }
        target = target.subspan(part_max);
        offset += part_max;
    }
    return read_part(link(), handle(), offset, target);
}

Outcome<Event> Queue::submit(const Program& program, std::span<const Binding> bindings,
                             std::uint64_t timeout_ns) {
    if (!*this) {
        return refused(Opcode::submit, Status::stale_object, Cause::handle);
    }
    auto submitted = link().call<Opcode::submit>([&](Client& client, Chain& chain) {
        return client.submit(chain, {.queue = handle(),
                                     .program = program.handle(),
                                     .bindings = bindings,
                                     .timeout_ns = timeout_ns});
    });
    if (!submitted) {
        return std::unexpected{submitted.error()};
    }
    return Event{link_ref(), *std::move(submitted)};
}

Outcome<void> Queue::run(const Program& program, std::span<const Binding> bindings,
                         std::uint64_t timeout_ns) {
    auto event = submit(program, bindings, timeout_ns);
    if (!event) {
        return std::unexpected{event.error()};
    }
    const auto ended = event->wait();
    if (!ended) {
        return std::unexpected{ended.error()};
    }
    const auto released = event->release();
    if (event->doubt() != Status::ok) {
        return std::unexpected{Failure{.status = event->doubt(),
                                       .opcode = Opcode::submit,
                                       .kind = FailureKind::indeterminate,
                                       .cause = Cause::answer}};
    }
    if (ended->phase != EventPhase::complete) {
        const bool failed = ended->phase == EventPhase::failed;
        return std::unexpected{
            Failure{.status = failed ? ended->error : Status::busy,
                    .opcode = Opcode::submit,
                    .kind = failed ? kind_of_answer(ended->error) : FailureKind::retryable,
                    .cause = Cause::event}};
    }
    return released;
}

Outcome<Buffer> Context::allocate(const BufferSpec& spec) {
    if (!*this) {
        return refused(Opcode::allocate_buffer, Status::stale_object, Cause::handle);
    }
    auto made = link().call<Opcode::allocate_buffer>([&](Client& client, Chain& chain) {
        return client.allocate_buffer(chain, handle(), spec);
    });
    if (!made) {
        return std::unexpected{made.error()};
    }
    return Buffer{link_ref(), *std::move(made), spec.bytes};
}

Outcome<Program> Context::load(const ProgramSpec& spec) {
    if (!*this) {
        return refused(Opcode::load_program, Status::stale_object, Cause::handle);
    }
    if (spec.artifact.size() > link().client().artifact_bytes_max()) {
        return load_in_parts(spec);
    }
    auto sent = spec;
    auto staged = stage(link(), spec.artifact.size());
    if (!staged) {
        return std::unexpected{staged.error()};
    }
    sent.artifact = through(*staged, spec.artifact);
    auto made = link().call_within<Opcode::load_program>(
        link().options().load_timeout_ns,
        [&](Client& client, Chain& chain) { return client.load_program(chain, handle(), sent); });
    if (!made) {
        return std::unexpected{made.error()};
    }
    return Program{link_ref(), *std::move(made)};
}

Outcome<Program> Context::load_in_parts(const ProgramSpec& spec) {
    auto load = PartedLoad::make(link().client(), spec, link().next_part_key(), link().memory());
    if (!load) {
        return std::unexpected{load.error()};
    }
    // No part is longer than the first.
    auto staged = stage(link(), load->next_bytes().size());
    if (!staged) {
        return std::unexpected{staged.error()};
    }
    while (!load->is_over()) {
        const auto bytes = through(*staged, load->next_bytes());
        load->take(link().call_within<Opcode::load_program>(
            link().options().load_timeout_ns, [&](Client& client, Chain& chain) {
                return load->post(client, chain, handle(), bytes);
            }));
    }
    for (ProgramHandle& part : load->parts()) {
        link().dispose(part);
    }
    auto made = load->result();
    if (!made) {
        return std::unexpected{made.error()};
    }
    return Program{link_ref(), *std::move(made)};
}

Outcome<Queue> Context::create_queue() {
    if (!*this) {
        return refused(Opcode::create_queue, Status::stale_object, Cause::handle);
    }
    auto made = link().call<Opcode::create_queue>(
        [this](Client& client, Chain& chain) { return client.create_queue(chain, handle()); });
    if (!made) {
        return std::unexpected{made.error()};
    }
    return Queue{link_ref(), *std::move(made)};
}

}  // namespace virtaccel::guest

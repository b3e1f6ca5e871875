#include "virtaccel/guest/link.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <utility>

#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest::detail {

using wire::Opcode;

namespace {

constexpr std::size_t staging_bytes_min = 64;

[[nodiscard]] std::unexpected<Failure> cannot_open(Status status, Cause cause) {
    return std::unexpected{Failure{.status = status,
                                   .opcode = Opcode::get_device_info,
                                   .kind = FailureKind::not_sent,
                                   .cause = cause}};
}

}  // namespace

Outcome<LinkRef> Link::make(const Transport& transport, const Memory& memory,
                            const SessionOptions& options) {
    auto client = Client::make(*transport.port, transport.config, memory);
    if (!client) {
        return cannot_open(client.error(),
                           client.error() == Status::out_of_memory ? Cause::memory : Cause::config);
    }
    auto chain = Chain::make(transport.frames, Chain::control_bytes);
    Array<Parked> parked{memory, options.parked_max};
    void* const room = memory.allocate(memory.state, sizeof(Link), alignof(Link));
    if (!chain || (parked.empty() && options.parked_max != 0) || room == nullptr) {
        if (room != nullptr) {
            memory.release(memory.state, room, sizeof(Link), alignof(Link));
        }
        return cannot_open(Status::out_of_memory, Cause::memory);
    }
    LinkRef link{new (room) Link{*std::move(client), *std::move(chain), std::move(parked),
                                 Setup{transport, memory, options}}};
    if (auto opened = link->open(); !opened) {
        return std::unexpected{opened.error()};
    }
    return link;
}

Link::Link(Client client, Chain chain, Array<Parked> parked, const Setup& setup)
    : chain_(std::move(chain)),
      client_(std::move(client)),
      transport_(setup.transport),
      options_(setup.options),
      memory_(setup.memory),
      parked_(std::move(parked)) {
    options_.staging_bytes = std::max(options_.staging_bytes, staging_bytes_min);
}

Outcome<void> Link::open() {
    if (auto identity = identify(); !identity) {
        return std::unexpected{identity.error()};
    }
    const auto bindings = std::min(options_.bindings_max, client_.bindings_max());
    const auto staged = transport_.reaches_caller_memory ? std::size_t{0} : options_.staging_bytes;
    const auto bulk_bytes = std::max(options_.copied_bytes_max, staged);
    auto chain = Chain::make(transport_.frames, std::max(Chain::bytes_for_bindings(bindings),
                                                         Chain::bytes_for_write(bulk_bytes)));
    if (!chain) {
        return cannot_open(Status::out_of_memory, Cause::memory);
    }
    chain_ = *std::move(chain);
    return {};
}

void Link::drop() {
    if (--references_ != 0) {
        return;
    }
    if (!is_lost()) {
        retry_parked();
    }
    const auto memory = memory_;
    this->~Link();
    memory.release(memory.state, this, sizeof(Link), alignof(Link));
}

Outcome<DeviceIdentity> Link::identify() {
    auto identity = call<Opcode::get_device_info>(
        [](Client& client, Chain& chain) { return client.get_device_info(chain); });
    if (identity) {
        identity_ = *identity;
    }
    return identity;
}

parts::Key Link::next_part_key() {
    parts::Key key{};
    auto number = ++part_keys_;
    for (std::byte& byte : std::span{key}.first<sizeof number>()) {
        byte = static_cast<std::byte>(number & 0xffU);
        number >>= 8U;
    }
    return key;
}

Outcome<void> Link::wait(Opcode opcode, std::uint64_t timeout_ns) {
    const auto& waiter = transport_.waiter;
    std::uint64_t remaining_ns = timeout_ns;
    std::uint64_t deadline_ns = 0;
    while (!client_.needs_reset()) {
        const bool woken = waiter.wait(waiter.state, remaining_ns);
        if (client_.next() != nullptr) {
            return {};
        }
        // The clock is first asked after a wait that brought nothing, which most calls never see.
        const auto now_ns = woken ? waiter.now_ns(waiter.state) : deadline_ns;
        if (deadline_ns == 0 && woken) {
            deadline_ns = now_ns + timeout_ns;
        }
        if (now_ns >= deadline_ns) {
            return give_up(opcode, Cause::time);
        }
        remaining_ns = deadline_ns - now_ns;
    }
    return give_up(opcode, Cause::ring);
}

Outcome<void> Link::give_up(Opcode opcode, Cause cause) {
    // The device may still write into the chain and the caller's memory: only a reset ends that.
    reset_device();
    lost_ = true;
    return std::unexpected{Failure{.status = Status::device_lost,
                                   .opcode = opcode,
                                   .kind = FailureKind::recovery_required,
                                   .cause = cause}};
}

Failure Link::needs_recovery(Opcode opcode) {
    return {.status = Status::device_lost,
            .opcode = opcode,
            .kind = FailureKind::recovery_required,
            .cause = Cause::client_closed};
}

Status Link::reset_device() {
    client_.begin_reset();
    const auto config = transport_.reset(transport_.reset_state);
    // Without a configuration an impossible one ends what is outstanding and keeps the client shut.
    const auto finished = client_.finish_reset(config.value_or(wire::Config{}));
    while (client_.next() != nullptr) {
    }
    abandoned_ += std::exchange(parked_count_, 0);
    return config ? finished : config.error();
}

Outcome<void> Link::recover() {
    lost_ = true;
    if (const auto status = reset_device(); status != Status::ok) {
        return std::unexpected{Failure{.status = status,
                                       .opcode = Opcode::get_device_info,
                                       .kind = FailureKind::recovery_required,
                                       .cause = Cause::config}};
    }
    lost_ = false;
    if (const auto identity = identify(); !identity) {
        lost_ = true;
        return std::unexpected{identity.error()};
    }
    return {};
}

void Link::park(const Parked& object, FailureKind why) {
    if (why == FailureKind::retryable && parked_count_ < parked_.size()) {
        parked_[parked_count_++] = object;
    } else {
        ++abandoned_;
    }
}

void Link::retry_parked() {
    // What is released may free its parent, so the list is walked until a walk changes nothing.
    auto objects = std::exchange(parked_count_, 0);
    bool progress = true;
    while (progress && objects != 0) {
        auto* const end = std::remove_if(parked_.begin(), parked_.begin() + objects,
                                         [this](const Parked& object) { return retry(object); });
        const auto left = static_cast<std::uint32_t>(end - parked_.begin());
        progress = left != objects;
        objects = left;
    }
    if (is_lost()) {
        abandoned_ += objects;
    } else {
        parked_count_ = objects;
    }
}

bool Link::retry(const Parked& object) {
    const auto is_settled = [this](auto handle) {
        const auto released = release(handle);
        return released || released.error().kind != FailureKind::retryable;
    };
    switch (object.opcode) {
        case Opcode::free_buffer:
            return is_settled(client_.adopt(BufferId{object.raw}));
        case Opcode::unload_program:
            return is_settled(client_.adopt(ProgramId{object.raw}));
        case Opcode::destroy_queue:
            return is_settled(client_.adopt(QueueId{object.raw}));
        case Opcode::destroy_event:
            return is_settled(client_.adopt(EventId{object.raw}));
        default:
            return is_settled(client_.adopt(ContextId{object.raw}));
    }
}

}  // namespace virtaccel::guest::detail

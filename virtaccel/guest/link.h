#pragma once
// The state that a session and its objects share: the client, one chain for all commands, and the
// objects that ended but could not be released yet. Private to the blocking layer. The one thing to
// know: no command is in flight when a member function returns.

#include <algorithm>
#include <cstdint>
#include <expected>
#include <utility>

#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest::detail {

// The command that releases an object of kind `KindTag`.
template <class KindTag>
inline constexpr auto release_opcode = wire::Opcode::destroy_context;
template <>
inline constexpr auto release_opcode<BufferKind> = wire::Opcode::free_buffer;
template <>
inline constexpr auto release_opcode<ProgramKind> = wire::Opcode::unload_program;
template <>
inline constexpr auto release_opcode<QueueKind> = wire::Opcode::destroy_queue;
template <>
inline constexpr auto release_opcode<EventKind> = wire::Opcode::destroy_event;

class Link {
  public:
    // A link with one reference. `client` is one of `transport.port`.
    [[nodiscard]] static Outcome<LinkRef> make(const Transport& transport, const Memory& memory,
                                               const SessionOptions& options);

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void retain() { ++references_; }

    void drop();

    // Posts by `post(client, chain)` and waits for the completion. Success says only that `result`
    // can be asked.
    template <class Post>
    [[nodiscard]] Outcome<void> exchange(wire::Opcode opcode, std::uint64_t timeout_ns,
                                         Post&& post) {
        if (is_lost()) [[unlikely]] {
            return std::unexpected{needs_recovery(opcode)};
        }
        if (auto posted = post(client_, chain_); !posted) [[unlikely]] {
            return posted;
        }
        client_.kick();
        if (client_.next() != nullptr) [[likely]] {
            return {};
        }
        return wait(opcode, timeout_ns);
    }

    // One whole command whose result is an Outcome.
    template <wire::Opcode op, class Post>
    [[nodiscard]] ResultOf<op> call(Post&& post) {
        return call_within<op>(options_.command_timeout_ns, std::forward<Post>(post));
    }

    template <wire::Opcode op, class Post>
    [[nodiscard]] ResultOf<op> call_within(std::uint64_t timeout_ns, Post&& post) {
        if (auto done = exchange(op, timeout_ns, std::forward<Post>(post)); !done) [[unlikely]] {
            return std::unexpected{done.error()};
        }
        return client_.result<op>(chain_);
    }

    // Releases the object. If the device keeps it, `handle` has it again.
    template <class KindTag>
    [[nodiscard]] Outcome<void> release(Handle<KindTag>& handle) {
        constexpr auto op = release_opcode<KindTag>;
        auto done = exchange(op, options_.command_timeout_ns, [&](Client& client, Chain& chain) {
            return client.release(chain, handle);
        });
        if (!done) [[unlikely]] {
            return done;
        }
        auto released = client_.result<op>(chain_);
        if (!released) [[unlikely]] {
            handle = std::move(released.error().handle);
            return std::unexpected{released.error().failure};
        }
        if (parked_count_ != 0) [[unlikely]] {
            retry_parked();
        }
        return {};
    }

    // Releases the object if that is possible, parks it if it is not possible yet.
    template <class KindTag>
    void dispose(Handle<KindTag>& handle) {
        const auto released = release(handle);
        if (!released && handle.is_of(client_.realm())) [[unlikely]] {
            park({.opcode = release_opcode<KindTag>, .raw = handle.id().raw},
                 released.error().kind);
        }
        handle = {};
    }

    [[nodiscard]] Outcome<void> recover();

    // Asks who the device is.
    [[nodiscard]] Outcome<DeviceIdentity> identify();

    [[nodiscard]] bool is_lost() const {
        return lost_ || client_.needs_reset() || client_.device_lost();
    }

    // The memory that is private to the guest.
    [[nodiscard]] const Memory& memory() const { return memory_; }

    // A key for the parts of an artifact, new to every context of this session.
    [[nodiscard]] parts::Key next_part_key();

    [[nodiscard]] const DeviceIdentity& identity() const { return identity_; }

    [[nodiscard]] const Client& client() const { return client_; }

    [[nodiscard]] const Transport& transport() const { return transport_; }

    [[nodiscard]] const SessionOptions& options() const { return options_; }

    [[nodiscard]] std::uint32_t parked() const { return parked_count_; }

    [[nodiscard]] std::uint64_t abandoned() const { return abandoned_; }

  private:
    // An object without an owner.
    struct Parked {
        wire::Opcode opcode = wire::Opcode::destroy_context;
        std::uint64_t raw = 0;
    };

    // What a session is opened with.
    struct Setup {
        const Transport& transport;
        const Memory& memory;
        const SessionOptions& options;
    };

    Link(Client client, Chain chain, Array<Parked> parked, const Setup& setup);
    ~Link() = default;

    [[nodiscard]] Outcome<void> open();
    [[nodiscard]] Outcome<void> wait(wire::Opcode opcode, std::uint64_t timeout_ns);
    [[nodiscard]] Outcome<void> give_up(wire::Opcode opcode, Cause cause);
    [[nodiscard]] static Failure needs_recovery(wire::Opcode opcode);
    Status reset_device();
    void park(const Parked& object, FailureKind why);
    void retry_parked();
    [[nodiscard]] bool retry(const Parked& object);

    Chain chain_;
    Client client_;
    Transport transport_;
    SessionOptions options_;
    Memory memory_;
    DeviceIdentity identity_;
    Array<Parked> parked_;
    std::uint64_t abandoned_ = 0;
    std::uint64_t part_keys_ = 0;
    std::uint32_t parked_count_ = 0;
    std::uint32_t references_ = 1;
    bool lost_ = false;
};

}  // namespace virtaccel::guest::detail

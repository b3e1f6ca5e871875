#pragma once
// The blocking layer: a session with one device, and objects that clean up after themselves.
//
//     VIRTACCEL_TRY_ASSIGN(Session session, Session::open(transport, memory));
//     VIRTACCEL_TRY_ASSIGN(Context context, session.create_context());
//     VIRTACCEL_TRY_ASSIGN(Program program, context.load(spec));
//     VIRTACCEL_TRY_ASSIGN(Buffer buffer, context.allocate({.bytes = 4096, .usage = usage}));
//     VIRTACCEL_TRY_ASSIGN(Queue queue, context.create_queue());
//     VIRTACCEL_TRY(queue.run(program, {bind(0, buffer, Access::read_write)}));
//
// Order of ends. Every object keeps the session's state alive, so no order is wrong. An object that
// ends while the device still needs it (a context with children, a buffer of a live event) is
// parked and released after what needs it is released; declared in the order above, nothing parks.
//
// Recovery. After DEVICE_LOST, and after a failure of kind recovery_required, `is_lost()` is true:
// the device has to be reset, and until then every call fails. The application decides when, and
// calls `recover()`; then every older object is invalid (its calls fail as invalidated, its end
// does nothing), the device is empty, and the application makes its objects anew. A command that is
// not answered in time, or never will be because the ring is broken, has the device reset at once,
// because it could still write to the caller's memory; `recover()` is needed to go on all the same.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/transport.h"

namespace virtaccel::guest {

struct SessionOptions {
    // How long one command may take before the device counts as lost; loading has its own.
    std::uint64_t command_timeout_ns = 30'000'000'000;
    std::uint64_t load_timeout_ns = 600'000'000'000;
    // How long an event that ends with its object pending is waited for, after it was cancelled.
    std::uint64_t drop_timeout_ns = 1'000'000'000;
    // The most bindings of one submission; more than the device takes costs nothing.
    std::uint32_t bindings_max = 4096;
    // Bulk data up to this many bytes are copied into the frame, more go from where they are; and
    // the size of the staging area if the device cannot reach the caller's memory.
    std::size_t copied_bytes_max = 256;
    std::size_t staging_bytes = std::size_t{64} << 10U;
    // How many objects can be parked at once; more are left to the device's next reset.
    std::uint32_t parked_max = 256;
};

namespace detail {

class Link;

// What the objects below share: a counted reference to the session's state.
class LinkRef {
  public:
    LinkRef() = default;

    explicit LinkRef(Link* link) : link_(link) {}

    LinkRef(const LinkRef& other);

    LinkRef(LinkRef&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}

    LinkRef& operator=(const LinkRef& other) = delete;

    LinkRef& operator=(LinkRef&& other) noexcept {
        std::swap(link_, other.link_);
        return *this;
    }

    ~LinkRef();

    [[nodiscard]] Link* operator->() const { return link_; }

    [[nodiscard]] Link* get() const { return link_; }

    [[nodiscard]] explicit operator bool() const { return link_ != nullptr; }

  private:
    Link* link_ = nullptr;
};

// A handle that is released when it ends.
template <class KindTag>
class Owned {
  public:
    Owned() = default;

    Owned(LinkRef link, Handle<KindTag> handle)
        : link_(std::move(link)), handle_(std::move(handle)) {}

    Owned(Owned&&) noexcept = default;

    // Ends the object held before.
    Owned& operator=(Owned&& other) noexcept {
        Owned taken{std::move(other)};
        std::swap(link_, taken.link_);
        std::swap(handle_, taken.handle_);
        return *this;
    }

    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned();

    [[nodiscard]] explicit operator bool() const { return static_cast<bool>(handle_); }

    [[nodiscard]] const Handle<KindTag>& handle() const { return handle_; }

    // Releases the object now. On a retryable failure it stays.
    [[nodiscard]] Outcome<void> release();

  protected:
    // The session's state; only while there is an object.
    [[nodiscard]] Link& link() const { return *link_.get(); }

    [[nodiscard]] const LinkRef& link_ref() const { return link_; }

  private:
    LinkRef link_;
    Handle<KindTag> handle_;
};

}  // namespace detail

// Owns one submission until it is terminal and released.
class Event : public detail::Owned<EventKind> {
  public:
    using Owned::Owned;

    Event(detail::LinkRef link, Submitted submitted)
        : Owned(std::move(link), std::move(submitted.event)), doubt_(submitted.status) {}

    Event(Event&&) noexcept = default;
    Event& operator=(Event&& other) noexcept;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    // A pending event is cancelled, if the device can, and waited for (`drop_timeout_ns`).
    ~Event();

    // OK, or why the device does not know whether the work began (an indeterminate SUBMIT).
    [[nodiscard]] Status doubt() const { return doubt_; }

    [[nodiscard]] Outcome<EventStatus> poll();

    // Polls until the event is terminal, with pauses of 1/64 of the time waited so far. When
    // `timeout_ns` passes first: retryable, cause `time`, and the event lives on. Zero: no limit.
    [[nodiscard]] Outcome<EventStatus> wait(std::uint64_t timeout_ns = 0);

    // BUSY (retryable) if it is already terminal.
    [[nodiscard]] Outcome<void> cancel();

  private:
    void end();

    Status doubt_ = Status::ok;
};

class Buffer : public detail::Owned<BufferKind> {
  public:
    Buffer() = default;

    Buffer(detail::LinkRef link, BufferHandle handle, std::uint64_t bytes)
        : Owned(std::move(link), std::move(handle)), bytes_(bytes) {}

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

    // Any number of bytes; more than a frame holds go in several commands, in ascending order. A
    // failure midway leaves the range unspecified.
    [[nodiscard]] Outcome<void> write(std::uint64_t offset, std::span<const std::byte> source);
    [[nodiscard]] Outcome<void> read(std::uint64_t offset, std::span<std::byte> target);

  private:
    std::uint64_t bytes_ = 0;
};

class Program : public detail::Owned<ProgramKind> {
  public:
    using Owned::Owned;
};

// `buffer` bound to `slot`: all of it, or `range`.
[[nodiscard]] inline Binding bind(std::uint32_t slot, const Buffer& buffer, Access access) {
    return {.slot = slot,
            .access = access,
            .buffer = &buffer.handle(),
            .range = {.offset = 0, .bytes = buffer.bytes()}};
}

[[nodiscard]] inline Binding bind(std::uint32_t slot, const Buffer& buffer, Access access,
                                  ByteRange range) {
    return {.slot = slot, .access = access, .buffer = &buffer.handle(), .range = range};
}

class Queue : public detail::Owned<QueueKind> {
  public:
    using Owned::Owned;

    // `timeout_ns` is the device's limit for admission and execution; zero means none.
    [[nodiscard]] Outcome<Event> submit(const Program& program, std::span<const Binding> bindings,
                                        std::uint64_t timeout_ns = 0);

    // Submits, waits to the end without limit of its own, and releases the event. A submission that
    // fails, is cancelled or is indeterminate is a failure of cause `event` or `answer`.
    [[nodiscard]] Outcome<void> run(const Program& program, std::span<const Binding> bindings,
                                    std::uint64_t timeout_ns = 0);

    [[nodiscard]] Outcome<void> run(const Program& program, std::initializer_list<Binding> bindings,
                                    std::uint64_t timeout_ns = 0) {
        return run(program, std::span{bindings.begin(), bindings.size()}, timeout_ns);
    }
};

class Context : public detail::Owned<ContextKind> {
  public:
    using Owned::Owned;

    [[nodiscard]] Outcome<Buffer> allocate(const BufferSpec& spec);

    // Any number of bytes that the device takes as one artifact: what is more than a frame holds
    // goes in parts (spec/parts.md), which are gone when this returns. Where the device does not
    // join parts, that fails with Cause::parts.
    [[nodiscard]] Outcome<Program> load(const ProgramSpec& spec);
    [[nodiscard]] Outcome<Queue> create_queue();

  private:
    [[nodiscard]] Outcome<Program> load_in_parts(const ProgramSpec& spec);
};

// One device, and everything on it that was made through here. Not for two threads at once.
class Session {
  public:
    // Starts to use the device behind `transport`, on whose port nothing is outstanding: asks who
    // it is and takes the smaller of its limits and the frames'. `memory` is private to the guest.
    // INCOMPATIBLE if it is not a device of protocol 1; OUT_OF_MEMORY.
    [[nodiscard]] static Outcome<Session> open(const Transport& transport, const Memory& memory,
                                               const SessionOptions& options = {});

    [[nodiscard]] const DeviceIdentity& identity() const;

    [[nodiscard]] Outcome<Context> create_context();

    // GET_DEVICE_INFO anew: a sign of life.
    [[nodiscard]] Outcome<DeviceIdentity> device_info();

    // True if the device has to be reset before anything else succeeds.
    [[nodiscard]] bool is_lost() const;

    // Resets the device; every object made before is invalid. Also allowed when nothing is lost.
    [[nodiscard]] Outcome<void> recover();

    // Objects that ended without being released (see above), and those given up for good.
    [[nodiscard]] std::uint32_t parked() const;
    [[nodiscard]] std::uint64_t abandoned() const;

  private:
    explicit Session(detail::LinkRef link) : link_(std::move(link)) {}

    detail::LinkRef link_;
};

}  // namespace virtaccel::guest

#pragma once
// What a guest asks for and is told, in values: the arguments of the operations that take more than
// a handle, and what completions yield. One result type per command, derived from `wire::commands`.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <type_traits>

#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {

// A buffer to allocate. `alignment` is a power of two.
struct BufferSpec {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 64;
    MemoryDomain domain = MemoryDomain::host;
    Usage usage;
};

// A program to load. `artifact` is the caller's memory; it is sent from where it stands.
// `resident_bytes` of zero declares `resident_bytes_for(artifact.size())` (resident_bytes.h).
struct ProgramSpec {
    std::uint32_t format = 0;
    TargetWords target{};
    std::span<const std::byte> artifact;
    std::uint64_t resident_bytes = 0;
};

// A part of an artifact that one frame does not carry (spec/parts.md): `bytes`, the caller's
// memory, are those from `offset` on.
struct PartSpec {
    parts::Key key{};
    std::uint64_t total_bytes = 0;
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;
};

// What the parts of `key` make: a program as `ProgramSpec` has it, whose artifact has
// `artifact_bytes` bytes.
struct JoinSpec {
    parts::Key key{};
    std::uint32_t format = 0;
    TargetWords target{};
    std::uint64_t artifact_bytes = 0;
    std::uint64_t resident_bytes = 0;
};

// A program slot bound to a range of a buffer.
struct Binding {
    std::uint32_t slot = 0;
    Access access = Access::read;
    const BufferHandle* buffer = nullptr;
    ByteRange range;
};

// Work for a queue. `timeout_ns` counts from admission; zero means no limit.
struct Submission {
    const QueueHandle& queue;
    const ProgramHandle& program;
    std::span<const Binding> bindings;
    std::uint64_t timeout_ns = 0;
};

// An event that owns a submission. `status` is OK if the work was accepted; any other status says
// that the device does not know whether it began (spec §6, "indeterminate"). Either way the event
// is polled and released.
struct Submitted {
    EventHandle event;
    Status status = Status::ok;
};

// Where an event stands; `error` is not OK exactly if `phase` is failed.
struct EventStatus {
    EventPhase phase = EventPhase::pending;
    Status error = Status::ok;
    friend constexpr bool operator==(const EventStatus&, const EventStatus&) = default;
};

// A release that did not happen. `handle` holds the object again if the failure is retryable or of
// unknown status (then it may be released again, not used), and nothing otherwise.
template <class KindTag>
struct Unreleased {
    Failure failure;
    Handle<KindTag> handle;
};

template <class KindTag>
using Released = std::expected<void, Unreleased<KindTag>>;

namespace detail {

template <class Record>
struct KindOf {
    using Kind = void;
};

template <class KindTag>
struct KindOf<wire::Object<KindTag>> {
    using Kind = KindTag;
};

template <wire::Opcode op>
inline constexpr bool is_release =
    op == wire::Opcode::destroy_context || op == wire::Opcode::free_buffer ||
    op == wire::Opcode::unload_program || op == wire::Opcode::destroy_queue ||
    op == wire::Opcode::destroy_event;

template <wire::Opcode op>
consteval auto result_of() {
    using Reply = wire::ReplyOf<op>;
    using Named = typename KindOf<wire::RequestOf<op>>::Kind;
    using Made = typename KindOf<Reply>::Kind;
    if constexpr (is_release<op>) {
        return std::type_identity<Released<Named>>{};
    } else if constexpr (op == wire::Opcode::submit) {
        return std::type_identity<Outcome<Submitted>>{};
    } else if constexpr (!std::is_void_v<Made>) {
        return std::type_identity<Outcome<Handle<Made>>>{};
    } else if constexpr (std::is_same_v<Reply, wire::DeviceInfo>) {
        return std::type_identity<Outcome<DeviceIdentity>>{};
    } else if constexpr (std::is_same_v<Reply, wire::EventState>) {
        return std::type_identity<Outcome<EventStatus>>{};
    } else if constexpr (op == wire::Opcode::read_buffer) {
        return std::type_identity<Outcome<std::span<const std::byte>>>{};
    } else {
        return std::type_identity<Outcome<void>>{};
    }
}

}  // namespace detail

// What the completion of `op` yields:
//   GET_DEVICE_INFO           Outcome<DeviceIdentity>
//   CREATE_*, ALLOCATE, LOAD  Outcome<Handle<Kind>>
//   READ_BUFFER               Outcome<std::span<const std::byte>>, where the bytes now stand (an
//                             empty span if they were read into several pieces)
//   SUBMIT                    Outcome<Submitted>
//   POLL_EVENT                Outcome<EventStatus>
//   WRITE_BUFFER, CANCEL      Outcome<void>
//   DESTROY_*, FREE, UNLOAD   Released<Kind>
template <wire::Opcode op>
using ResultOf = typename decltype(detail::result_of<op>())::type;

}  // namespace virtaccel::guest

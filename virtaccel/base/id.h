#pragma once
// Names of guest-visible objects. The kind is part of the type, so that a buffer ID is not passed
// where a program ID is meant; the value is opaque to everyone but the device's object table.

#include <compare>  // IWYU pragma: keep
#include <cstdint>

namespace virtaccel {

// An opaque object ID (spec §1). Zero is never an object.
template <class KindTag>
struct Id {
    using Kind = KindTag;
    std::uint64_t raw = 0;
    friend constexpr auto operator<=>(Id, Id) = default;
};

// The five kinds of object. They are names only.
struct ContextKind;
struct BufferKind;
struct ProgramKind;
struct QueueKind;
struct EventKind;

using ContextId = Id<ContextKind>;
using BufferId = Id<BufferKind>;
using ProgramId = Id<ProgramKind>;
using QueueId = Id<QueueKind>;
using EventId = Id<EventKind>;

}  // namespace virtaccel

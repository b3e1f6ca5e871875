#pragma once
// What the device knows of each live object. An entry stays at its address for as long as the
// device lives, so entries point at each other: children at parents, events at what they retain.

#include <cstdint>

#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/parts.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/references.h"

namespace virtaccel::device {

template <class... Kind>
struct Kinds {};

// The order in which a reset releases: users before what they use (spec §7).
using ResetOrder = Kinds<EventKind, QueueKind, ProgramKind, BufferKind, ContextKind>;

// What entries of every kind have. `users` counts events that retain the object or, for a context,
// its children.
template <class Kind>
struct EntryBase {
    std::uint64_t id = 0;  // zero while vacant
    backend::Handle<Kind> handle;
    std::uint32_t users = 0;
    std::uint32_t next_vacant = 0;
};

template <class Kind>
struct Entry;

template <>
struct Entry<ContextKind> : EntryBase<ContextKind> {
    std::uint32_t buffers = 0;
    std::uint32_t programs = 0;
    std::uint32_t queues = 0;
    std::uint32_t events = 0;
    backend::PartedArtifacts parted;  // none whenever the context has no programs
};

template <>
struct Entry<BufferKind> : EntryBase<BufferKind> {
    Entry<ContextKind>* context = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t charged_bytes = 0;
    Usage usage;
};

template <>
struct Entry<ProgramKind> : EntryBase<ProgramKind> {
    Entry<ContextKind>* context = nullptr;
    std::uint64_t charged_bytes = 0;
    // A part of an artifact, of which the backend knows nothing; null for a program of its own.
    backend::Part* part = nullptr;
};

template <>
struct Entry<QueueKind> : EntryBase<QueueKind> {
    Entry<ContextKind>* context = nullptr;
};

template <>
struct Entry<EventKind> : EntryBase<EventKind> {
    Entry<ContextKind>* context = nullptr;
    Entry<QueueKind>* queue = nullptr;
    Entry<ProgramKind>* program = nullptr;
    References buffers;
    backend::EventStatus known;  // terminal once it was observed to be
};

// How many objects of a kind a context, or for contexts a device, may have.
template <class Kind>
inline constexpr std::uint32_t DeviceLimits::* quota_of = nullptr;
template <>
inline constexpr std::uint32_t DeviceLimits::* quota_of<ContextKind> = &DeviceLimits::contexts;
template <>
inline constexpr std::uint32_t DeviceLimits::* quota_of<BufferKind> =
    &DeviceLimits::buffers_per_context;
template <>
inline constexpr std::uint32_t DeviceLimits::* quota_of<ProgramKind> =
    &DeviceLimits::programs_per_context;
template <>
inline constexpr std::uint32_t DeviceLimits::* quota_of<QueueKind> =
    &DeviceLimits::queues_per_context;
template <>
inline constexpr std::uint32_t DeviceLimits::* quota_of<EventKind> =
    &DeviceLimits::events_per_context;

// Where a context counts its children of a kind.
template <class Kind>
inline constexpr std::uint32_t Entry<ContextKind>::* count_of = nullptr;
template <>
inline constexpr std::uint32_t Entry<ContextKind>::* count_of<BufferKind> =
    &Entry<ContextKind>::buffers;
template <>
inline constexpr std::uint32_t Entry<ContextKind>::* count_of<ProgramKind> =
    &Entry<ContextKind>::programs;
template <>
inline constexpr std::uint32_t Entry<ContextKind>::* count_of<QueueKind> =
    &Entry<ContextKind>::queues;
template <>
inline constexpr std::uint32_t Entry<ContextKind>::* count_of<EventKind> =
    &Entry<ContextKind>::events;

// The real bytes charged for an object.
template <class Kind>
[[nodiscard]] std::uint64_t charge_of(const Entry<Kind>& entry) {
    if constexpr (requires { entry.charged_bytes; }) {
        return entry.charged_bytes;
    } else {
        return 0;
    }
}

}  // namespace virtaccel::device

#pragma once
// The guest's right to an object on the device. A handle is move-only, belongs to one client, and
// dies with a reset: a client refuses any other before it sends a byte, so that a released or stale
// ID is never used.

#include <cstdint>
#include <utility>

#include "virtaccel/base/id.h"

namespace virtaccel::guest {

// Where and when a handle is good: one client between two resets.
struct Realm {
    const void* client = nullptr;
    std::uint32_t epoch = 0;
    friend constexpr bool operator==(const Realm&, const Realm&) = default;
};

// An object of kind `KindTag`, or nothing. Dropping a handle releases nothing: the object stays on
// the device until `Client::release` or a reset. (The blocking layer's objects clean up.)
template <class KindTag>
class Handle {
  public:
    Handle() = default;

    // A claim to `id` in `realm`, unproven: the device has the last word.
    Handle(Id<KindTag> id, const Realm& realm) : id_(id), realm_(realm) {}

    Handle(Handle&& other) noexcept
        : id_(std::exchange(other.id_, {})), realm_(std::exchange(other.realm_, {})) {}

    Handle& operator=(Handle&& other) noexcept {
        id_ = std::exchange(other.id_, {});
        realm_ = std::exchange(other.realm_, {});
        return *this;
    }

    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() = default;

    // True if it holds an object, be it a stale one.
    [[nodiscard]] explicit operator bool() const { return id_.raw != 0; }

    [[nodiscard]] Id<KindTag> id() const { return id_; }

    [[nodiscard]] bool is_of(const Realm& realm) const { return realm_ == realm; }

  private:
    Id<KindTag> id_;
    Realm realm_;
};

using ContextHandle = Handle<ContextKind>;
using BufferHandle = Handle<BufferKind>;
using ProgramHandle = Handle<ProgramKind>;
using QueueHandle = Handle<QueueKind>;
using EventHandle = Handle<EventKind>;

}  // namespace virtaccel::guest

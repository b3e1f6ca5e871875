#pragma once
// Backends made on demand: an `AnyBackend` that owns an instance of a class, and the factory a
// device gets a fresh one from after a discard.

#include <memory>
#include <type_traits>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"

namespace virtaccel::backend {

namespace detail {

// The instance together with where its bytes came from. It derives from B so that a pointer to B
// finds its way back.
template <class B>
struct Owned : B {
    template <class... Args>
    explicit Owned(const Memory& from, Args&&... args)
        : B(std::forward<Args>(args)...), memory(from) {}

    Memory memory;
};

template <Backend B>
void drop_owned(void* self) {
    auto* const owned = static_cast<Owned<B>*>(static_cast<B*>(self));
    const Memory memory = owned->memory;
    std::destroy_at(owned);
    memory.release(memory.state, owned, sizeof(Owned<B>), alignof(Owned<B>));
}

template <Backend B>
inline constexpr BackendTable owned_table = make_table<B>(&drop_owned<B>);

}  // namespace detail

// A B made of `args` in `memory`, which outlives it; OUT_OF_MEMORY if that refuses. The constructor
// does not throw; what may fail, a backend's own factory does before.
template <Backend B, class... Args>
    requires std::is_nothrow_constructible_v<B, Args...> && (!std::is_final_v<B>)
[[nodiscard]] Result<AnyBackend> make_owned(const Memory& memory, Args&&... args) {
    using Owned = detail::Owned<B>;
    void* const block = memory.allocate(memory.state, sizeof(Owned), alignof(Owned));
    if (block == nullptr) {
        return fail(Status::out_of_memory);
    }
    auto* const owned =
        std::construct_at(static_cast<Owned*>(block), memory, std::forward<Args>(args)...);
    return AnyBackend{static_cast<B*>(owned), detail::owned_table<B>};
}

// The factory that calls `maker()`, which gives a `Result<AnyBackend>` and outlives the factory.
template <class Maker>
    requires std::is_invocable_r_v<Result<AnyBackend>, Maker&>
[[nodiscard]] BackendFactory factory_from(Maker& maker) {
    return {
        .state = static_cast<void*>(&maker),
        .make = [](void* state) -> Result<AnyBackend> { return (*static_cast<Maker*>(state))(); },
    };
}

}  // namespace virtaccel::backend

#pragma once
// Success or a protocol status. `Result<T>` is how hostile or impossible input travels upwards; our
// own bugs go to `VIRTACCEL_CHECK` (panic.h) instead, and never through here.

#include <expected>
#include <utility>  // IWYU pragma: keep

#include "virtaccel/base/status.h"

namespace virtaccel {

// A value, or the status (never `Status::ok`) that says why there is none.
template <class T>
using Result = std::expected<T, Status>;

// The failing half of a `Result`.
[[nodiscard]] constexpr std::unexpected<Status> fail(Status status) {
    return std::unexpected<Status>{status};
}

}  // namespace virtaccel

// `VIRTACCEL_TRY(f());` returns the error of `f()`, if there is one.
#define VIRTACCEL_TRY(...)                                                       \
    if (auto virtaccel_result = (__VA_ARGS__); !virtaccel_result) [[unlikely]] { \
        return std::unexpected{std::move(virtaccel_result).error()};             \
    }

#define VIRTACCEL_CONCAT_(a, b) a##b
#define VIRTACCEL_CONCAT(a, b) VIRTACCEL_CONCAT_(a, b)
#define VIRTACCEL_TRY_ASSIGN_(name, target, ...)         \
    auto name = (__VA_ARGS__);                           \
    if (!(name)) [[unlikely]] {                          \
        return std::unexpected{std::move(name).error()}; \
    }                                                    \
    target = *std::move(name)

// `VIRTACCEL_TRY_ASSIGN(auto x, f());` names the value of `f()` or returns its error.
#define VIRTACCEL_TRY_ASSIGN(target, ...) \
    VIRTACCEL_TRY_ASSIGN_(VIRTACCEL_CONCAT(virtaccel_try_, __LINE__), target, __VA_ARGS__)

#pragma once
// A backend that advertises less than it can do, so that a device keeps guests within limits that a
// user gave. Everything else is passed on.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/forwarding.h"

namespace virtaccel::cli {

// The limits that a user may set.
struct AdvertisedLimits {
    std::uint32_t bindings_per_submission = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t artifact_bytes = 0;
};

class LimitedBackend : public mock::Forwarding {
  public:
    LimitedBackend(backend::AnyBackend inner, const AdvertisedLimits& limits) noexcept
        : Forwarding(std::move(inner)), limits_(limits) {}

    // The backend's own limits where they are smaller.
    [[nodiscard]] DeviceIdentity identity() const {
        DeviceIdentity identity = Forwarding::identity();
        DeviceLimits& own = identity.limits;
        own.bindings_per_submission =
            std::min(own.bindings_per_submission, limits_.bindings_per_submission);
        own.buffer_bytes = std::min(own.buffer_bytes, limits_.buffer_bytes);
        own.artifact_bytes = std::min(own.artifact_bytes, limits_.artifact_bytes);
        return identity;
    }

  private:
    AdvertisedLimits limits_;
};

static_assert(backend::Backend<LimitedBackend>);

}  // namespace virtaccel::cli

#include "virtaccel/device/endpoint.h"

#include <cstdint>
#include <expected>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"

namespace virtaccel::device {
namespace {

std::expected<Device, Unfit> build(const Memory& memory, backend::BackendFactory factory,
                                   const Options& options) {
    auto backend = factory.make(factory.state);
    if (!backend) {
        return std::unexpected{Unfit::no_backend};
    }
    return Device::make(memory, std::move(*backend), options);
}

}  // namespace

std::expected<Endpoint, Unfit> Endpoint::make(const Memory& memory, backend::BackendFactory factory,
                                              const Options& options, std::uint64_t seed) {
    if (seed == 0) {
        return std::unexpected{Unfit::seed_is_zero};
    }
    auto device = build(memory, factory, options);
    if (!device) {
        return std::unexpected{device.error()};
    }
    return Endpoint{std::move(*device), memory, factory, options, seed};
}

ResetAnswer Endpoint::reset(std::uint64_t seed) {
    if (seed == 0 || seed == seed_) {
        return ResetAnswer::refused;
    }
    last_report_ = device_.reset();
    if (!last_report_.discard) {
        seed_ = seed;
        return ResetAnswer::reused;
    }
    // The old backend ends first: there may be hardware that can be opened only once.
    device_.drop_backend();
    options_.first_serial = device_.next_serial();
    auto fresh = build(memory_, factory_, options_);
    if (!fresh) {
        return ResetAnswer::unavailable;
    }
    device_ = std::move(*fresh);
    device_.set_notifier(notifier_);
    seed_ = seed;
    return ResetAnswer::rebuilt;
}

ResetAnswer Endpoint::reset() {
    return reset(seed_ + 1 == 0 ? 1 : seed_ + 1);
}

void Endpoint::set_notifier(backend::Notifier notifier) {
    notifier_ = notifier;
    device_.set_notifier(notifier);
}

}  // namespace virtaccel::device

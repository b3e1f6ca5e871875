#pragma once
// A device in the same process without a queue: pieces go straight to `device::Device`. What the
// backend cases run on.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "virtaccel/base/bytes.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/device/device.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

class PlainDevice final : public DeviceUnderTest {
  public:
    explicit PlainDevice(device::Device device) : device_(std::move(device)) {}

    [[nodiscard]] wire::Config config() const override { return device_.config(); }

    [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece> readable,
                                                        std::span<const Piece> writable) override {
        return device_.serve(PieceList::of(readable), PieceList::of(writable)).used_bytes;
    }

    [[nodiscard]] device::Device& device() { return device_; }

  private:
    device::Device device_;
};

}  // namespace virtaccel::conformance

#pragma once
// A life with the device alone: request frames in, response frames out, and nothing between. Loads
// are deferred, so that one can be left behind.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::faults {

class DeviceHands final : public Hands {
  public:
    // `world` outlives it.
    explicit DeviceHands(World& world);

    Status make(Thing thing) override;
    Status release(Thing thing) override;
    Status write(std::span<const std::byte> bytes) override;
    Status read(std::span<std::byte> bytes) override;
    Result<guest::EventStatus> poll(Thing event) override;
    Status cancel(Thing event) override;
    Status overdraw() override;

    [[nodiscard]] bool holds(Thing thing) const override { return id(thing) != 0; }

    [[nodiscard]] bool was_told_of_loss() const override { return lost_; }

    [[nodiscard]] std::uint64_t ownerless() const override { return 0; }

    void leave_a_load() override;

    void drop(Thing /*thing*/) override {}

    void close() override {}

    device::ResetReport reset() override;

    [[nodiscard]] device::Device& device() override { return endpoint_.device(); }

  private:
    [[nodiscard]] std::uint64_t id(Thing thing) const {
        return ids_[static_cast<std::size_t>(thing)];
    }

    template <wire::Opcode op>
    Status call(const wire::RequestOf<op>& request, std::span<const std::byte> tail = {});
    template <wire::Opcode op>
    Status make_with(Thing thing, const wire::RequestOf<op>& request,
                     std::span<const std::byte> tail = {});
    template <wire::Opcode op>
    Status release_with(Thing thing);
    Status allocate(Thing thing, std::uint64_t bytes);
    Status load();
    Status submit(Thing event);
    void frame(wire::Opcode opcode, std::span<const std::byte> fixed,
               std::span<const std::byte> tail);
    [[nodiscard]] Status judge(std::uint32_t used_bytes);
    template <class Record>
    [[nodiscard]] Record payload() const;

    device::Endpoint endpoint_;
    std::array<std::uint64_t, things.size()> ids_{};
    std::array<std::byte, 1024> request_{};
    std::array<std::byte, 1024> response_{};
    std::size_t request_bytes_ = 0;
    std::uint32_t payload_bytes_ = 0;
    std::uint64_t request_id_ = 0;
    std::optional<device::PendingLoad> load_;
    bool lost_ = false;
};

}  // namespace virtaccel::faults

#pragma once
// A life through the whole stack: session, client, split ring, processor, device. Time stands still
// but for what is waited.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "adapters/loopback/loopback.h"
#include "tests/faults/hands.h"
#include "tests/faults/world.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/transport.h"

namespace virtaccel::faults {

class StackHands final : public Hands {
  public:
    // `world` outlives it.
    explicit StackHands(World& world);
    ~StackHands() override;

    Status make(Thing thing) override;
    Status release(Thing thing) override;
    Status write(std::span<const std::byte> bytes) override;
    Status read(std::span<std::byte> bytes) override;
    Result<guest::EventStatus> poll(Thing event) override;
    Status cancel(Thing event) override;
    Status overdraw() override;

    [[nodiscard]] bool holds(Thing thing) const override;

    [[nodiscard]] bool was_told_of_loss() const override { return session_ && session_->is_lost(); }

    [[nodiscard]] std::uint64_t ownerless() const override {
        return session_ ? session_->parked() : 0;
    }

    void leave_a_load() override {}

    void drop(Thing thing) override;
    void close() override;
    device::ResetReport reset() override;

    [[nodiscard]] device::Device& device() override { return loopback_.endpoint().device(); }

  private:
    // What a session holds, in the order in which nothing parks.
    struct Held {
        guest::Context context;
        guest::Program program;
        guest::Buffer source;
        guest::Buffer target;
        guest::Queue queue;
        guest::Event run;
        guest::Event victim;
    };

    [[nodiscard]] guest::Transport transport();
    void open();
    Status load();
    Status submit(guest::Event& event);
    [[nodiscard]] guest::Event& event(Thing thing);

    Memory memory_;
    adapters::loopback::Loopback loopback_;
    guest::Transport real_;
    std::uint64_t now_ns_ = 1;
    std::optional<guest::Session> session_;
    Held held_;
};

}  // namespace virtaccel::faults

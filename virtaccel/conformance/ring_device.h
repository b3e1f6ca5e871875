#pragma once
// A device behind a split ring, in the same process and thread, over any backend: the device under
// test that can arrange everything. The one thing to know: memory is used in place, so a case sees
// every byte that the device touches.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/device/processor.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/queue/device_ring.h"
#include "virtaccel/queue/driver_ring.h"
#include "virtaccel/queue/memory_map.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/queue/ring_layout.h"
#include "virtaccel/queue/testing/raw_ends.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance {

struct RingDeviceOptions {
    std::uint32_t queue_size = 128;
    // Deferred loads are on, so that loads can be held.
    device::Options device;
};

// The device's end of the ring with two places where a harness can interfere.
class HarnessPort final : public queue::DevicePort {
  public:
    explicit HarnessPort(queue::DevicePort& port) : port_(&port) {}

    [[nodiscard]] std::optional<queue::Chain> pop() override;

    bool complete(std::uint16_t head, std::uint32_t used_bytes) override {
        return port_->complete(head, used_bytes);
    }

    void flush() override { port_->flush(); }

    bool want_notifications(bool wanted) override;

    // See Control::before_it_sleeps.
    void before_it_sleeps(void (*act)(void*), void* state) {
        act_ = act;
        state_ = state;
    }

    // The next chain's response is lost as soon as `lose` is called.
    void make_next_losable() { losable_ = true; }

    void lose() { __atomic_fetch_add(&live_, 1, __ATOMIC_RELAXED); }

  private:
    queue::DevicePort* port_;
    void (*act_)(void*) = nullptr;
    void* state_ = nullptr;
    bool losable_ = false;
    std::uint32_t live_ = 0;
};

// Stays where it is. A class that derives from it may break one rule of it; that is what the
// virtual functions are for.
class RingDevice : public DeviceUnderTest, public RingAccess, public Control {
  public:
    // `memory` and the factory's state outlive it.
    RingDevice(const Memory& memory, backend::BackendFactory factory,
               const RingDeviceOptions& options);

    // Empty if the device is ready; otherwise why not. Nothing else may be called then.
    [[nodiscard]] const std::string& unfit() const { return unfit_; }

    [[nodiscard]] wire::Config config() const override { return options_.device.config; }

    [[nodiscard]] std::optional<std::uint32_t> exchange(std::span<const Piece> readable,
                                                        std::span<const Piece> writable) override;
    [[nodiscard]] bool reset() override;

    [[nodiscard]] std::optional<bool> needs_reset() const override {
        return processor_->needs_reset();
    }

    [[nodiscard]] RingAccess* ring() override { return this; }

    [[nodiscard]] Control* control() override { return this; }

    [[nodiscard]] queue::testing::RawDriver& driver() override { return *driver_; }

    [[nodiscard]] queue::AddressMap addresses() const override { return {}; }

    [[nodiscard]] std::span<std::byte> room(std::size_t bytes) override;
    void kick() override;

    [[nodiscard]] std::uint64_t interrupts() const override { return interrupts_; }

    bool hold_events(bool held) override;
    bool hold_loads(bool held) override;
    bool before_it_sleeps(void (*act)(void*), void* state) override;
    bool lose_next_release() override;
    bool lose_next_response() override;

  private:
    [[nodiscard]] Result<backend::AnyBackend> make_backend();
    void finish_loads();

    struct alignas(64) Line {
        std::byte bytes[64];
    };

    Memory memory_;
    RingDeviceOptions options_;
    backend::BackendFactory inner_;
    std::string unfit_;
    mock::Script script_;
    queue::RingLayout layout_;
    std::vector<Line> lines_;
    queue::MemoryMap map_;
    std::optional<device::Endpoint> endpoint_;
    std::optional<queue::DeviceRing> device_;
    std::optional<HarnessPort> port_;
    std::optional<device::Processor> processor_;
    std::optional<queue::testing::RawDriver> driver_;
    std::vector<device::PendingLoad> loads_;
    std::deque<Bytes> rooms_;
    std::uint64_t interrupts_ = 0;
    std::uint16_t next_descriptor_ = 0;
    bool loads_held_ = false;
};

}  // namespace virtaccel::conformance

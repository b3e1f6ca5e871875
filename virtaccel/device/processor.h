#pragma once
// Drains a command virtqueue into an endpoint: pops, serves, completes, tells the driver. It has no
// thread of its own; an adapter calls it when the driver notified.

#include <cstdint>

#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/queue/port.h"

namespace virtaccel::device {

// Takes a deferred load to be prepared elsewhere; `Processor::finish` gets it back on the device's
// thread. Called on the device's thread.
struct LoadRunner {
    void* state = nullptr;
    void (*start)(void* state, PendingLoad load) = nullptr;
};

class Processor {
  public:
    // `endpoint` and `port` outlive this. Without a runner, a deferred load is finished at once.
    Processor(Endpoint& endpoint, queue::DevicePort& port, LoadRunner runner = {})
        : endpoint_(&endpoint), port_(&port), runner_(runner) {}

    // Serves at most `chains_max` chains and tells the driver once; how many chains it took.
    std::uint32_t run(std::uint32_t chains_max);

    // Runs until the queue is empty and the driver is asked to notify, rechecking after asking.
    // False if `chains_max` chains were taken first: call again.
    [[nodiscard]] bool run_until_idle(std::uint32_t chains_max);

    // Answers a deferred chain, unless a reset came between: then nothing is completed.
    void finish(PendingLoad load);

    // The adapter shows DEVICE_NEEDS_RESET when this says so.
    [[nodiscard]] bool needs_reset() const { return endpoint_->device().needs_reset(); }

  private:
    void complete(PendingLoad load);

    Endpoint* endpoint_;
    queue::DevicePort* port_;
    LoadRunner runner_;
};

}  // namespace virtaccel::device

#pragma once
// A device that survives its backend: a guest's reset always gives it a working device, if need be
// a new one from the factory. Only the old work is lost.

#include <cstdint>
#include <expected>
#include <utility>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"

namespace virtaccel::device {

// How a reset ended.
enum class ResetAnswer : std::uint8_t {
    refused,      // the seed is zero or the current one; nothing changed
    reused,       // everything was released; the backend is kept
    rebuilt,      // device and backend are new
    unavailable,  // no new backend could be made: DEVICE_LOST until a later reset makes one
};

// Movable, but a Processor keeps a pointer to it.
class Endpoint {
  public:
    // A device over a fresh backend of `factory`, whose state outlives this, as `memory` does.
    // `seed` names the first namespace (nonzero).
    [[nodiscard]] static std::expected<Endpoint, Unfit> make(const Memory& memory,
                                                             backend::BackendFactory factory,
                                                             const Options& options,
                                                             std::uint64_t seed = 1);

    // Resets into the namespace of `seed`, which must differ from the current one. The serial goes
    // on counting, so no ID of any earlier namespace names an object again. Adapters see to it that
    // no chain of the old epoch is still served, and that running `PendingLoad::prepare` calls have
    // ended if the hardware cannot be opened twice.
    ResetAnswer reset(std::uint64_t seed);

    // The same into a namespace of its own choice, for transports that name none.
    ResetAnswer reset();

    [[nodiscard]] Device& device() { return device_; }

    [[nodiscard]] const Device& device() const { return device_; }

    // What the last reset found; zeros before the first.
    [[nodiscard]] const ResetReport& last_report() const { return last_report_; }

    // Told about terminal events of this and every later backend.
    void set_notifier(backend::Notifier notifier);

  private:
    Endpoint(Device device, const Memory& memory, backend::BackendFactory factory, Options options,
             std::uint64_t seed)
        : device_(std::move(device)),
          memory_(memory),
          factory_(factory),
          options_(options),
          seed_(seed) {}

    Device device_;
    Memory memory_;
    backend::BackendFactory factory_;
    Options options_;
    backend::Notifier notifier_;
    ResetReport last_report_;
    std::uint64_t seed_;
};

}  // namespace virtaccel::device

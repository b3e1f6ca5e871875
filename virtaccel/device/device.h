#pragma once
// One device instance: request frames in, response frames out, a backend behind it (spec §5 to §7).
// The one thing to know: a response is written only when its outcome is known, so that a request
// either happened and says so, or did not happen.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

struct Core;

// What became of a request. `used_bytes` is the used length of its chain: zero if nothing was
// written. A deferred one is not answered yet: take its load before the next call.
struct Served {
    std::uint32_t used_bytes = 0;
    bool deferred = false;
};

// Movable; a moved-from device may only be destroyed or assigned. All calls come from one thread.
class Device {
  public:
    // A device over `backend`, whose identity is fetched once and judged here. All memory comes
    // from `memory`, which outlives the device and its pending loads.
    [[nodiscard]] static std::expected<Device, Unfit> make(const Memory& memory,
                                                           backend::AnyBackend backend,
                                                           const Options& options);

    Device(Device&& other) noexcept;
    Device& operator=(Device&& other) noexcept;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    // Drops the backend, without a reset; pending loads keep it alive until they end.
    ~Device();

    // Serves one request. The chain's topology (spec §5 step 1) is the queue's to judge; everything
    // after that is judged here. The pieces are borrowed for the call, and the memory behind them
    // until a deferred request ends.
    [[nodiscard]] Served serve(const PieceList& readable, const PieceList& writable);

    // The same for a request and a response that are one piece each.
    [[nodiscard]] Served serve(std::span<const std::byte> request, std::span<std::byte> response);

    // The load that the last `serve` deferred.
    [[nodiscard]] PendingLoad take_load();

    // Ends a deferred load, preparing it here if that was not done: writes its response and returns
    // its used length. Nothing, and nothing written, if a reset dropped the request.
    [[nodiscard]] std::optional<Served> finish(PendingLoad load);

    // Gives everything up in one bounded pass (spec §7): old IDs are stale, pending loads are
    // dropped. After a report that says discard, now and ever after, the backend is not called.
    ResetReport reset();

    // Ownership or response truth is gone: every command is answered DEVICE_LOST until a reset.
    [[nodiscard]] bool needs_reset() const;
    // A reset will not help: drop this device and make a new one.
    [[nodiscard]] bool discard_required() const;

    // Ends the backend of a device that must be discarded, so that a new one can take its place.
    void drop_backend();

    [[nodiscard]] const DeviceIdentity& identity() const;
    [[nodiscard]] const wire::Config& config() const;
    [[nodiscard]] Holdings holdings() const;
    // Where a successor's `first_serial` starts, so that no ID is ever issued twice.
    [[nodiscard]] std::uint64_t next_serial() const;

    // Empty after `drop_backend`.
    [[nodiscard]] const backend::AnyBackend& backend() const;
    // Does nothing without a backend.
    void set_notifier(backend::Notifier notifier);

  private:
    explicit Device(Core* core) : core_(core) {}

    Core* core_ = nullptr;
};

}  // namespace virtaccel::device

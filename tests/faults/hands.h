#pragma once
// What a guest can do with a device, for a life that is led in two ways: in frames with the device
// alone, and through the whole stack. The one thing to know: a guest holds what it was told that it
// has, and that is what the audit and the device are compared with.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/requests.h"

namespace virtaccel::faults {

// What a life has: a program that copies the source to the target, one event that runs to its end
// and one that is cancelled.
enum class Thing : std::uint8_t { context, source, target, program, queue, run, victim };

inline constexpr std::array things{Thing::context, Thing::source, Thing::target, Thing::program,
                                   Thing::queue,   Thing::run,    Thing::victim};
inline constexpr std::array<std::string_view, things.size()> thing_names{
    "context", "source", "target", "program", "queue", "run", "victim"};

inline constexpr std::uint64_t buffer_bytes = 256;

class Hands {
  public:
    Hands() = default;
    Hands(const Hands&) = delete;
    Hands& operator=(const Hands&) = delete;
    virtual ~Hands() = default;

    // Each sends one command and gives its answer. `make` of an event submits; the event may be
    // held although the answer is a failure (indeterminate).
    virtual Status make(Thing thing) = 0;
    virtual Status release(Thing thing) = 0;
    virtual Status write(std::span<const std::byte> bytes) = 0;
    virtual Status read(std::span<std::byte> bytes) = 0;
    virtual Result<guest::EventStatus> poll(Thing event) = 0;
    virtual Status cancel(Thing event) = 0;
    // Asks for one byte, which the budget has room for, and its real cost not.
    virtual Status overdraw() = 0;

    // The guest's view.
    [[nodiscard]] virtual bool holds(Thing thing) const = 0;
    [[nodiscard]] virtual bool was_told_of_loss() const = 0;
    // Objects that the guest still has to release, but does not hold any more.
    [[nodiscard]] virtual std::uint64_t ownerless() const = 0;

    // Leaves a load behind that is not answered yet, where there can be one.
    virtual void leave_a_load() = 0;
    // Drops one thing as a program does that just ends, and then itself.
    virtual void drop(Thing thing) = 0;
    virtual void close() = 0;

    // Resets the device; after that the guest holds nothing and has a device again.
    virtual device::ResetReport reset() = 0;

    [[nodiscard]] virtual device::Device& device() = 0;
};

}  // namespace virtaccel::faults

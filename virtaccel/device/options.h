#pragma once
// What a device is made from and what it reports: its configuration, the host's private budget, and
// the reasons why it cannot be made. The budget is mandatory (spec §6, "ResourcePolicy").

#include <cstdint>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {

// How much the guest may make the host spend over all contexts, in real bytes; both nonzero. The
// guest never sees these numbers.
struct ResourcePolicy {
    std::uint64_t buffer_bytes_max = 0;
    std::uint64_t program_resident_bytes_max = 0;
};

// Where object serials end: an ID is `serial:44 | slot:20`.
inline constexpr std::uint64_t serial_end = std::uint64_t{1} << 44U;

struct Options {
    // What config space says; the frame limits of every request.
    wire::Config config;
    ResourcePolicy policy;
    // The serial of the first object, 1 to `serial_end`. Devices that must not share an ID start
    // far apart; at `serial_end` no object can be created any more (RESOURCE_LIMIT).
    std::uint64_t first_serial = 1;
    // How many loads may wait for `PendingLoad::prepare` at once; beyond, and with zero, a load is
    // answered at once.
    std::uint32_t deferred_loads_max = 0;
    // The most host memory for tables, references and pending loads; beyond, creations are answered
    // with OUT_OF_MEMORY.
    std::uint64_t bookkeeping_bytes_max = std::uint64_t{256} << 20U;
    // Told why the backend refuses an artifact; may be called from the thread that prepares.
    backend::RefusalSink refusals;
};

// Why there is no device.
enum class Unfit : std::uint8_t {
    no_memory,
    no_backend,
    config_out_of_range,
    policy_is_zero,
    serial_out_of_range,
    seed_is_zero,
    capability_is_reserved,
    memory_domain_is_missing,
    limit_is_zero,
    bindings_over_limit,
};

// A full sentence for a person: what is wrong and what to do.
[[nodiscard]] std::string_view explain(Unfit why);

// Objects and the real bytes charged for them.
struct Tally {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    friend constexpr bool operator==(const Tally&, const Tally&) = default;
};

// What one reset found (spec §7). `quarantined` also counts what was quarantined before it. With
// `discard`, the backend must be dropped and never called again; the device stays lost.
struct ResetReport {
    bool discard = false;
    Tally released;
    Tally quarantined;
};

// What the device holds for its guest now.
struct Holdings {
    std::uint32_t contexts = 0;
    std::uint32_t buffers = 0;
    std::uint32_t programs = 0;
    std::uint32_t queues = 0;
    std::uint32_t events = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t program_bytes = 0;
    Tally quarantined;
};

}  // namespace virtaccel::device

#pragma once
// The limits that one schedule runs under: what the device advertises, what its configuration
// space says, and the host's budget. Small, so that a random schedule meets every edge of them.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace virtaccel::model {

struct World {
    std::uint64_t capabilities = 0x27;  // memory of all three domains, cancellation
    std::uint64_t contexts = 3;
    std::uint64_t buffers = 3;  // this and the next three: in one context
    std::uint64_t programs = 3;
    std::uint64_t queues = 2;
    std::uint64_t events = 3;
    std::uint64_t bindings = 4;
    std::uint64_t buffer_bytes = 256;
    std::uint64_t artifact_bytes = 48;
    std::uint64_t request_bytes = 512;  // the largest frames
    std::uint64_t response_bytes = 160;
    std::uint64_t buffer_budget_bytes = 1024;
    std::uint64_t program_budget_bytes = 320;
    std::uint64_t deferred_loads = 0;  // loads that wait for the harness at once
    friend bool operator==(const World&, const World&) = default;
};

// The members by name, in the order in which they are written down.
inline constexpr std::array<std::pair<std::string_view, std::uint64_t World::*>, 14> world_members{{
    {"capabilities", &World::capabilities},
    {"contexts", &World::contexts},
    {"buffers", &World::buffers},
    {"programs", &World::programs},
    {"queues", &World::queues},
    {"events", &World::events},
    {"bindings", &World::bindings},
    {"buffer_bytes", &World::buffer_bytes},
    {"artifact_bytes", &World::artifact_bytes},
    {"request_bytes", &World::request_bytes},
    {"response_bytes", &World::response_bytes},
    {"buffer_budget_bytes", &World::buffer_budget_bytes},
    {"program_budget_bytes", &World::program_budget_bytes},
    {"deferred_loads", &World::deferred_loads},
}};

// What the trial's backend does that the protocol leaves to backends, and the model has to know. A
// buffer costs whole units, and alignments end somewhere.
inline constexpr std::uint64_t backing_unit_bytes = 128;
inline constexpr std::uint64_t alignment_max = 4096;

[[nodiscard]] constexpr std::uint64_t backing_bytes_of(std::uint64_t bytes) {
    return (bytes + backing_unit_bytes - 1) / backing_unit_bytes * backing_unit_bytes;
}

}  // namespace virtaccel::model

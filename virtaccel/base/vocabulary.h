#pragma once
// The protocol's words (spec §2): domains, usage, access, capabilities, event states and the limits
// a device advertises. Everything that crosses a module line is said in these types.

#include <array>
#include <cstdint>

#include "virtaccel/base/bits.h"

namespace virtaccel {

// What the accelerator is, for a scheduler. Values from the wire that are none of these stay as
// they are.
enum class AcceleratorClass : std::uint16_t { other = 0, npu = 1, gpu = 2, dsp = 3 };

enum class MemoryDomain : std::uint8_t { host = 1, device = 2, shared = 3 };

enum class UsageBit : std::uint32_t {
    transfer_source = 1U << 0U,
    transfer_destination = 1U << 1U,
    program_input = 1U << 2U,
    program_output = 1U << 3U,
    mutable_state = 1U << 4U,
};
using Usage = BitSet<UsageBit>;

inline constexpr Usage usage_known = Usage{0x1fU};
inline constexpr Usage usage_program =
    Usage{UsageBit::program_input} | UsageBit::program_output | UsageBit::mutable_state;

enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };

enum class CapabilityBit : std::uint64_t {
    host_visible_memory = 1U << 0U,
    device_local_memory = 1U << 1U,
    event_cancellation = 1U << 2U,
    external_memory = 1U << 3U,  // reserved in 1.0, never advertised
    secure_contexts = 1U << 4U,  // reserved in 1.0, never advertised
    shared_memory = 1U << 5U,
};
using Capabilities = BitSet<CapabilityBit>;

inline constexpr Capabilities capabilities_reserved =
    Capabilities{CapabilityBit::external_memory} | CapabilityBit::secure_contexts;
inline constexpr Capabilities capabilities_memory =
    Capabilities{CapabilityBit::host_visible_memory} | CapabilityBit::device_local_memory |
    CapabilityBit::shared_memory;

// The capability that `domain` needs (spec §2, "memory domain"); the empty set for an unknown one.
[[nodiscard]] constexpr Capabilities capability_of(MemoryDomain domain) {
    switch (domain) {
        case MemoryDomain::host:
            return CapabilityBit::host_visible_memory;
        case MemoryDomain::device:
            return CapabilityBit::device_local_memory;
        case MemoryDomain::shared:
            return CapabilityBit::shared_memory;
    }
    return {};
}

// The usage bits of which one at least is needed to bind a buffer with `access` (spec §2).
[[nodiscard]] constexpr Usage usage_allowing(Access access) {
    switch (access) {
        case Access::read:
            return Usage{UsageBit::program_input} | UsageBit::mutable_state;
        case Access::write:
            return Usage{UsageBit::program_output} | UsageBit::mutable_state;
        case Access::read_write:
            return UsageBit::mutable_state;
    }
    return {};
}

// `failed` alone carries an error (spec §2, "event state").
enum class EventPhase : std::uint16_t { pending = 0, complete = 1, failed = 2, cancelled = 3 };

// Program target: twelve words whose meaning belongs to the artifact's format.
using TargetWords = std::array<std::uint32_t, 12>;

// A half-open range of bytes inside a buffer, not yet compared with its size.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    friend constexpr bool operator==(ByteRange, ByteRange) = default;
};

// What a device advertises; every member is nonzero (spec §5, "What the driver checks").
struct DeviceLimits {
    std::uint32_t contexts = 0;
    std::uint32_t buffers_per_context = 0;
    std::uint32_t programs_per_context = 0;
    std::uint32_t queues_per_context = 0;
    std::uint32_t events_per_context = 0;
    std::uint32_t bindings_per_submission = 0;
    std::uint64_t buffer_bytes = 0;
    std::uint64_t artifact_bytes = 0;
    friend constexpr bool operator==(const DeviceLimits&, const DeviceLimits&) = default;
};

// Who a device says it is, in host byte order. `uuid` is opaque bytes.
struct DeviceIdentity {
    std::array<std::uint8_t, 16> uuid{};
    AcceleratorClass accelerator_class = AcceleratorClass::other;
    std::uint32_t vendor_id = 0;
    std::uint32_t device_id = 0;
    Capabilities capabilities;
    DeviceLimits limits;
    friend constexpr bool operator==(const DeviceIdentity&, const DeviceIdentity&) = default;
};

// The hard numbers of protocol 1.0 (spec §2).
namespace protocol {
inline constexpr std::uint16_t version_major = 1;
inline constexpr std::uint16_t version_minor = 0;
inline constexpr std::uint16_t command_queues = 1;
inline constexpr std::uint32_t chain_descriptors_min = 2;
inline constexpr std::uint32_t chain_descriptors_max = 256;
inline constexpr std::uint32_t request_bytes_min = 97;
inline constexpr std::uint32_t response_bytes_min = 92;
inline constexpr std::uint32_t frame_bytes_max = 16U << 20U;
inline constexpr std::uint32_t bindings_max = 4096;
}  // namespace protocol

}  // namespace virtaccel

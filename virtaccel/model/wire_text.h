#pragma once
// The protocol's numbers as its text has them (spec §2 to §4), written down here a second time on
// purpose: a model that read them from the device's own tables would share their mistakes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace virtaccel::model {

using Bytes = std::vector<std::byte>;

// The little-endian number of `width` bytes at `offset`; the bytes are there.
[[nodiscard]] inline std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t offset,
                                             std::size_t width) {
    std::uint64_t number = 0;
    for (std::size_t i = width; i-- > 0;) {
        number = (number << 8U) | std::to_integer<std::uint64_t>(bytes[offset + i]);
    }
    return number;
}

// Appends `number` in `width` bytes.
inline void put_number(Bytes& bytes, std::uint64_t number, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
    }
}

inline constexpr std::uint64_t header_bytes = 16;

namespace status {
inline constexpr std::uint16_t ok = 0;
inline constexpr std::uint16_t unsupported = 1;
inline constexpr std::uint16_t incompatible = 2;
inline constexpr std::uint16_t invalid_argument = 3;
inline constexpr std::uint16_t out_of_bounds = 4;
inline constexpr std::uint16_t busy = 5;
inline constexpr std::uint16_t out_of_memory = 6;
inline constexpr std::uint16_t resource_limit = 7;
inline constexpr std::uint16_t deadline_expired = 8;
inline constexpr std::uint16_t device_lost = 9;
inline constexpr std::uint16_t permission_denied = 10;
inline constexpr std::uint16_t stale_object = 11;
inline constexpr std::uint16_t internal_error = 65535;
}  // namespace status

namespace opcode {
inline constexpr std::uint64_t get_device_info = 0x0001;
inline constexpr std::uint64_t create_context = 0x0100;
inline constexpr std::uint64_t destroy_context = 0x0101;
inline constexpr std::uint64_t allocate_buffer = 0x0200;
inline constexpr std::uint64_t free_buffer = 0x0201;
inline constexpr std::uint64_t write_buffer = 0x0202;
inline constexpr std::uint64_t read_buffer = 0x0203;
inline constexpr std::uint64_t load_program = 0x0300;
inline constexpr std::uint64_t unload_program = 0x0301;
inline constexpr std::uint64_t create_queue = 0x0400;
inline constexpr std::uint64_t destroy_queue = 0x0401;
inline constexpr std::uint64_t submit = 0x0500;
inline constexpr std::uint64_t poll_event = 0x0501;
inline constexpr std::uint64_t cancel_event = 0x0502;
inline constexpr std::uint64_t destroy_event = 0x0503;
}  // namespace opcode

namespace capability {
inline constexpr std::uint64_t host_visible_memory = 1U << 0U;
inline constexpr std::uint64_t device_local_memory = 1U << 1U;
inline constexpr std::uint64_t event_cancellation = 1U << 2U;
inline constexpr std::uint64_t shared_memory = 1U << 5U;
}  // namespace capability

namespace usage {
inline constexpr std::uint64_t transfer_source = 1U << 0U;
inline constexpr std::uint64_t transfer_destination = 1U << 1U;
inline constexpr std::uint64_t program_input = 1U << 2U;
inline constexpr std::uint64_t program_output = 1U << 3U;
inline constexpr std::uint64_t mutable_state = 1U << 4U;
inline constexpr std::uint64_t known = 0x1f;
}  // namespace usage

namespace event_state {
inline constexpr std::uint64_t pending = 0;
inline constexpr std::uint64_t complete = 1;
inline constexpr std::uint64_t failed = 2;
inline constexpr std::uint64_t cancelled = 3;
}  // namespace event_state

}  // namespace virtaccel::model

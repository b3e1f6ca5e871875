#pragma once
// The checks that wire records are made of. Each exists once and says which status the protocol
// demands (spec §5, "What the guest sees"); a record's schema puts them in order.

#include <cstdint>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::wire::rules {

[[nodiscard]] constexpr Status ok_if(bool good, Status otherwise) {
    return good ? Status::ok : otherwise;
}

inline constexpr Rule any{"any value", [](auto) { return Status::ok; }};

inline constexpr Rule no_flags{"zero, else UNSUPPORTED",
                               [](auto value) { return ok_if(value == 0, Status::unsupported); }};

// All bytes at once: a loop over them would keep records out of registers.
inline constexpr Rule reserved{
    "zero, else INVALID_ARGUMENT", [](const auto& value) {
        return std::apply(
            [](auto... byte) { return ok_if((byte | ...) == 0, Status::invalid_argument); },
            value.bytes);
    }};

inline constexpr Rule named{"nonzero, else INVALID_ARGUMENT", [](const auto& id) {
                                return ok_if(id.raw != 0, Status::invalid_argument);
                            }};

inline constexpr Rule nonzero{"nonzero, else INVALID_ARGUMENT", [](auto value) {
                                  return ok_if(value != 0, Status::invalid_argument);
                              }};

inline constexpr Rule power_of_two{"a power of two, else INVALID_ARGUMENT", [](le64 value) {
                                       return ok_if(is_power_of_two(std::uint64_t{value}),
                                                    Status::invalid_argument);
                                   }};

inline constexpr Rule range{"offset + bytes does not overflow, else INVALID_ARGUMENT",
                            [](le64 offset, le64 bytes) {
                                return ok_if(checked_add<std::uint64_t>(offset, bytes).has_value(),
                                             Status::invalid_argument);
                            }};

inline constexpr Rule known_domain{
    "host, device or shared, else INVALID_ARGUMENT",
    [](auto domain) { return ok_if(domain >= 1 && domain <= 3, Status::invalid_argument); }};

inline constexpr Rule domain_offered{
    "a domain whose capability the device has, else UNSUPPORTED",
    [](const Around& around, auto domain) {
        const auto needed = capability_of(static_cast<MemoryDomain>(std::uint8_t{domain}));
        return ok_if(around.limits.capabilities.has_all(needed), Status::unsupported);
    }};

inline constexpr Rule usage_bits_known{
    "no unknown bit, else UNSUPPORTED",
    [](le32 usage) { return ok_if((usage & ~usage_known.bits) == 0, Status::unsupported); }};

inline constexpr Rule access_known{
    "read, write or read-write, else INVALID_ARGUMENT",
    [](auto access) { return ok_if(access >= 1 && access <= 3, Status::invalid_argument); }};

inline constexpr Rule buffer_size_offered{
    "at most max_buffer_bytes, else RESOURCE_LIMIT", [](const Around& around, le64 bytes) {
        return ok_if(bytes <= around.limits.buffer_bytes_max, Status::resource_limit);
    }};

inline constexpr Rule artifact_size_offered{
    "at most max_artifact_bytes, else RESOURCE_LIMIT", [](const Around& around, le64 bytes) {
        return ok_if(bytes <= around.limits.artifact_bytes_max, Status::resource_limit);
    }};

inline constexpr Rule binding_count_offered{
    "at most max_bindings_per_submission, else RESOURCE_LIMIT",
    [](const Around& around, le32 count) {
        return ok_if(count <= around.limits.bindings_max, Status::resource_limit);
    }};

inline constexpr Rule is_tail{
    "exactly the bytes that follow, else INVALID_ARGUMENT", [](const Around& around, le64 bytes) {
        return ok_if(bytes == around.tail_bytes, Status::invalid_argument);
    }};

// A response of `bytes` bytes and its header must be one the device may send.
inline constexpr Rule response_fits{"16 + bytes is at most max_response_bytes, else RESOURCE_LIMIT",
                                    [](const Around& around, le64 bytes) {
                                        return ok_if(
                                            around.limits.response_bytes_max >= 16 &&
                                                bytes <= around.limits.response_bytes_max - 16,
                                            Status::resource_limit);
                                    }};

}  // namespace virtaccel::wire::rules

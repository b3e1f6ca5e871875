#pragma once
// The bodies of the device cases; device_cases.cpp names them. Internal to this folder.

#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::cases {

// How frames lie in descriptors (chain_cases.cpp).
[[nodiscard]] Check one_readable_and_one_writable(const DeviceCaseInput& input);
[[nodiscard]] Check every_byte_split(const DeviceCaseInput& input);
[[nodiscard]] Check segments_concatenate(const DeviceCaseInput& input);
[[nodiscard]] Check missing_side(const DeviceCaseInput& input);
[[nodiscard]] Check readable_after_writable(const DeviceCaseInput& input);
[[nodiscard]] Check malformed_chains(const DeviceCaseInput& input);

// What is refused, and how (refusal_cases.cpp).
[[nodiscard]] Check truncated_header(const DeviceCaseInput& input);
[[nodiscard]] Check malformed_payload(const DeviceCaseInput& input);
[[nodiscard]] Check unknown_opcode(const DeviceCaseInput& input);
[[nodiscard]] Check flags_and_reserved(const DeviceCaseInput& input);
[[nodiscard]] Check trailing_bytes(const DeviceCaseInput& input);

// How much is written (capacity_cases.cpp).
[[nodiscard]] Check short_capacity(const DeviceCaseInput& input);
[[nodiscard]] Check exact_used_length(const DeviceCaseInput& input);

// Who waits for whom (queue_cases.cpp).
[[nodiscard]] Check out_of_order_completion(const DeviceCaseInput& input);
[[nodiscard]] Check submit_is_no_wait(const DeviceCaseInput& input);
[[nodiscard]] Check full_queue(const DeviceCaseInput& input);
[[nodiscard]] Check suppressed_notifications(const DeviceCaseInput& input);

// What a reset ends (reset_cases.cpp).
[[nodiscard]] Check nothing_late_after_reset(const DeviceCaseInput& input);
[[nodiscard]] Check old_names_after_reset(const DeviceCaseInput& input);
[[nodiscard]] Check needs_reset(const DeviceCaseInput& input);

}  // namespace virtaccel::conformance::cases

#pragma once
// A whole stack in one process for tests: session, client, split ring, device and a backend, all of
// whose memory comes from one place.

#include <span>
#include <string>

#include "adapters/loopback/loopback.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"

namespace virtaccel::end_to_end {

inline constexpr Usage usage_transfer =
    Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;

// Device options with frames of 1 MiB and a budget of 1 GiB.
[[nodiscard]] inline adapters::loopback::Options loopback_options() {
    adapters::loopback::Options options;
    options.queue_size = 16;
    options.device.config.chain_descriptors_max = 16;
    options.device.config.request_bytes_max = 1U << 20U;
    options.device.config.response_bytes_max = 1U << 20U;
    options.device.policy = {.buffer_bytes_max = 1U << 30U,
                             .program_resident_bytes_max = 1U << 30U};
    return options;
}

// `failure` in words, for the message of a test.
[[nodiscard]] inline std::string words(const guest::Failure& failure) {
    std::string room(guest::description_bytes_max, '\0');
    return std::string{guest::describe(failure, room)};
}

}  // namespace virtaccel::end_to_end

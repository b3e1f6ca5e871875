#pragma once
// The device's end of a pair of streams. The one thing to know: whatever length a frame claims, no
// more is kept of it than the device takes; the rest is read and dropped, and the frame is
// answered.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adapters/stdio/framing.h"
#include "host/error.h"
#include "virtaccel/device/endpoint.h"

namespace virtaccel::adapters::stdio {

class DeviceStream {
  public:
    // Serves `endpoint`, which outlives this, from descriptor `input` to descriptor `output`.
    // Allocates the largest request and response that the device takes, once.
    DeviceStream(device::Endpoint& endpoint, int input, int output);

    // Answers frame after frame until the input ends between two of them. An error if it ends
    // inside one, or if a descriptor fails.
    [[nodiscard]] host::OrError<void> serve();

  private:
    // True if there was a frame, false at the end of the input.
    [[nodiscard]] host::OrError<bool> step();
    [[nodiscard]] host::OrError<void> answer_request(const FramePrefix& prefix);
    [[nodiscard]] host::OrError<void> answer_reset(std::uint64_t seed);
    [[nodiscard]] host::OrError<void> read_exactly(std::span<std::byte> target);
    [[nodiscard]] host::OrError<void> drop(std::uint64_t bytes);
    [[nodiscard]] host::OrError<void> reply(std::uint32_t word, std::size_t bytes);

    device::Endpoint* endpoint_;
    int input_;
    int output_;
    std::vector<std::byte> request_;
    std::vector<std::byte> reply_;  // the used length, then the response
};

}  // namespace virtaccel::adapters::stdio

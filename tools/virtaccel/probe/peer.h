#pragma once
// A device at the other end of something, as a probe sees it: bytes out, bytes back. The one thing
// to know: nothing is judged here, so that wrong requests can be sent and wrong answers be seen.

#include <cstddef>
#include <cstdint>
#include <span>

#include "adapters/stdio/driver_stream.h"
#include "adapters/stdio/framing.h"
#include "host/error.h"

namespace virtaccel::cli::probe {

class Peer {
  public:
    Peer() = default;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    virtual ~Peer() = default;

    // One request frame and its answer: the used length, after that many bytes of `response` were
    // written. An error ends the probe.
    [[nodiscard]] virtual host::OrError<std::uint32_t> exchange(std::span<const std::byte> request,
                                                                std::span<std::byte> response) = 0;

    // A transport reset into the namespace of `seed`.
    [[nodiscard]] virtual host::OrError<adapters::stdio::ResetReply> reset(std::uint32_t seed) = 0;
};

// The device behind a pair of streams, which outlive this.
class StreamPeer final : public Peer {
  public:
    explicit StreamPeer(adapters::stdio::DriverStream& stream) : stream_(&stream) {}

    [[nodiscard]] host::OrError<std::uint32_t> exchange(std::span<const std::byte> request,
                                                        std::span<std::byte> response) override {
        return stream_->exchange(request, response);
    }

    [[nodiscard]] host::OrError<adapters::stdio::ResetReply> reset(std::uint32_t seed) override {
        return stream_->reset(seed);
    }

  private:
    adapters::stdio::DriverStream* stream_;
};

}  // namespace virtaccel::cli::probe

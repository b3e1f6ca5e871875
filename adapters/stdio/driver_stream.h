#pragma once
// The driver's end of a pair of streams: a queue with one request on its way at a time. The one
// thing to know: `post` sends the request and waits for its reply, so that neither side ever blocks
// on a full pipe; `next` hands the completions out afterwards.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "adapters/stdio/framing.h"
#include "host/error.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::adapters::stdio {

class DriverStream final : public queue::DriverPort {
  public:
    // How long the other end may take to begin or go on with a reply.
    static constexpr int reply_timeout_ms = 30'000;

    // Reads replies from descriptor `input` and writes requests to descriptor `output`.
    DriverStream(int input, int output) : input_(input), output_(output) {}

    // One request and its reply: the used length, after that many bytes went into `writable`. Any
    // frame goes, also one that no driver should send. After an error the streams are out of step.
    [[nodiscard]] host::OrError<std::uint32_t> exchange(const PieceList& readable,
                                                        const PieceList& writable);

    // The same for one piece each.
    [[nodiscard]] host::OrError<std::uint32_t> exchange(std::span<const std::byte> request,
                                                        std::span<std::byte> response);

    // A transport reset into the namespace of `seed`; drops completions nobody took.
    [[nodiscard]] host::OrError<ResetReply> reset(std::uint32_t seed);

    // What a session needs. The streams do not carry the device's configuration: `config` is what
    // the caller believes it to be. Resets choose seeds of their own.
    [[nodiscard]] guest::Transport transport(const wire::Config& config);

    // Why the port is broken; empty while it is not.
    [[nodiscard]] const std::string& failure() const { return failure_; }

    [[nodiscard]] queue::Posted post(std::span<const Piece> readable,
                                     std::span<const Piece> writable,
                                     std::uint64_t cookie) override;

    void kick() override {}

    [[nodiscard]] std::optional<queue::Completion> next() override;

    [[nodiscard]] bool broken() const override { return !failure_.empty(); }

    bool want_notifications(bool /*wanted*/) override { return count_ != 0; }

    [[nodiscard]] std::uint32_t chain_pieces_max() const override;

    [[nodiscard]] std::uint32_t depth_max() const override { return depth; }

  private:
    static constexpr std::uint32_t depth = 16;

    [[nodiscard]] host::OrError<std::uint32_t> read_word();
    [[nodiscard]] host::OrError<void> read_into(const PieceList& target, std::uint32_t bytes);
    [[nodiscard]] Result<wire::Config> reset_for_session();

    int input_;
    int output_;
    std::string failure_;
    std::array<queue::Completion, depth> completions_{};  // a ring: `count_` from `first_`
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t seed_ = 0x5eed0000;  // of the last reset of a session
    wire::Config config_;
};

}  // namespace virtaccel::adapters::stdio

#pragma once
// A driver's port that writes down what goes through it. The one thing to know: a request stands in
// the recording where it was posted, and only if it was answered.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/virtaccel/recording.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"

namespace virtaccel::cli {

class RecordingPort final : public queue::DriverPort {
  public:
    // `transport` with this in front of its port; this stays where it is and outlives it. Once.
    [[nodiscard]] guest::Transport stand_before(const guest::Transport& transport);

    // What was answered so far, by a device over that backend.
    [[nodiscard]] Recording recording(std::string backend) const;

    [[nodiscard]] queue::Posted post(std::span<const Piece> readable,
                                     std::span<const Piece> writable,
                                     std::uint64_t cookie) override;
    void kick() override;
    [[nodiscard]] std::optional<queue::Completion> next() override;
    [[nodiscard]] bool broken() const override;
    bool want_notifications(bool wanted) override;
    [[nodiscard]] std::uint32_t chain_pieces_max() const override;
    [[nodiscard]] std::uint32_t depth_max() const override;

  private:
    // An exchange that is not answered yet, by its place, and where its answer comes.
    struct Outstanding {
        std::size_t index = 0;
        std::vector<Piece> writable;
    };

    guest::Transport behind_;
    std::vector<Entry> entries_;
    std::vector<bool> answered_;
    std::map<std::uint64_t, Outstanding> outstanding_;  // by cookie
};

}  // namespace virtaccel::cli

#include "tools/virtaccel/recording_port.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/virtaccel/recording.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {
namespace {

// The first `bytes` bytes of `pieces`, or all there are.
std::vector<std::byte> copy_of(std::span<const Piece> pieces, std::uint64_t bytes) {
    const PieceList list = PieceList::of(pieces);
    Reader reader{list, 0, bytes};
    std::vector<std::byte> copy(static_cast<std::size_t>(reader.remaining()));
    static_cast<void>(reader.copy_to(copy.data(), copy.size()));
    return copy;
}

}  // namespace

guest::Transport RecordingPort::stand_before(const guest::Transport& transport) {
    behind_ = transport;
    guest::Transport front = transport;
    front.port = this;
    front.reset_state = this;
    front.reset = [](void* state) -> Result<wire::Config> {
        auto& self = *static_cast<RecordingPort*>(state);
        self.outstanding_.clear();
        self.entries_.emplace_back(ResetMark{});
        self.answered_.push_back(true);
        return self.behind_.reset(self.behind_.reset_state);
    };
    return front;
}

Recording RecordingPort::recording(std::string backend) const {
    Recording recording{.config = behind_.config, .backend = std::move(backend), .entries = {}};
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (answered_[i]) {
            recording.entries.push_back(entries_[i]);
        }
    }
    return recording;
}

queue::Posted RecordingPort::post(std::span<const Piece> readable, std::span<const Piece> writable,
                                  std::uint64_t cookie) {
    const auto request = PieceList::of(readable);
    const auto response = PieceList::of(writable);
    Exchange exchange{.request = copy_of(readable, request.bytes),
                      .capacity = static_cast<std::uint32_t>(response.bytes),
                      .response = {}};
    const auto posted = behind_.port->post(readable, writable, cookie);
    if (posted == queue::Posted::ok) {
        outstanding_[cookie] = {.index = entries_.size(),
                                .writable = {writable.begin(), writable.end()}};
        entries_.emplace_back(std::move(exchange));
        answered_.push_back(false);
    }
    return posted;
}

void RecordingPort::kick() {
    behind_.port->kick();
}

std::optional<queue::Completion> RecordingPort::next() {
    const auto completion = behind_.port->next();
    if (!completion) {
        return completion;
    }
    if (const auto found = outstanding_.find(completion->cookie); found != outstanding_.end()) {
        const auto& [index, writable] = found->second;
        std::get<Exchange>(entries_[index]).response = copy_of(writable, completion->used_bytes);
        answered_[index] = true;
        outstanding_.erase(found);
    }
    return completion;
}

bool RecordingPort::broken() const {
    return behind_.port->broken();
}

bool RecordingPort::want_notifications(bool wanted) {
    return behind_.port->want_notifications(wanted);
}

std::uint32_t RecordingPort::chain_pieces_max() const {
    return behind_.port->chain_pieces_max();
}

std::uint32_t RecordingPort::depth_max() const {
    return behind_.port->depth_max();
}

}  // namespace virtaccel::cli

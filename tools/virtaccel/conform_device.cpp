#include "tools/virtaccel/conform_device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "adapters/stdio/framing.h"
#include "host/error.h"
#include "tools/virtaccel/conform_child.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli {
namespace {

using adapters::stdio::FramePrefix;
using adapters::stdio::ResetReply;

// A device may refuse one seed that we choose: it can be the current one by chance.
constexpr int reset_attempts = 2;

std::uint32_t bytes_in(std::span<const Piece> pieces) {
    std::size_t bytes = 0;
    for (const Piece& piece : pieces) {
        bytes += piece.size;
    }
    return static_cast<std::uint32_t>(bytes);
}

}  // namespace

host::OrError<void> ChildDevice::revive() {
    if (child_ != nullptr) {
        return {};
    }
    if (!failure_.empty() && !answered_) {
        return host::error("The case is not run: the device has never answered.");
    }
    VIRTACCEL_TRY_ASSIGN(child_, Child::start(words_, timeout_ns_));
    failure_.clear();
    answered_ = false;
    return {};
}

std::optional<std::uint32_t> ChildDevice::exchange(std::span<const Piece> readable,
                                                   std::span<const Piece> writable) {
    return child_ == nullptr ? std::nullopt : settle(request(readable, writable));
}

bool ChildDevice::reset() {
    return child_ != nullptr && settle(ask_reset()).has_value();
}

host::OrError<std::uint32_t> ChildDevice::ask(std::uint32_t length, std::uint32_t capacity,
                                              std::span<const Piece> frame) {
    const FramePrefix prefix{.length = length, .capacity = capacity};
    const auto head = std::as_bytes(std::span{&prefix, std::size_t{1}});
    frame_.assign(head.begin(), head.end());
    for (const Piece& piece : frame) {
        frame_.insert(frame_.end(), piece.data, piece.data + piece.size);
    }
    child_->begin();
    VIRTACCEL_TRY(child_->write(frame_));
    wire::le32 word;
    VIRTACCEL_TRY(child_->read(std::as_writable_bytes(std::span{&word, std::size_t{1}})));
    return std::uint32_t{word};
}

host::OrError<std::uint32_t> ChildDevice::ask_reset() {
    for (int i = 0; i < reset_attempts; ++i) {
        VIRTACCEL_TRY_ASSIGN(const std::uint32_t word,
                             ask(adapters::stdio::reset_length, ++seed_, {}));
        if (word > static_cast<std::uint32_t>(ResetReply::rebuilt)) {
            return host::error(
                fmt::format("The device answers a reset with ({:#x}) and not with 0, 1 or 2; make "
                            "it keep to the framing.",
                            word));
        }
        answered_ = true;
        if (word != static_cast<std::uint32_t>(ResetReply::refused)) {
            return word;
        }
    }
    return host::error(
        fmt::format("The device refuses resets into two new namespaces ({:#x}, {:#x}); it may "
                    "refuse the seed zero and the current one.",
                    seed_ - 1, seed_));
}

host::OrError<std::uint32_t> ChildDevice::request(std::span<const Piece> readable,
                                                  std::span<const Piece> writable) {
    const std::uint32_t capacity = bytes_in(writable);
    VIRTACCEL_TRY_ASSIGN(const std::uint32_t used, ask(bytes_in(readable), capacity, readable));
    if (used > capacity) {
        return host::error(
            fmt::format("The device says that it used ({}) bytes of a response that has room for "
                        "({}); make it keep to the framing.",
                        used, capacity));
    }
    answered_ = true;
    std::size_t rest = used;
    for (const Piece& piece : writable) {
        const std::size_t part = std::min(rest, piece.size);
        VIRTACCEL_TRY(child_->read({piece.data, part}));
        rest -= part;
    }
    return used;
}

std::optional<std::uint32_t> ChildDevice::settle(host::OrError<std::uint32_t> answer) {
    if (!answer) {
        failure_ = std::move(answer).error().message;
        child_->kill();
        child_.reset();
        return std::nullopt;
    }
    return *answer;
}

}  // namespace virtaccel::cli

#include "tools/virtaccel/recording.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli {
namespace {

constexpr std::uint16_t version_major = 1;
constexpr std::uint16_t version_minor = 0;
constexpr std::size_t number_bytes_max = 8;

// How an entry begins.
enum class EntryKind : std::uint8_t { end = 0, exchange = 1, reset = 2 };

class Output {
  public:
    void put(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    void put(std::uint64_t number, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i) {
            bytes_.push_back(static_cast<std::byte>(number >> (8 * i)));
        }
    }

    void put(EntryKind kind) { put(static_cast<std::uint64_t>(kind), 1); }

    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

// What is read past the end is zero, and `short_of_bytes` from then on.
class Input {
  public:
    explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::span<const std::byte> take(std::uint64_t count) {
        if (count > bytes_.size()) {
            short_ = true;
            bytes_ = {};
            return {};
        }
        const auto taken = bytes_.first(static_cast<std::size_t>(count));
        bytes_ = bytes_.subspan(taken.size());
        return taken;
    }

    [[nodiscard]] std::uint64_t number(std::size_t width) {
        std::uint64_t number = 0;
        const auto bytes = take(width);
        for (std::size_t i = bytes.size(); i-- > 0;) {
            number = (number << 8U) | std::to_integer<std::uint64_t>(bytes[i]);
        }
        return number;
    }

    [[nodiscard]] bool short_of_bytes() const { return short_; }

    [[nodiscard]] std::size_t left() const { return bytes_.size(); }

  private:
    std::span<const std::byte> bytes_;
    bool short_ = false;
};

// An exchange whose lengths a device and a guest can have agreed on.
std::optional<Exchange> take_exchange(Input& input) {
    const auto request_bytes = input.number(4);
    const auto capacity = input.number(4);
    const auto used_bytes = input.number(4);
    if (request_bytes > protocol::frame_bytes_max || capacity > protocol::frame_bytes_max ||
        used_bytes > capacity) {
        return std::nullopt;
    }
    const auto request = input.take(request_bytes);
    const auto response = input.take(used_bytes);
    return Exchange{.request = {request.begin(), request.end()},
                    .capacity = static_cast<std::uint32_t>(capacity),
                    .response = {response.begin(), response.end()}};
}

std::unexpected<host::Error> damaged(std::string_view path) {
    return host::error(fmt::format(
        "The recording ({}) is damaged: it says something that no recording says; record it again.",
        path));
}

std::unexpected<host::Error> truncated(std::string_view path) {
    return host::error(
        fmt::format("The recording ({}) ends too early; copy it again, or record it again.", path));
}

// Everything up to the end mark, which says how many entries there are.
host::OrError<void> take_entries(Input& input, Recording& recording, std::string_view path) {
    while (true) {
        const auto kind = static_cast<EntryKind>(input.number(1));
        if (input.short_of_bytes()) {
            return truncated(path);
        }
        if (kind == EntryKind::end) {
            const auto count = input.number(number_bytes_max);
            if (input.short_of_bytes()) {
                return truncated(path);
            }
            return count == recording.entries.size() && input.left() == 0 ? host::OrError<void>{}
                                                                          : damaged(path);
        }
        if (kind == EntryKind::reset) {
            recording.entries.emplace_back(ResetMark{});
            continue;
        }
        auto exchange = kind == EntryKind::exchange ? take_exchange(input) : std::nullopt;
        if (!exchange) {
            return damaged(path);
        }
        if (input.short_of_bytes()) {
            return truncated(path);
        }
        recording.entries.emplace_back(*std::move(exchange));
    }
}

}  // namespace

std::vector<std::byte> encode(const Recording& recording) {
    Output output;
    output.put(std::as_bytes(std::span{recording_magic}));
    output.put(version_major, 2);
    output.put(version_minor, 2);
    output.put(std::as_bytes(std::span{&recording.config, 1}));
    output.put(recording.backend.size(), 1);
    output.put(std::as_bytes(std::span{recording.backend}));
    for (const Entry& entry : recording.entries) {
        const auto* const exchange = std::get_if<Exchange>(&entry);
        if (exchange == nullptr) {
            output.put(EntryKind::reset);
            continue;
        }
        output.put(EntryKind::exchange);
        output.put(exchange->request.size(), 4);
        output.put(exchange->capacity, 4);
        output.put(exchange->response.size(), 4);
        output.put(exchange->request);
        output.put(exchange->response);
    }
    output.put(EntryKind::end);
    output.put(recording.entries.size(), number_bytes_max);
    return output.take();
}

host::OrError<Recording> decode_recording(std::span<const std::byte> file, std::string_view path) {
    Input input{file};
    const auto magic = input.take(recording_magic.size());
    const auto major = input.number(2);
    const auto minor = input.number(2);
    const auto config = input.take(sizeof(wire::Config));
    const auto backend = input.take(input.number(1));
    if (!std::ranges::equal(magic, std::as_bytes(std::span{recording_magic})) ||
        (!input.short_of_bytes() && major != version_major)) {
        return host::error(fmt::format(
            "The file ({}) is no recording of version {}, but of ({}.{}); record it again with "
            "this program.",
            path, version_major, major, minor));
    }
    if (input.short_of_bytes()) {
        return truncated(path);
    }
    Recording recording;
    recording.config = wire::load<wire::Config>(config.data());
    recording.backend.assign(reinterpret_cast<const char*>(backend.data()), backend.size());
    const wire::FrameLimits no_limits;
    if (wire::validate(recording.config, {.limits = no_limits}) != Status::ok) {
        return damaged(path);
    }
    if (auto taken = take_entries(input, recording, path); !taken) {
        return std::unexpected{std::move(taken).error()};
    }
    return recording;
}

}  // namespace virtaccel::cli

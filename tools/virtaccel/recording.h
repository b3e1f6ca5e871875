#pragma once
// A session's frames in a file (docs/replay.md): what was asked, how much room there was for the
// answer, and what was answered. The one thing to know: a file is read from its first byte to its
// last or not at all, since anybody may have made it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/error.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {

// One request and its answer; `response` is as long as the used length.
struct Exchange {
    std::vector<std::byte> request;
    std::uint32_t capacity = 0;
    std::vector<std::byte> response;
};

// The transport's reset.
struct ResetMark {};

using Entry = std::variant<Exchange, ResetMark>;

struct Recording {
    wire::Config config;  // of the device that answered
    std::string backend;  // its name
    std::vector<Entry> entries;
};

// How a recording begins.
inline constexpr std::string_view recording_magic = "VACCREC\n";

[[nodiscard]] std::vector<std::byte> encode(const Recording& recording);

// The recording in a file of such bytes; `path` is for messages.
[[nodiscard]] host::OrError<Recording> decode_recording(std::span<const std::byte> file,
                                                        std::string_view path);

}  // namespace virtaccel::cli

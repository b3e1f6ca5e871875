#pragma once
// Exactly so many bytes from or to a file descriptor, whatever pieces the system moves them in. The
// one thing to know: interrupted calls are tried again, and a descriptor that would block is waited
// for.

#include <cstddef>
#include <optional>
#include <span>

#include "host/error.h"

namespace virtaccel::host {

// Reads until `target` is full or the stream ends; the bytes read, fewer than asked for only at the
// stream's end. With a `timeout_ms`, an error if nothing at all arrives for that long.
[[nodiscard]] OrError<std::size_t> read_fully(int descriptor, std::span<std::byte> target,
                                              std::optional<int> timeout_ms = std::nullopt);

// Writes all of `source`. A pipe that nobody reads is an error, if the program ignores SIGPIPE.
[[nodiscard]] OrError<void> write_fully(int descriptor, std::span<const std::byte> source);

}  // namespace virtaccel::host

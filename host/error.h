#pragma once
// A failure of the environment: a file that is not there, a pipe that closes. The one thing to
// know: `message` is a full sentence that names the thing, its value and what to do, ready to be
// shown; hostile input gives a protocol Status instead, and our own bugs end in VIRTACCEL_CHECK.

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace virtaccel::host {

struct Error {
    std::string message;
};

// A value, or the sentence that says why there is none.
template <class T>
using OrError = std::expected<T, Error>;

// The failing half of an `OrError`.
[[nodiscard]] inline std::unexpected<Error> error(std::string message) {
    return std::unexpected{Error{std::move(message)}};
}

// What the system says of error number `code` (an errno): "No such file or directory".
[[nodiscard]] std::string system_words(int code);

// "The `thing` (`name`) cannot be `done`: <what the system says of `code`>; `advice`."
struct SystemFailure {
    std::string_view thing;
    std::string_view name;
    std::string_view done;
    std::string_view advice;
};

[[nodiscard]] std::unexpected<Error> system_error(const SystemFailure& failure, int code);

}  // namespace virtaccel::host

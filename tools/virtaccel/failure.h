#pragma once
// How a command ends: an exit code, and if it is not `done`, a full sentence for standard error.

#include <expected>
#include <string>
#include <utility>

#include "host/error.h"

namespace virtaccel::cli {

enum class Exit : int {
    done = 0,
    failed = 1,   // anything without a code of its own
    usage = 2,    // the command line is wrong
    refused = 3,  // the backend refuses the graph
};

struct Failure {
    std::string message;
    Exit code = Exit::failed;

    explicit Failure(std::string sentence, Exit exit = Exit::failed)
        : message(std::move(sentence)), code(exit) {}

    // What the environment refuses is a failure like any other.
    Failure(host::Error error) : message(std::move(error.message)) {}
};

template <class T>
using OrFailure = std::expected<T, Failure>;

[[nodiscard]] inline std::unexpected<Failure> failure(std::string sentence,
                                                      Exit code = Exit::failed) {
    return std::unexpected{Failure{std::move(sentence), code}};
}

}  // namespace virtaccel::cli

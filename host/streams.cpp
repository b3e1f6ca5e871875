#include "host/streams.h"

#include <cerrno>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/poll.h>
#include <unistd.h>

#include "host/error.h"
#include "virtaccel/base/result.h"

namespace virtaccel::host {
namespace {

constexpr int no_timeout = -1;

std::unexpected<Error> stream_error(int descriptor, std::string_view done, int code) {
    return system_error({.thing = "descriptor",
                         .name = std::to_string(descriptor),
                         .done = done,
                         .advice = "look at what is at its other end"},
                        code);
}

// Waits until `descriptor` is ready for `events`, or is in an error that the next call will name.
OrError<void> wait_for(int descriptor, short events, int timeout_ms) {
    pollfd watched{.fd = descriptor, .events = events, .revents = 0};
    while (true) {
        const int ready = ::poll(&watched, 1, timeout_ms);
        if (ready > 0) {
            return {};
        }
        if (ready == 0) {
            return stream_error(descriptor, "read", ETIMEDOUT);
        }
        if (errno != EINTR) {
            return stream_error(descriptor, "waited for", errno);
        }
    }
}

bool would_block(int code) {
    return code == EAGAIN || code == EWOULDBLOCK;
}

}  // namespace

OrError<std::size_t> read_fully(int descriptor, std::span<std::byte> target,
                                std::optional<int> timeout_ms) {
    const OrError<void> ready;
    std::size_t used = 0;
    bool wait = timeout_ms.has_value();
    while (used < target.size()) {
        VIRTACCEL_TRY(wait ? wait_for(descriptor, POLLIN, timeout_ms.value_or(no_timeout)) : ready);
        const auto rest = target.subspan(used);
        const auto got = ::read(descriptor, rest.data(), rest.size());
        if (got == 0) {
            break;
        }
        if (got > 0) {
            used += static_cast<std::size_t>(got);
        } else if (would_block(errno)) {
            wait = true;
        } else if (errno != EINTR) {
            return stream_error(descriptor, "read", errno);
        }
    }
    return used;
}

OrError<void> write_fully(int descriptor, std::span<const std::byte> source) {
    OrError<void> ready;
    while (ready && !source.empty()) {
        const auto put = ::write(descriptor, source.data(), source.size());
        if (put >= 0) {
            source = source.subspan(static_cast<std::size_t>(put));
        } else if (would_block(errno)) {
            ready = wait_for(descriptor, POLLOUT, no_timeout);
        } else if (errno != EINTR) {
            return stream_error(descriptor, "written", errno);
        }
    }
    return ready;
}

}  // namespace virtaccel::host

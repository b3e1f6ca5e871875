#include "adapters/stdio/device_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string>

#include "adapters/stdio/framing.h"
#include "host/error.h"
#include "host/streams.h"
#include "virtaccel/base/result.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::adapters::stdio {
namespace {

std::unexpected<host::Error> cut_off(int input) {
    return host::error("The descriptor (" + std::to_string(input) +
                       ") ends inside a frame; the other end must send whole frames.");
}

// An endpoint without a backend is not what `rebuilt` promises: a later seed tries again.
ResetReply reply_of(device::ResetAnswer answer) {
    switch (answer) {
        case device::ResetAnswer::reused:
            return ResetReply::reused;
        case device::ResetAnswer::rebuilt:
            return ResetReply::rebuilt;
        case device::ResetAnswer::refused:
        case device::ResetAnswer::unavailable:
            break;
    }
    return ResetReply::refused;
}

}  // namespace

// One byte of a request that is too large is kept beyond what the device takes, so that it sees so.
DeviceStream::DeviceStream(device::Endpoint& endpoint, int input, int output)
    : endpoint_(&endpoint),
      input_(input),
      output_(output),
      request_(std::size_t{endpoint.device().config().request_bytes_max} + 1),
      reply_(sizeof(wire::le32) + endpoint.device().config().response_bytes_max) {}

host::OrError<void> DeviceStream::serve() {
    while (true) {
        VIRTACCEL_TRY_ASSIGN(const bool more, step());
        if (!more) {
            return {};
        }
    }
}

host::OrError<bool> DeviceStream::step() {
    FramePrefix prefix;
    VIRTACCEL_TRY_ASSIGN(
        const auto got,
        host::read_fully(input_, std::as_writable_bytes(std::span{&prefix, std::size_t{1}})));
    if (got == 0) {
        return false;
    }
    if (got != sizeof prefix) {
        return cut_off(input_);
    }
    if (prefix.length == reset_length) {
        VIRTACCEL_TRY(answer_reset(prefix.capacity));
    } else {
        VIRTACCEL_TRY(answer_request(prefix));
    }
    return true;
}

host::OrError<void> DeviceStream::answer_request(const FramePrefix& prefix) {
    const auto kept = std::min<std::size_t>(prefix.length, request_.size());
    const auto request = std::span{request_}.first(kept);
    VIRTACCEL_TRY(read_exactly(request));
    VIRTACCEL_TRY(drop(prefix.length - kept));
    const auto response = std::span{reply_}.subspan(sizeof(wire::le32));
    const auto served = endpoint_->device().serve(
        request, response.first(std::min<std::size_t>(prefix.capacity, response.size())));
    return reply(served.used_bytes, served.used_bytes);
}

host::OrError<void> DeviceStream::answer_reset(std::uint64_t seed) {
    return reply(static_cast<std::uint32_t>(reply_of(endpoint_->reset(seed))), 0);
}

host::OrError<void> DeviceStream::read_exactly(std::span<std::byte> target) {
    VIRTACCEL_TRY_ASSIGN(const auto got, host::read_fully(input_, target));
    if (got != target.size()) {
        return cut_off(input_);
    }
    return {};
}

host::OrError<void> DeviceStream::drop(std::uint64_t bytes) {
    while (bytes != 0) {
        const auto part = std::min<std::uint64_t>(bytes, reply_.size());
        VIRTACCEL_TRY(read_exactly(std::span{reply_}.first(part)));
        bytes -= part;
    }
    return {};
}

host::OrError<void> DeviceStream::reply(std::uint32_t word, std::size_t bytes) {
    const wire::le32 encoded = word;
    std::memcpy(reply_.data(), &encoded, sizeof encoded);
    return host::write_fully(output_, std::span{reply_}.first(sizeof encoded + bytes));
}

}  // namespace virtaccel::adapters::stdio

#include "adapters/stdio/driver_stream.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>

#include "adapters/stdio/framing.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/memory.h"
#include "host/streams.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::adapters::stdio {
namespace {

// How many seeds a session's reset tries before it believes that the device refuses for good: the
// first may be the current one by chance.
constexpr int reset_attempts = 2;

std::unexpected<host::Error> ended(int input) {
    return host::error("The device behind descriptor (" + std::to_string(input) +
                       ") has ended inside a reply; look at its messages.");
}

// A piece list of one piece. `piece` outlives it.
PieceList list_of(const Piece& piece) {
    return {.pieces = std::span{&piece, std::size_t{1}}, .bytes = piece.size, .lease = {}};
}

}  // namespace

host::OrError<std::uint32_t> DriverStream::exchange(const PieceList& readable,
                                                    const PieceList& writable) {
    const FramePrefix prefix{.length = static_cast<std::uint32_t>(readable.bytes),
                             .capacity = static_cast<std::uint32_t>(writable.bytes)};
    VIRTACCEL_TRY(host::write_fully(output_, std::as_bytes(std::span{&prefix, std::size_t{1}})));
    host::OrError<void> sent;
    Reader reader{readable};
    reader.each(readable.bytes, [&](const std::byte* run, std::size_t size) {
        sent = sent ? host::write_fully(output_, std::span{run, size}) : sent;
    });
    VIRTACCEL_TRY(sent);
    VIRTACCEL_TRY_ASSIGN(const auto used, read_word());
    if (used > writable.bytes) {
        return host::error("The device says that it used (" + std::to_string(used) +
                           ") bytes of a response that has room for (" +
                           std::to_string(writable.bytes) + "); it breaks the protocol.");
    }
    VIRTACCEL_TRY(read_into(writable, used));
    return used;
}

host::OrError<std::uint32_t> DriverStream::exchange(std::span<const std::byte> request,
                                                    std::span<std::byte> response) {
    // A reader only reads; the list has one type for both directions.
    const Piece readable{const_cast<std::byte*>(request.data()), request.size()};
    const Piece writable{response.data(), response.size()};
    return exchange(list_of(readable), list_of(writable));
}

host::OrError<ResetReply> DriverStream::reset(std::uint32_t seed) {
    first_ = 0;
    count_ = 0;
    const FramePrefix prefix{.length = reset_length, .capacity = seed};
    VIRTACCEL_TRY(host::write_fully(output_, std::as_bytes(std::span{&prefix, std::size_t{1}})));
    VIRTACCEL_TRY_ASSIGN(const auto word, read_word());
    if (word > static_cast<std::uint32_t>(ResetReply::rebuilt)) {
        return host::error("The device answers a reset with (" + std::to_string(word) +
                           "); only 0, 1 and 2 mean something.");
    }
    return static_cast<ResetReply>(word);
}

guest::Transport DriverStream::transport(const wire::Config& config) {
    config_ = config;
    return {
        .port = this,
        .waiter = {.state = this,
                   // A reply is there when `post` returns, or never comes.
                   .wait =
                       [](void* self, std::uint64_t) {
                           return static_cast<const DriverStream*>(self)->count_ != 0;
                       },
                   .pause = [](void*, std::uint64_t duration_ns) { host::pause_ns(duration_ns); },
                   .now_ns = [](void*) { return host::now_ns(); }},
        .config = config,
        .frames = host::heap(),
        .reaches_caller_memory = true,
        .reset = [](void* self) { return static_cast<DriverStream*>(self)->reset_for_session(); },
        .reset_state = this,
    };
}

Result<wire::Config> DriverStream::reset_for_session() {
    if (broken()) {
        return fail(Status::device_lost);
    }
    for (int i = 0; i < reset_attempts; ++i) {
        const auto reply = reset(++seed_);
        if (!reply) {
            failure_ = reply.error().message;
            return fail(Status::device_lost);
        }
        if (*reply != ResetReply::refused) {
            return config_;
        }
    }
    return fail(Status::device_lost);
}

queue::Posted DriverStream::post(std::span<const Piece> readable, std::span<const Piece> writable,
                                 std::uint64_t cookie) {
    if (broken()) {
        return queue::Posted::broken;
    }
    if (count_ == depth) {
        return queue::Posted::full;
    }
    const auto used = exchange(PieceList::of(readable), PieceList::of(writable));
    if (!used) {
        failure_ = used.error().message;
        return queue::Posted::broken;
    }
    completions_.at((first_ + count_) % depth) = {.cookie = cookie, .used_bytes = *used};
    ++count_;
    return queue::Posted::ok;
}

std::optional<queue::Completion> DriverStream::next() {
    if (count_ == 0) {
        return std::nullopt;
    }
    const auto completion = completions_.at(first_);
    first_ = (first_ + 1) % depth;
    --count_;
    return completion;
}

std::uint32_t DriverStream::chain_pieces_max() const {
    return protocol::chain_descriptors_max;
}

host::OrError<std::uint32_t> DriverStream::read_word() {
    wire::le32 word;
    VIRTACCEL_TRY_ASSIGN(
        const auto got,
        host::read_fully(input_, std::as_writable_bytes(std::span{&word, std::size_t{1}}),
                         reply_timeout_ms));
    if (got != sizeof word) {
        return ended(input_);
    }
    return std::uint32_t{word};
}

host::OrError<void> DriverStream::read_into(const PieceList& target, std::uint32_t bytes) {
    host::OrError<std::size_t> got = 0;
    std::size_t total = 0;
    Writer writer{target};
    writer.each(bytes, [&](std::byte* run, std::size_t size) {
        if (got) {
            got = host::read_fully(input_, std::span{run, size}, reply_timeout_ms);
            total += got.value_or(0);
        }
    });
    if (!got) {
        return std::unexpected{got.error()};
    }
    return total == bytes ? host::OrError<void>{} : ended(input_);
}

}  // namespace virtaccel::adapters::stdio

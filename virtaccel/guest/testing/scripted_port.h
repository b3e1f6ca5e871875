#pragma once
// A driver port whose other side is the test: it keeps what was posted and completes it as it is
// told, by the rules or against them. The one thing to know: everything public may be changed at
// any time; a script is ordinary code.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest::testing {

// A request as the device sees it.
struct Posted {
    wire::RequestHeader header;
    std::vector<std::byte> payload;
    std::vector<Piece> readable;
    std::vector<Piece> writable;
    std::uint64_t cookie = 0;

    // The record that the payload starts with.
    template <class Record>
    [[nodiscard]] Record record() const {
        return wire::load<Record>(payload.data());
    }
};

// A response, right unless it says otherwise.
struct Answer {
    std::uint16_t status = 0;
    std::vector<std::byte> payload;
    std::uint16_t flags = 0;
    std::optional<std::uint32_t> payload_bytes;
    std::optional<std::uint64_t> request_id;
    std::optional<std::uint32_t> used_bytes;

    [[nodiscard]] static Answer refusal(Status status) {
        Answer answer;
        answer.status = static_cast<std::uint16_t>(status);
        return answer;
    }

    template <class Record>
    [[nodiscard]] static Answer of(const Record& record) {
        const auto bytes = wire::encode(record);
        Answer answer;
        answer.payload.assign(bytes.begin(), bytes.end());
        return answer;
    }
};

class ScriptedPort : public queue::DriverPort {
  public:
    // What the next posts are answered with, how many fit, and how long chains may be.
    queue::Posted verdict = queue::Posted::ok;
    std::uint32_t depth = 8;
    std::uint32_t pieces_max = 16;
    bool is_broken = false;

    // Sees every request.
    std::function<void(const Posted&)> on_post;

    std::deque<Posted> posted;
    std::deque<queue::Completion> completions;
    std::uint64_t posts = 0;
    std::uint64_t kicks = 0;

    // Answers the oldest request, or the one at `index`.
    void answer(const Answer& answer, std::size_t index = 0) {
        const auto request = std::move(posted.at(index));
        posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(index));
        answer_to(request, answer);
    }

    // Answers a request that may have been answered before.
    void answer_to(const Posted& request, const Answer& answer) {
        wire::ResponseHeader header;
        header.status = answer.status;
        header.flags = answer.flags;
        header.payload_bytes =
            answer.payload_bytes.value_or(static_cast<std::uint32_t>(answer.payload.size()));
        header.request_id = answer.request_id.value_or(std::uint64_t{request.header.request_id});
        Writer writer{PieceList::of(request.writable)};
        writer.copy_from(&header, sizeof header);
        writer.copy_from(answer.payload.data(), answer.payload.size());
        const auto used = static_cast<std::uint32_t>(sizeof header + answer.payload.size());
        completions.push_back(
            {.cookie = request.cookie, .used_bytes = answer.used_bytes.value_or(used)});
    }

    queue::Posted post(std::span<const Piece> readable, std::span<const Piece> writable,
                       std::uint64_t cookie) override {
        if (verdict != queue::Posted::ok) {
            return verdict;
        }
        ++posts;
        Posted request;
        request.readable.assign(readable.begin(), readable.end());
        request.writable.assign(writable.begin(), writable.end());
        request.cookie = cookie;
        const auto list = PieceList::of(request.readable);
        Reader reader{list};
        reader.copy_to(&request.header, sizeof request.header);
        request.payload.resize(reader.remaining());
        reader.copy_to(request.payload.data(), request.payload.size());
        if (on_post) {
            on_post(request);
        }
        posted.push_back(std::move(request));
        return queue::Posted::ok;
    }

    void kick() override { ++kicks; }

    std::optional<queue::Completion> next() override {
        if (completions.empty()) {
            return std::nullopt;
        }
        const auto completion = completions.front();
        completions.pop_front();
        return completion;
    }

    [[nodiscard]] bool broken() const override { return is_broken; }

    bool want_notifications(bool /*wanted*/) override { return !completions.empty(); }

    [[nodiscard]] std::uint32_t chain_pieces_max() const override { return pieces_max; }

    [[nodiscard]] std::uint32_t depth_max() const override { return depth; }
};

}  // namespace virtaccel::guest::testing

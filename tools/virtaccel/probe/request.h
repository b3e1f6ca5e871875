#pragma once
// A request frame to be sent, right or wrong. Starts out right; `with_…` and `plus` bend it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {

using Bytes = std::vector<std::byte>;

// The bytes of any number of records, one after the other.
template <class... Records>
[[nodiscard]] Bytes bytes_of(const Records&... records) {
    Bytes bytes;
    const auto append = [&bytes](const auto& encoded) {
        bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    };
    (append(wire::encode(records)), ...);
    return bytes;
}

class Request {
  public:
    // Room for every answer that carries no data.
    static constexpr std::uint32_t capacity_default = 256;

    explicit Request(std::uint16_t opcode, Bytes payload = {})
        : opcode_(opcode), payload_(std::move(payload)) {}

    explicit Request(wire::Opcode opcode, Bytes payload = {})
        : Request(static_cast<std::uint16_t>(opcode), std::move(payload)) {}

    // The command of one object.
    template <class Kind>
    Request(wire::Opcode opcode, Id<Kind> id)
        : Request(opcode, bytes_of(wire::Object<Kind>{.object_id = id})) {}

    [[nodiscard]] Request with_capacity(std::uint32_t bytes) const {
        Request bent = *this;
        bent.capacity_ = bytes;
        return bent;
    }

    [[nodiscard]] Request with_flags(std::uint16_t flags) const {
        Request bent = *this;
        bent.flags_ = flags;
        return bent;
    }

    [[nodiscard]] Request with_request_id(std::uint64_t id) const {
        Request bent = *this;
        bent.request_id_ = id;
        return bent;
    }

    // Says another length than the payload has.
    [[nodiscard]] Request with_payload_bytes(std::uint32_t bytes) const {
        Request bent = *this;
        bent.payload_bytes_ = bytes;
        return bent;
    }

    // `bytes` more (zeros), or fewer if negative, of payload.
    [[nodiscard]] Request plus(std::ptrdiff_t bytes) const {
        Request bent = *this;
        bent.payload_.resize(
            static_cast<std::size_t>(static_cast<std::ptrdiff_t>(payload_.size()) + bytes));
        return bent;
    }

    // Only the first `bytes` bytes of the whole frame are sent.
    [[nodiscard]] Request cut_to(std::size_t bytes) const {
        Request bent = *this;
        bent.frame_bytes_ = bytes;
        return bent;
    }

    [[nodiscard]] std::uint16_t opcode() const { return opcode_; }

    [[nodiscard]] std::uint32_t capacity() const { return capacity_; }

    // The frame's bytes; `request_id` goes into it unless another one was given.
    [[nodiscard]] Bytes frame(std::uint64_t request_id) const;

    // The ID that `frame(request_id)` carries.
    [[nodiscard]] std::uint64_t carried_id(std::uint64_t request_id) const {
        return request_id_.value_or(request_id);
    }

  private:
    std::uint16_t opcode_;
    std::uint16_t flags_ = 0;
    Bytes payload_;
    std::uint32_t capacity_ = capacity_default;
    std::optional<std::uint64_t> request_id_;
    std::optional<std::uint32_t> payload_bytes_;
    std::optional<std::size_t> frame_bytes_;
};

}  // namespace virtaccel::cli::probe

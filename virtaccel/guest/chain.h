#pragma once
// One request's memory, owned by the caller and used for request after request. The area holds the
// fixed part of the request, small bulk data and the response, and is all that the device can
// reach; everything a client relies on stays in this object. While a chain is in flight it may not
// be moved or destroyed, and its area and the caller's bulk data stay where they are.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {

class alignas(64) Chain {
  public:
    static constexpr std::size_t cache_line_bytes = 64;

    // Area sizes: for every command without bulk data or with prepared (zero-copy) bulk data, and
    // for bulk data that stand in the area itself.
    static constexpr std::size_t control_bytes = 192;

    [[nodiscard]] static constexpr std::size_t bytes_for_write(std::size_t data_bytes) {
        return control_bytes + data_bytes;
    }

    [[nodiscard]] static constexpr std::size_t bytes_for_read(std::size_t data_bytes) {
        return control_bytes + data_bytes;
    }

    [[nodiscard]] static constexpr std::size_t bytes_for_bindings(std::size_t bindings) {
        return control_bytes + (bindings * sizeof(wire::Binding));
    }

    // A chain without room, to be assigned to.
    Chain() = default;

    // A chain over the caller's `area`, which the port's device can reach and which outlives it.
    explicit Chain(std::span<std::byte> area);

    // A chain with an area of its own out of `memory`, which the port's device can reach;
    // OUT_OF_MEMORY if it is refused.
    [[nodiscard]] static Result<Chain> make(const Memory& memory, std::size_t area_bytes);

    Chain(Chain&& other) noexcept;
    Chain& operator=(Chain&& other) noexcept;
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    ~Chain();

    // Makes room, out of private `memory`, for prepared data in up to `pieces` pieces; one piece
    // needs no room. OUT_OF_MEMORY if it is refused.
    [[nodiscard]] Status reserve_pieces(const Memory& memory, std::size_t pieces);

    [[nodiscard]] bool in_flight() const {
        return stage_ == Stage::in_flight || stage_ == Stage::ended;
    }

    // The command last posted.
    [[nodiscard]] wire::Opcode opcode() const { return failure_.opcode; }

    // Why the last request failed; nothing if it succeeded. Only after its completion.
    [[nodiscard]] std::optional<Failure> failure() const;

    [[nodiscard]] std::size_t area_bytes() const { return area_.size(); }

    // The caller's own, untouched here.
    std::uint64_t tag = 0;

  private:
    friend class Client;

    enum class Stage : std::uint8_t {
        idle,
        in_flight,
        ended,  // by a reset, but not yet given back
        succeeded,
        failed,
    };

    // The pieces of every chain: the request and the response in the area.
    static constexpr std::size_t fixed_pieces = 2;

    // The first bytes of a response's payload, all of it for most commands.
    using Payload = std::array<std::byte, 8>;

    // The most of a response that a client reads whatever the command.
    static constexpr std::size_t response_start_bytes =
        sizeof(wire::ResponseHeader) + sizeof(Payload);

    struct alignas(cache_line_bytes) Line {
        std::array<std::byte, cache_line_bytes> bytes{};
    };

    // What every request and completion touches fills one cache line.
    std::span<std::byte> area_;
    std::uint32_t response_offset_ = 0;
    std::uint32_t response_bytes_ = 0;  // of a success
    std::uint64_t request_id_ = 0;
    Payload payload_{};  // copied out of the area once
    Failure failure_;
    Stage stage_ = Stage::idle;
    bool has_event_ = false;          // an indeterminate SUBMIT
    std::uint64_t subject_ = 0;       // the object being released
    std::byte* read_into_ = nullptr;  // a read's data, if in one piece
    Array<Piece> many_pieces_;
    Array<Line> owned_area_;
};

}  // namespace virtaccel::guest

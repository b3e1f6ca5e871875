#pragma once
// A driver that judges nothing: it builds any frame, right or wrong, and shows the answer whole.
// The one thing to know: room for the answer is filled with a canary first, and a byte touched past
// the used length is part of what is shown.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance {

using Bytes = std::vector<std::byte>;

// What a frame's room is filled with before the device writes.
inline constexpr std::byte canary{0xa5};

// An answer. `status`, `request_id` and `payload` are those of the bytes used, if they hold a
// header.
struct Reply {
    bool answered = false;
    std::uint32_t used_bytes = 0;
    wire::ResponseHeader header{};
    Status status = Status::internal_error;
    Bytes payload{};
    // False if there is a header that does not name the request, or not its own payload's length.
    bool header_fits = true;
    // False if a byte past the used length was touched.
    bool rest_untouched = true;

    [[nodiscard]] bool ok() const { return answered && used_bytes != 0 && status == Status::ok; }

    // The record that the payload is, unjudged; zeros if it has another length.
    template <class Record>
    [[nodiscard]] Record as() const {
        return payload.size() == sizeof(Record) ? wire::load<Record>(payload.data()) : Record{};
    }
};

// A request frame of `payload`, with a right header.
[[nodiscard]] Bytes frame_of(wire::Opcode opcode, std::uint64_t request_id,
                             std::span<const std::byte> payload);

// Where bytes are cut into pieces: after the first `first` bytes, and then after every `every`;
// zero is nowhere.
struct Cut {
    std::size_t every = 0;
    std::size_t first = 0;
};

[[nodiscard]] std::vector<Piece> cut(std::span<std::byte> bytes, Cut where = {});

// The answer that `used_bytes` bytes of `room` hold.
[[nodiscard]] Reply read_reply(std::span<const std::byte> room, std::uint32_t used_bytes);

class Caller {
  public:
    explicit Caller(DeviceUnderTest& device) : device_(&device) {}

    [[nodiscard]] DeviceUnderTest& device() { return *device_; }

    [[nodiscard]] std::uint64_t next_request_id() { return ++request_id_; }

    // Sends `frame` as it is, with `capacity` bytes of room, both cut as said.
    [[nodiscard]] Reply send(Bytes frame, std::size_t capacity, Cut readable = {},
                             Cut writable = {});

    // Sends a payload of any bytes under a right header, with room for any answer to it.
    [[nodiscard]] Reply call_raw(wire::Opcode opcode, std::span<const std::byte> payload,
                                 std::size_t capacity = room_default);

    // Sends a command: its fixed part, then `tail`.
    template <wire::Opcode op>
    [[nodiscard]] Reply call(const wire::RequestOf<op>& request = {},
                             std::span<const std::byte> tail = {},
                             std::size_t capacity = room_default) {
        return call_raw(op, payload_of(request, tail), capacity);
    }

    // The payload of a command.
    template <class Record>
    [[nodiscard]] static Bytes payload_of(const Record& request,
                                          std::span<const std::byte> tail = {}) {
        constexpr std::size_t fixed = wire::fixed_bytes<Record>;
        Bytes payload(fixed + tail.size());
        if constexpr (fixed != 0) {
            std::memcpy(payload.data(), &request, fixed);
        }
        std::ranges::copy(tail, payload.begin() + fixed);
        return payload;
    }

    // Steps that must succeed: the case ends if they do not.
    [[nodiscard]] Checked<wire::DeviceInfo> device_info();
    [[nodiscard]] Checked<ContextId> create_context();
    [[nodiscard]] Checked<QueueId> create_queue(ContextId context);
    [[nodiscard]] Checked<BufferId> allocate(const wire::AllocateBuffer& request);
    // In as many frames as the device's limits demand.
    [[nodiscard]] Check write(BufferId buffer, std::uint64_t offset,
                              std::span<const std::byte> bytes);
    [[nodiscard]] Checked<Bytes> read(BufferId buffer, std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] Checked<wire::EventState> poll(EventId event);
    [[nodiscard]] Check destroy(ContextId context);
    [[nodiscard]] Check destroy(BufferId buffer);
    [[nodiscard]] Check destroy(ProgramId program);
    [[nodiscard]] Check destroy(QueueId queue);
    [[nodiscard]] Check destroy(EventId event);

    // Room for the answer of every command but a long read.
    static constexpr std::size_t room_default = 256;

  private:
    DeviceUnderTest* device_;
    std::uint64_t request_id_ = 0;
};

// Ends the case unless `what` was answered with OK.
[[nodiscard]] Check expect_ok(std::string_view what, const Reply& reply);

// Ends the case unless `what` was answered with a bare failure: status `wanted`, exactly 16 bytes,
// nothing else touched.
[[nodiscard]] Check expect_refusal(std::string_view what, const Reply& reply, Status wanted);

// Ends the case unless the chain of `what` came back with length 0 and nothing written.
[[nodiscard]] Check expect_unanswered(std::string_view what, const Reply& reply);

// The ID in an OK answer to a creation.
template <class Kind>
[[nodiscard]] Checked<Id<Kind>> expect_id(std::string_view what, const Reply& reply) {
    VIRTACCEL_TRY(expect_ok(what, reply));
    VIRTACCEL_TRY(expect_equal(say("The payload of ", what), reply.payload.size(), 8));
    const Id<Kind> id = reply.as<wire::Object<Kind>>().object_id;
    VIRTACCEL_TRY(expect(id.raw != 0, what, " gives the ID zero."));
    return id;
}

}  // namespace virtaccel::conformance

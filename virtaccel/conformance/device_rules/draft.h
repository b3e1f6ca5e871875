#pragma once
// A request that a rule can still bend before it is sent, and the live objects that it names. The
// one thing to know: a good draft breaks no rule that shows in its bytes, so whatever a rule bends
// is what its answer is about. Internal to this module.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::conformance::rules {

// An ID no device has given out: serials start low.
inline constexpr std::uint64_t never_given = 0xfffffffffff00001;
inline constexpr std::uint64_t most = ~std::uint64_t{0};
inline constexpr std::size_t header_bytes = sizeof(wire::RequestHeader);
// A slot that no program has.
inline constexpr std::uint32_t no_such_slot = 0xfffffffe;
// The size of the buffers of a cast.
inline constexpr std::uint64_t cast_buffer_bytes = 16;

// What lives while a rule is judged.
struct Cast {
    wire::Config config;
    wire::DeviceInfo info;
    // Its program and buffers are there only with a sample program.
    Scene scene;
    // A buffer for everything, one that is a transfer source only, and a destination only.
    BufferId buffer;
    BufferId source_only;
    BufferId destination_only;
    // Terminal; zero unless there is a sample program and it was asked for.
    EventId event;

    [[nodiscard]] bool has_program() const { return scene.program.raw != 0; }
};

[[nodiscard]] Checked<Cast> make_cast(Stage& stage, bool with_event = false);

// Releases all of it; the case ends if something else is left in its context.
[[nodiscard]] Check take_down(Stage& stage, const Cast& cast);

struct Draft {
    std::uint16_t opcode = 0;
    std::uint16_t flags = 0;
    // What the header says of the payload's length in place of the truth.
    std::optional<std::uint32_t> payload_bytes{};
    // In place of a fresh one.
    std::optional<std::uint64_t> request_id{};
    Bytes payload{};
    // The room for the answer; a good draft has what its success needs.
    std::size_t capacity = 0;

    // Sets a field of the record at `offset` of the payload.
    template <class Record, class Member>
    void set(Member Record::* field, std::type_identity_t<Member> value, std::size_t offset = 0) {
        auto record = wire::load<Record>(payload.data() + offset);
        record.*field = value;
        std::memcpy(payload.data() + offset, &record, sizeof record);
    }

    // Sets the eight bytes of an ID, or of any other number.
    void put(std::uint64_t value, std::size_t offset = 0) {
        const wire::le64 bytes = value;
        std::memcpy(payload.data() + offset, &bytes, sizeof bytes);
    }

    // The eight bytes there.
    [[nodiscard]] std::uint64_t number_at(std::size_t offset) const {
        wire::le64 bytes;
        std::memcpy(&bytes, payload.data() + offset, sizeof bytes);
        return bytes;
    }
};

// A draft of a command whose success carries `answer_bytes` bytes after its header.
template <wire::Opcode op>
[[nodiscard]] Draft draft_of(const wire::RequestOf<op>& request, std::size_t answer_bytes = 0,
                             std::span<const std::byte> tail = {}) {
    return {.opcode = static_cast<std::uint16_t>(op),
            .payload = Caller::payload_of(request, tail),
            .capacity = sizeof(wire::ResponseHeader) + answer_bytes};
}

[[nodiscard]] Reply send(Caller& caller, const Draft& draft);

// Ends the case unless the answer is a bare `wanted`, or, without one, the chain comes back with
// length 0.
[[nodiscard]] Check expect_answer(std::string_view what, const Reply& reply,
                                  std::optional<Status> wanted);

}  // namespace virtaccel::conformance::rules

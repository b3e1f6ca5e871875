// Any bytes as every record of the protocol and as a request: what the schema reads is what stands
// there byte by byte, what is written again is what was read, and a verdict depends on nothing but
// the bytes and the limits. What the verdict has to be, tests/wire_differential knows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace {

namespace wire = virtaccel::wire;

using virtaccel::Status;
using virtaccel::testing::Choices;
using wire::Around;
using wire::FrameLimits;
using Bytes = std::span<const std::byte>;

std::uint64_t number_in(Bytes bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        number = number << 8U | std::to_integer<std::uint64_t>(bytes[i]);
    }
    return number;
}

template <class T>
bool says(const wire::Le<T>& member, Bytes bytes) {
    return T{member} == number_in(bytes);
}

template <class KindTag>
bool says(const wire::LeId<KindTag>& member, Bytes bytes) {
    const virtaccel::Id<KindTag> id = member;
    return id.raw == number_in(bytes);
}

template <std::size_t count>
bool says(const wire::Reserved<count>& member, Bytes bytes) {
    return std::ranges::equal(std::as_bytes(std::span{member.bytes}), bytes);
}

template <std::size_t count>
bool says(const std::array<wire::le32, count>& member, Bytes bytes) {
    for (std::size_t i = 0; i < count; ++i) {
        if (!says(member[i], bytes.subspan(4 * i, 4))) {
            return false;
        }
    }
    return true;
}

// What a rule may answer.
bool is_verdict(Status status) {
    return status == Status::ok || status == Status::invalid_argument ||
           status == Status::unsupported || status == Status::resource_limit ||
           status == Status::incompatible;
}

// `bytes` are those of one R.
template <class R>
Status check_record(Bytes bytes, const Around& around) {
    const auto record = wire::load<R>(bytes.data());
    std::size_t end = 0;
    std::apply(
        [&](const auto&... field) {
            const auto check = [&](const auto& one) {
                VIRTACCEL_CHECK(says(record.*one.member, bytes.subspan(end, one.size)));
                end += one.size;
            };
            (check(field), ...);
        },
        wire::Schema<R>::fields);
    VIRTACCEL_CHECK(end == sizeof(R));
    VIRTACCEL_CHECK(std::ranges::equal(wire::encode(record), bytes));
    const Status status = wire::validate(record, around);
    VIRTACCEL_CHECK(is_verdict(status));
    const Around alone{.limits = around.limits};
    const auto decoded = wire::decode<R>(bytes, around.limits);
    VIRTACCEL_CHECK((decoded ? Status::ok : decoded.error()) == wire::validate(record, alone));
    // Who keeps to narrow limits keeps to wide ones.
    const FrameLimits wide;
    VIRTACCEL_CHECK(status != Status::ok ||
                    wire::validate(record, {.limits = wide, .tail_bytes = around.tail_bytes}) ==
                        Status::ok);
    return status;
}

template <class R>
void check_start(Bytes bytes, const FrameLimits& limits) {
    if (bytes.size() < sizeof(R)) {
        VIRTACCEL_CHECK(wire::decode<R>(bytes, limits).error() == Status::invalid_argument);
        return;
    }
    const Around around{.limits = limits, .tail_bytes = bytes.size() - sizeof(R)};
    static_cast<void>(check_record<R>(bytes.first(sizeof(R)), around));
}

template <class... R>
void check_all(Bytes bytes, const FrameLimits& limits) {
    (check_start<R>(bytes, limits), ...);
}

// A DeviceInfo that passes says the same after a way to the shared vocabulary and back.
void check_identity(Bytes bytes, const FrameLimits& limits) {
    if (bytes.size() < sizeof(wire::DeviceInfo)) {
        return;
    }
    bytes = bytes.first(sizeof(wire::DeviceInfo));
    const auto info = wire::decode<wire::DeviceInfo>(bytes, limits);
    if (!info) {
        return;
    }
    const auto again = wire::encode(wire::to_record(wire::to_identity(*info)));
    VIRTACCEL_CHECK(std::ranges::equal(again, bytes));
}

void check_bindings(Bytes tail, const FrameLimits& limits) {
    while (tail.size() >= sizeof(wire::Binding)) {
        static_cast<void>(
            check_record<wire::Binding>(tail.first(sizeof(wire::Binding)), {.limits = limits}));
        tail = tail.subspan(sizeof(wire::Binding));
    }
}

// The payload as the request of one command.
template <class Row>
void check_payload(const Row& row, Bytes payload, const FrameLimits& limits) {
    using Request = typename Row::Request;
    if constexpr (!std::is_empty_v<Request>) {
        check_start<Request>(payload, limits);
        if (row.request_tail == wire::Tail::bindings && payload.size() >= sizeof(Request)) {
            check_bindings(payload.subspan(sizeof(Request)), limits);
        }
    }
}

void check_request(Bytes frame, const FrameLimits& limits) {
    if (frame.size() < sizeof(wire::RequestHeader)) {
        return;
    }
    const auto header = wire::load<wire::RequestHeader>(frame.data());
    const std::uint16_t opcode = header.opcode;
    const auto command = wire::command_index(opcode);
    VIRTACCEL_CHECK((wire::opcode_name(opcode) == "UNKNOWN") == (command == wire::command_count));
    std::size_t index = 0;
    std::size_t found = 0;
    std::apply(
        [&](const auto&... row) {
            const auto check = [&](const auto& one) {
                if (index++ != command) {
                    return;
                }
                ++found;
                VIRTACCEL_CHECK(static_cast<std::uint16_t>(one.opcode) == opcode);
                check_payload(one, frame.subspan(sizeof header), limits);
            };
            (check(row), ...);
        },
        wire::commands);
    VIRTACCEL_CHECK(found == (command < wire::command_count ? 1U : 0U));
}

FrameLimits limits_from(Choices& choices) {
    FrameLimits limits;
    limits.response_bytes_max = 92 + choices.byte();
    limits.bindings_max = 1 + choices.byte();
    limits.buffer_bytes_max = std::uint64_t{1} << choices.below(64);
    limits.artifact_bytes_max = std::uint64_t{1} << choices.below(64);
    limits.capabilities = virtaccel::Capabilities{choices.number(1)};
    return limits;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Choices choices{{data, bytes}};
    const FrameLimits limits = limits_from(choices);
    const Bytes frame = std::as_bytes(choices.rest());
    check_all<wire::Config, wire::RequestHeader, wire::ResponseHeader, wire::DeviceInfo,
              wire::CreateContext, wire::Object<virtaccel::ContextKind>, wire::AllocateBuffer,
              wire::WriteBuffer, wire::ReadBuffer, wire::LoadProgram, wire::CreateQueue,
              wire::Submit, wire::Binding, wire::EventState>(frame, limits);
    check_identity(frame, limits);
    check_request(frame, limits);
    return 0;
}

#pragma once
// What a hostile device answers, as a fuzzer's input wants it. The one thing to know: where the
// input says nothing, the answer is right, so that a session gets far.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest::testing {

// The payload of a success, or nearly.
[[nodiscard]] inline std::vector<std::byte> hostile_payload(virtaccel::testing::Choices& choices,
                                                            wire::Opcode opcode,
                                                            const DeviceIdentity& identity) {
    std::vector<std::byte> bytes(8);
    if (opcode == wire::Opcode::get_device_info) {
        const auto info = wire::encode(wire::to_record(identity));
        bytes.assign(info.begin(), info.end());
        const std::size_t spoilt = choices.below(3);
        for (std::size_t i = 0; i < spoilt; ++i) {
            bytes[choices.byte() % bytes.size()] = static_cast<std::byte>(choices.byte());
        }
    } else if (opcode == wire::Opcode::poll_event) {
        bytes[0] = static_cast<std::byte>((choices.byte() + 1) % 5);
        bytes[2] = static_cast<std::byte>(choices.byte());
    } else {
        bytes[0] = static_cast<std::byte>(choices.byte() + 1);
        bytes[2] = static_cast<std::byte>(choices.byte());
    }
    return bytes;
}

// What is wrong with a header, or with the length that the device says.
inline void spoil(virtaccel::testing::Choices& choices, wire::ResponseHeader& header,
                  std::uint32_t& used_bytes) {
    switch (choices.below(5)) {
        case 0:
            header.flags = choices.byte();
            break;
        case 1:
            header.request_id = header.request_id ^ choices.number(1);
            break;
        case 2:
            header.payload_bytes = static_cast<std::uint32_t>(choices.number(4));
            break;
        case 3:
            used_bytes = choices.byte();
            break;
        default:
            // The one failure with a payload.
            header.payload_bytes = 8;
            used_bytes = sizeof header + 8;
    }
}

// Answers `request` in `writable`, which holds a header; the bytes that the device says it wrote.
inline std::uint32_t hostile_answer(virtaccel::testing::Choices& choices,
                                    const wire::RequestHeader& request,
                                    std::span<const Piece> writable,
                                    const DeviceIdentity& identity) {
    const auto list = PieceList::of(writable);
    wire::ResponseHeader header;
    const bool fails = choices.one_in(4);
    const auto payload_bytes = fails ? std::uint64_t{0} : list.bytes - sizeof header;
    header.status = fails ? static_cast<std::uint16_t>(choices.number(choices.one_in(2) ? 2 : 1))
                          : std::uint16_t{0};
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    header.request_id = request.request_id;
    auto used_bytes = static_cast<std::uint32_t>(sizeof header + payload_bytes);
    if (choices.one_in(5)) {
        spoil(choices, header, used_bytes);
    }
    Writer writer{list};
    writer.copy_from(&header, sizeof header);
    const auto opcode = static_cast<wire::Opcode>(std::uint16_t{request.opcode});
    const auto payload = hostile_payload(choices, opcode, identity);
    writer.copy_from(payload.data(), std::min<std::uint64_t>(writer.remaining(), payload.size()));
    return used_bytes;
}

}  // namespace virtaccel::guest::testing

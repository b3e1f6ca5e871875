// Judges, reads and writes every record of every command, so that the link test sees what it needs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::wire::link {

namespace {

template <class R>
Status judge(std::span<const std::byte> bytes, std::span<std::byte> target,
             const FrameLimits& limits) {
    if constexpr (std::is_empty_v<R>) {
        return bytes.empty() ? Status::ok : Status::invalid_argument;
    } else {
        const auto record = decode<R>(bytes, limits);
        if (!record || target.size() < sizeof(R)) {
            return record ? Status::out_of_bounds : record.error();
        }
        std::memcpy(target.data(), encode(*record).data(), sizeof(R));
        return Status::ok;
    }
}

}  // namespace

Status judge_all(std::span<const std::byte> bytes, std::span<std::byte> target,
                 const FrameLimits& limits);

Status judge_all(std::span<const std::byte> bytes, std::span<std::byte> target,
                 const FrameLimits& limits) {
    Status status = judge<Config>(bytes, target, limits);
    std::apply(
        [&]<class... Rows>(const Rows&...) {
            ((status = judge<typename Rows::Request>(bytes, target, limits),
              status = status == Status::ok ? judge<typename Rows::Reply>(bytes, target, limits)
                                            : status),
             ...);
        },
        commands);
    return status;
}

std::string_view name(std::uint16_t opcode);

std::string_view name(std::uint16_t opcode) {
    return opcode_name(opcode);
}

std::array<std::byte, sizeof(DeviceInfo)> tell(const DeviceIdentity& identity);

std::array<std::byte, sizeof(DeviceInfo)> tell(const DeviceIdentity& identity) {
    return encode(to_record(identity));
}

}  // namespace virtaccel::wire::link

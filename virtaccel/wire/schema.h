#pragma once
// How a wire record is described: a plain struct of little-endian members, and a `Schema` that
// names each field and lists the record's checks in the order the protocol makes them (spec §5).
// Codecs, names, offsets and the printed documents come from here and from nowhere else.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::wire {

// An unsigned little-endian integer of byte alignment one.
template <class T>
struct Le {
    using Value = T;
    std::array<std::uint8_t, sizeof(T)> bytes{};

    constexpr Le() = default;

    constexpr Le(T value) {
        if constexpr (std::endian::native == std::endian::little) {
            bytes = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
        } else {
            for (std::size_t i = 0; i < sizeof(T); ++i) {
                bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
            }
        }
    }

    constexpr operator T() const {
        if constexpr (std::endian::native == std::endian::little) {
            return std::bit_cast<T>(bytes);
        } else {
            T value = 0;
            for (std::size_t i = 0; i < sizeof(T); ++i) {
                value = static_cast<T>(value | static_cast<T>(T{bytes[i]} << (8 * i)));
            }
            return value;
        }
    }
};

using le16 = Le<std::uint16_t>;
using le32 = Le<std::uint32_t>;
using le64 = Le<std::uint64_t>;

// An object ID on the wire.
template <class KindTag>
struct LeId {
    using Value = Id<KindTag>;
    le64 raw;

    constexpr LeId() = default;

    constexpr LeId(Id<KindTag> id) : raw(id.raw) {}

    constexpr operator Id<KindTag>() const { return {raw}; }
};

// What a record's checks may depend on besides the record: the device's limits, and how many bytes
// follow the fixed part in this frame.
struct FrameLimits {
    std::uint32_t request_bytes_max = protocol::frame_bytes_max;
    std::uint32_t response_bytes_max = protocol::frame_bytes_max;
    std::uint32_t bindings_max = protocol::bindings_max;
    std::uint64_t buffer_bytes_max = ~std::uint64_t{0};
    std::uint64_t artifact_bytes_max = ~std::uint64_t{0};
    Capabilities capabilities = Capabilities{~std::uint64_t{0}};
};

struct Around {
    const FrameLimits& limits;
    std::uint64_t tail_bytes = 0;
};

// One check: what it demands, in words, and a function from `(values...)` or `(Around, values...)`
// to the status the protocol answers with.
template <class Function>
struct Rule {
    std::string_view says;
    Function function;
};

template <class Function>
Rule(std::string_view, Function) -> Rule<Function>;

// A rule applied to some members of a record.
template <class Record, class Function, class... Members>
struct Check {
    Rule<Function> rule;
    std::tuple<Members Record::*...> members;

    constexpr Check(Rule<Function> r, Members Record::*... m) : rule(r), members(m...) {}

    [[nodiscard]] constexpr Status operator()(const Record& record, const Around& around) const {
        return std::apply(
            [&](auto... member) {
                if constexpr (std::is_invocable_v<Function, const Around&, const Members&...>) {
                    return rule.function(around, record.*member...);
                } else {
                    return rule.function(record.*member...);
                }
            },
            members);
    }
};

// A named member, in layout order.
template <class Record, class Member>
struct Field {
    std::string_view name;
    Member Record::* member;
    std::string_view doc;
    static constexpr std::size_t size = sizeof(Member);
};

template <class Record, class Member>
Field(const char*, Member Record::*, const char*) -> Field<Record, Member>;

// One specialisation per wire record: `name`, `doc`, `fields` (a tuple of Field, in layout order)
// and `checks` (a tuple of Check, in the order of the protocol).
template <class Record>
struct Schema;

// The byte offset of `member`, found by marking the member's bytes: pointer order between members
// is not a constant expression on every compiler, and offsetof does not take a member pointer.
template <class Record, class Member>
constexpr std::size_t offset_of(Member Record::* member) {
    std::array<std::uint8_t, sizeof(Member)> marked{};
    marked.fill(0xff);
    Record record{};
    record.*member = std::bit_cast<Member>(marked);
    const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(Record)>>(record);
    std::size_t offset = 0;
    while (bytes[offset] != 0xff) {
        ++offset;
    }
    return offset;
}

// True if the fields of `Record`'s schema are all of its members, in order and without padding.
template <class Record>
consteval bool covers() {
    std::size_t end = 0;
    bool contiguous = true;
    std::apply(
        [&](auto... field) {
            ((contiguous = contiguous && offset_of(field.member) == end, end += field.size), ...);
        },
        Schema<Record>::fields);
    return contiguous && end == sizeof(Record) && alignof(Record) == 1 &&
           std::is_trivially_copyable_v<Record> && std::is_standard_layout_v<Record>;
}

template <class R>
concept WireRecord = requires {
    Schema<R>::name;
    Schema<R>::doc;
    Schema<R>::fields;
    Schema<R>::checks;
} && covers<R>();

// The first status other than OK that a check of `checks` gives, in their order.
template <class Record, class... Checks>
[[nodiscard]] constexpr Status first_failure(const Record& record, const Around& around,
                                             const std::tuple<Checks...>& checks) {
    Status status = Status::ok;
    std::apply(
        [&](const auto&... check) {
            (void)(((status = check(record, around)) == Status::ok) && ...);
        },
        checks);
    return status;
}

// Judges `record` by itself, in the protocol's order of checks.
template <WireRecord R>
[[nodiscard]] constexpr Status validate(const R& record, const Around& around) {
    return first_failure(record, around, Schema<R>::checks);
}

// The record at the start of `bytes`, unjudged. `bytes` holds at least `sizeof(R)` bytes of ours.
template <WireRecord R>
[[nodiscard]] R load(const void* bytes) {
    R record;
    std::memcpy(&record, bytes, sizeof record);
    return record;
}

// The record that is exactly `bytes`, judged; INVALID_ARGUMENT if the length differs.
template <WireRecord R>
[[nodiscard]] Result<R> decode(std::span<const std::byte> bytes, const FrameLimits& limits = {}) {
    if (bytes.size() != sizeof(R)) {
        return fail(Status::invalid_argument);
    }
    const auto record = load<R>(bytes.data());
    if (const auto status = validate(record, Around{.limits = limits}); status != Status::ok) {
        return fail(status);
    }
    return record;
}

// The bytes of `record`.
template <WireRecord R>
[[nodiscard]] constexpr std::array<std::byte, sizeof(R)> encode(const R& record) {
    return std::bit_cast<std::array<std::byte, sizeof(R)>>(record);
}

}  // namespace virtaccel::wire

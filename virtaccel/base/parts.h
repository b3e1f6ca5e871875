#pragma once
// Artifacts that come in parts, because one frame does not carry them (spec/parts.md): the two
// formats, and how their payloads begin. The one thing to know: to the protocol a part is a program
// like any other, so nothing on the wire knows of this; guest and device do.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "virtaccel/base/vocabulary.h"

namespace virtaccel::parts {

// The artifact formats of a part, "VAPT", and of the join that ends them, "VAJN".
inline constexpr std::uint32_t part_format = 0x56415054;
inline constexpr std::uint32_t join_format = 0x56414a4e;

// The target words of every part. A join has those of the artifact that it makes.
inline constexpr std::uint32_t version = 1;
inline constexpr TargetWords part_target{part_format, version};

// What ties parts together: the guest's choice, unique in its context.
using Key = std::array<std::byte, 16>;

// The artifact's bytes from `offset` on, which follow in the payload; it has `total_bytes` in all.
struct PartHead {
    Key key{};
    std::uint64_t total_bytes = 0;
    std::uint64_t offset = 0;
    friend bool operator==(const PartHead&, const PartHead&) = default;
};

// The artifact that the parts of `key` make, of that format.
struct JoinHead {
    Key key{};
    std::uint32_t format = 0;
    std::uint32_t reserved = 0;
    friend bool operator==(const JoinHead&, const JoinHead&) = default;
};

inline constexpr std::size_t part_head_bytes = 32;
inline constexpr std::size_t join_head_bytes = 24;

// Parts and the bytes that they make are kept in blocks of this many bytes.
inline constexpr std::uint64_t block_bytes = 64;
// What each part costs.
inline constexpr std::uint64_t part_cost_bytes = block_bytes;

// What the first part of an artifact costs: its place among the parts, and room for all of it.
// This is what a guest declares for each part. The largest number if that does not fit.
[[nodiscard]] constexpr std::uint64_t resident_bytes_of(std::uint64_t total_bytes) {
    constexpr auto largest = std::numeric_limits<std::uint64_t>::max();
    if (total_bytes > largest - part_cost_bytes - block_bytes) {
        return largest;
    }
    return ((total_bytes + block_bytes - 1) / block_bytes * block_bytes) + part_cost_bytes;
}

namespace detail {

template <class T>
constexpr void put(std::span<std::byte, sizeof(T)> target, T value) {
    for (std::byte& byte : target) {
        byte = static_cast<std::byte>(value & 0xffU);
        value = static_cast<T>(value >> 8U);
    }
}

template <class T>
[[nodiscard]] constexpr T get(std::span<const std::byte, sizeof(T)> source) {
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
        value = static_cast<T>(value << 8U) | std::to_integer<T>(source[i]);
    }
    return value;
}

constexpr void put_key(std::span<std::byte, sizeof(Key)> target, const Key& key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
        target[i] = key[i];
    }
}

[[nodiscard]] constexpr Key get_key(std::span<const std::byte, sizeof(Key)> source) {
    Key key{};
    for (std::size_t i = 0; i < key.size(); ++i) {
        key[i] = source[i];
    }
    return key;
}

}  // namespace detail

// How a part's payload begins: key, total, offset.
constexpr void encode(const PartHead& head, std::span<std::byte, part_head_bytes> target) {
    detail::put_key(target.subspan<0, 16>(), head.key);
    detail::put<std::uint64_t>(target.subspan<16, 8>(), head.total_bytes);
    detail::put<std::uint64_t>(target.subspan<24, 8>(), head.offset);
}

[[nodiscard]] constexpr PartHead decode_part(std::span<const std::byte, part_head_bytes> source) {
    return {.key = detail::get_key(source.subspan<0, 16>()),
            .total_bytes = detail::get<std::uint64_t>(source.subspan<16, 8>()),
            .offset = detail::get<std::uint64_t>(source.subspan<24, 8>())};
}

// All of a join's payload: key, format, a reserved word.
constexpr void encode(const JoinHead& head, std::span<std::byte, join_head_bytes> target) {
    detail::put_key(target.subspan<0, 16>(), head.key);
    detail::put<std::uint32_t>(target.subspan<16, 4>(), head.format);
    detail::put<std::uint32_t>(target.subspan<20, 4>(), head.reserved);
}

[[nodiscard]] constexpr JoinHead decode_join(std::span<const std::byte, join_head_bytes> source) {
    return {.key = detail::get_key(source.subspan<0, 16>()),
            .format = detail::get<std::uint32_t>(source.subspan<16, 4>()),
            .reserved = detail::get<std::uint32_t>(source.subspan<20, 4>())};
}

}  // namespace virtaccel::parts

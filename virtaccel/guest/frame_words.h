#pragma once
// How a frame's header is written and read: both kinds of header are two words, put together in
// registers and stored at once. A reader close behind, here or in the device, then finds the
// sixteen bytes in one place; a load that spans two stores in flight would wait for both.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {

// The header's first eight bytes as a little-endian number; the second eight are the request ID.
[[nodiscard]] constexpr std::uint64_t header_word(std::uint16_t code, std::uint32_t payload_bytes) {
    return code | (std::uint64_t{payload_bytes} << 32U);
}

// Writes a header without flags to `target`; `code` is an opcode or a status.
inline void store_header(void* target, std::uint16_t code, std::uint32_t payload_bytes,
                         std::uint64_t request_id) {
    const auto word = header_word(code, payload_bytes);
    if constexpr (std::endian::native == std::endian::little) {
        using Halves [[gnu::vector_size(sizeof(wire::RequestHeader))]] = std::uint64_t;
        const Halves both = {word, request_id};
        std::memcpy(target, &both, sizeof both);
    } else {
        const std::array<wire::le64, 2> both{word, request_id};
        std::memcpy(target, &both, sizeof both);
    }
}

// A response's header as it was read, word by word for the same reason.
struct ResponseWords {
    std::uint64_t first = 0;
    std::uint64_t request_id = 0;

    [[nodiscard]] wire::ResponseHeader record() const {
        return std::bit_cast<wire::ResponseHeader>(std::array<wire::le64, 2>{first, request_id});
    }
};

[[nodiscard]] inline ResponseWords load_header(const std::byte* source) {
    std::array<wire::le64, 2> words;
    std::memcpy(&words, source, sizeof words);
    return {.first = words[0], .request_id = words[1]};
}

// The records stay the truth about the layout.
template <class Header>
consteval bool agrees_with_words(const Header& header) {
    const std::array<wire::le64, 2> words{header_word(0x0102, 0x03040506), 0x0708090a0b0c0d0e};
    return std::bit_cast<std::array<std::byte, sizeof header>>(words) == wire::encode(header);
}

static_assert(agrees_with_words(wire::RequestHeader{
    .opcode = 0x0102, .flags = 0, .payload_bytes = 0x03040506, .request_id = 0x0708090a0b0c0d0e}));
static_assert(agrees_with_words(wire::ResponseHeader{
    .status = 0x0102, .flags = 0, .payload_bytes = 0x03040506, .request_id = 0x0708090a0b0c0d0e}));

// Writes one little-endian word to `target`.
inline void store_word(std::byte* target, std::uint64_t value) {
    const wire::le64 word = value;
    std::memcpy(target, &word, sizeof word);
}

// Writes `binding`, whose reserved bytes are zero, word by word.
inline void store_binding(std::byte* target, const wire::Binding& binding) {
    constexpr std::size_t word = sizeof(wire::le64);
    store_word(target, binding.buffer_id.raw);
    store_word(target + word, binding.offset);
    store_word(target + (2 * word), binding.bytes);
    store_word(target + (3 * word), binding.slot | (std::uint64_t{binding.access} << 32U));
}

}  // namespace virtaccel::guest

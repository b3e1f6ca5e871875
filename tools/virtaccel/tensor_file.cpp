#include "tools/virtaccel/tensor_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "host/error.h"
#include "tools/virtaccel/npy.h"
#include "tools/virtaccel/npy_header.h"
#include "virtaccel/base/result.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::cli {
namespace {

constexpr std::size_t int48_bytes = 6;
constexpr std::size_t int64_bytes = 8;
// Magic, version and length, in front of a header's text.
constexpr std::uint64_t npy_prefix_bytes_max = 12;

struct Spelling {
    tosa::DType dtype;
    std::string_view descr;
    char kind;
    std::uint32_t bytes;
};

constexpr auto spellings = std::to_array<Spelling>({
    {tosa::DType::boolean, "|b1", 'b', 1},
    {tosa::DType::int4, "|i1", 'i', 1},
    {tosa::DType::int8, "|i1", 'i', 1},
    {tosa::DType::int16, "<i2", 'i', 2},
    {tosa::DType::int32, "<i4", 'i', 4},
    {tosa::DType::int48, "<i8", 'i', 8},
    {tosa::DType::shape, "<i8", 'i', 8},
    {tosa::DType::fp32, "<f4", 'f', 4},
    {tosa::DType::fp16, "<f2", 'f', 2},
    {tosa::DType::bf16, "<V2", 'V', 2},
    {tosa::DType::fp8e4m3, "<V1", 'V', 1},
    {tosa::DType::fp8e5m2, "|u1", 'u', 1},
});

Spelling spelling_of(tosa::DType dtype) {
    const auto* found = std::ranges::find(spellings, dtype, &Spelling::dtype);
    return found == spellings.end() ? Spelling{dtype, {}, 0, 0} : *found;
}

std::unexpected<host::Error> bad_value(const TensorSlot& input, std::string_view path,
                                       std::int64_t value) {
    return host::error(
        fmt::format("The file ({}) for input ({}) holds a value ({}) that {} does not have; save "
                    "values of that type.",
                    path, input.name, value, tosa::name_of(input.dtype)));
}

// INT4: one value a byte in a file, two in a buffer, the first in the low half.
host::OrError<std::vector<std::byte>> pack_int4(const TensorSlot& input,
                                                std::span<const std::byte> values,
                                                std::string_view path) {
    std::vector<std::byte> packed((values.size() + 1) / 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<std::int8_t>(values[i]);
        if (value < -8 || value > 7) {
            return bad_value(input, path, value);
        }
        packed[i / 2] |= (values[i] & std::byte{0xf}) << (i % 2 * 4);
    }
    return packed;
}

std::vector<std::byte> unpack_int4(std::span<const std::byte> packed, std::size_t count) {
    std::vector<std::byte> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto half = std::to_integer<int>((packed[i / 2] >> (i % 2 * 4)) & std::byte{0xf});
        values[i] = static_cast<std::byte>(half < 8 ? half : half - 16);
    }
    return values;
}

// INT48: eight bytes a value in a file, the low six of them in a buffer.
host::OrError<std::vector<std::byte>> pack_int48(const TensorSlot& input,
                                                 std::span<const std::byte> values,
                                                 std::string_view path) {
    constexpr std::int64_t end = std::int64_t{1} << 47U;
    const std::size_t count = values.size() / int64_bytes;
    std::vector<std::byte> packed(count * int48_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t value = 0;
        std::memcpy(&value, &values[i * int64_bytes], int64_bytes);
        if (value < -end || value >= end) {
            return bad_value(input, path, value);
        }
        std::memcpy(&packed[i * int48_bytes], &value, int48_bytes);
    }
    return packed;
}

std::vector<std::byte> unpack_int48(std::span<const std::byte> packed, std::size_t count) {
    std::vector<std::byte> values(count * int64_bytes);
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = packed.subspan(i * int48_bytes, int48_bytes);
        const bool negative = (value.back() & std::byte{0x80}) != std::byte{0};
        const auto target = std::span{values}.subspan(i * int64_bytes, int64_bytes);
        std::ranges::fill(target, negative ? std::byte{0xff} : std::byte{0});
        std::ranges::copy(value, target.begin());
    }
    return values;
}

host::OrError<std::vector<std::byte>> check_booleans(const TensorSlot& input,
                                                     std::vector<std::byte> values,
                                                     std::string_view path) {
    for (const std::byte value : values) {
        if (value > std::byte{1}) {
            return bad_value(input, path, std::to_integer<std::int64_t>(value));
        }
    }
    return values;
}

}  // namespace

std::string_view npy_descr(tosa::DType dtype) {
    return spelling_of(dtype).descr;
}

// No type is stored in more than eight bytes.
std::uint64_t file_bytes_max(const TensorSlot& input) {
    std::uint64_t bytes = int64_bytes;
    for (const auto size : input.shape) {
        bytes *= size;
    }
    return npy_prefix_bytes_max + npy_header_bytes_max + bytes;
}

host::OrError<std::vector<std::byte>> decode_input(const TensorSlot& input,
                                                   std::span<const std::byte> file,
                                                   std::string_view path) {
    VIRTACCEL_TRY_ASSIGN(auto array, parse_npy(file, path));
    const Spelling spelling = spelling_of(input.dtype);
    if (array.element.kind != spelling.kind || array.element.bytes != spelling.bytes) {
        return host::error(fmt::format(
            "The file ({}) for input ({}) holds elements of type ({}) where ({}, {}) is expected; "
            "save the array with that type.",
            path, input.name, array.element.text, spelling.descr, tosa::name_of(input.dtype)));
    }
    if (array.shape != input.shape) {
        return host::error(fmt::format(
            "The file ({}) for input ({}) has shape {} where {} is expected; reshape the "
            "array.",
            path, input.name, shape_text(array.shape), shape_text(input.shape)));
    }
    switch (input.dtype) {
        case tosa::DType::boolean:
            return check_booleans(input, std::move(array.data), path);
        case tosa::DType::int4:
            return pack_int4(input, array.data, path);
        case tosa::DType::int48:
            return pack_int48(input, array.data, path);
        default:
            return std::move(array.data);
    }
}

std::vector<std::byte> encode_output(const TensorSlot& output, std::span<const std::byte> buffer) {
    const auto descr = npy_descr(output.dtype);
    std::size_t count = 1;
    for (const auto size : output.shape) {
        count *= size;
    }
    switch (output.dtype) {
        case tosa::DType::int4:
            return format_npy(descr, output.shape, unpack_int4(buffer, count));
        case tosa::DType::int48:
            return format_npy(descr, output.shape, unpack_int48(buffer, count));
        default:
            return format_npy(descr, output.shape, buffer);
    }
}

}  // namespace virtaccel::cli

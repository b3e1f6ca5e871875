#include "virtaccel/numerics/tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/numerics/formats.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

constexpr unsigned byte_bits = 8;
constexpr unsigned half_byte_bits = 4;

// Element `index` of elements of `width` bits: half a byte, or whole bytes.
std::uint64_t load(std::span<const std::byte> bytes, std::size_t index, std::uint32_t width) {
    if (width < byte_bits) {
        const auto pair = std::to_integer<unsigned>(bytes[index / 2]);
        return (pair >> (half_byte_bits * (index % 2))) & 0xfU;
    }
    std::uint64_t value = 0;
    const std::size_t count = width / byte_bits;
    for (std::size_t i = 0; i < count; ++i) {
        value |= std::to_integer<std::uint64_t>(bytes[(index * count) + i]) << (byte_bits * i);
    }
    return value;
}

// The opposite; the bytes are zero before.
void store(std::span<std::byte> bytes, std::size_t index, std::uint32_t width,
           std::uint64_t value) {
    if (width < byte_bits) {
        bytes[index / 2] |=
            static_cast<std::byte>((value & 0xfU) << (half_byte_bits * (index % 2)));
        return;
    }
    const std::size_t count = width / byte_bits;
    for (std::size_t i = 0; i < count; ++i) {
        bytes[(index * count) + i] = static_cast<std::byte>(value >> (byte_bits * i));
    }
}

// Two's complement of `width` bits.
std::int64_t sign_extended(std::uint64_t value, std::uint32_t width) {
    const unsigned unused = 64 - width;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

double number_of(tosa::DType dtype, std::uint64_t bits, std::uint32_t width) {
    if (const auto format = float_format(dtype)) {
        return decode(*format, static_cast<std::uint32_t>(bits));
    }
    if (dtype == tosa::DType::boolean) {
        return bits == 0 ? 0 : 1;
    }
    return static_cast<double>(sign_extended(bits, width));
}

std::uint64_t bits_of_number(tosa::DType dtype, double value) {
    if (const auto format = float_format(dtype)) {
        return encode(*format, value);
    }
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

Position position_of(std::span<const std::int32_t> shape, std::size_t index) {
    Position position{};
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        const auto size = static_cast<std::size_t>(shape[axis]);
        position[axis] = static_cast<std::int64_t>(index % size);
        index /= size;
    }
    return position;
}

std::size_t index_of(std::span<const std::int32_t> shape, const Position& position) {
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        index = (index * shape[axis]) + position[axis];
    }
    return static_cast<std::size_t>(index);
}

Tensor unpack(tosa::DType dtype, std::span<const std::int32_t> shape,
              std::span<const std::byte> bytes) {
    Tensor tensor{
        .dtype = dtype, .shape = {shape.begin(), shape.end()}, .values = {}, .magnitudes = {}};
    const std::uint32_t width = tosa::bits_of(dtype).value_or(byte_bits);
    const std::size_t count = tosa::element_count(shape).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
        tensor.values.push_back(number_of(dtype, load(bytes, i, width), width));
    }
    return tensor;
}

Bytes pack(const Tensor& tensor) {
    const std::uint32_t width = tosa::bits_of(tensor.dtype).value_or(byte_bits);
    Bytes bytes(tosa::byte_count(tensor.dtype, tensor.values.size()).value_or(0));
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        store(bytes, i, width, bits_of_number(tensor.dtype, tensor.values[i]));
    }
    return bytes;
}

Tensor rounded(const Tensor& tensor) {
    return unpack(tensor.dtype, tensor.shape, pack(tensor));
}

}  // namespace virtaccel::numerics

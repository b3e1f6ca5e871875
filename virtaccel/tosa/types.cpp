#include "virtaccel/tosa/types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/checked.h"

namespace virtaccel::tosa {
namespace {

struct DTypeRow {
    std::string_view name;
    std::uint32_t bits;
};

// In the order of the schema's numbers.
constexpr DTypeRow dtype_rows[] = {
    {"UNKNOWN", 0}, {"BOOL", 8},    {"INT4", 4},    {"INT8", 8},  {"INT16", 16},
    {"INT32", 32},  {"INT48", 48},  {"FP32", 32},   {"FP16", 16}, {"BF16", 16},
    {"SHAPE", 64},  {"FP8E4M3", 8}, {"FP8E5M2", 8},
};
static_assert(std::size(dtype_rows) == static_cast<std::size_t>(DType::fp8e5m2) + 1);

const DTypeRow& row_of(DType dtype) {
    const auto number = static_cast<std::size_t>(dtype);
    return dtype_rows[number < std::size(dtype_rows) ? number : 0];
}

}  // namespace

std::string_view name_of(DType dtype) {
    return row_of(dtype).name;
}

std::optional<std::uint32_t> bits_of(DType dtype) {
    const std::uint32_t bits = row_of(dtype).bits;
    return bits == 0 ? std::nullopt : std::optional{bits};
}

std::optional<std::uint64_t> byte_count(DType dtype, std::uint64_t elements) {
    const std::optional<std::uint32_t> bits = bits_of(dtype);
    if (!bits) {
        return std::nullopt;
    }
    if (*bits < 8) {
        return (elements / 2) + (elements % 2);
    }
    return checked_mul<std::uint64_t>(elements, *bits / 8);
}

std::optional<std::uint64_t> element_count(std::span<const std::int32_t> dims) {
    std::optional<std::uint64_t> count = 1;
    for (const std::int32_t dim : dims) {
        if (dim < 1) {
            return std::nullopt;
        }
        count = checked_mul(*count, static_cast<std::uint64_t>(dim));
        if (!count) {
            return std::nullopt;
        }
    }
    return count;
}

}  // namespace virtaccel::tosa

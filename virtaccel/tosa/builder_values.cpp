// What a builder has for elements that C++ has no type for, and for what stands in a model only to
// be named.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

bool is_integer(DType dtype) {
    return dtype >= DType::boolean && dtype <= DType::int48;
}

// Whether an element of `dtype`, which is an integer type or BOOL, can be `value`.
bool has_value(DType dtype, std::int64_t value) {
    if (dtype == DType::boolean) {
        return value == 0 || value == 1;
    }
    const std::int64_t half = std::int64_t{1} << (bits_of(dtype).value_or(1) - 1);
    return value >= -half && value < half;
}

}  // namespace

Value Builder::integers(DType dtype, Dims shape, Lengths values) {
    const std::span<const std::int64_t> numbers = values.span();
    if (!is_integer(dtype) || !std::ranges::all_of(numbers, [dtype](std::int64_t number) {
            return has_value(dtype, number);
        })) {
        return give_up(Op::constant, "its type has no such numbers");
    }
    std::vector<std::byte> bytes(byte_count(dtype, numbers.size()).value_or(0));
    if (dtype == DType::int4) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto half =
                static_cast<std::uint8_t>(static_cast<std::uint8_t>(numbers[i]) & 15U);
            bytes[i / 2] |= std::byte{half} << (i % 2 == 0 ? 0 : 4);
        }
        return constant(dtype, shape, bytes);
    }
    const std::size_t width = bits_of(dtype).value_or(8) / 8;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto number = static_cast<std::uint64_t>(numbers[i / width]);
        bytes[i] = static_cast<std::byte>(number >> (8 * (i % width)));
    }
    return constant(dtype, shape, bytes);
}

void Builder::declare(Value variable) {
    if (!tensor(variable).is_variable) {
        give_up(Op::variable, "it declares no variable of this model");
        return;
    }
    steps_.push_back({.op = Op::variable,
                      .inputs = {},
                      .outputs = {variable.tensor},
                      .attribute = {},
                      .branches = {}});
}

}  // namespace virtaccel::tosa

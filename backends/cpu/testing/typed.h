#pragma once
// Tensors of any element type, written and read as numbers of one type. The one thing to know:
// whole numbers that every type has (a few bits, no rounding) let one test compare all types
// exactly.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/ops/elements.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::testing {

using Whole = std::vector<std::int64_t>;

// The combinations of element types that the table of operators lists for `op`, as a struct of two
// or four types: the variables t, u and, if it has them, v and w.
template <class Types>
[[nodiscard]] std::vector<Types> combinations_of(tosa::Op op) {
    std::vector<Types> found;
    for (const tosa::Signature& signature : tosa::row_of(op)->signatures) {
        const auto& [t, u, v, w] = signature.types;
        if constexpr (requires { Types{t, u, v, w}; }) {
            found.push_back(Types{t, u, v, w});
        } else {
            found.push_back(Types{t, u});
        }
    }
    return found;
}

// Calls `visit(ElementType<T>{})` for a type that has whole bytes.
template <class Visit>
void visit_type(tosa::DType dtype, const Visit& visit) {
    using enum tosa::DType;
    EXPECT_TRUE((ops::visit_element<boolean, int8, int16, int32, int48, shape, fp16, fp32, bf16,
                                    fp8e4m3, fp8e5m2>(dtype, visit)));
}

// As a tensor has them; INT4 two to a byte.
template <class Number = std::int64_t>
[[nodiscard]] std::vector<std::byte> encoded(tosa::DType dtype,
                                             const std::vector<Number>& numbers) {
    std::vector<std::byte> bytes(tosa::byte_count(dtype, numbers.size()).value_or(0));
    if (dtype == tosa::DType::int4) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto half =
                static_cast<std::uint8_t>(static_cast<std::int64_t>(numbers[i]) & 0xf);
            bytes[i / 2] |= static_cast<std::byte>(half << (i % 2 == 0 ? 0U : 4U));
        }
        return bytes;
    }
    visit_type(dtype, [&]<class T>(ops::ElementType<T> /*type*/) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const T element = ops::narrowed_to<T>(static_cast<ops::Wide<T>>(numbers[i]));
            std::memcpy(bytes.data() + (i * sizeof(T)), &element, sizeof(T));
        }
    });
    return bytes;
}

template <class Number = std::int64_t>
[[nodiscard]] std::vector<Number> decoded(tosa::DType dtype, std::span<const std::byte> bytes) {
    std::vector<Number> numbers;
    visit_type(dtype, [&]<class T>(ops::ElementType<T> /*type*/) {
        for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
            T element{};
            std::memcpy(&element, bytes.data() + i, sizeof(T));
            numbers.push_back(static_cast<Number>(ops::widened(element)));
        }
    });
    return numbers;
}

// Numbers from -`most` to `most`, the same every time.
[[nodiscard]] inline Whole whole_numbers(std::size_t count, std::int64_t most, std::uint32_t seed) {
    Numbers numbers{seed};
    Whole found(count);
    std::ranges::generate(found, [&] {
        return static_cast<std::int64_t>(numbers.next() * (static_cast<float>(most) + 0.99F));
    });
    return found;
}

}  // namespace virtaccel::backends::cpu::testing

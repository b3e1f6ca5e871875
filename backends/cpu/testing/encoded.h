#pragma once
// Numbers as a tensor of any type has them in memory, and back.

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "backends/cpu/ops/elements.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::testing {

// Calls `visit` with the C++ type of a dtype that takes whole bytes.
template <class Visit>
void with_type(tosa::DType dtype, const Visit& visit) {
    using enum tosa::DType;
    ops::visit_element<boolean, int8, int16, int32, int48, shape, fp32, fp16, bf16, fp8e4m3,
                       fp8e5m2>(dtype, visit);
}

[[nodiscard]] inline std::vector<std::byte> encoded(tosa::DType dtype,
                                                    const std::vector<float>& numbers) {
    std::vector<std::byte> bytes;
    with_type(dtype, [&]<class T>(ops::ElementType<T> /*type*/) {
        for (const float number : numbers) {
            const T element = ops::narrowed_to<T>(static_cast<ops::Wide<T>>(number));
            const auto* const first = reinterpret_cast<const std::byte*>(&element);
            bytes.insert(bytes.end(), first, first + sizeof(T));
        }
    });
    return bytes;
}

[[nodiscard]] inline std::vector<float> decoded(tosa::DType dtype,
                                                std::span<const std::byte> bytes) {
    std::vector<float> numbers;
    with_type(dtype, [&]<class T>(ops::ElementType<T> /*type*/) {
        for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
            T element{};
            std::memcpy(&element, bytes.data() + i, sizeof(T));
            numbers.push_back(static_cast<float>(ops::widened(element)));
        }
    });
    return numbers;
}

}  // namespace virtaccel::backends::cpu::testing

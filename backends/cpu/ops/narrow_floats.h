#pragma once
// Blocks of elements of the narrower floating-point types to float and back, for steps that compute
// in float whatever their tensors hold.

#include <cstddef>
#include <cstdint>

#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

struct NarrowFloat {
    std::uint32_t bytes = 0;  // of an element

    // Exact.
    void (*widen)(const std::byte* source, float* target, std::uint64_t count) = nullptr;

    // To nearest, ties to even.
    void (*narrow)(const float* source, std::byte* target, std::uint64_t count) = nullptr;
};

// FP16, BF16, FP8E4M3 and FP8E5M2; null for any other type.
[[nodiscard]] const NarrowFloat* narrow_float_of(tosa::DType dtype);

}  // namespace virtaccel::backends::cpu::ops

#include "backends/cpu/ops/narrow_floats.h"

#include <cstddef>
#include <cstdint>

#include "backends/cpu/ops/elements.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

template <class T>
void widen(const std::byte* source, float* target, std::uint64_t count) {
    const auto* const elements = reinterpret_cast<const T*>(source);
    for (std::uint64_t i = 0; i < count; ++i) {
        target[i] = widened(elements[i]);
    }
}

template <class T>
void narrow(const float* source, std::byte* target, std::uint64_t count) {
    auto* const elements = reinterpret_cast<T*>(target);
    for (std::uint64_t i = 0; i < count; ++i) {
        elements[i] = narrowed_to<T>(source[i]);
    }
}

template <class T>
constexpr NarrowFloat format{.bytes = sizeof(T), .widen = widen<T>, .narrow = narrow<T>};

}  // namespace

const NarrowFloat* narrow_float_of(tosa::DType dtype) {
    switch (dtype) {
        case tosa::DType::fp16:
            return &format<Fp16>;
        case tosa::DType::bf16:
            return &format<Bf16>;
        case tosa::DType::fp8e4m3:
            return &format<Fp8E4M3>;
        case tosa::DType::fp8e5m2:
            return &format<Fp8E5M2>;
        default:
            return nullptr;
    }
}

}  // namespace virtaccel::backends::cpu::ops

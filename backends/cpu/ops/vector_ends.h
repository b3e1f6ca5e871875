// What kernels do at the ends of rows of floats and at the end of a computation: loads and stores
// of fewer lanes than a vector has, which touch nothing beyond them, and clamps. Included once for
// each instruction set.
#if defined(VIRTACCEL_BACKENDS_CPU_VECTOR_ENDS) == defined(HWY_TARGET_TOGGLE)
#ifdef VIRTACCEL_BACKENDS_CPU_VECTOR_ENDS
#undef VIRTACCEL_BACKENDS_CPU_VECTOR_ENDS
#else
#define VIRTACCEL_BACKENDS_CPU_VECTOR_ENDS
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "backends/cpu/ops/clamp.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Masked instructions do not fault on lanes that are masked out.
inline constexpr bool has_masks = HWY_TARGET <= HWY_AVX2;

// The first `count` lanes from `source`, zero in the others.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const float* source, std::int64_t count) {
    if (count == static_cast<std::int64_t>(hn::MaxLanes(d))) {
        return hn::LoadU(d, source);
    }
    if constexpr (has_masks) {
        return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, source);
    } else {
        std::array<float, hn::MaxLanes(d)> lanes{};
        std::copy_n(source, count, lanes.data());
        return hn::LoadU(d, lanes.data());
    }
}

// The first `count` lanes to `target`.
template <class D>
HWY_INLINE void store_some(D d, hn::Vec<D> value, float* target, std::int64_t count) {
    if (count == static_cast<std::int64_t>(hn::MaxLanes(d))) {
        hn::StoreU(value, d, target);
    } else if constexpr (has_masks) {
        hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(count)), d, target);
    } else {
        std::array<float, hn::MaxLanes(d)> lanes{};
        hn::StoreU(value, d, lanes.data());
        std::copy_n(lanes.data(), count, target);
    }
}

// A clamp, ready for vectors.
template <class D>
class Bounds {
  public:
    HWY_INLINE explicit Bounds(const Clamp& clamp)
        : low_(hn::Set(D{}, clamp.low)),
          high_(hn::Set(D{}, clamp.high)),
          ignores_nan_(clamp.ignores_nan) {}

    HWY_INLINE hn::Vec<D> apply(hn::Vec<D> value) const {
        if (ignores_nan_) {
            value = hn::IfThenElse(hn::Ge(value, low_), value, low_);
        }
        if constexpr (HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4) {
            // These instructions give their second operand if either is NaN.
            return hn::Min(high_, hn::Max(low_, value));
        }
        value = hn::IfThenElse(hn::Lt(value, low_), low_, value);
        return hn::IfThenElse(hn::Gt(value, high_), high_, value);
    }

  private:
    hn::Vec<D> low_;
    hn::Vec<D> high_;
    bool ignores_nan_;
};

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif

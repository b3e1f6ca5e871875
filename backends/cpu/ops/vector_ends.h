// NOTIDY(header_opening): Highway includes it again for each instruction set.
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
#include <utility>

#include <hwy/highway.h>

#include "backends/cpu/ops/clamp.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Masked instructions do not fault on lanes that are masked out.
inline constexpr bool has_masks = HWY_TARGET <= HWY_AVX2;

// The first `count` lanes of vectors.
template <class D>
class Lanes {
  public:
    HWY_INLINE explicit Lanes(std::int64_t count)
        : count_(count), mask_(hn::FirstN(D{}, static_cast<std::size_t>(count))) {}

    // Zero in the other lanes.
    HWY_INLINE hn::Vec<D> load(const float* source) const {
        if constexpr (has_masks) {
            return hn::MaskedLoad(mask_, D{}, source);
        } else {
            std::array<float, hn::MaxLanes(D{})> lanes{};
            std::copy_n(source, count_, lanes.data());
            return hn::LoadU(D{}, lanes.data());
        }
    }

    HWY_INLINE void store(hn::Vec<D> value, float* target) const {
        if constexpr (has_masks) {
            hn::BlendedStore(value, mask_, D{}, target);
        } else {
            std::array<float, hn::MaxLanes(D{})> lanes{};
            hn::StoreU(value, D{}, lanes.data());
            std::copy_n(lanes.data(), count_, target);
        }
    }

  private:
    std::int64_t count_;
    hn::Mask<D> mask_;
};

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

// `value` in a register: the compiler may not load it again wherever it is used.
template <class V>
HWY_INLINE V in_register(V value) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    asm("" : "+v"(value.raw));
#endif
    return value;
}

// Elements of arrays that are to stay in registers are named by std::get: an index is checked, if
// the library checks, before the compiler knows that it is a constant, and then they have been in
// memory.

// `count` addresses, `step` elements apart. Three of them come from one pointer, as far as an
// instruction's own arithmetic reaches, so that they do not run out of registers.
template <std::size_t count, class T = float>
class Steps {
  public:
    HWY_INLINE Steps(const T* first, std::int64_t step) : step_(step) {
        for (const T*& pointer : base_) {
            pointer = first;
            first += 3 * step;
        }
    }

    template <std::size_t i>
    HWY_INLINE const T* at() const {
        return std::get<i / 3>(base_) + (static_cast<std::int64_t>(i % 3) * step_);
    }

    // Moves all of them on by one element.
    HWY_INLINE void advance() {
        for (const T*& pointer : base_) {
            ++pointer;
        }
    }

  private:
    std::array<const T*, (count + 2) / 3> base_;
    std::int64_t step_;
};

// Pixels one after the other, seen from one of their channels on.
template <class T>
struct Channels {
    T* data;
    std::int64_t channels;
    std::int64_t channel;
};

// How the sums of one vector of channels end, for the pixels of a tile: an image of perhaps fewer
// channels is added, then they are clamped, or where they are negative get a slope, and stored.
template <class D>
class Column {
  public:
    // `slopes` are a whole vector's, or null.
    HWY_INLINE Column(const Clamp& clamp, const float* slopes, const Channels<float>& output,
                      const Channels<const float>& residual)
        : bounds_(clamp),
          has_slopes_(slopes != nullptr),
          slope_(slopes == nullptr ? hn::Zero(D{}) : hn::LoadU(D{}, slopes)),
          output_(output.data + output.channel),
          output_step_(output.channels),
          lanes_(std::min(all_lanes, output.channels - output.channel)),
          residual_step_(residual.channels),
          residual_lanes_(std::min(all_lanes, residual.channels - residual.channel)) {
        if (residual.data != nullptr && residual_lanes_ > 0) {
            residual_ = residual.data + residual.channel;
        }
    }

    // Stores one sum for each pixel: `sum.at<pixel>()`.
    template <std::size_t... p, class Sum>
    HWY_INLINE void store(const Sum& sum, std::index_sequence<p...> /*which*/) const {
        const bool is_full = lanes_ == all_lanes;
        if (is_full && residual_lanes_ == all_lanes) {
            (store_full<true, p>(sum), ...);
        } else if (is_full && residual_lanes_ <= 0) {
            (store_full<false, p>(sum), ...);
        } else {
            const Lanes<D> lanes{lanes_};
            const Lanes<D> residual_lanes{std::max<std::int64_t>(residual_lanes_, 0)};
            (store_part<p>(sum, lanes, residual_lanes), ...);
        }
    }

  private:
    static constexpr auto all_lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));

    HWY_INLINE hn::Vec<D> ended(hn::Vec<D> value) const {
        if (has_slopes_) {
            return hn::IfThenElse(hn::Ge(value, hn::Zero(D{})), value, hn::Mul(value, slope_));
        }
        return bounds_.apply(value);
    }

    template <bool has_residual, std::size_t p, class Sum>
    HWY_INLINE void store_full(const Sum& sum) const {
        constexpr auto pixel = static_cast<std::int64_t>(p);
        float* const output = output_ + (pixel * output_step_);
        if constexpr (has_residual) {
            const auto residual = hn::LoadU(D{}, residual_ + (pixel * residual_step_));
            hn::StoreU(ended(hn::Add(sum.template at<p>(), residual)), D{}, output);
        } else {
            hn::StoreU(ended(sum.template at<p>()), D{}, output);
        }
    }

    template <std::size_t p, class Sum>
    HWY_INLINE void store_part(const Sum& sum, const Lanes<D>& lanes,
                               const Lanes<D>& residual_lanes) const {
        constexpr auto pixel = static_cast<std::int64_t>(p);
        hn::Vec<D> value = sum.template at<p>();
        if (residual_lanes_ > 0) {
            value = hn::Add(value, residual_lanes.load(residual_ + (pixel * residual_step_)));
        }
        lanes.store(ended(value), output_ + (pixel * output_step_));
    }

    Bounds<D> bounds_;
    bool has_slopes_;
    hn::Vec<D> slope_;
    float* output_;
    std::int64_t output_step_;
    std::int64_t lanes_;
    const float* residual_ = nullptr;
    std::int64_t residual_step_;
    std::int64_t residual_lanes_;
};

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif

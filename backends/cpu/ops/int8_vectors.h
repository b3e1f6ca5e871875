// NOTIDY(header_opening): Highway includes it again for each instruction set.
// What elementwise kernels of INT8 have in common. Included once for each instruction set that has
// vectors.
#if defined(VIRTACCEL_BACKENDS_CPU_INT8_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef VIRTACCEL_BACKENDS_CPU_INT8_VECTORS
#undef VIRTACCEL_BACKENDS_CPU_INT8_VECTORS
#else
#define VIRTACCEL_BACKENDS_CPU_INT8_VECTORS
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int32_t, 16>;
using WordVector = hn::Vec<Words>;
inline constexpr auto word_lanes = static_cast<std::int64_t>(hn::MaxLanes(Words{}));

// Lane by lane, the odd ones moved to where the even ones are.
HWY_INLINE WordVector odd_lanes(WordVector value) {
    constexpr hn::Repartition<std::uint64_t, Words> wide;
    return hn::BitCast(Words{}, hn::ShiftRight<32>(hn::BitCast(wide, value)));
}

// Products, of every other lane.
using Wide = hn::RepartitionToWide<Words>;
using WideVector = hn::Vec<Wide>;

HWY_INLINE WordVector upper_halves(WideVector even, WideVector odd) {
    return hn::OddEven(hn::BitCast(Words{}, odd), odd_lanes(hn::BitCast(Words{}, even)));
}

// How far all shifts go at least: the upper half of a product is all that is looked at.
inline constexpr std::int32_t whole_shift = 32;

// One factor for all lanes.
template <bool rounds_twice>
class Scaler {
  public:
    HWY_INLINE Scaler(std::int32_t multiplier, std::int32_t shift)
        : multiplier_(hn::Set(Words{}, multiplier)),
          round_(hn::Set(Wide{}, std::int64_t{1} << static_cast<std::uint32_t>(shift - 1))),
          right_(shift - whole_shift) {}

    [[nodiscard]] HWY_INLINE WordVector scaled(WordVector value) const {
        const auto even = rounded(hn::MulEven(value, multiplier_), round_);
        const auto odd = rounded(hn::MulEven(odd_lanes(value), multiplier_), round_);
        return hn::ShiftRightSame(upper_halves(even, odd), right_);
    }

  private:
    static HWY_INLINE WideVector rounded(WideVector product, WideVector round) {
        if constexpr (rounds_twice) {
            // At the 31st bit, away from zero.
            const WideVector half = hn::Set(Wide{}, std::int64_t{1} << 30U);
            return hn::Add(product, hn::IfNegativeThenElse(product, hn::Sub(round, half),
                                                           hn::Add(round, half)));
        } else {
            return hn::Add(product, round);
        }
    }

    WordVector multiplier_;
    WideVector round_;
    int right_;
};

// What follows a scaled sum.
class Int8Ends {
  public:
    template <class Shape>
    HWY_INLINE explicit Int8Ends(const Shape& shape)
        : zero_(hn::Set(Words{}, shape.output_zero)),
          low_(hn::Set(Words{}, shape.low)),
          high_(hn::Set(Words{}, shape.high)) {}

    // Stores the first `count` lanes, or all of them.
    HWY_INLINE void store(WordVector scaled, std::int64_t count, std::int8_t* target) const {
        constexpr hn::Rebind<std::int8_t, Words> bytes;
        const auto value =
            hn::DemoteTo(bytes, hn::Min(hn::Max(hn::Add(scaled, zero_), low_), high_));
        if (count >= word_lanes) {
            hn::StoreU(value, bytes, target);
        } else if constexpr (HWY_TARGET <= HWY_AVX3) {
            hn::BlendedStore(value, hn::FirstN(bytes, static_cast<std::size_t>(count)), bytes,
                             target);
        } else {
            std::array<std::int8_t, static_cast<std::size_t>(word_lanes)> lanes;
            hn::StoreU(value, bytes, lanes.data());
            std::copy_n(lanes.data(), count, target);
        }
    }

  private:
    WordVector zero_;
    WordVector low_;
    WordVector high_;
};

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif

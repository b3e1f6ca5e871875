// NOTIDY(header_opening): Highway includes it again for each instruction set.
// What kernels of INT8 have in common: products that are summed within words, and sums that are
// rescaled to INT8. Included once for each instruction set.
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
#include <utility>

#include <hwy/highway.h>

#include "backends/cpu/ops/int8_ends.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int32_t, 16>;
using WordVector = hn::Vec<Words>;
inline constexpr auto word_lanes = static_cast<std::int64_t>(hn::MaxLanes(Words{}));

// One element a word.
struct OneByOne {
    using Element = std::int32_t;
    static constexpr std::int64_t elements = 1;

    // What the zero point is as an element.
    static constexpr std::int32_t padding(std::int32_t /*zero*/) { return 0; }

    static constexpr Element element(std::int8_t value, std::int32_t zero) { return value - zero; }

    static HWY_INLINE WordVector add(WordVector sum, WordVector input, WordVector weights) {
        return hn::Add(sum, hn::Mul(input, weights));
    }
};

#if HWY_TARGET != HWY_SCALAR
// Two INT16 a word: their products are added in pairs.
struct TwoByTwo {
    using Element = std::int16_t;
    static constexpr std::int64_t elements = 2;

    static constexpr std::int32_t padding(std::int32_t /*zero*/) { return 0; }

    static constexpr Element element(std::int8_t value, std::int32_t zero) {
        return static_cast<Element>(value - zero);
    }

    static HWY_INLINE WordVector add(WordVector sum, WordVector input, WordVector weights) {
        constexpr hn::Repartition<std::int16_t, Words> halves;
        WordVector unused = hn::Zero(Words{});
        return hn::ReorderWidenMulAccumulate(Words{}, hn::BitCast(halves, input),
                                             hn::BitCast(halves, weights), sum, unused);
    }
};

#endif

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3
// Four bytes a word, without a sign in the input: 128 more than the INT8. Highway does not know the
// instruction.
struct FourByFour {
    using Element = std::uint8_t;
    static constexpr std::int64_t elements = 4;

    static constexpr std::int32_t padding(std::int32_t zero) { return zero + 128; }

    static constexpr Element element(std::int8_t value, std::int32_t /*zero*/) {
        return static_cast<Element>(value + 128);
    }

    static HWY_INLINE WordVector add(WordVector sum, WordVector input, WordVector weights) {
        asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(input.raw), "v"(weights.raw));
        return sum;
    }
};

inline bool has_four_by_four() {
    static const bool has = __builtin_cpu_supports("avx512vnni") != 0;
    return has;
}
#endif

// Calls `body` with the widest of these that the processor has.
template <class Body>
HWY_INLINE auto with_words(Body body) {
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3
    if (has_four_by_four()) {
        return body(FourByFour{});
    }
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
    return body(TwoByTwo{});
#else
    return body(OneByOne{});
#endif
}

// Stores the first `count` lanes of `value`, or all of them: as many as a vector of words has.
template <class D>
HWY_INLINE void store_first(D lanes, hn::Vec<D> value, std::int64_t count, hn::TFromD<D>* target) {
    if (count >= word_lanes) {
        hn::StoreU(value, lanes, target);
    } else if constexpr (HWY_TARGET <= HWY_AVX3) {
        hn::BlendedStore(value, hn::FirstN(lanes, static_cast<std::size_t>(count)), lanes, target);
    } else {
        std::array<hn::TFromD<D>, static_cast<std::size_t>(word_lanes)> all{};
        hn::StoreU(value, lanes, all.data());
        std::copy_n(all.data(), count, target);
    }
}

#if HWY_TARGET != HWY_SCALAR

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

// One factor for each lane. All shifts are 33 at least, so that only upper halves are rounded.
template <bool rounds_twice>
class ChannelScaler {
  public:
    HWY_INLINE ChannelScaler(const Int8Rescale& rescale, std::int64_t channel)
        : multiplier_(hn::LoadU(Words{}, rescale.multipliers.data() + channel)),
          odd_multiplier_(odd_lanes(multiplier_)),
          right_(hn::Sub(hn::LoadU(Words{}, rescale.shifts.data() + channel),
                         hn::Set(Words{}, whole_shift))),
          round_(hn::Shl(hn::Set(Words{}, 1), hn::Sub(right_, hn::Set(Words{}, 1)))) {}

    [[nodiscard]] HWY_INLINE WordVector scaled(WordVector value) const {
        const auto even = rounded_once(hn::MulEven(value, multiplier_));
        const auto odd = rounded_once(hn::MulEven(odd_lanes(value), odd_multiplier_));
        return hn::Shr(hn::Add(upper_halves(even, odd), round_), right_);
    }

  private:
    static HWY_INLINE WideVector rounded_once(WideVector product) {
        if constexpr (rounds_twice) {
            // At the 31st bit, away from zero.
            constexpr std::int64_t half = std::int64_t{1} << 30U;
            return hn::Add(product, hn::IfNegativeThenElse(product, hn::Set(Wide{}, -half),
                                                           hn::Set(Wide{}, half)));
        } else {
            return product;
        }
    }

    WordVector multiplier_;
    WordVector odd_multiplier_;
    WordVector right_;
    WordVector round_;
};

using Floats = hn::RebindToFloat<Words>;
using FloatVector = hn::Vec<Floats>;

HWY_INLINE FloatVector power_of_two(WordVector exponent) {
    return hn::BitCast(Floats{}, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(Words{}, 127))));
}

// Sums that are scaled, moved to a zero point and bounded, by floats, which take half as long as
// products of 64 bits and are exact wherever is_decided(). Numbers have twelve bits behind the
// point and lie in the middle of floats whose last bit is worth one, so that their bits are the
// number; all that was rounded before is less than one of its last bits, which matters only where
// they are all zero. Multipliers are not negative.
template <bool rounds_twice>
class QuickScaler {
  public:
    template <class Shape>
    HWY_INLINE QuickScaler(WordVector multiplier, WordVector shift, const Shape& shape)
        : factor_(hn::Mul(hn::ConvertTo(Floats{}, multiplier),
                          power_of_two(hn::Sub(hn::Set(Words{}, point_bits), shift)))),
          away_(power_of_two(hn::Sub(hn::Set(Words{}, 30 + point_bits), shift))),
          origin_(number(shape.output_zero)),
          low_(number(shape.low)),
          high_(number(shape.high)) {}

    // INT8 of `sum`, in the lower bytes. What floats do not decide, few vectors,
    // `exactly(lanes)` computes in place.
    template <class Exactly>
    [[nodiscard]] HWY_INLINE WordVector bytes(WordVector sum, const Exactly& exactly) const {
        const WordVector found = scaled(sum);
        WordVector result = hn::ShiftRight<point_bits>(found);
        if (HWY_UNLIKELY(!is_decided(found))) {
            std::array<std::int32_t, static_cast<std::size_t>(word_lanes)> lanes{};
            hn::StoreU(sum, Words{}, lanes.data());
            exactly(lanes.data());
            result = hn::LoadU(Words{}, lanes.data());
        }
        return result;
    }

  private:
    static constexpr int point_bits = 12;

    HWY_INLINE WordVector scaled(WordVector sum) const {
        const FloatVector value = hn::ConvertTo(Floats{}, sum);
        FloatVector result = origin_;
        if constexpr (rounds_twice) {
            result = hn::Add(result, hn::MulAdd(value, factor_, hn::CopySignToAbs(away_, value)));
        } else {
            result = hn::MulAdd(value, factor_, result);
        }
        return hn::BitCast(Words{}, hn::Min(hn::Max(result, low_), high_));
    }

    static HWY_INLINE bool is_decided(WordVector scaled) {
        const WordVector behind =
            hn::And(scaled, hn::Set(Words{}, (std::int32_t{1} << point_bits) - 1));
        return hn::AllFalse(Words{}, hn::Eq(behind, hn::Zero(Words{})));
    }

    // Rounds to the nearest INT8 when the bits behind the point are cut off.
    static HWY_INLINE FloatVector number(std::int32_t value) {
        constexpr std::int32_t middle = std::int32_t{3} << 22U;
        constexpr std::int32_t half = std::int32_t{1} << (point_bits - 1U);
        constexpr std::int32_t one = std::int32_t{1} << point_bits;
        return hn::Set(Floats{}, static_cast<float>(middle + (value * one) + half));
    }

    FloatVector factor_;
    FloatVector away_;
    FloatVector origin_;
    FloatVector low_;
    FloatVector high_;
};

// Stores the lower bytes of the first `count` lanes, or of all of them.
HWY_INLINE void store_lower_bytes(WordVector words, std::int64_t count, std::int8_t* target) {
    using Bytes = hn::Rebind<std::uint8_t, Words>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    const hn::Vec<Bytes> value{_mm512_cvtepi32_epi8(words.raw)};
#else
    const auto value = hn::TruncateTo(Bytes{}, hn::BitCast(hn::RebindToUnsigned<Words>{}, words));
#endif
    store_first(Bytes{}, value, count, reinterpret_cast<std::uint8_t*>(target));
}

// What follows a sum that was scaled exactly.
template <class Shape>
HWY_INLINE WordVector bounded(WordVector scaled, const Shape& shape) {
    const WordVector moved = hn::Add(scaled, hn::Set(Words{}, shape.output_zero));
    return hn::Min(hn::Max(moved, hn::Set(Words{}, shape.low)), hn::Set(Words{}, shape.high));
}

// INT8 of the sums in `lanes`, in place, for the few that QuickScaler leaves undecided.
template <bool rounds_twice>
[[gnu::cold]] HWY_NOINLINE void rescale_exactly(const Int8Rescale& rescale, std::int64_t channel,
                                                std::int32_t* lanes) {
    const ChannelScaler<rounds_twice> scaler{rescale, channel};
    hn::StoreU(bounded(scaler.scaled(hn::LoadU(Words{}, lanes)), rescale), Words{}, lanes);
}

#endif

// One vector of channels of neighbouring pixels, of which each has `channels`.
struct Int8Column {
    Int8Target target;  // the first pixel's
    std::int64_t channels = 0;
    std::int64_t channel = 0;

#if HWY_TARGET != HWY_SCALAR
    template <bool rounds_twice, class Sum, std::size_t... p>
    HWY_INLINE void store_bytes(const Sum& sum, std::index_sequence<p...> /*which*/) const {
        const QuickScaler<rounds_twice> scaler{
            hn::LoadU(Words{}, target.rescale->multipliers.data() + channel),
            hn::LoadU(Words{}, target.rescale->shifts.data() + channel), *target.rescale};
        std::int8_t* const first = target.bytes + channel;
        (store_pixel(scaler, sum.template at<p>(),
                     first + (static_cast<std::int64_t>(p) * channels)),
         ...);
    }

    template <bool rounds_twice>
    HWY_INLINE void store_pixel(const QuickScaler<rounds_twice>& scaler, WordVector sum,
                                std::int8_t* place) const {
        // By value: a vector's stores would have what is referred to read again.
        const auto exactly = [rescale = target.rescale, at = channel](std::int32_t* lanes) {
            rescale_exactly<rounds_twice>(*rescale, at, lanes);
        };
        store_lower_bytes(scaler.bytes(sum, exactly), channels - channel, place);
    }
#endif

    // Stores one sum for each pixel: `sum.at<pixel>()`.
    template <class Sum, std::size_t... p>
    HWY_INLINE void store(const Sum& sum, [[maybe_unused]] std::index_sequence<p...> pixels) const {
#if HWY_TARGET != HWY_SCALAR
        if (target.rescale != nullptr && target.rescale->rounds_twice) {
            store_bytes<true>(sum, pixels);
            return;
        }
        if (target.rescale != nullptr) {
            store_bytes<false>(sum, pixels);
            return;
        }
#endif
        std::int32_t* const first = target.sums + channel;
        (store_first(Words{}, sum.template at<p>(), channels - channel,
                     first + (static_cast<std::int64_t>(p) * channels)),
         ...);
    }
};

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#endif

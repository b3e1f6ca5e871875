#include "backends/cpu/ops/int8_ends.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/int8_ends.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

constexpr std::int64_t lanes = 1;

// One channel of all pixels, where there are no vectors.
template <bool rounds_twice>
void rescale_column(const Int8Rescale& rescale, std::int64_t channel, const std::int32_t* sums,
                    std::int64_t count, std::int8_t* target) {
    const auto c = static_cast<std::size_t>(channel);
    const std::int64_t multiplier = rescale.multipliers[c];
    const std::int32_t shift = rescale.shifts[c];
    const std::int64_t round = std::int64_t{1} << (shift - 1);
    const std::int64_t again = rounds_twice && shift > 31 ? std::int64_t{1} << 30 : 0;
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
        const std::int64_t at = (pixel * rescale.channels) + channel;
        const std::int64_t product = sums[at] * multiplier;
        const std::int64_t scaled = (product + round + (product < 0 ? -again : again)) >> shift;
        target[at] = static_cast<std::int8_t>(
            std::clamp<std::int64_t>(scaled + rescale.output_zero, rescale.low, rescale.high));
    }
}

#else

using D = hn::CappedTag<std::int32_t, 16>;
using Vector = hn::Vec<D>;
constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));
static_assert(hn::MaxLanes(D{}) <= lanes_after);

// Products, of every other lane.
using D64 = hn::Repartition<std::int64_t, D>;
using Products = hn::Vec<D64>;

// The lanes between those that are multiplied, in their places.
HWY_INLINE Vector odd_lanes(Vector v) {
    return hn::BitCast(D{}, hn::ShiftRight<32>(hn::BitCast(D64{}, v)));
}

// Every other channel of a vector.
template <bool rounds_twice>
class Scale {
  public:
    HWY_INLINE Scale(Vector multipliers, Vector shifts)
        : multipliers_(multipliers),
          shifts_(hn::And(hn::BitCast(D64{}, shifts), hn::Set(D64{}, 0xff))) {
        const Products one = hn::Set(D64{}, 1);
        round_ = hn::Shl(one, hn::Sub(shifts_, one));
        const auto is_far = hn::Gt(shifts_, hn::Set(D64{}, 31));
        again_ = hn::IfThenElseZero(is_far, hn::Set(D64{}, std::int64_t{1} << 30));
    }

    HWY_INLINE Products apply(Vector sums) const {
        const Products product = hn::MulEven(sums, multipliers_);
        Products rounded = hn::Add(product, round_);
        if constexpr (rounds_twice) {
            const auto is_negative = hn::Lt(product, hn::Zero(D64{}));
            rounded = hn::Add(rounded, hn::IfThenElse(is_negative, hn::Neg(again_), again_));
        }
        return hn::Shr(rounded, shifts_);
    }

  private:
    Vector multipliers_;
    Products shifts_;
    Products round_;
    Products again_;
};

// One vector of channels of all pixels.
template <bool rounds_twice>
void rescale_column(const Int8Rescale& rescale, std::int64_t channel, const std::int32_t* sums,
                    std::int64_t count, std::int8_t* target) {
    const Vector multipliers = hn::LoadU(D{}, rescale.multipliers.data() + channel);
    const Vector shifts = hn::LoadU(D{}, rescale.shifts.data() + channel);
    const Scale<rounds_twice> even{multipliers, shifts};
    const Scale<rounds_twice> odd{odd_lanes(multipliers), odd_lanes(shifts)};
    const Vector zero = hn::Set(D{}, rescale.output_zero);
    const Vector low = hn::Set(D{}, rescale.low);
    const Vector high = hn::Set(D{}, rescale.high);
    const hn::Rebind<std::int8_t, D> bytes;
    const std::int64_t used = std::min(lanes, rescale.channels - channel);
    sums += channel;
    target += channel;
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
        const Vector sum = hn::LoadU(D{}, sums);
        const Vector of_even = hn::BitCast(D{}, even.apply(sum));
        const Vector of_odd = hn::BitCast(D{}, hn::ShiftLeft<32>(odd.apply(odd_lanes(sum))));
        const Vector scaled = hn::Add(hn::OddEven(of_odd, of_even), zero);
        const auto result = hn::DemoteTo(bytes, hn::Min(hn::Max(scaled, low), high));
        if (used == lanes) {
            hn::StoreU(result, bytes, target);
        } else {
            std::array<std::int8_t, static_cast<std::size_t>(lanes)> all{};
            hn::StoreU(result, bytes, all.data());
            std::copy_n(all.data(), used, target);
        }
        sums += rescale.channels;
        target += rescale.channels;
    }
}

#endif

void rescale(const Int8Rescale& rescale, const std::int32_t* sums, std::int64_t count,
             std::int8_t* target) {
    for (std::int64_t channel = 0; channel < rescale.channels; channel += lanes) {
        if (rescale.rounds_twice) {
            rescale_column<true>(rescale, channel, sums, count, target);
        } else {
            rescale_column<false>(rescale, channel, sums, count, target);
        }
    }
}

bool can_rescale_in_registers(const Int8Rescale& rescale) {
    // The upper half alone is rounded, at its last bit or before.
    constexpr std::int32_t shift_min = 33;
    const auto channels = static_cast<std::size_t>(rescale.channels);
    return HWY_TARGET != HWY_SCALAR &&
           std::ranges::all_of(std::span{rescale.shifts}.first(channels),
                               [](std::int32_t shift) { return shift >= shift_min; }) &&
           std::ranges::all_of(std::span{rescale.multipliers}.first(channels),
                               [](std::int32_t multiplier) { return multiplier >= 0; });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(rescale);
HWY_EXPORT(can_rescale_in_registers);

bool rescales_in_registers(const Int8Rescale& rescale) {
    return HWY_DYNAMIC_DISPATCH(can_rescale_in_registers)(rescale);
}

void rescale_to_int8(const Int8Rescale& rescale, const std::int32_t* sums, std::int64_t count,
                     std::int8_t* target) {
    HWY_DYNAMIC_DISPATCH(rescale)(rescale, sums, count, target);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

#include "backends/cpu/ops/rescale_kernels.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/rescale_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<std::int32_t, rescale_lanes_max>;
using Vector = hn::Vec<D>;

constexpr auto all_lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));

HWY_INLINE Vector load(const std::int32_t* source) {
    return hn::LoadU(D{}, source);
}

HWY_INLINE Vector load(const std::int8_t* source) {
    return hn::PromoteTo(D{}, hn::LoadU(hn::Rebind<std::int8_t, D>{}, source));
}

HWY_INLINE void store(Vector value, std::int32_t* target) {
    hn::StoreU(value, D{}, target);
}

HWY_INLINE void store(Vector value, std::int8_t* target) {
    constexpr hn::Rebind<std::int8_t, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, target);
}

constexpr std::int64_t half_of_bit_31 = std::int64_t{1} << 30U;

// The upper halves of products, lane by lane.
#if HWY_TARGET == HWY_SCALAR

template <bool rounds_twice>
HWY_INLINE Vector upper_halves(Vector a, Vector b) {
    std::int64_t product = std::int64_t{hn::GetLane(a)} * hn::GetLane(b);
    if constexpr (rounds_twice) {
        product += product < 0 ? -half_of_bit_31 : half_of_bit_31;
    }
    return hn::Set(D{}, static_cast<std::int32_t>(product >> 32U));
}

#else

using WideD = hn::RepartitionToWide<D>;
using WideVector = hn::Vec<WideD>;

// The odd lanes, moved to where the even ones are.
HWY_INLINE Vector odd_lanes(Vector value) {
    constexpr hn::RebindToUnsigned<WideD> bits;
    return hn::BitCast(D{}, hn::ShiftRight<32>(hn::BitCast(bits, value)));
}

template <bool rounds_twice>
HWY_INLINE WideVector rounded(WideVector product) {
    if constexpr (rounds_twice) {
        return hn::Add(product, hn::IfNegativeThenElse(product, hn::Set(WideD{}, -half_of_bit_31),
                                                       hn::Set(WideD{}, half_of_bit_31)));
    } else {
        return product;
    }
}

template <bool rounds_twice>
HWY_INLINE Vector upper_halves(Vector a, Vector b) {
    const WideVector even = rounded<rounds_twice>(hn::MulEven(a, b));
    const WideVector odd = rounded<rounds_twice>(hn::MulEven(odd_lanes(a), odd_lanes(b)));
    return hn::OddEven(hn::BitCast(D{}, odd), odd_lanes(hn::BitCast(D{}, even)));
}

#endif

template <class In, bool rounds_twice>
HWY_INLINE Vector rescaled(Vector value, const RescaleFactors& factors, std::int64_t channel) {
    if constexpr (std::same_as<In, std::int8_t>) {
        value = value << load(factors.lefts + channel);
    }
    const Vector upper = upper_halves<rounds_twice>(value, load(factors.multipliers + channel));
    return hn::Add(upper, load(factors.halves + channel)) >> load(factors.rights + channel);
}

template <class In, class Out, bool rounds_twice>
void compute_row(const RescaleFactors& factors, const RescaleEnds& ends, const RescaleRow& row) {
    const Vector input_zero = hn::Set(D{}, ends.input_zero);
    const Vector output_zero = hn::Set(D{}, ends.output_zero);
    const Vector low = hn::Set(D{}, ends.low);
    const Vector high = hn::Set(D{}, ends.high);
    const auto compute = [&](const In* input, Out* output, std::int64_t channel) HWY_ATTR {
        const Vector value =
            rescaled<In, rounds_twice>(hn::Sub(load(input), input_zero), factors, channel);
        store(hn::Min(hn::Max(hn::Add(value, output_zero), low), high), output);
    };
    const auto* input = reinterpret_cast<const In*>(row.input);
    auto* output = reinterpret_cast<Out*>(row.output);
    const std::int64_t step = all_lanes % factors.channels;
    std::int64_t channel = row.channel;
    std::int64_t left = row.count;
    for (; left >= all_lanes; left -= all_lanes) {
        compute(input, output, channel);
        input += all_lanes;
        output += all_lanes;
        channel += step;
        channel -= channel >= factors.channels ? factors.channels : 0;
    }
    if (left > 0) {
        std::array<In, all_lanes> inputs{};
        std::array<Out, all_lanes> outputs{};
        std::copy_n(input, left, inputs.data());
        compute(inputs.data(), outputs.data(), channel);
        std::copy_n(outputs.data(), left, output);
    }
}

template <class In, class Out>
void compute_typed(const RescaleFactors& factors, const RescaleEnds& ends, const RescaleRow& row) {
    if (factors.rounds_twice) {
        compute_row<In, Out, true>(factors, ends, row);
    } else {
        compute_row<In, Out, false>(factors, ends, row);
    }
}

void compute(RescaleTypes types, const RescaleFactors& factors, const RescaleEnds& ends,
             const RescaleRow& row) {
    switch (types) {
        case RescaleTypes::int8_to_int8:
            return compute_typed<std::int8_t, std::int8_t>(factors, ends, row);
        case RescaleTypes::int8_to_int32:
            return compute_typed<std::int8_t, std::int32_t>(factors, ends, row);
        case RescaleTypes::int32_to_int8:
            return compute_typed<std::int32_t, std::int8_t>(factors, ends, row);
        case RescaleTypes::int32_to_int32:
            return compute_typed<std::int32_t, std::int32_t>(factors, ends, row);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(compute);

void compute_rescale(RescaleTypes types, const RescaleFactors& factors, const RescaleEnds& ends,
                     const RescaleRow& row) {
    HWY_DYNAMIC_DISPATCH(compute)(types, factors, ends, row);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

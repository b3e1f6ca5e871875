#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/ops/int8_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/int8_sum_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "backends/cpu/ops/int8_vectors.h"
#endif

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

#if HWY_TARGET == HWY_SCALAR

std::int64_t scaled(std::int64_t value, std::int32_t multiplier, std::int32_t shift,
                    bool rounds_twice) {
    const std::int64_t product = value * multiplier;
    const std::int64_t away = rounds_twice ? std::int64_t{1} << 30 : 0;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    return (product + (product < 0 ? -away : away) + half) >> shift;
}

std::int64_t term(const Int8Term& term, std::int8_t number, bool rounds_twice) {
    const std::int64_t shifted = std::int64_t{number - term.zero} * (std::int64_t{1} << term.left);
    return term.is_scaled ? scaled(shifted, term.multiplier, term.shift, rounds_twice) : shifted;
}

void compute(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
             std::int8_t* output, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t sum = term(shape.terms[0], left[i], shape.rounds_twice) +
                                 term(shape.terms[1], right[i], shape.rounds_twice);
        const std::int64_t result =
            scaled(sum, shape.multiplier, shape.shift, shape.rounds_twice) + shape.output_zero;
        output[i] =
            static_cast<std::int8_t>(std::clamp<std::int64_t>(result, shape.low, shape.high));
    }
}

#else

// A term of 32 bits: products of nine bits by the upper and by the lower bits of a multiplier,
// which are cut where the term's last bit is.
template <bool is_scaled, bool rounds_twice>
class Term {
  public:
    explicit HWY_INLINE Term(const Int8Term& term)
        : zero_(hn::Set(Words{}, term.zero)), left_(term.left), down_(term.shift - term.left) {
        if constexpr (is_scaled) {
            upper_ = hn::Set(Words{}, term.multiplier >> down_);
            lower_ = hn::Set(Words{}, term.multiplier & ((std::int32_t{1} << down_) - 1));
            const std::int32_t half = std::int32_t{1} << (down_ - 1);
            const std::int32_t away = rounds_twice ? std::int32_t{1} << (30 - left_) : 0;
            round_ = hn::Set(Words{}, half + away);
            round_negative_ = hn::Set(Words{}, half - away);
        }
    }

    HWY_INLINE WordVector operator()(WordVector value) const {
        const WordVector number = hn::Sub(value, zero_);
        if constexpr (is_scaled) {
            WordVector round = round_;
            if constexpr (rounds_twice) {
                round = hn::IfNegativeThenElse(number, round_negative_, round_);
            }
            const WordVector lower = hn::Add(hn::Mul(number, lower_), round);
            return hn::Add(hn::Mul(number, upper_), hn::ShiftRightSame(lower, down_));
        } else {
            return hn::ShiftLeftSame(number, left_);
        }
    }

  private:
    WordVector zero_;
    int left_;
    int down_;
    WordVector upper_ = hn::Zero(Words{});
    WordVector lower_ = hn::Zero(Words{});
    WordVector round_ = hn::Zero(Words{});
    WordVector round_negative_ = hn::Zero(Words{});
};

template <bool rounds_twice>
[[gnu::cold]] HWY_NOINLINE void rescale_exactly(const Int8SumShape& shape, std::int32_t* lanes) {
    const Scaler<rounds_twice> scaler{shape.multiplier, shape.shift};
    hn::StoreU(bounded(scaler.scaled(hn::LoadU(Words{}, lanes)), shape), Words{}, lanes);
}

template <bool rounds_twice, bool scales_left, bool scales_right>
void add_with(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
              std::int8_t* output, std::int64_t count) {
    const Term<scales_left, rounds_twice> left_term{shape.terms[0]};
    const Term<scales_right, rounds_twice> right_term{shape.terms[1]};
    constexpr hn::Rebind<std::int8_t, Words> bytes;
    const QuickScaler<rounds_twice> scaler{hn::Set(Words{}, shape.multiplier),
                                           hn::Set(Words{}, shape.shift), shape};
    const auto add = [&](const std::int8_t* a, const std::int8_t* b, std::int8_t* target) HWY_ATTR {
        const WordVector sum = hn::Add(left_term(hn::PromoteTo(Words{}, hn::LoadU(bytes, a))),
                                       right_term(hn::PromoteTo(Words{}, hn::LoadU(bytes, b))));
        const auto exactly = [&shape](std::int32_t* lanes) {
            rescale_exactly<rounds_twice>(shape, lanes);
        };
        store_lower_bytes(scaler.bytes(sum, exactly), word_lanes, target);
    };
    std::int64_t i = 0;
    for (; i + word_lanes <= count; i += word_lanes) {
        add(left + i, right + i, output + i);
    }
    if (i < count) {
        std::array<std::int8_t, static_cast<std::size_t>(word_lanes)> a{};
        std::array<std::int8_t, static_cast<std::size_t>(word_lanes)> b{};
        std::copy_n(left + i, count - i, a.data());
        std::copy_n(right + i, count - i, b.data());
        add(a.data(), b.data(), a.data());
        std::copy_n(a.data(), count - i, output + i);
    }
}

template <bool rounds_twice>
void add_rounding(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
                  std::int8_t* output, std::int64_t count) {
    // By whether the first and the second term are scaled.
    static constexpr std::array kernels{
        &add_with<rounds_twice, false, false>, &add_with<rounds_twice, false, true>,
        &add_with<rounds_twice, true, false>, &add_with<rounds_twice, true, true>};
    const std::size_t which =
        (shape.terms[0].is_scaled ? 2U : 0U) + (shape.terms[1].is_scaled ? 1U : 0U);
    kernels[which](shape, left, right, output, count);
}

void compute(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
             std::int8_t* output, std::int64_t count) {
    if (shape.rounds_twice) {
        add_rounding<true>(shape, left, right, output, count);
    } else {
        add_rounding<false>(shape, left, right, output, count);
    }
}

#endif

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(compute);

void compute_int8_sum(const Int8SumShape& shape, const std::int8_t* left, const std::int8_t* right,
                      std::int8_t* output, std::int64_t count) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, left, right, output, count);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

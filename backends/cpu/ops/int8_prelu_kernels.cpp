#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/ops/int8_prelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/int8_prelu_kernels.cpp"
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

void compute(const Int8PreluShape& shape, const std::int8_t* input, std::int8_t* output,
             std::int64_t count, std::int64_t channel) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int32_t number = input[i] - shape.input_zero;
        const Int8PreluScale& scale = number < 0 ? shape.negative : shape.positive;
        const std::int32_t factor =
            number < 0 ? shape.slopes[static_cast<std::size_t>(channel)] : shape.positive_factor;
        // As MUL has it, modulo 2^32.
        const auto factored = static_cast<std::int32_t>(static_cast<std::uint32_t>(number) *
                                                        static_cast<std::uint32_t>(factor));
        const std::int64_t product = std::int64_t{factored} * scale.multiplier;
        const std::int64_t moved = product + (product < 0 ? -scale.away : scale.away) +
                                   (std::int64_t{1} << (scale.shift - 1));
        output[i] = static_cast<std::int8_t>(
            std::clamp<std::int64_t>((moved >> scale.shift) + shape.output_zero, -128, 127));
        channel = channel + 1 == shape.channels ? 0 : channel + 1;
    }
}

#else

static_assert(word_lanes <= prelu_lanes_max);

constexpr hn::Rebind<std::int8_t, Words> bytes;

// What is the same in all lanes for each branch.
template <bool moves_away>
class Prelu {
  public:
    explicit HWY_INLINE Prelu(const Int8PreluShape& shape)
        : input_zero_(hn::Set(Words{}, shape.input_zero)),
          output_zero_(hn::Set(Words{}, shape.output_zero)),
          factor_(hn::Set(Words{}, shape.positive_factor)),
          positive_(shape.positive),
          negative_(shape.negative) {}

    [[nodiscard]] HWY_INLINE auto operator()(const std::int8_t* input,
                                             const std::int32_t* slopes) const {
        const WordVector number =
            hn::Sub(hn::PromoteTo(Words{}, hn::LoadU(bytes, input)), input_zero_);
        const auto is_negative = hn::Lt(number, hn::Zero(Words{}));
        const auto chosen = [&](WordVector negative, WordVector positive) HWY_ATTR {
            return hn::IfThenElse(is_negative, negative, positive);
        };
        const WordVector factored = hn::Mul(number, chosen(hn::LoadU(Words{}, slopes), factor_));
        const WordVector multiplier = chosen(negative_.multiplier, positive_.multiplier);
        WideVector even = hn::MulEven(factored, multiplier);
        WideVector odd = hn::MulEven(odd_lanes(factored), odd_lanes(multiplier));
        if constexpr (moves_away) {
            const WordVector away = chosen(negative_.away, positive_.away);
            even = moved(even, hn::And(hn::BitCast(Wide{}, away), hn::Set(Wide{}, 0xffff'ffff)));
            odd = moved(odd, hn::BitCast(Wide{}, odd_lanes(away)));
        }
        const WordVector half = chosen(negative_.half, positive_.half);
        const WordVector right = chosen(negative_.right, positive_.right);
        const WordVector scaled = hn::Add(upper_halves(even, odd), half) >> right;
        // Saturates.
        return hn::DemoteTo(bytes, hn::Add(scaled, output_zero_));
    }

  private:
    struct Branch {
        explicit HWY_INLINE Branch(const Int8PreluScale& scale)
            : multiplier(hn::Set(Words{}, scale.multiplier)),
              away(hn::Set(Words{}, scale.away)),
              half(hn::Set(Words{}, std::int32_t{1} << (scale.shift - whole_shift - 1))),
              right(hn::Set(Words{}, scale.shift - whole_shift)) {}

        WordVector multiplier;
        WordVector away;
        WordVector half;
        WordVector right;
    };

    static HWY_INLINE WideVector moved(WideVector product, WideVector away) {
        return hn::IfNegativeThenElse(product, hn::Sub(product, away), hn::Add(product, away));
    }

    WordVector input_zero_;
    WordVector output_zero_;
    WordVector factor_;
    Branch positive_;
    Branch negative_;
};

template <bool moves_away>
void compute_with(const Int8PreluShape& shape, const std::int8_t* input, std::int8_t* output,
                  std::int64_t count, std::int64_t channel) {
    const Prelu<moves_away> prelu{shape};
    const std::int32_t* const slopes = shape.slopes.data();
    const std::int64_t step = word_lanes % shape.channels;
    std::int64_t i = 0;
    for (; i + word_lanes <= count; i += word_lanes) {
        hn::StoreU(prelu(input + i, slopes + channel), bytes, output + i);
        channel += step;
        channel -= channel >= shape.channels ? shape.channels : 0;
    }
    if (i < count) {
        std::array<std::int8_t, static_cast<std::size_t>(word_lanes)> last{};
        std::copy_n(input + i, count - i, last.data());
        hn::StoreU(prelu(last.data(), slopes + channel), bytes, last.data());
        std::copy_n(last.data(), count - i, output + i);
    }
}

void compute(const Int8PreluShape& shape, const std::int8_t* input, std::int8_t* output,
             std::int64_t count, std::int64_t channel) {
    if (shape.positive.away != 0 || shape.negative.away != 0) {
        compute_with<true>(shape, input, output, count, channel);
    } else {
        compute_with<false>(shape, input, output, count, channel);
    }
}

#endif

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(compute);

void compute_int8_prelu(const Int8PreluShape& shape, const std::int8_t* input, std::int8_t* output,
                        std::int64_t count, std::int64_t channel) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, input, output, count, channel);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

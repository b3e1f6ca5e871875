#include "backends/cpu/ops/general_pooling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/pool_step.h"
#include "backends/cpu/ops/pooling_kernels.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// What a pool does with the pixels under its window: it begins with `start`, takes them in, and
// ends with their number.
template <class T, bool ignores_nan>
struct Largest {
    using Element = T;
    using Total = std::conditional_t<FloatElement<T>, float, T>;

    Largest(const Frame& /*frame*/, const PoolValues& /*values*/) {}

    static constexpr Total start() {
        if constexpr (!FloatElement<T>) {
            return std::numeric_limits<T>::min();
        } else if constexpr (ignores_nan) {
            return std::numeric_limits<float>::quiet_NaN();
        } else {
            return -std::numeric_limits<float>::infinity();
        }
    }

    static Total take(Total so_far, T element) {
        if constexpr (!FloatElement<T>) {
            return std::max(so_far, element);
        } else {
            const float x = widened(element);
            const float odd = ignores_nan ? so_far : x;
            return x > so_far || std::isnan(odd) ? x : so_far;
        }
    }

    static T end(Total total, std::int64_t /*count*/) { return narrowed_to<T>(total); }
};

// Times a number near 1 / `count` and rounded, as TOSA has it.
std::int64_t mean_of(std::int32_t sum, std::int64_t count) {
    // Of more pixels TOSA knows no average.
    constexpr std::int64_t count_max = std::int64_t{1} << 31U;
    count = std::min(count, count_max);
    const auto bits = std::bit_width(static_cast<std::uint64_t>(count - 1));
    const std::int64_t multiplier = (((std::int64_t{1} << 30U) + 1) << bits) / count;
    const auto shift = 30 + bits;
    return ((sum * multiplier) + (std::int64_t{1} << (shift - 1))) >> shift;
}

template <class T>
struct Average {
    using Element = T;
    // Sums that TOSA has no type for wrap around.
    using Total = std::conditional_t<FloatElement<T>, float, std::uint32_t>;

    Average(const Frame& frame, const PoolValues& values)
        : input_zero_(widened(*frame.at<const T>(values.input_zero))),
          output_zero_(widened(*frame.at<const T>(values.output_zero))) {}

    static constexpr Total start() { return {}; }

    [[nodiscard]] Total take(Total so_far, T element) const {
        return so_far + static_cast<Total>(widened(element) - input_zero_);
    }

    [[nodiscard]] T end(Total total, std::int64_t count) const {
        if constexpr (FloatElement<T>) {
            return narrowed_to<T>(total / static_cast<float>(count));
        } else {
            return static_cast<T>(std::clamp<std::int64_t>(
                mean_of(static_cast<std::int32_t>(total), count) + output_zero_,
                std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
        }
    }

  private:
    Wide<T> input_zero_;
    Wide<T> output_zero_;
};

// Computes rows of output pixels in blocks of channels.
template <class Pool>
class GeneralRow {
  public:
    using Element = typename Pool::Element;

    GeneralRow(const Frame& frame, const PoolValues& values) : pool_(frame, values) {}

    // Within the step that calls it, it would run out of registers.
    [[gnu::noinline]] void operator()(const ImageWindow& window,
                                      const PoolingRow<Element>& row) const {
        const auto taps_y = window.y.taps_inside(row.y);
        const std::int64_t first_y = window.y.origin(row.y) + taps_y.first;
        Element* output = row.output;
        for (std::int64_t x = 0; x < window.x.output; ++x) {
            const auto taps_x = window.x.taps_inside(x);
            const std::int64_t first_x = window.x.origin(x) + taps_x.first;
            Pixels pixels{
                .first = row.image + (((first_y * window.x.input) + first_x) * window.channels),
                .height = taps_y.end - taps_y.first,
                .width = taps_x.end - taps_x.first};
            for (std::int64_t channel = 0; channel < window.channels; channel += block) {
                const std::int64_t count = std::min(block, window.channels - channel);
                compute_pixel(window, pixels, count, output);
                pixels.first += count;
                output += count;
            }
        }
    }

  private:
    using Total = typename Pool::Total;

    // Channels that are computed at a time.
    static constexpr std::int64_t block = 64;

    // The pixels under a window that lie inside the image.
    struct Pixels {
        const Element* first = nullptr;
        std::int64_t height = 0;
        std::int64_t width = 0;
    };

    void compute_pixel(const ImageWindow& window, const Pixels& pixels, std::int64_t count,
                       Element* output) const {
        std::array<Total, static_cast<std::size_t>(block)> all{};
        all.fill(Pool::start());
        // A pointer, so that the compiler makes vectors of it where the library checks indices.
        Total* const totals = all.data();
        for (std::int64_t y = 0; y < pixels.height; ++y) {
            const Element* source = pixels.first + (y * window.x.input * window.channels);
            for (std::int64_t x = 0; x < pixels.width; ++x) {
                for (std::int64_t c = 0; c < count; ++c) {
                    totals[c] = pool_.take(totals[c], source[c]);
                }
                source += window.channels;
            }
        }
        for (std::int64_t c = 0; c < count; ++c) {
            output[c] = pool_.end(totals[c], pixels.height * pixels.width);
        }
    }

    Pool pool_;
};

template <class Pool>
struct GeneralRows {
    using Element = typename Pool::Element;
    PoolValues values;

    [[nodiscard]] GeneralRow<Pool> in(const Frame& frame) const { return {frame, values}; }
};

// The step that `Of<T>` pools, for the type of the image's elements.
template <template <class> class Of>
std::unique_ptr<Step> make(const GeneralPool& pool) {
    std::unique_ptr<Step> step;
    VIRTACCEL_CHECK((visit_element<DType::int8, DType::int16, DType::fp16, DType::fp32, DType::bf16,
                                   DType::fp8e4m3, DType::fp8e5m2>(
        pool.dtype, [&]<class T>(ElementType<T> /*type*/) {
            step = make_pool_step(pool, GeneralRows<Of<T>>{pool.values});
        })));
    return step;
}

template <class T>
using LargestOrNan = Largest<T, false>;

template <class T>
using LargestNumber = Largest<T, true>;

}  // namespace

std::unique_ptr<Step> make_general_max_pool(const GeneralPool& pool, bool ignores_nan) {
    return ignores_nan ? make<LargestNumber>(pool) : make<LargestOrNan>(pool);
}

std::unique_ptr<Step> make_general_avg_pool(const GeneralPool& pool) {
    return make<Average>(pool);
}

}  // namespace virtaccel::backends::cpu::ops

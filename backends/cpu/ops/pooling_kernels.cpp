#include "backends/cpu/ops/pooling_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/pooling_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

#include "backends/cpu/ops/vector_ends.h"
#include "backends/cpu/ops/window.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

using D = hn::CappedTag<float, 16>;
using Vector = hn::Vec<D>;
constexpr auto all_lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));

// What a pool does with the pixels under its window: it starts from the first, takes in the others,
// and ends with their number.
struct LargestOrNan {
    static HWY_INLINE Vector take(Vector so_far, Vector x) {
        const auto wins = hn::Or(hn::Gt(x, so_far), hn::IsNaN(x));
        return hn::IfThenElse(wins, x, so_far);
    }

    static HWY_INLINE Vector end(Vector so_far, std::int64_t /*count*/) { return so_far; }
};

struct LargestNumber {
    static HWY_INLINE Vector take(Vector so_far, Vector x) {
        const auto wins = hn::Or(hn::Gt(x, so_far), hn::IsNaN(so_far));
        return hn::IfThenElse(wins, x, so_far);
    }

    static HWY_INLINE Vector end(Vector so_far, std::int64_t /*count*/) { return so_far; }
};

struct Average {
    static HWY_INLINE Vector take(Vector so_far, Vector x) { return hn::Add(so_far, x); }

    static HWY_INLINE Vector end(Vector so_far, std::int64_t count) {
        return hn::Div(so_far, hn::Set(D{}, static_cast<float>(count)));
    }
};

// The pixels under one window: `height` rows of `width` pixels, from `first` on.
struct Pixels {
    const float* first;
    std::int64_t width;
    std::int64_t height;
    std::int64_t row_step;
    std::int64_t channels;
};

template <class Pool, class Load>
HWY_INLINE Vector pool_pixels(const Pixels& pixels, std::int64_t channel, const Load& load) {
    const float* row = pixels.first + channel;
    Vector so_far = load.load(row);
    for (std::int64_t x = 1; x < pixels.width; ++x) {
        so_far = Pool::take(so_far, load.load(row + (x * pixels.channels)));
    }
    for (std::int64_t y = 1; y < pixels.height; ++y) {
        row += pixels.row_step;
        for (std::int64_t x = 0; x < pixels.width; ++x) {
            so_far = Pool::take(so_far, load.load(row + (x * pixels.channels)));
        }
    }
    return Pool::end(so_far, pixels.width * pixels.height);
}

struct WholeVector {
    static HWY_INLINE Vector load(const float* source) { return hn::LoadU(D{}, source); }
};

template <class Pool>
void compute_row(const ImageWindow& window, const PoolingRow<float>& row) {
    const std::int64_t channels = window.channels;
    const auto taps_y = window.y.taps_inside(row.y);
    const std::int64_t first_y = window.y.origin(row.y) + taps_y.first;
    Pixels pixels{.first = nullptr,
                  .width = 0,
                  .height = taps_y.end - taps_y.first,
                  .row_step = window.x.input * channels,
                  .channels = channels};
    const Lanes<D> last{channels % all_lanes};
    float* output = row.output;
    for (std::int64_t x = 0; x < window.x.output; ++x) {
        const auto taps_x = window.x.taps_inside(x);
        const std::int64_t first_x = window.x.origin(x) + taps_x.first;
        pixels.first = row.image + (((first_y * window.x.input) + first_x) * channels);
        pixels.width = taps_x.end - taps_x.first;
        std::int64_t channel = 0;
        for (; channel + all_lanes <= channels; channel += all_lanes) {
            hn::StoreU(pool_pixels<Pool>(pixels, channel, WholeVector{}), D{}, output + channel);
        }
        if (channel < channels) {
            last.store(pool_pixels<Pool>(pixels, channel, last), output + channel);
        }
        output += channels;
    }
}

void compute(Pooling pooling, const ImageWindow& window, const PoolingRow<float>& row) {
    switch (pooling) {
        case Pooling::largest_or_nan:
            return compute_row<LargestOrNan>(window, row);
        case Pooling::largest_number:
            return compute_row<LargestNumber>(window, row);
        case Pooling::average:
            return compute_row<Average>(window, row);
    }
}

// The bytes under one window, like `Pixels`.
struct Bytes {
    const std::int8_t* first;
    std::int64_t width;
    std::int64_t height;
    std::int64_t row_step;
    std::int64_t channels;
};

template <class B>
HWY_INLINE hn::Vec<B> largest(const Bytes& bytes, std::int64_t channel) {
    const std::int8_t* row = bytes.first + channel;
    hn::Vec<B> so_far = hn::LoadU(B{}, row);
    for (std::int64_t y = 0; y < bytes.height; ++y) {
        const std::int8_t* pixel = row;
        for (std::int64_t x = 0; x < bytes.width; ++x) {
            so_far = hn::Max(so_far, hn::LoadU(B{}, pixel));
            pixel += bytes.channels;
        }
        row += bytes.row_step;
    }
    return so_far;
}

// With vectors that are no wider than a pixel: the last one of a pixel ends where that ends, and
// what it has in common with the one before is computed twice.
template <class B>
void compute_bytes(const ImageWindow& window, const PoolingRow<std::int8_t>& row) {
    constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(B{}));
    const std::int64_t channels = window.channels;
    const std::int64_t top = window.y.origin(row.y);
    const std::int64_t first_y = std::max<std::int64_t>(top, 0);
    Bytes bytes{.first = nullptr,
                .width = 0,
                .height = std::min(top + window.y.kernel, window.y.input) - first_y,
                .row_step = window.x.input * channels,
                .channels = channels};
    std::int8_t* output = row.output;
    for (std::int64_t x = 0; x < window.x.output; ++x) {
        const std::int64_t left = window.x.origin(x);
        const std::int64_t first_x = std::max<std::int64_t>(left, 0);
        bytes.first = row.image + (((first_y * window.x.input) + first_x) * channels);
        bytes.width = std::min(left + window.x.kernel, window.x.input) - first_x;
        for (std::int64_t channel = 0; channel + lanes <= channels; channel += lanes) {
            hn::StoreU(largest<B>(bytes, channel), B{}, output + channel);
        }
        if (channels % lanes != 0) {
            const std::int64_t last = channels - lanes;
            hn::StoreU(largest<B>(bytes, last), B{}, output + last);
        }
        output += channels;
    }
}

// With the widest vectors of up to `lanes` bytes that fit into a pixel.
template <std::size_t lanes>
void compute_fitting(const ImageWindow& window, const PoolingRow<std::int8_t>& row) {
    using B = hn::CappedTag<std::int8_t, lanes>;
    if constexpr (hn::MaxLanes(B{}) > 1) {
        if (window.channels < static_cast<std::int64_t>(hn::MaxLanes(B{}))) {
            return compute_fitting<hn::MaxLanes(B{}) / 2>(window, row);
        }
    }
    compute_bytes<B>(window, row);
}

void compute_int8(const ImageWindow& window, const PoolingRow<std::int8_t>& row) {
    compute_fitting<64>(window, row);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(compute);
HWY_EXPORT(compute_int8);

void compute_pooling(Pooling pooling, const ImageWindow& window, const PoolingRow<float>& row) {
    HWY_DYNAMIC_DISPATCH(compute)(pooling, window, row);
}

void compute_int8_max_pool(const ImageWindow& window, const PoolingRow<std::int8_t>& row) {
    HWY_DYNAMIC_DISPATCH(compute_int8)(window, row);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

#include "backends/cpu/ops/depthwise_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/depthwise_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "backends/cpu/ops/vector_ends.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

using Full = hn::CappedTag<float, 16>;
constexpr auto full_lanes = static_cast<std::int64_t>(hn::MaxLanes(Full{}));
constexpr bool has_halves = full_lanes == 16;
using Half = hn::CappedTag<float, (has_halves ? 8 : full_lanes)>;
constexpr auto half_lanes = static_cast<std::int64_t>(hn::MaxLanes(Half{}));

constexpr std::size_t tile_pixels = 8;

// What stands outside the image.
alignas(64) constexpr std::array<float, full_lanes> zeros{};

// A vector of channels of one row.
struct Place {
    const DepthwiseShape& shape;
    const float* packed;
    const DepthwiseRow& row;
    WindowAxis::Taps taps_y;
    std::int64_t channel;
    std::int64_t lanes;

    [[nodiscard]] std::int64_t channels() const { return shape.window.channels; }

    [[nodiscard]] std::int64_t padded_channels() const {
        return (channels() + full_lanes - 1) / full_lanes * full_lanes;
    }
};

// `pixels` neighbouring pixels. `inside` if no window hangs over the left or right edge; `whole` if
// all lanes are channels.
template <class D, std::size_t pixels, bool inside, bool whole>
class Tile {
  public:
    HWY_INLINE Tile(const Place& place, std::int64_t x) : place_(place), x_(x) {
        set(Pixels{});
        const WindowAxis& y = place.shape.window.y;
        const WindowAxis& across = place.shape.window.x;
        const float* weights = place.packed + place.padded_channels() + place.channel;
        weights += place.taps_y.first * across.kernel * place.padded_channels();
        for (std::int64_t ky = place.taps_y.first; ky < place.taps_y.end; ++ky) {
            const std::int64_t row = y.origin(place.row.y) + (ky * y.dilation);
            const float* const input =
                place.row.image + (row * across.input * place.channels()) + place.channel;
            for (std::int64_t kx = 0; kx < across.kernel; ++kx) {
                multiply(input, across.origin(x) + (kx * across.dilation), hn::LoadU(D{}, weights),
                         Pixels{});
                weights += place.padded_channels();
            }
        }
    }

    HWY_INLINE void store() const { store(Pixels{}); }

  private:
    using Vector = hn::Vec<D>;
    using Pixels = std::make_index_sequence<pixels>;

    static HWY_INLINE Vector load(const float* source, std::int64_t lanes) {
        if constexpr (whole) {
            return hn::LoadU(D{}, source);
        } else {
            return load_some(D{}, source, lanes);
        }
    }

    template <std::size_t... p>
    HWY_INLINE void set(std::index_sequence<p...> /*which*/) {
        const Vector bias = hn::LoadU(D{}, place_.packed + place_.channel);
        ((sums_[p] = bias), ...);
    }

    // The column of the first pixel is `column`.
    template <std::size_t... p>
    HWY_INLINE void multiply(const float* input, std::int64_t column, Vector weights,
                             std::index_sequence<p...> /*which*/) {
        const std::int64_t stride = place_.shape.window.x.stride;
        ((sums_[p] = hn::MulAdd(input_at(input, column + (static_cast<std::int64_t>(p) * stride)),
                                weights, sums_[p])),
         ...);
    }

    HWY_INLINE Vector input_at(const float* input, std::int64_t column) const {
        const float* source = input + (column * place_.channels());
        if constexpr (!inside) {
            const bool is_outside = column < 0 || column >= place_.shape.window.x.input;
            source = is_outside ? zeros.data() : source;
        }
        return load(source, place_.lanes);
    }

    template <std::size_t... p>
    HWY_INLINE void store(std::index_sequence<p...> /*which*/) const {
        const Bounds<D> bounds{place_.shape.clamp};
        const std::int64_t residual_channels = place_.shape.residual_channels;
        const std::int64_t residual_lanes =
            std::min(place_.lanes, residual_channels - place_.channel);
        const float* residual = nullptr;
        if (residual_lanes > 0) {
            residual = place_.row.residual + (x_ * residual_channels) + place_.channel;
        }
        float* const output = place_.row.output + (x_ * place_.channels()) + place_.channel;
        (store_pixel(bounds, sums_[p],
                     residual_lanes > 0
                         ? residual + (static_cast<std::int64_t>(p) * residual_channels)
                         : nullptr,
                     residual_lanes, output + (static_cast<std::int64_t>(p) * place_.channels())),
         ...);
    }

    HWY_INLINE void store_pixel(const Bounds<D>& bounds, Vector sum, const float* residual,
                                std::int64_t residual_lanes, float* output) const {
        if (residual != nullptr) {
            sum = hn::Add(sum, load_some(D{}, residual, residual_lanes));
        }
        if constexpr (whole) {
            hn::StoreU(bounds.apply(sum), D{}, output);
        } else {
            store_some(D{}, bounds.apply(sum), output, place_.lanes);
        }
    }

    const Place& place_;
    std::int64_t x_;
    std::array<Vector, pixels> sums_;
};

// Tiles of `pixels` pixels while there are as many, then smaller ones.
template <class D, std::size_t pixels, bool whole>
void compute_tiles(const Place& place, std::int64_t x) {
    constexpr auto step = static_cast<std::int64_t>(pixels);
    const WindowAxis& across = place.shape.window.x;
    const std::int64_t reach = (across.kernel - 1) * across.dilation;
    for (; x + step <= across.output; x += step) {
        const bool is_inside =
            across.origin(x) >= 0 && across.origin(x + step - 1) + reach < across.input;
        if (is_inside) {
            Tile<D, pixels, true, whole>{place, x}.store();
        } else {
            Tile<D, pixels, false, whole>{place, x}.store();
        }
    }
    if constexpr (pixels > 1) {
        if (x < across.output) {
            compute_tiles<D, pixels / 2, whole>(place, x);
        }
    }
}

std::size_t packed_size(const DepthwiseShape& shape) {
    const std::int64_t taps = shape.window.y.kernel * shape.window.x.kernel;
    const std::int64_t channels =
        (shape.window.channels + full_lanes - 1) / full_lanes * full_lanes;
    return static_cast<std::size_t>((taps + 1) * channels);
}

// The bias, then for each tap the weights of all channels, each filled up to whole vectors.
void pack(const DepthwiseShape& shape, std::span<const float> weights, std::span<const float> bias,
          float* packed) {
    const auto channels = static_cast<std::size_t>(shape.window.channels);
    const std::size_t padded = (channels + full_lanes - 1) / full_lanes * full_lanes;
    std::ranges::copy(bias, packed);
    while (!weights.empty()) {
        packed += padded;
        std::ranges::copy(weights.first(channels), packed);
        weights = weights.subspan(channels);
    }
}

void compute(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row) {
    Place place{.shape = shape,
                .packed = packed,
                .row = row,
                .taps_y = shape.window.y.taps_inside(row.y),
                .channel = 0,
                .lanes = full_lanes};
    const std::int64_t channels = shape.window.channels;
    for (; place.channel + full_lanes <= channels; place.channel += full_lanes) {
        compute_tiles<Full, tile_pixels, true>(place, 0);
    }
    place.lanes = channels - place.channel;
    if (place.lanes == 0) {
        return;
    }
    if (has_halves && place.lanes == half_lanes) {
        compute_tiles<Half, tile_pixels, true>(place, 0);
    } else if (has_halves && place.lanes < half_lanes) {
        compute_tiles<Half, tile_pixels, false>(place, 0);
    } else {
        compute_tiles<Full, tile_pixels, false>(place, 0);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(packed_size);
HWY_EXPORT(pack);
HWY_EXPORT(compute);

std::size_t packed_depthwise_size(const DepthwiseShape& shape) {
    return HWY_DYNAMIC_DISPATCH(packed_size)(shape);
}

void pack_depthwise(const DepthwiseShape& shape, std::span<const float> weights,
                    std::span<const float> bias, float* packed) {
    HWY_DYNAMIC_DISPATCH(pack)(shape, weights, bias, packed);
}

void compute_depthwise(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, packed, row);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

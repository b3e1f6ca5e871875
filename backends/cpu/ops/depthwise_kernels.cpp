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
#include <hwy/base.h>
#include <hwy/highway.h>

#include "backends/cpu/ops/vector_ends.h"
#include "backends/cpu/ops/window.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

using Full = hn::CappedTag<float, 16>;
constexpr auto full_lanes = static_cast<std::int64_t>(hn::MaxLanes(Full{}));
constexpr bool has_halves = full_lanes == 16;
using Half = hn::CappedTag<float, (has_halves ? 8 : full_lanes)>;
constexpr auto half_lanes = static_cast<std::int64_t>(hn::MaxLanes(Half{}));

// As many as there are registers for: their sums, the columns they see, and a row of weights.
constexpr std::size_t tile_pixels = has_halves ? 8 : 4;

// What stands outside the image.
alignas(64) constexpr std::array<float, full_lanes> zeros{};

std::int64_t padded(std::int64_t channels) {
    return (channels + full_lanes - 1) / full_lanes * full_lanes;
}

// What stands before the weights: biases, and slopes if there are any.
std::int64_t arrays(const DepthwiseShape& shape) {
    return shape.has_slopes ? 2 : 1;
}

// A vector of channels of one row: where its first tap inside the image is in the input, in floats
// for column 0, and its weights; and how far it is from there to the next.
struct Place {
    const DepthwiseShape& shape;
    const DepthwiseRow& row;
    std::int64_t channel;
    std::int64_t lanes;
    const float* bias;
    const float* slopes;  // or null
    const float* weights;
    const float* input;
    std::int64_t taps;
    std::int64_t tap_step;
    // The tap that lies beyond the end of a ring of rows, and how far it is back to where it is.
    std::int64_t ring_tap;
    std::int64_t ring_floats;
    std::int64_t weights_step;
    std::int64_t channels;

    [[nodiscard]] const WindowAxis& x() const { return shape.window.x; }
};

Place place_of(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row) {
    const WindowAxis& y = shape.window.y;
    const WindowAxis& x = shape.window.x;
    const auto taps = y.taps_inside(row.y);
    const std::int64_t row_floats = x.input * shape.window.channels;
    const std::int64_t channels = padded(shape.window.channels);
    std::int64_t first_row = y.origin(row.y) + (taps.first * y.dilation);
    std::int64_t ring_tap = taps.end;
    if (row.ring_rows != 0) {
        first_row %= row.ring_rows;
        ring_tap = (row.ring_rows - first_row + y.dilation - 1) / y.dilation;
    }
    return {.shape = shape,
            .row = row,
            .channel = 0,
            .lanes = full_lanes,
            .bias = packed,
            .slopes = shape.has_slopes ? packed + channels : nullptr,
            .weights = packed + ((arrays(shape) + (taps.first * x.kernel)) * channels),
            .input = row.image + (first_row * row_floats),
            .taps = taps.end - taps.first,
            .tap_step = y.dilation * row_floats,
            .ring_tap = ring_tap,
            .ring_floats = row.ring_rows * row_floats,
            .weights_step = channels,
            .channels = shape.window.channels};
}

// How a tile looks at its input. `is_inside`: no window hangs over the left or right edge;
// `is_whole`: all lanes are channels. A `kernel` that is not zero is the window's width, with taps
// that are neighbours and `stride` between windows: then each column is loaded once for all of its
// windows.
struct View {
    bool is_inside = false;
    bool is_whole = false;
    std::size_t kernel = 0;
    std::size_t stride = 1;
};

// The sums of `pixels` neighbouring pixels, for one vector of channels.
template <class D, std::size_t pixels, View view>
class Tile {
  public:
    HWY_INLINE Tile(const Place& place, std::int64_t x)
        : place_(place), x_(x), lanes_(place.lanes) {
        set(Pixels{});
        const float* input = place.input + place.channel;
        const float* weights = place.weights + place.channel;
        const std::int64_t weights_step = place.weights_step;
        const std::int64_t origin = place.x().origin(x);
        for (std::int64_t i = 0; i < place.taps; ++i) {
            input -= i == place.ring_tap ? place.ring_floats : 0;
            add_row(input, origin, weights, weights_step);
            input += place.tap_step;
            weights += place.x().kernel * weights_step;
        }
    }

    HWY_INLINE void store() const {
        const DepthwiseShape& shape = place_.shape;
        const DepthwiseRow& row = place_.row;
        Channels<const float> residual{nullptr, shape.residual_channels, place_.channel};
        if (shape.residual_channels != 0) {
            residual.data = row.residual + (x_ * shape.residual_channels);
        }
        const Channels<float> output{row.output + (x_ * place_.channels), place_.channels,
                                     place_.channel};
        const float* const slopes =
            place_.slopes == nullptr ? nullptr : place_.slopes + place_.channel;
        Column<D>{shape.clamp, slopes, output, residual}.store(Sum{*this}, Pixels{});
    }

  private:
    using Vector = hn::Vec<D>;
    using Pixels = std::make_index_sequence<pixels>;
    static constexpr std::size_t columns =
        view.kernel == 0 ? 1 : ((pixels - 1) * view.stride) + view.kernel;

    template <std::size_t... p>
    HWY_INLINE void set(std::index_sequence<p...> /*which*/) {
        const Vector bias = hn::LoadU(D{}, place_.bias + place_.channel);
        ((std::get<p>(sums_) = bias), ...);
    }

    HWY_INLINE void add_row(const float* input, std::int64_t origin, const float* weights,
                            std::int64_t weights_step) {
        if constexpr (view.kernel != 0) {
            std::array<Vector, columns> loaded;
            load_columns(loaded, input, origin, std::make_index_sequence<columns>{});
            add_columns(loaded, weights, weights_step, std::make_index_sequence<view.kernel>{});
        } else {
            for (std::int64_t kx = 0; kx < place_.x().kernel; ++kx) {
                add_tap(input, origin + (kx * place_.x().dilation),
                        hn::LoadU(D{}, weights + (kx * weights_step)), Pixels{});
            }
        }
    }

    struct Sum {
        const Tile& tile;

        template <std::size_t p>
        HWY_INLINE Vector at() const {
            return std::get<p>(tile.sums_);
        }
    };

    template <std::size_t... c>
    HWY_INLINE void load_columns(std::array<Vector, columns>& loaded, const float* input,
                                 std::int64_t origin, std::index_sequence<c...> /*which*/) {
        if constexpr (view.is_inside) {
            const Steps<columns> from{input + (origin * place_.channels), place_.channels};
            ((std::get<c>(loaded) = in_register(load(from.template at<c>()))), ...);
        } else {
            ((std::get<c>(loaded) =
                  in_register(input_at(input, origin + static_cast<std::int64_t>(c)))),
             ...);
        }
    }

    template <std::size_t... k>
    HWY_INLINE void add_columns(const std::array<Vector, columns>& loaded, const float* weights,
                                std::int64_t weights_step, std::index_sequence<k...> /*which*/) {
        (add_column<k>(loaded,
                       hn::LoadU(D{}, weights + (static_cast<std::int64_t>(k) * weights_step)),
                       Pixels{}),
         ...);
    }

    template <std::size_t k, std::size_t... p>
    HWY_INLINE void add_column(const std::array<Vector, columns>& loaded, Vector weights,
                               std::index_sequence<p...> /*which*/) {
        ((std::get<p>(sums_) =
              hn::MulAdd(std::get<(p * view.stride) + k>(loaded), weights, std::get<p>(sums_))),
         ...);
    }

    template <std::size_t... p>
    HWY_INLINE void add_tap(const float* input, std::int64_t column, Vector weights,
                            std::index_sequence<p...> /*which*/) {
        ((std::get<p>(sums_) = hn::MulAdd(
              input_at(input, column + (static_cast<std::int64_t>(p) * place_.x().stride)), weights,
              std::get<p>(sums_))),
         ...);
    }

    HWY_INLINE Vector input_at(const float* input, std::int64_t column) const {
        const float* source = input + (column * place_.channels);
        if constexpr (!view.is_inside) {
            const bool is_outside = column < 0 || column >= place_.x().input;
            source = is_outside ? zeros.data() : source;
        }
        return load(source);
    }

    HWY_INLINE Vector load(const float* source) const {
        if constexpr (view.is_whole) {
            return hn::LoadU(D{}, source);
        } else {
            return lanes_.load(source);
        }
    }

    const Place& place_;
    std::int64_t x_;
    Lanes<D> lanes_;
    std::array<Vector, pixels> sums_;
};

// Tiles of `pixels` pixels while there are as many, then smaller ones.
template <class D, std::size_t pixels, View view>
void compute_tiles(const Place& place, std::int64_t x) {
    constexpr auto step = static_cast<std::int64_t>(pixels);
    constexpr View inside{
        .is_inside = true, .is_whole = view.is_whole, .kernel = view.kernel, .stride = view.stride};
    const WindowAxis& across = place.x();
    const std::int64_t reach = (across.kernel - 1) * across.dilation;
    for (; x + step <= across.output; x += step) {
        const bool is_inside =
            across.origin(x) >= 0 && across.origin(x + step - 1) + reach < across.input;
        if (is_inside) {
            Tile<D, pixels, inside>{place, x}.store();
        } else {
            Tile<D, pixels, view>{place, x}.store();
        }
    }
    if constexpr (pixels > 1) {
        if (x < across.output) {
            compute_tiles<D, pixels / 2, view>(place, x);
        }
    }
}

// Tiles of seven pixels for rows that they fill better, if there are registers for what they see.
template <class D, View view>
void compute_row_in_tiles(const Place& place) {
    constexpr std::size_t usual = tile_pixels / view.stride;
    if constexpr (has_halves) {
        if (place.x().output % 7 == 0 && place.x().output % usual != 0) {
            compute_tiles<D, 7, view>(place, 0);
            return;
        }
    }
    compute_tiles<D, usual, view>(place, 0);
}

// One vector of channels along the row, by the window's width and stride if they are usual.
template <class D, bool is_whole>
void compute_row(const Place& place) {
    const WindowAxis& x = place.x();
    const bool has_neighbours = x.dilation == 1;
    if (has_neighbours && x.kernel == 3 && x.stride == 1) {
        compute_row_in_tiles<D, View{false, is_whole, 3, 1}>(place);
    } else if (has_neighbours && x.kernel == 3 && x.stride == 2) {
        compute_row_in_tiles<D, View{false, is_whole, 3, 2}>(place);
    } else if (has_neighbours && x.kernel == 5 && x.stride == 1) {
        compute_row_in_tiles<D, View{false, is_whole, 5, 1}>(place);
    } else if (has_neighbours && x.kernel == 5 && x.stride == 2) {
        compute_row_in_tiles<D, View{false, is_whole, 5, 2}>(place);
    } else {
        compute_tiles<D, tile_pixels, View{false, is_whole, 0, 1}>(place, 0);
    }
}

std::size_t packed_size(const DepthwiseShape& shape) {
    const std::int64_t taps = shape.window.y.kernel * shape.window.x.kernel;
    return static_cast<std::size_t>((taps + arrays(shape)) * padded(shape.window.channels));
}

// The bias, the slopes, then for each tap the weights of all channels, each filled up to whole
// vectors.
void pack(const DepthwiseShape& shape, std::span<const float> weights, std::span<const float> bias,
          std::span<const float> slopes, float* packed) {
    const auto channels = static_cast<std::size_t>(shape.window.channels);
    const std::int64_t step = padded(shape.window.channels);
    std::ranges::copy(bias, packed);
    std::ranges::copy(slopes, packed + step);
    packed += arrays(shape) * step;
    for (; !weights.empty(); weights = weights.subspan(channels)) {
        std::ranges::copy(weights.first(channels), packed);
        packed += step;
    }
}

void compute(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row) {
    Place place = place_of(shape, packed, row);
    const std::int64_t channels = shape.window.channels;
    for (; place.channel + full_lanes <= channels; place.channel += full_lanes) {
        compute_row<Full, true>(place);
    }
    place.lanes = channels - place.channel;
    if (place.lanes == 0) {
        return;
    }
    if (has_halves && place.lanes == half_lanes) {
        compute_row<Half, true>(place);
    } else if (has_halves && place.lanes < half_lanes) {
        compute_row<Half, false>(place);
    } else {
        compute_row<Full, false>(place);
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
                    std::span<const float> bias, std::span<const float> slopes, float* packed) {
    HWY_DYNAMIC_DISPATCH(pack)(shape, weights, bias, slopes, packed);
}

void compute_depthwise(const DepthwiseShape& shape, const float* packed, const DepthwiseRow& row) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, packed, row);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

#include "backends/cpu/ops/dense_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/dense_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

#include "backends/cpu/ops/vector_ends.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

// A panel is up to three vectors wide. Where vectors are long, it may end in half of one, so that
// few lanes are computed for nothing.
using Full = hn::CappedTag<float, 16>;
constexpr std::size_t full_lanes = hn::MaxLanes(Full{});
constexpr bool has_halves = full_lanes == 16;
using Half = hn::CappedTag<float, (has_halves ? 8 : full_lanes)>;
constexpr std::size_t half_lanes = hn::MaxLanes(Half{});

// Panels are this many channels wide, times 1 to `units_max`.
constexpr std::size_t unit = half_lanes;
constexpr std::size_t units_max = has_halves ? 6 : 3;
// As many as there are registers for.
constexpr std::size_t registers = has_halves ? 32 : 16;

// How many pixels a tile of panels of `units` has: sums, weights and one input fill the registers.
constexpr std::size_t tile_pixels(std::size_t units) {
    const std::size_t vectors = has_halves ? (units + 1) / 2 : units;
    const std::size_t most = (registers - 1 - vectors) / vectors;
    return std::min<std::size_t>(most, has_halves ? 12 : 6);
}

template <class D>
HWY_INLINE Column<D> column(const DenseShape& shape, const DensePixels& at, std::int64_t channel) {
    return Column<D>{
        shape.clamp,
        at.slopes == nullptr ? nullptr : at.slopes + channel,
        {.data = at.output, .channels = shape.output_channels, .channel = channel},
        {.data = at.residual, .channels = shape.residual_channels, .channel = channel}};
}

// The sums of a tile: `pixels` by `units` half vectors.
template <std::size_t pixels, std::size_t units>
class Tile {
  public:
    static constexpr std::size_t fulls = has_halves ? units / 2 : units;
    static constexpr bool has_half = has_halves && units % 2 == 1;
    static constexpr std::size_t width = units * unit;

    using Pixels = std::make_index_sequence<pixels>;
    using Fulls = std::make_index_sequence<fulls>;

    HWY_INLINE explicit Tile(const float* bias) { set(bias, Pixels{}); }

    HWY_INLINE void add_run(const float* input, std::int64_t step, std::int64_t length,
                            const float* weights) {
        Steps<pixels> windows{input, step};
        for (std::int64_t i = 0; i < length; ++i) {
            multiply(windows, weights, Pixels{});
            windows.advance();
            weights += width;
        }
    }

    HWY_INLINE void store(const DenseShape& shape, const DensePixels& at,
                          std::int64_t channel) const {
        store(shape, at, channel, Fulls{});
    }

  private:
    using FullVector = hn::Vec<Full>;
    using HalfVector = hn::Vec<Half>;

    struct Pixel {
        std::array<FullVector, fulls == 0 ? 1 : fulls> full;
        HalfVector half;
    };

    template <std::size_t... p>
    HWY_INLINE void set(const float* bias, std::index_sequence<p...> /*which*/) {
        (set_pixel(std::get<p>(sums_), bias, Fulls{}), ...);
    }

    template <std::size_t... v>
    static HWY_INLINE void set_pixel(Pixel& pixel, const float* bias,
                                     std::index_sequence<v...> /*which*/) {
        ((std::get<v>(pixel.full) = hn::LoadU(Full{}, bias + (v * full_lanes))), ...);
        if constexpr (has_half) {
            pixel.half = hn::LoadU(Half{}, bias + (fulls * full_lanes));
        }
    }

    template <std::size_t... p>
    HWY_INLINE void multiply(const Steps<pixels>& windows, const float* weights,
                             std::index_sequence<p...> /*which*/) {
        Pixel row;
        set_pixel(row, weights, Fulls{});
        (multiply_pixel(std::get<p>(sums_), *windows.template at<p>(), row, Fulls{}), ...);
    }

    template <std::size_t... v>
    static HWY_INLINE void multiply_pixel(Pixel& pixel, float input, const Pixel& row,
                                          std::index_sequence<v...> /*which*/) {
        if constexpr (fulls != 0) {
            const FullVector full = hn::Set(Full{}, input);
            ((std::get<v>(pixel.full) =
                  hn::MulAdd(full, std::get<v>(row.full), std::get<v>(pixel.full))),
             ...);
        }
        if constexpr (has_half) {
            pixel.half = hn::MulAdd(hn::Set(Half{}, input), row.half, pixel.half);
        }
    }

    template <std::size_t v>
    struct FullSum {
        const Tile& tile;

        template <std::size_t p>
        HWY_INLINE FullVector at() const {
            return std::get<v>(std::get<p>(tile.sums_).full);
        }
    };

    struct HalfSum {
        const Tile& tile;

        template <std::size_t p>
        HWY_INLINE HalfVector at() const {
            return std::get<p>(tile.sums_).half;
        }
    };

    template <std::size_t... v>
    HWY_INLINE void store(const DenseShape& shape, const DensePixels& at, std::int64_t channel,
                          std::index_sequence<v...> /*which*/) const {
        (column<Full>(shape, at, channel + static_cast<std::int64_t>(v * full_lanes))
             .store(FullSum<v>{*this}, Pixels{}),
         ...);
        if constexpr (has_half) {
            const std::int64_t last = channel + static_cast<std::int64_t>(fulls * full_lanes);
            column<Half>(shape, at, last).store(HalfSum{*this}, Pixels{});
        }
    }

    std::array<Pixel, pixels> sums_;
};

// One panel of a tile's pixels.
template <std::size_t pixels, std::size_t units>
HWY_INLINE void compute_tile(const DenseShape& shape, const float* packed, const float* bias,
                             const DensePixels& at, std::int64_t channel) {
    Tile<pixels, units> tile{bias};
    const float* weights =
        packed + (static_cast<std::size_t>(at.first_run * shape.run_length) * units * unit);
    for (const std::int64_t offset : at.run_offsets) {
        tile.add_run(at.input + (at.window + offset), at.input_step, shape.run_length, weights);
        weights += static_cast<std::size_t>(shape.run_length) * units * unit;
    }
    tile.store(shape, at, channel);
}

HWY_INLINE void skip(const DenseShape& shape, DensePixels& pixels, std::int64_t count) {
    pixels.window += count * pixels.input_step;
    pixels.output += count * shape.output_channels;
    if (pixels.residual != nullptr) {
        pixels.residual += count * shape.residual_channels;
    }
    pixels.count -= count;
}

// As many tiles of `pixels` pixels as there are, then smaller ones.
template <std::size_t pixels, std::size_t units>
void compute_tiles(const DenseShape& shape, const float* packed, const float* bias, DensePixels at,
                   std::int64_t channel) {
    constexpr auto step = static_cast<std::int64_t>(pixels);
    while (at.count >= step) {
        compute_tile<pixels, units>(shape, packed, bias, at, channel);
        skip(shape, at, step);
    }
    if constexpr (pixels > 1) {
        if (at.count != 0) {
            compute_tiles<(pixels + 1) / 2, units>(shape, packed, bias, at, channel);
        }
    }
}

// How many tiles of `small` pixels to begin with, so that the rest is a multiple of `large`; none
// if no number does that.
constexpr std::int64_t small_tiles(std::int64_t count, std::int64_t large, std::int64_t small) {
    for (std::int64_t tiles = 0; tiles < large && tiles * small <= count; ++tiles) {
        if ((count - (tiles * small)) % large == 0) {
            return tiles;
        }
    }
    return 0;
}

static_assert(small_tiles(64, 12, 8) == 2 && small_tiles(64, 9, 8) == 8);

template <std::size_t units>
void compute_panel(const DenseShape& shape, const float* packed, const float* bias, DensePixels at,
                   std::int64_t channel) {
    constexpr std::size_t large = tile_pixels(units);
    constexpr std::size_t small = large > 8 ? 8 : large > 4 ? 4 : large;
    const std::int64_t tiles = small_tiles(at.count, large, small);
    for (std::int64_t i = 0; i < tiles; ++i) {
        compute_tile<small, units>(shape, packed, bias, at, channel);
        skip(shape, at, small);
    }
    compute_tiles<large, units>(shape, packed, bias, at, channel);
}

using Panel = void (*)(const DenseShape&, const float*, const float*, DensePixels, std::int64_t);

// By units, from 1.
constexpr auto panels = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Panel, sizeof...(i)>{&compute_panel<i + 1>...};
}(std::make_index_sequence<units_max>{});

// How the output channels are cut into panels of nearly one width.
class Cut {
  public:
    explicit Cut(const DenseShape& shape)
        : units_((static_cast<std::size_t>(shape.output_channels) + unit - 1) / unit),
          panels_((units_ + units_max - 1) / units_max) {}

    [[nodiscard]] std::size_t panels() const { return panels_; }

    [[nodiscard]] std::size_t units_of(std::size_t panel) const {
        return (units_ / panels_) + (panel < units_ % panels_ ? 1 : 0);
    }

    // Output channels, those for nothing included.
    [[nodiscard]] std::size_t channels() const { return units_ * unit; }

  private:
    std::size_t units_;
    std::size_t panels_;
};

// What stands before the weights: biases, and slopes if there are any.
std::size_t arrays(const DenseShape& shape) {
    return shape.has_slopes ? 2 : 1;
}

std::size_t packed_size(const DenseShape& shape) {
    return Cut{shape}.channels() *
           (static_cast<std::size_t>(shape.window_length()) + arrays(shape));
}

// The bias, the slopes, then panel after panel: for each float of the window, the weights of all
// its channels.
void pack(const DenseShape& shape, std::span<const float> weights, std::span<const float> bias,
          std::span<const float> slopes, float* packed) {
    const Cut cut{shape};
    const auto length = static_cast<std::size_t>(shape.window_length());
    const auto channels = static_cast<std::size_t>(shape.output_channels);
    std::ranges::copy(bias, packed);
    std::ranges::copy(slopes, packed + cut.channels());
    packed += arrays(shape) * cut.channels();
    std::size_t channel = 0;
    for (std::size_t panel = 0; panel < cut.panels(); ++panel) {
        const std::size_t width = cut.units_of(panel) * unit;
        for (std::size_t c = 0; c < width && channel + c < channels; ++c) {
            for (std::size_t k = 0; k < length; ++k) {
                packed[(k * width) + c] = weights[((channel + c) * length) + k];
            }
        }
        packed += width * length;
        channel += width;
    }
}

std::int64_t tile(const DenseShape& shape) {
    return static_cast<std::int64_t>(tile_pixels(Cut{shape}.units_of(0)));
}

std::int64_t panel_count(const DenseShape& shape) {
    return static_cast<std::int64_t>(Cut{shape}.panels());
}

void compute(const DenseShape& shape, const float* packed, DensePixels pixels) {
    const Cut cut{shape};
    const float* bias = packed;
    const float* weights = packed + (arrays(shape) * cut.channels());
    pixels.slopes = shape.has_slopes ? packed + cut.channels() : nullptr;
    std::int64_t channel = 0;
    const std::int64_t last =
        std::min(panel_count(shape) - pixels.first_panel, pixels.panels_max) + pixels.first_panel;
    for (std::int64_t panel = 0; panel < last; ++panel) {
        const std::size_t units = cut.units_of(static_cast<std::size_t>(panel));
        if (panel >= pixels.first_panel) {
            panels[units - 1](shape, weights, bias, pixels, channel);
        }
        const std::size_t width = units * unit;
        weights += width * static_cast<std::size_t>(shape.window_length());
        bias += width;
        channel += static_cast<std::int64_t>(width);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(packed_size);
HWY_EXPORT(pack);
HWY_EXPORT(tile);
HWY_EXPORT(panel_count);
HWY_EXPORT(compute);

std::size_t packed_dense_size(const DenseShape& shape) {
    return HWY_DYNAMIC_DISPATCH(packed_size)(shape);
}

void pack_dense(const DenseShape& shape, std::span<const float> weights,
                std::span<const float> bias, std::span<const float> slopes, float* packed) {
    HWY_DYNAMIC_DISPATCH(pack)(shape, weights, bias, slopes, packed);
}

std::int64_t dense_tile(const DenseShape& shape) {
    return HWY_DYNAMIC_DISPATCH(tile)(shape);
}

std::int64_t dense_panels(const DenseShape& shape) {
    return HWY_DYNAMIC_DISPATCH(panel_count)(shape);
}

void compute_dense(const DenseShape& shape, const float* packed, const DensePixels& pixels) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, packed, pixels);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

#include "backends/cpu/ops/int8_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/int8_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/int8_vectors.h"
#include "backends/cpu/ops/vector_ends.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

// Groups and sums alike: one for each output channel.
using D = hn::CappedTag<std::int32_t, 16>;
using Vector = hn::Vec<D>;
constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(D{}));
constexpr bool is_wide = lanes == 16;

// A panel is up to so many vectors wide; a tile's sums, weights and one group fill the registers.
constexpr std::size_t vectors_max = is_wide ? 4 : 2;
constexpr std::size_t registers = is_wide ? 32 : 16;

constexpr std::size_t tile_pixels(std::size_t vectors) {
    return std::min<std::size_t>((registers - 2 - vectors) / vectors, is_wide ? 12 : 6);
}

// What two groups add to a sum.
struct Pairs {
    static HWY_INLINE Vector add_product(Vector sum, Vector group, Vector weights) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
        // The sum of two products: exact, because none of the numbers is -32768.
        const hn::Repartition<std::int16_t, D> d16;
        Vector nothing = hn::Zero(D{});
        return hn::ReorderWidenMulAccumulate(D{}, hn::BitCast(d16, group),
                                             hn::BitCast(d16, weights), sum, nothing);
#else
        const auto low = [](Vector v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
        const auto high = [](Vector v) { return hn::ShiftRight<16>(v); };
        const Vector products =
            hn::Add(hn::Mul(low(group), low(weights)), hn::Mul(high(group), high(weights)));
        return hn::Add(sum, products);
#endif
    }
};

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3

// VNNI is no part of the instruction set that the compiler is told of.
struct Quads {
    static HWY_INLINE Vector add_product(Vector sum, Vector group, Vector weights) {
        asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(group.raw), "v"(weights.raw));
        return sum;
    }
};

constexpr bool has_quads = true;
#else
using Quads = Pairs;  // never asked for
constexpr bool has_quads = false;
#endif

bool can_use_quads() {
#if HWY_ARCH_X86
    return has_quads && __builtin_cpu_supports("avx512vnni") != 0;
#else
    return false;
#endif
}

// The sums of a tile.
template <class Dot, std::size_t pixels, std::size_t vectors>
class Tile {
  public:
    static constexpr std::int64_t width = static_cast<std::int64_t>(vectors) * lanes;

    HWY_INLINE explicit Tile(const std::int32_t* bias) { set(bias, Pixels{}); }

    HWY_INLINE void add_run(const std::int32_t* groups, std::int64_t step, std::int64_t length,
                            const std::int32_t* weights) {
        Steps<pixels, std::int32_t> windows{groups, step};
        for (std::int64_t i = 0; i < length; ++i) {
            multiply(windows, weights, Pixels{});
            windows.advance();
            weights += width;
        }
    }

    HWY_INLINE void store(const Int8Shape& shape, const Int8Target& output,
                          std::int64_t channel) const {
        store(shape, output, channel, Vectors{});
    }

  private:
    using Pixels = std::make_index_sequence<pixels>;
    using Vectors = std::make_index_sequence<vectors>;
    using Row = std::array<Vector, vectors>;

    template <std::size_t... p>
    HWY_INLINE void set(const std::int32_t* bias, std::index_sequence<p...> /*which*/) {
        Row row;
        load(row, bias, Vectors{});
        ((std::get<p>(sums_) = row), ...);
    }

    template <std::size_t... v>
    static HWY_INLINE void load(Row& row, const std::int32_t* source,
                                std::index_sequence<v...> /*which*/) {
        ((std::get<v>(row) = hn::LoadU(D{}, source + (static_cast<std::int64_t>(v) * lanes))), ...);
    }

    template <std::size_t... p>
    HWY_INLINE void multiply(const Steps<pixels, std::int32_t>& windows,
                             const std::int32_t* weights, std::index_sequence<p...> /*which*/) {
        Row row;
        load(row, weights, Vectors{});
        (multiply_pixel(std::get<p>(sums_), *windows.template at<p>(), row, Vectors{}), ...);
    }

    template <std::size_t... v>
    static HWY_INLINE void multiply_pixel(Row& sums, std::int32_t group, const Row& weights,
                                          std::index_sequence<v...> /*which*/) {
        const Vector groups = hn::Set(D{}, group);
        ((std::get<v>(sums) = Dot::add_product(std::get<v>(sums), groups, std::get<v>(weights))),
         ...);
    }

    template <std::size_t... v>
    HWY_INLINE void store(const Int8Shape& shape, const Int8Target& output, std::int64_t channel,
                          std::index_sequence<v...> /*which*/) const {
        (Int8Column{.target = output,
                    .channels = shape.output_channels,
                    .channel = channel + (static_cast<std::int64_t>(v) * lanes)}
             .store(Sums<v>{*this}, Pixels{}),
         ...);
    }

    // One vector of channels of all pixels.
    template <std::size_t v>
    struct Sums {
        const Tile& tile;

        template <std::size_t p>
        [[nodiscard]] HWY_INLINE Vector at() const {
            return std::get<v>(std::get<p>(tile.sums_));
        }
    };

    std::array<Row, pixels> sums_;
};

// One panel of a tile's pixels.
template <class Dot, std::size_t pixels, std::size_t vectors>
HWY_INLINE void compute_tile(const Int8Shape& shape, const std::int32_t* weights,
                             const std::int32_t* bias, const Int8Pixels& at, std::int64_t channel) {
    using Sums = Tile<Dot, pixels, vectors>;
    Sums tile{bias};
    const std::int64_t length = shape.run_length();
    const std::int64_t run_step = shape.dilation_x * shape.groups();
    std::int64_t row = at.first_row;
    for (std::int64_t y = 0; y < shape.kernel_y; ++y) {
        const std::int32_t* run = at.rows + (row * at.row_step);
        for (std::int64_t i = 0; i < shape.runs_per_row(); ++i) {
            tile.add_run(run, at.pixel_step, length, weights);
            run += run_step;
            weights += length * Sums::width;
        }
        row += shape.dilation_y;
        row -= row >= at.row_count ? at.row_count : 0;
    }
    tile.store(shape, at.output, channel);
}

// As many tiles of `pixels` pixels as there are, then smaller ones.
template <class Dot, std::size_t pixels, std::size_t vectors>
void compute_tiles(const Int8Shape& shape, const std::int32_t* weights, const std::int32_t* bias,
                   Int8Pixels at, std::int64_t channel) {
    constexpr auto step = static_cast<std::int64_t>(pixels);
    while (at.count >= step) {
        compute_tile<Dot, pixels, vectors>(shape, weights, bias, at, channel);
        at.rows += step * at.pixel_step;
        at.output = at.output.after(step * shape.output_channels);
        at.count -= step;
    }
    if constexpr (pixels > 1) {
        if (at.count != 0) {
            compute_tiles<Dot, (pixels + 1) / 2, vectors>(shape, weights, bias, at, channel);
        }
    }
}

using Panel = void (*)(const Int8Shape&, const std::int32_t*, const std::int32_t*, Int8Pixels,
                       std::int64_t);

// By vectors, from 1.
template <class Dot>
constexpr auto panels = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Panel, sizeof...(i)>{&compute_tiles<Dot, tile_pixels(i + 1), i + 1>...};
}(std::make_index_sequence<vectors_max>{});

// How the output channels are cut into panels of nearly one width.
class Cut {
  public:
    explicit Cut(const Int8Shape& shape)
        : vectors_(static_cast<std::size_t>((shape.output_channels + lanes - 1) / lanes)),
          panels_((vectors_ + vectors_max - 1) / vectors_max) {}

    [[nodiscard]] std::size_t panels() const { return panels_; }

    [[nodiscard]] std::size_t vectors_of(std::size_t panel) const {
        return (vectors_ / panels_) + (panel < vectors_ % panels_ ? 1 : 0);
    }

    // Output channels, those for nothing included.
    [[nodiscard]] std::int64_t channels() const {
        return static_cast<std::int64_t>(vectors_) * lanes;
    }

  private:
    std::size_t vectors_;
    std::size_t panels_;
};

std::size_t packed_size(const Int8Shape& shape) {
    const std::int64_t groups = shape.taps() * shape.groups();
    return static_cast<std::size_t>(Cut{shape}.channels() * (groups + 1)) * sizeof(std::int32_t);
}

// The weights of `count` channels for the channels of a group, and what they add up to.
struct PackedGroup {
    const Int8Shape& shape;
    const Int8Weights& weights;
    std::int32_t* target;
    std::uint32_t* sums;
    std::int64_t count;
};

// `Element` is what the format has for a weight; `element` is the group's first one.
template <class Element>
void pack_group(const PackedGroup& at, const std::int8_t* source, std::int64_t elements) {
    constexpr std::int64_t group_channels = sizeof(std::int32_t) / sizeof(Element);
    for (std::int64_t i = 0; i < elements; ++i) {
        const std::int8_t* const row = source + (i * at.weights.element_step);
        std::byte* const target = reinterpret_cast<std::byte*>(at.target) +
                                  (static_cast<std::size_t>(i) * sizeof(Element));
        for (std::int64_t c = 0; c < at.count; ++c) {
            const std::int32_t weight = row[c * at.weights.channel_step] - at.weights.zero;
            const auto element = static_cast<Element>(weight);
            std::memcpy(target + (static_cast<std::size_t>(c * group_channels) * sizeof(Element)),
                        &element, sizeof(Element));
            at.sums[c] += static_cast<std::uint32_t>(weight);
        }
    }
}

// The bias, less what staged inputs are too great, then panel after panel: for each group of the
// window, the weights of all its channels.
void pack(const Int8Shape& shape, const Int8Weights& weights, const std::int32_t* bias,
          std::byte* packed) {
    const Cut cut{shape};
    std::memset(packed, 0, packed_size(shape));
    auto* const sums = reinterpret_cast<std::uint32_t*>(packed);
    std::int32_t* target = reinterpret_cast<std::int32_t*>(packed) + cut.channels();
    std::int64_t channel = 0;
    for (std::size_t panel = 0; panel < cut.panels(); ++panel) {
        const std::int64_t width = static_cast<std::int64_t>(cut.vectors_of(panel)) * lanes;
        const std::int64_t count = std::min(width, shape.output_channels - channel);
        for (std::int64_t i = 0; i < shape.taps() * shape.groups(); ++i) {
            const std::int64_t first = i % shape.groups() * shape.group_channels();
            const std::int64_t elements =
                std::min(shape.group_channels(), shape.input_channels - first);
            const std::int64_t element = (i / shape.groups() * shape.input_channels) + first;
            const PackedGroup at{.shape = shape,
                                 .weights = weights,
                                 .target = target,
                                 .sums = sums + channel,
                                 .count = count};
            const std::int8_t* const source =
                weights.data + (channel * weights.channel_step) + (element * weights.element_step);
            if (shape.format == Int8Format::quads) {
                pack_group<std::int8_t>(at, source, elements);
            } else {
                pack_group<std::int16_t>(at, source, elements);
            }
            target += width;
        }
        channel += width;
    }
    const std::int32_t excess = shape.format == Int8Format::quads ? 128 + shape.input_zero : 0;
    for (std::int64_t c = 0; c < shape.output_channels; ++c) {
        const std::int32_t of_channel = bias == nullptr ? 0 : bias[c];
        sums[c] =
            static_cast<std::uint32_t>(of_channel) - (static_cast<std::uint32_t>(excess) * sums[c]);
    }
}

// Element by element; groups that are not full end in zeros.
template <class Element, class Convert>
void stage_elements(const Int8Shape& shape, const std::int8_t* pixels, std::int64_t count,
                    std::byte* target, const Convert& convert) {
    const auto put = [&](std::int64_t channels_count) {
        for (std::int64_t i = 0; i < channels_count; ++i) {
            const Element element = convert(pixels[i]);
            std::memcpy(target + (static_cast<std::size_t>(i) * sizeof(Element)), &element,
                        sizeof(Element));
        }
    };
    const std::int64_t channels = shape.input_channels;
    const auto stored = static_cast<std::size_t>(shape.groups()) * sizeof(std::int32_t);
    const auto used = static_cast<std::size_t>(channels) * sizeof(Element);
    if (used == stored) {
        put(count * channels);
        return;
    }
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
        put(channels);
        std::memset(target + used, 0, stored - used);
        pixels += channels;
        target += stored;
    }
}

// 128 more is the upper bit turned.
void turn_upper_bits(const std::int8_t* source, std::int64_t count, std::int8_t* target) {
    using Bytes = hn::CappedTag<std::int8_t, 64>;
    constexpr auto step = static_cast<std::int64_t>(hn::MaxLanes(Bytes{}));
    const auto upper_bit = hn::Set(Bytes{}, std::int8_t{-128});
    std::int64_t i = 0;
    for (; i + step <= count; i += step) {
        hn::StoreU(hn::Xor(hn::LoadU(Bytes{}, source + i), upper_bit), Bytes{}, target + i);
    }
    for (; i < count; ++i) {
        target[i] = static_cast<std::int8_t>(source[i] ^ -128);
    }
}

void stage(const Int8Shape& shape, const std::int8_t* pixels, std::int64_t count,
           std::int32_t* groups) {
    auto* const target = reinterpret_cast<std::byte*>(groups);
    if (shape.format == Int8Format::quads && shape.input_channels % 4 == 0) {
        turn_upper_bits(pixels, count * shape.input_channels,
                        reinterpret_cast<std::int8_t*>(groups));
        return;
    }
    if (shape.format == Int8Format::quads) {
        stage_elements<std::uint8_t>(shape, pixels, count, target, [](std::int8_t x) {
            return static_cast<std::uint8_t>(x + 128);
        });
        return;
    }
    const std::int32_t zero = shape.input_zero;
    stage_elements<std::int16_t>(shape, pixels, count, target, [zero](std::int8_t x) {
        return static_cast<std::int16_t>(x - zero);
    });
}

std::int64_t tile(const Int8Shape& shape) {
    return static_cast<std::int64_t>(tile_pixels(Cut{shape}.vectors_of(0)));
}

void compute(const Int8Shape& shape, const std::byte* packed, const Int8Pixels& pixels) {
    const Cut cut{shape};
    const auto* bias = reinterpret_cast<const std::int32_t*>(packed);
    const std::int32_t* weights = bias + cut.channels();
    const auto& of_format = shape.format == Int8Format::quads ? panels<Quads> : panels<Pairs>;
    std::int64_t channel = 0;
    for (std::size_t panel = 0; panel < cut.panels(); ++panel) {
        const std::size_t vectors = cut.vectors_of(panel);
        of_format[vectors - 1](shape, weights, bias, pixels, channel);
        const std::int64_t width = static_cast<std::int64_t>(vectors) * lanes;
        weights += width * shape.taps() * shape.groups();
        bias += width;
        channel += width;
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(can_use_quads);
HWY_EXPORT(packed_size);
HWY_EXPORT(pack);
HWY_EXPORT(stage);
HWY_EXPORT(tile);
HWY_EXPORT(compute);

Int8Format best_int8_format() {
    return HWY_DYNAMIC_DISPATCH(can_use_quads)() ? Int8Format::quads : Int8Format::pairs;
}

std::size_t packed_int8_size(const Int8Shape& shape) {
    return HWY_DYNAMIC_DISPATCH(packed_size)(shape);
}

void pack_int8(const Int8Shape& shape, const Int8Weights& weights, const std::int32_t* bias,
               std::byte* packed) {
    HWY_DYNAMIC_DISPATCH(pack)(shape, weights, bias, packed);
}

void stage_int8(const Int8Shape& shape, const std::int8_t* pixels, std::int64_t count,
                std::int32_t* groups) {
    HWY_DYNAMIC_DISPATCH(stage)(shape, pixels, count, groups);
}

void stage_int8_nothing(const Int8Shape& shape, std::int64_t count, std::int32_t* groups) {
    const auto zero = static_cast<std::uint32_t>(shape.input_zero + 128) & 0xffU;
    const std::uint32_t group = shape.format == Int8Format::quads ? zero * 0x01010101U : 0;
    std::fill_n(groups, count * shape.groups(), static_cast<std::int32_t>(group));
}

std::int64_t int8_tile(const Int8Shape& shape) {
    return HWY_DYNAMIC_DISPATCH(tile)(shape);
}

void compute_int8(const Int8Shape& shape, const std::byte* packed, const Int8Pixels& pixels) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, packed, pixels);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

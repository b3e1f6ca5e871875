#include "backends/cpu/ops/int8_depthwise_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ops/int8_depthwise_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/base.h>
#include <hwy/highway.h>

#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/int8_vectors.h"

HWY_BEFORE_NAMESPACE();

namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE {

namespace {

// Pixels that are computed at a time, so that a column that several of their windows see is loaded
// once.
constexpr std::size_t tile_pixels = word_lanes == 16 ? 8 : 4;

std::int64_t padded_to_lanes(std::int64_t channels) {
    return (channels + word_lanes - 1) / word_lanes * word_lanes;
}

std::int64_t word_elements() {
    return with_words([](auto dot) HWY_ATTR { return decltype(dot)::elements; });
}

template <class Dot>
std::int64_t words_of(const Int8DepthwiseShape& shape) {
    return (shape.kernel_y + Dot::elements - 1) / Dot::elements;
}

std::size_t packed_size(const Int8DepthwiseShape& shape) {
    return static_cast<std::size_t>(padded_to_lanes(shape.channels) *
                                    ((shape.kernel_x * shape.words()) + 1));
}

// The biases; then, for each tap in x and each word of taps in y, the weights of all channels.
template <class Dot>
void pack_with(const Int8DepthwiseShape& shape, std::span<const std::int8_t> weights,
               std::span<const std::int32_t> bias, std::int32_t* packed) {
    const std::int64_t padded = padded_to_lanes(shape.channels);
    std::int32_t* const target = packed + padded;
    for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
        std::int32_t sum = 0;
        for (std::int64_t tap = 0; tap < shape.kernel_y * shape.kernel_x; ++tap) {
            const std::int64_t y = tap / shape.kernel_x;
            const std::int64_t word =
                ((tap % shape.kernel_x) * words_of<Dot>(shape)) + (y / Dot::elements);
            const std::int8_t weight =
                weights[static_cast<std::size_t>((tap * shape.channels) + channel)];
            const auto stored = static_cast<std::make_signed_t<typename Dot::Element>>(+weight);
            auto* const place = reinterpret_cast<std::byte*>(target + (word * padded) + channel);
            std::memcpy(place + ((y % Dot::elements) * static_cast<std::int64_t>(sizeof(stored))),
                        &stored, sizeof(stored));
            sum += weight;
        }
        packed[channel] = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(bias[static_cast<std::size_t>(channel)]) -
            static_cast<std::uint32_t>(sum * Dot::padding(shape.input_zero)));
    }
}

void pack(const Int8DepthwiseShape& shape, std::span<const std::int8_t> weights,
          std::span<const std::int32_t> bias, std::int32_t* packed) {
    with_words([&](auto dot) HWY_ATTR { pack_with<decltype(dot)>(shape, weights, bias, packed); });
}

// Element `row` of a word, in place.
template <class Dot, std::size_t row>
HWY_INLINE WordVector placed(const std::int8_t* source, WordVector zero) {
    constexpr hn::Rebind<std::int8_t, Words> bytes;
    constexpr int shift = static_cast<int>(row * (32 / Dot::elements));
    const WordVector value = hn::PromoteTo(Words{}, hn::LoadU(bytes, source));
    if constexpr (Dot::elements == 4) {
        // 128 more is the upper bit turned, which is done for all four at once.
        const WordVector low = hn::And(value, hn::Set(Words{}, 0xff));
        return hn::ShiftLeft<shift>(low);
    } else if constexpr (Dot::elements == 2) {
        const WordVector low = hn::And(hn::Sub(value, zero), hn::Set(Words{}, 0xffff));
        return hn::ShiftLeft<shift>(low);
    } else {
        return hn::Sub(value, zero);
    }
}

template <class Dot, std::size_t... row>
HWY_INLINE WordVector woven(const std::array<const std::int8_t*, 4>& rows, std::int64_t i,
                            WordVector zero, std::index_sequence<row...> /*which*/) {
    WordVector word = hn::Zero(Words{});
    ((word = hn::Or(word, placed<Dot, row>(rows[row] + i, zero))), ...);
    if constexpr (Dot::elements == 4) {
        word = hn::Xor(word, hn::Set(Words{}, static_cast<std::int32_t>(0x80808080U)));
    }
    return word;
}

// What stands in for a row outside the image, as long as the vectors that are read from it.
using PaddingRow = std::array<std::int8_t, 64>;

#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3
// Weaves as many whole vectors of bytes of four rows as there are in `count`, each to four vectors
// of words. How many elements that are.
HWY_INLINE std::int64_t weave_vectors(const std::array<const std::int8_t*, 4>& rows,
                                      const std::array<std::int64_t, 4>& moves, std::int64_t count,
                                      std::int32_t* target) {
    constexpr hn::Repartition<std::uint8_t, Words> bytes;
    constexpr hn::Repartition<std::uint16_t, Words> pairs;
    constexpr auto step = static_cast<std::int64_t>(hn::MaxLanes(bytes));
    // Bytes are woven within blocks of four words, so word 4k + b goes to block b first.
    alignas(64) static constexpr std::int32_t order[] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                         2, 6, 10, 14, 3, 7, 11, 15};
    const auto places = hn::SetTableIndices(Words{}, order);
    const WordVector upper_bits = hn::Set(Words{}, static_cast<std::int32_t>(0x80808080U));
    std::int64_t i = 0;
    const auto row = [&](std::size_t which) HWY_ATTR {
        const auto* const source =
            reinterpret_cast<const std::uint8_t*>(rows[which] + (moves[which] * i));
        const WordVector loaded = hn::BitCast(Words{}, hn::LoadU(bytes, source));
        return hn::BitCast(bytes, hn::TableLookupLanes(hn::Xor(loaded, upper_bits), places));
    };
    for (; i + step <= count; i += step) {
        const auto a = row(0);
        const auto b = row(1);
        const auto c = row(2);
        const auto d = row(3);
        const auto low_ab = hn::BitCast(pairs, hn::InterleaveLower(bytes, a, b));
        const auto low_cd = hn::BitCast(pairs, hn::InterleaveLower(bytes, c, d));
        const auto high_ab = hn::BitCast(pairs, hn::InterleaveUpper(bytes, a, b));
        const auto high_cd = hn::BitCast(pairs, hn::InterleaveUpper(bytes, c, d));
        const auto store = [&](auto woven, std::int64_t vector) HWY_ATTR {
            hn::StoreU(hn::BitCast(Words{}, woven), Words{}, target + i + (vector * word_lanes));
        };
        store(hn::InterleaveLower(pairs, low_ab, low_cd), 0);
        store(hn::InterleaveUpper(pairs, low_ab, low_cd), 1);
        store(hn::InterleaveLower(pairs, high_ab, high_cd), 2);
        store(hn::InterleaveUpper(pairs, high_ab, high_cd), 3);
    }
    return i;
}
#endif

template <class Dot>
void weave_word(std::span<const std::int8_t* const> rows, std::int32_t zero, std::int64_t count,
                std::int32_t* target) {
    PaddingRow padding;
    padding.fill(static_cast<std::int8_t>(zero));
    std::array<const std::int8_t*, 4> here{};
    std::array<std::int64_t, 4> moves{};
    for (std::size_t row = 0; row < here.size(); ++row) {
        const bool is_there = row < rows.size() && rows[row] != nullptr;
        here[row] = is_there ? rows[row] : padding.data();
        moves[row] = is_there ? 1 : 0;
    }
    constexpr std::make_index_sequence<static_cast<std::size_t>(Dot::elements)> all;
    const WordVector zeros = hn::Set(Words{}, zero);
    std::int64_t i = 0;
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX3
    if constexpr (Dot::elements == 4) {
        i = weave_vectors(here, moves, count, target);
        for (std::size_t row = 0; row < here.size(); ++row) {
            here[row] += moves[row] * i;
        }
    }
#endif
    for (; i + word_lanes <= count; i += word_lanes) {
        hn::StoreU(woven<Dot>(here, 0, zeros, all), Words{}, target + i);
        for (std::size_t row = 0; row < here.size(); ++row) {
            here[row] += moves[row] * word_lanes;
        }
    }
    if (i < count) {
        std::array<PaddingRow, 4> last{};
        for (std::size_t row = 0; row < here.size(); ++row) {
            std::copy_n(here[row], count - i, last[row].data());
            here[row] = last[row].data();
        }
        std::array<std::int32_t, static_cast<std::size_t>(word_lanes)> words{};
        hn::StoreU(woven<Dot>(here, 0, zeros, all), Words{}, words.data());
        std::copy_n(words.data(), count - i, target + i);
    }
}

void weave(const Int8DepthwiseShape& shape, std::span<const std::int8_t* const> rows,
           std::int64_t count, std::int64_t stride, std::int32_t* target) {
    with_words([&](auto dot) HWY_ATTR {
        using Dot = decltype(dot);
        constexpr auto elements = static_cast<std::size_t>(Dot::elements);
        for (std::int64_t word = 0; word < words_of<Dot>(shape); ++word) {
            const std::size_t first = static_cast<std::size_t>(word) * elements;
            weave_word<Dot>(rows.subspan(first, std::min(elements, rows.size() - first)),
                            shape.input_zero, count, target + (word * stride));
        }
    });
}

void pad(const Int8DepthwiseShape& shape, std::int64_t count, std::int64_t stride,
         std::int32_t* target) {
    with_words([&](auto dot) HWY_ATTR {
        using Dot = decltype(dot);
        // Zero points, as weave() makes elements of them.
        const std::uint32_t element =
            Dot::elements == 4 ? static_cast<std::uint8_t>(shape.input_zero + 128) : 0U;
        for (std::int64_t word = 0; word < words_of<Dot>(shape); ++word) {
            std::fill_n(target + (word * stride), count,
                        static_cast<std::int32_t>(element * 0x01010101U));
        }
    });
}

// One vector of channels along a row.
struct Place {
    const Int8DepthwiseShape& shape;
    const std::int32_t* bias;
    const std::int32_t* weights;
    std::int64_t weights_step;  // from one word to the next
    const std::int32_t* woven;
    std::int64_t woven_step;  // from one word to the next
    std::int64_t words;
    std::int64_t channel;
};

// How a tile looks at its input: a `kernel` that is not zero is the window's width, with taps that
// are neighbours and `stride` between windows; then each column is loaded once for all its windows.
struct View {
    std::size_t kernel = 0;
    std::size_t stride = 1;
};

template <class Dot, std::size_t pixels, View view>
class Tile {
  public:
    using Pixels = std::make_index_sequence<pixels>;

    HWY_INLINE Tile(const Place& place, std::int64_t pixel) {
        set(hn::LoadU(Words{}, place.bias + place.channel), Pixels{});
        const std::int64_t channels = place.shape.channels;
        for (std::int64_t word = 0; word < place.words; ++word) {
            const std::int32_t* const input = place.woven + (word * place.woven_step) +
                                              (pixel * place.shape.stride_x * channels) +
                                              place.channel;
            const std::int32_t* const weights =
                place.weights + (word * place.weights_step) + place.channel;
            add_word(place, input, weights);
        }
    }

    HWY_INLINE void store(const Place& place, const Int8Target& output) const {
        Int8Column{.target = output, .channels = place.shape.channels, .channel = place.channel}
            .store(*this, Pixels{});
    }

    template <std::size_t p>
    [[nodiscard]] HWY_INLINE WordVector at() const {
        return std::get<p>(sums_);
    }

  private:
    static constexpr std::size_t columns =
        view.kernel == 0 ? 1 : ((pixels - 1) * view.stride) + view.kernel;

    template <std::size_t... p>
    HWY_INLINE void set(WordVector bias, std::index_sequence<p...> /*which*/) {
        ((std::get<p>(sums_) = bias), ...);
    }

    // From one tap in x to the next there are all words of taps in y.
    HWY_INLINE void add_word(const Place& place, const std::int32_t* input,
                             const std::int32_t* weights) {
        const std::int64_t channels = place.shape.channels;
        const std::int64_t step = place.words * place.weights_step;
        if constexpr (view.kernel != 0) {
            std::array<WordVector, columns> loaded;
            load(loaded, input, channels, std::make_index_sequence<columns>{});
            add_columns(loaded, weights, step, std::make_index_sequence<view.kernel>{});
        } else {
            for (std::int64_t x = 0; x < place.shape.kernel_x; ++x) {
                add_tap(input + (x * place.shape.dilation_x * channels),
                        place.shape.stride_x * channels, hn::LoadU(Words{}, weights + (x * step)),
                        Pixels{});
            }
        }
    }

    template <std::size_t... c>
    static HWY_INLINE void load(std::array<WordVector, columns>& loaded, const std::int32_t* input,
                                std::int64_t channels, std::index_sequence<c...> /*which*/) {
        ((std::get<c>(loaded) =
              hn::LoadU(Words{}, input + (static_cast<std::int64_t>(c) * channels))),
         ...);
    }

    template <std::size_t... k>
    HWY_INLINE void add_columns(const std::array<WordVector, columns>& loaded,
                                const std::int32_t* weights, std::int64_t step,
                                std::index_sequence<k...> /*which*/) {
        (add_column<k>(loaded, hn::LoadU(Words{}, weights + (static_cast<std::int64_t>(k) * step)),
                       Pixels{}),
         ...);
    }

    template <std::size_t k, std::size_t... p>
    HWY_INLINE void add_column(const std::array<WordVector, columns>& loaded, WordVector weights,
                               std::index_sequence<p...> /*which*/) {
        ((std::get<p>(sums_) =
              Dot::add(std::get<p>(sums_), std::get<(p * view.stride) + k>(loaded), weights)),
         ...);
    }

    template <std::size_t... p>
    HWY_INLINE void add_tap(const std::int32_t* input, std::int64_t step, WordVector weights,
                            std::index_sequence<p...> /*which*/) {
        ((std::get<p>(sums_) =
              Dot::add(std::get<p>(sums_),
                       hn::LoadU(Words{}, input + (static_cast<std::int64_t>(p) * step)), weights)),
         ...);
    }

    std::array<WordVector, pixels> sums_;
};

template <class Dot, std::size_t pixels, View view>
void compute_tiles(const Place& place, std::int64_t pixel, std::int64_t count,
                   const Int8Target& output) {
    constexpr auto step = static_cast<std::int64_t>(pixels);
    for (; pixel + step <= count; pixel += step) {
        const Tile<Dot, pixels, view> tile{place, pixel};
        tile.store(place, output.after(pixel * place.shape.channels));
    }
    if constexpr (pixels > 1) {
        if (pixel < count) {
            compute_tiles<Dot, pixels / 2, view>(place, pixel, count, output);
        }
    }
}

// By the window's width and stride, if they are usual.
template <class Dot>
void compute_row(const Place& place, std::int64_t count, const Int8Target& output) {
    const Int8DepthwiseShape& shape = place.shape;
    if (shape.kernel_x == 3 && shape.dilation_x == 1 && shape.stride_x == 1) {
        compute_tiles<Dot, tile_pixels, View{3, 1}>(place, 0, count, output);
    } else if (shape.kernel_x == 3 && shape.dilation_x == 1 && shape.stride_x == 2) {
        compute_tiles<Dot, tile_pixels / 2, View{3, 2}>(place, 0, count, output);
    } else if (shape.kernel_x == 5 && shape.dilation_x == 1 && shape.stride_x == 1) {
        compute_tiles<Dot, tile_pixels, View{5, 1}>(place, 0, count, output);
    } else {
        compute_tiles<Dot, tile_pixels, View{0, 1}>(place, 0, count, output);
    }
}

void compute(const Int8DepthwiseShape& shape, const std::int32_t* packed, const WovenRow& row,
             const Int8Target& output) {
    const std::int64_t padded = padded_to_lanes(shape.channels);
    with_words([&](auto dot) HWY_ATTR {
        Place place{.shape = shape,
                    .bias = packed,
                    .weights = packed + padded,
                    .weights_step = padded,
                    .woven = row.words,
                    .woven_step = row.stride,
                    .words = words_of<decltype(dot)>(shape),
                    .channel = 0};
        for (; place.channel < shape.channels; place.channel += word_lanes) {
            compute_row<decltype(dot)>(place, row.pixels, output);
        }
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace virtaccel::backends::cpu::ops {

HWY_EXPORT(word_elements);
HWY_EXPORT(packed_size);
HWY_EXPORT(pack);
HWY_EXPORT(weave);
HWY_EXPORT(pad);
HWY_EXPORT(compute);

std::int64_t int8_word_elements() {
    return HWY_DYNAMIC_DISPATCH(word_elements)();
}

std::size_t packed_int8_depthwise_size(const Int8DepthwiseShape& shape) {
    return HWY_DYNAMIC_DISPATCH(packed_size)(shape);
}

void pack_int8_depthwise(const Int8DepthwiseShape& shape, std::span<const std::int8_t> weights,
                         std::span<const std::int32_t> bias, std::int32_t* packed) {
    HWY_DYNAMIC_DISPATCH(pack)(shape, weights, bias, packed);
}

void weave_int8(const Int8DepthwiseShape& shape, std::span<const std::int8_t* const> rows,
                std::int64_t count, std::int64_t stride, std::int32_t* target) {
    HWY_DYNAMIC_DISPATCH(weave)(shape, rows, count, stride, target);
}

void pad_woven_int8(const Int8DepthwiseShape& shape, std::int64_t count, std::int64_t stride,
                    std::int32_t* target) {
    HWY_DYNAMIC_DISPATCH(pad)(shape, count, stride, target);
}

void compute_int8_depthwise(const Int8DepthwiseShape& shape, const std::int32_t* packed,
                            const WovenRow& row, const Int8Target& output) {
    HWY_DYNAMIC_DISPATCH(compute)(shape, packed, row, output);
}

}  // namespace virtaccel::backends::cpu::ops

#endif

#pragma once
// The inner loops of depthwise convolutions of INT8, compiled for several instruction sets of which
// the best one is chosen at run time. The one thing to know: the rows under a window are first
// woven together, so that one 32-bit word holds as many taps in y as the processor multiplies at a
// time (four, two or one), so weaving, packing and computing belong together.

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/ops/int8_ends.h"

namespace virtaccel::backends::cpu::ops {

// How many taps a word holds here.
[[nodiscard]] std::int64_t int8_word_elements();

// Windows of depthwise convolutions have at most this many taps in y.
inline constexpr std::int64_t int8_taps_max = 64;

// Depthwise, one output channel for each input channel.
struct Int8DepthwiseShape {
    std::int64_t channels = 1;
    std::int64_t kernel_y = 1;
    std::int64_t kernel_x = 1;
    std::int64_t stride_x = 1;
    std::int64_t dilation_x = 1;
    std::int32_t input_zero = 0;

    // Of how many words for each tap in x the taps in y are made.
    [[nodiscard]] std::int64_t words() const {
        return (kernel_y + int8_word_elements() - 1) / int8_word_elements();
    }
};

// How many words pack_int8_depthwise() writes.
[[nodiscard]] std::size_t packed_int8_depthwise_size(const Int8DepthwiseShape& shape);

// Packs `weights` (for each tap, one for each channel) and `bias` into zeroed words.
void pack_int8_depthwise(const Int8DepthwiseShape& shape, std::span<const std::int8_t> weights,
                         std::span<const std::int32_t> bias, std::int32_t* packed);

// Weaves `count` elements of the rows under a window's taps in y together: word `w` of element `i`
// goes to `target[w * stride + i]`. A row that is null is padding.
void weave_int8(const Int8DepthwiseShape& shape, std::span<const std::int8_t* const> rows,
                std::int64_t count, std::int64_t stride, std::int32_t* target);

// Fills the words of `count` elements with padding.
void pad_woven_int8(const Int8DepthwiseShape& shape, std::int64_t count, std::int64_t stride,
                    std::int32_t* target);

// What `pixels` output pixels see: woven words, `stride` apart, from the first pixel's first column
// on. They may be read 60 bytes beyond their end.
struct WovenRow {
    const std::int32_t* words = nullptr;
    std::int64_t stride = 0;
    std::int64_t pixels = 0;
};

// Computes the sums of a row's pixels. They wrap around.
void compute_int8_depthwise(const Int8DepthwiseShape& shape, const std::int32_t* packed,
                            const WovenRow& row, const Int8Target& output);

}  // namespace virtaccel::backends::cpu::ops

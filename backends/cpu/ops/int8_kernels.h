#pragma once
// The inner loops of dense products of INT8, exact on every processor, compiled for several
// instruction sets of which the best one is chosen at run time. The one thing to know: inputs are
// staged first, as groups of 32 bits that hold the next channels of a pixel in the format that the
// processor multiplies best, so that the loops see no edges, no odd channels and no zero points.

#include <cstddef>
#include <cstdint>

#include "backends/cpu/ops/int8_ends.h"

namespace virtaccel::backends::cpu::ops {

enum class Int8Format : std::uint8_t {
    pairs,  // two channels of 16 bits, less their zero point
    quads,  // four channels of 8 bits, plus 128; for processors with AVX-512 VNNI only
};

[[nodiscard]] Int8Format best_int8_format();

// A window of kernel_y by kernel_x pixels, of which each makes `output_channels` sums.
struct Int8Shape {
    Int8Format format = Int8Format::pairs;
    std::int32_t input_zero = 0;
    std::int64_t input_channels = 1;
    std::int64_t output_channels = 1;
    std::int64_t kernel_y = 1;
    std::int64_t kernel_x = 1;
    std::int64_t dilation_y = 1;
    std::int64_t dilation_x = 1;

    // How many channels a group holds, and how many groups a pixel takes.
    [[nodiscard]] std::int64_t group_channels() const {
        return format == Int8Format::quads ? 4 : 2;
    }

    [[nodiscard]] std::int64_t groups() const {
        return (input_channels + group_channels() - 1) / group_channels();
    }

    [[nodiscard]] std::int64_t taps() const { return kernel_y * kernel_x; }

    // Taps that are neighbours in a row make one run.
    [[nodiscard]] std::int64_t runs_per_row() const { return dilation_x == 1 ? 1 : kernel_x; }

    [[nodiscard]] std::int64_t run_length() const {
        return groups() * (dilation_x == 1 ? kernel_x : 1);
    }
};

// Weights as they lie in memory: those of an output channel and of an element of its window (tap
// after tap, each with all input channels). All of them less `zero` fit 8 bits.
struct Int8Weights {
    const std::int8_t* data = nullptr;
    std::int64_t channel_step = 1;
    std::int64_t element_step = 1;
    std::int32_t zero = 0;
};

// Neighbouring output pixels, seen from the staged rows under their windows. Rows are kept in a
// ring.
struct Int8Pixels {
    const std::int32_t* rows = nullptr;  // the first pixel's window in row 0
    std::int64_t row_step = 0;           // groups from a row to the next
    std::int64_t row_count = 1;
    std::int64_t first_row = 0;   // the window's
    std::int64_t pixel_step = 0;  // groups from a pixel's window to the next one's
    Int8Target output;
    std::int64_t count = 0;
};

// How many bytes pack_int8() writes.
[[nodiscard]] std::size_t packed_int8_size(const Int8Shape& shape);

// Packs weights and a bias for each output channel; null is a bias of zeros. `packed` is aligned to
// 64 bytes; all of it is written.
void pack_int8(const Int8Shape& shape, const Int8Weights& weights, const std::int32_t* bias,
               std::byte* packed);

// Stages `count` pixels.
void stage_int8(const Int8Shape& shape, const std::int8_t* pixels, std::int64_t count,
                std::int32_t* groups);

// Stages `count` pixels that add nothing to a sum.
void stage_int8_nothing(const Int8Shape& shape, std::int64_t count, std::int32_t* groups);

// How many pixels at a time suit the processor best.
[[nodiscard]] std::int64_t int8_tile(const Int8Shape& shape);

// Computes `pixels.count` pixels with what pack_int8() packed. Sums wrap around.
void compute_int8(const Int8Shape& shape, const std::byte* packed, const Int8Pixels& pixels);

}  // namespace virtaccel::backends::cpu::ops

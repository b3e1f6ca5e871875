#pragma once
// RESCALE of INT8 and INT32 with factors that are known, compiled for several instruction sets of
// which the best one is chosen at run time. The one thing to know: the upper half of a product of
// INT32 is all that is looked at, so a factor has to shift by more than 32 bits; an INT8 is shifted
// left first where it does not.

#include <cstddef>
#include <cstdint>

namespace virtaccel::backends::cpu::ops {

// No vector has more lanes.
inline constexpr std::int64_t rescale_lanes_max = 16;

// One factor for each channel. Each array has `channels` + `rescale_lanes_max` elements: it goes on
// from its beginning, so that a vector may start anywhere.
struct RescaleFactors {
    const std::int32_t* lefts = nullptr;  // of INT8 only: how far inputs are shifted left
    const std::int32_t* multipliers = nullptr;
    const std::int32_t* halves = nullptr;  // added to the upper half of a product
    const std::int32_t* rights = nullptr;  // how far that is shifted right then
    std::int64_t channels = 1;
    // Whether half of the 31st bit is added to a product before, away from zero.
    bool rounds_twice = false;
};

struct RescaleEnds {
    std::int32_t input_zero = 0;
    std::int32_t output_zero = 0;
    std::int32_t low = 0;
    std::int32_t high = 0;
};

// Elements in a row, the first of them of channel `channel`.
struct RescaleRow {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::int64_t count = 0;
    std::int64_t channel = 0;
};

enum class RescaleTypes : std::uint8_t {
    int8_to_int8,
    int8_to_int32,
    int32_to_int8,
    int32_to_int32,
};

void compute_rescale(RescaleTypes types, const RescaleFactors& factors, const RescaleEnds& ends,
                     const RescaleRow& row);

}  // namespace virtaccel::backends::cpu::ops

#pragma once
// How elementwise operators walk over operands of different shapes. The one thing to know: axes
// that all operands move along in the same way are joined, so that most operators come down to one
// long row, and the rest to a few axes around a row that each operand either walks or stands on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "virtaccel/tosa/types.h"

namespace virtaccel::lowering {

// A walk over `row_count` rows of `row_length` elements of a dense output, in order. Strides are in
// elements; the innermost one of an operand is 1 or 0.
template <std::size_t operands>
struct BroadcastWalk {
    std::array<std::uint64_t, tosa::rank_max> dims{};  // outermost first; the last one is the row
    std::array<std::array<std::uint64_t, operands>, tosa::rank_max> strides{};
    std::uint32_t rank = 1;
    std::uint64_t row_count = 1;
    std::uint64_t row_length = 1;

    // Where the operands are at the first element of a row.
    using Offsets = std::array<std::uint64_t, operands>;

    [[nodiscard]] const Offsets& row_strides() const { return strides[rank - 1]; }

    [[nodiscard]] Offsets offsets_of(std::uint64_t row) const {
        Offsets offsets{};
        for (std::uint32_t axis = rank - 1; axis-- > 0;) {
            const std::uint64_t position = row % dims[axis];
            row /= dims[axis];
            for (std::size_t k = 0; k < operands; ++k) {
                offsets[k] += position * strides[axis][k];
            }
        }
        return offsets;
    }
};

// The walk over an output of shape `output`, whose dimensions each operand has or has as 1; all of
// one rank.
template <std::size_t operands>
[[nodiscard]] BroadcastWalk<operands> walk_over(
    std::span<const std::int32_t> output,
    const std::array<std::span<const std::int32_t>, operands>& inputs) {
    BroadcastWalk<operands> walk;
    // Outermost axes come last while they are collected.
    std::array<std::uint64_t, tosa::rank_max> dims{};
    std::array<std::array<std::uint64_t, operands>, tosa::rank_max> strides{};
    std::array<std::uint64_t, operands> dense{};
    dense.fill(1);
    std::uint32_t count = 0;
    for (std::size_t axis = output.size(); axis-- > 0;) {
        const auto size = static_cast<std::uint64_t>(output[axis]);
        if (size == 1) {
            continue;
        }
        std::array<std::uint64_t, operands> stride{};
        bool joins = count != 0;
        for (std::size_t k = 0; k < operands; ++k) {
            const auto own = static_cast<std::uint64_t>(inputs[k][axis]);
            stride[k] = own == 1 ? 0 : dense[k];
            dense[k] *= own;
            joins = joins && stride[k] == strides[count - 1][k] * dims[count - 1];
        }
        if (joins) {
            dims[count - 1] *= size;
            continue;
        }
        dims[count] = size;
        strides[count] = stride;
        ++count;
    }
    if (count == 0) {
        walk.dims[0] = 1;
        return walk;
    }
    walk.rank = count;
    walk.row_length = dims[0];
    for (std::uint32_t i = 0; i < count; ++i) {
        walk.dims[count - 1 - i] = dims[i];
        walk.strides[count - 1 - i] = strides[i];
        walk.row_count *= i == 0 ? 1 : dims[i];
    }
    return walk;
}

}  // namespace virtaccel::lowering

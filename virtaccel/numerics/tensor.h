#pragma once
// A tensor as numbers, whatever its type: what oracles compute with. The one thing to know: every
// number of every type of TOSA 1.0 is a double exactly, so that one representation serves all; the
// bytes of a type are made and read here and nowhere else.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

using Shape = std::vector<std::int32_t>;
using Bytes = std::vector<std::byte>;

// An index for each dimension of a shape, outermost first; zero beyond its rank.
using Position = std::array<std::int64_t, tosa::rank_max>;

[[nodiscard]] Position position_of(std::span<const std::int32_t> shape, std::size_t index);
[[nodiscard]] std::size_t index_of(std::span<const std::int32_t> shape, const Position& position);

// `values` in row-major order. What an oracle writes need not fit `dtype` yet: `rounded` makes it
// fit. `magnitudes` says what the error of each value is measured against (accuracy.h), and is
// empty where that is the value itself; `terms` is how many numbers went into one value.
struct Tensor {
    tosa::DType dtype = tosa::DType::unknown;
    Shape shape;
    std::vector<double> values;
    std::vector<double> magnitudes;
    double terms = 1;

    // A dimension's size.
    [[nodiscard]] std::int64_t dim(std::size_t axis) const { return shape[axis]; }

    [[nodiscard]] double at(const Position& position) const {
        return values[index_of(shape, position)];
    }
};

// The numbers that `bytes` mean: as byte_count() of tosa/types.h says, little-endian, INT4 two to a
// byte (low half first) and in two's complement. A byte of BOOL that is not 0 is 1.
[[nodiscard]] Tensor unpack(tosa::DType dtype, std::span<const std::int32_t> shape,
                            std::span<const std::byte> bytes);

// The bytes of `tensor`: floating-point numbers rounded as encode() of formats.h says, integers
// keep their low bits. Half a byte that is left over is zero.
[[nodiscard]] Bytes pack(const Tensor& tensor);

// What `tensor` is after its bytes have been written and read.
[[nodiscard]] Tensor rounded(const Tensor& tensor);

}  // namespace virtaccel::numerics

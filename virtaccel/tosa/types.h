#pragma once
// TOSA's own words: element types, operators, modes, and how many bytes elements take. The numbers
// are those of the official schema. A number from a file that is none of these stays representable,
// so that it can be judged and reported.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace virtaccel::tosa {

enum class DType : std::uint32_t {
    unknown = 0,
    boolean = 1,
    int4 = 2,
    int8 = 3,
    int16 = 4,
    int32 = 5,
    int48 = 6,
    fp32 = 7,
    fp16 = 8,
    bf16 = 9,
    shape = 10,
    fp8e4m3 = 11,
    fp8e5m2 = 12,
};

enum class NanMode : std::uint32_t { unknown = 0, propagate = 1, ignore = 2 };
enum class ResizeMode : std::uint32_t { unknown = 0, nearest = 1, bilinear = 2 };
enum class RoundingMode : std::uint32_t {
    unknown = 0,
    single_round = 1,
    inexact_round = 2,
    double_round = 3,
};

// Every operator of TOSA 1.0. An attribute has the number of its operator.
enum class Op : std::uint32_t {
    unknown = 0,
    argmax,
    avg_pool2d,
    conv2d,
    conv3d,
    depthwise_conv2d,
    fft2d,
    matmul,
    max_pool2d,
    rfft2d,
    transpose_conv2d,
    clamp,
    erf,
    sigmoid,
    tanh,
    add,
    arithmetic_right_shift,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    intdiv,
    logical_and,
    logical_left_shift,
    logical_right_shift,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mul,
    pow,
    sub,
    table,
    abs,
    bitwise_not,
    ceil,
    clz,
    cos,
    exp,
    floor,
    log,
    logical_not,
    negate,
    reciprocal,
    rsqrt,
    sin,
    select,
    equal,
    greater,
    greater_equal,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_product,
    reduce_sum,
    concat,
    pad,
    reshape,
    reverse,
    slice,
    tile,
    transpose,
    gather,
    scatter,
    resize,
    cast,
    rescale,
    constant,
    identity,
    custom,
    cond_if,
    while_loop,
    variable,
    variable_write,
    variable_read,
    const_shape,
};

// One past the last operator of TOSA 1.0.
inline constexpr std::uint32_t op_end = static_cast<std::uint32_t>(Op::const_shape) + 1;

// The specification's spelling: "FP32", "CONV2D". "UNKNOWN" for a number that has none.
[[nodiscard]] std::string_view name_of(DType dtype);
[[nodiscard]] std::string_view name_of(Op op);

// How many bits an element takes in a tensor's bytes; nothing for an unknown type. INT4 is the only
// type below a byte.
[[nodiscard]] std::optional<std::uint32_t> bits_of(DType dtype);

// The bytes of `elements` elements as constants and bound buffers hold them: without gaps, INT4 two
// to a byte (low half first, an odd count ends in half a byte of zero), INT48 six, BOOL one, SHAPE
// eight. Nothing for an unknown type or where the number does not exist.
[[nodiscard]] std::optional<std::uint64_t> byte_count(DType dtype, std::uint64_t elements);

// The number of dimensions our tables have room for. TOSA's level 8K allows 6.
inline constexpr std::uint32_t rank_max = 8;
// The number of elements our tables have room for in a SHAPE: PAD needs two for each dimension.
inline constexpr std::uint32_t shape_length_max = 2 * rank_max;

// The product of `dims`; one for rank zero. Nothing if a dimension is below one (zero is allowed
// for a SHAPE's length only, see Tensor) or the product does not fit.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::int32_t> dims);

// A shape by value, for results of inference. Converts to the same span a tensor has.
struct Shape {
    std::array<std::int32_t, rank_max> dims{};
    std::uint32_t rank = 0;

    [[nodiscard]] std::span<const std::int32_t> span() const { return {dims.data(), rank}; }
};

}  // namespace virtaccel::tosa

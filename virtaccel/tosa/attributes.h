#pragma once
// What an operator says besides its operands, decoded and of known lengths. Operators that say the
// same things share a type; the row of the operator table names it. Numbers are as the file has
// them: whether a stride of zero makes sense is for the shape rules to say.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// ARGMAX, REDUCE_*, CONCAT, REVERSE. `nan_mode` for ARGMAX, REDUCE_MAX and REDUCE_MIN only.
struct AxisAttribute {
    std::int32_t axis = 0;
    NanMode nan_mode = NanMode::unknown;
};

// AVG_POOL2D, MAX_POOL2D: `kernel` and `stride` are y, x; `pad` is top, bottom, left, right.
// `accumulator` is for the first, `nan_mode` for the second.
struct PoolAttribute {
    std::array<std::int32_t, 2> kernel{};
    std::array<std::int32_t, 2> stride{};
    std::array<std::int32_t, 4> pad{};
    DType accumulator = DType::unknown;
    NanMode nan_mode = NanMode::unknown;
};

// CONV2D, DEPTHWISE_CONV2D: y, x; `pad` is top, bottom, left, right.
struct Conv2dAttribute {
    std::array<std::int32_t, 4> pad{};
    std::array<std::int32_t, 2> stride{};
    std::array<std::int32_t, 2> dilation{};
    bool local_bound = false;
    DType accumulator = DType::unknown;
};

// CONV3D: depth, y, x; `pad` is front, back, top, bottom, left, right.
struct Conv3dAttribute {
    std::array<std::int32_t, 6> pad{};
    std::array<std::int32_t, 3> stride{};
    std::array<std::int32_t, 3> dilation{};
    bool local_bound = false;
    DType accumulator = DType::unknown;
};

// TRANSPOSE_CONV2D: `out_pad` is top, bottom, left, right; negative values crop.
struct TransposeConv2dAttribute {
    std::array<std::int32_t, 4> out_pad{};
    std::array<std::int32_t, 2> stride{};
    bool local_bound = false;
    DType accumulator = DType::unknown;
};

// FFT2D, RFFT2D (never inverse).
struct FftAttribute {
    bool inverse = false;
    bool local_bound = false;
};

// CLAMP: each bound is one element of the input's type, in bytes of no alignment; bytes of padding
// may follow.
struct ClampAttribute {
    std::span<const std::byte> min;
    std::span<const std::byte> max;
    NanMode nan_mode = NanMode::unknown;
};

// ARITHMETIC_RIGHT_SHIFT.
struct ShiftAttribute {
    bool round = false;
};

// MAXIMUM, MINIMUM.
struct NanAttribute {
    NanMode nan_mode = NanMode::unknown;
};

// TRANSPOSE: output dimension i is input dimension `perms[i]`, for i < `rank`.
struct TransposeAttribute {
    std::array<std::int32_t, rank_max> perms{};
    std::uint32_t rank = 0;
};

// RESIZE.
struct ResizeAttribute {
    ResizeMode mode = ResizeMode::unknown;
};

// RESCALE.
struct RescaleAttribute {
    bool scale32 = false;
    RoundingMode rounding = RoundingMode::unknown;
    bool per_channel = false;
    bool input_unsigned = false;
    bool output_unsigned = false;
};

// CUSTOM.
struct CustomAttribute {
    std::string_view operator_name;
    std::string_view domain_name;
    std::span<const std::byte> implementation;
};

// COND_IF: the blocks `first` (then) and `second` (else). WHILE_LOOP: `first` is the condition,
// `second` the body. Indexes into Graph::blocks().
struct BranchAttribute {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
};

// Nothing but operands, or an operator that this version does not know.
using NoAttribute = std::monostate;

using Attribute = std::variant<NoAttribute, AxisAttribute, PoolAttribute, Conv2dAttribute,
                               Conv3dAttribute, TransposeConv2dAttribute, FftAttribute,
                               ClampAttribute, ShiftAttribute, NanAttribute, TransposeAttribute,
                               ResizeAttribute, RescaleAttribute, CustomAttribute, BranchAttribute>;

}  // namespace virtaccel::tosa

#include "virtaccel/tosa/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/shapes.h"
#include "virtaccel/tosa/signatures.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

consteval OperandPattern pattern(std::string_view text) {
    OperandPattern pattern;
    for (const char c : text) {
        if (c == '+' || c == '*') {
            pattern.is_open = true;
            pattern.required -= c == '*' ? 1 : 0;
        } else {
            pattern.letters.at(pattern.count++) = c;
            ++pattern.required;
        }
    }
    return pattern;
}

// Which alternative of Attribute `Kind` is.
template <class Kind, std::size_t index = 0>
consteval std::size_t alternative() {
    if constexpr (std::is_same_v<Kind, std::variant_alternative_t<index, Attribute>>) {
        return index;
    } else {
        return alternative<Kind, index + 1>();
    }
}

// An attribute, the letter of its accumulator type if it has one, and whether it says what becomes
// of NaNs.
struct Attr {
    std::size_t alternative = 0;
    char accumulator = 0;
    bool has_nan_mode = false;
};

constexpr Attr with_axis = {alternative<AxisAttribute>()};
constexpr Attr with_axis_and_nan_mode = {alternative<AxisAttribute>(), 0, true};
constexpr Attr with_average = {alternative<PoolAttribute>(), 'u'};
constexpr Attr with_maximum = {alternative<PoolAttribute>(), 0, true};
constexpr Attr with_window = {alternative<Conv2dAttribute>(), 'w'};
constexpr Attr with_window3d = {alternative<Conv3dAttribute>(), 'w'};
constexpr Attr with_transposed_window = {alternative<TransposeConv2dAttribute>(), 'w'};
constexpr Attr with_fft = {alternative<FftAttribute>()};
constexpr Attr with_bounds = {alternative<ClampAttribute>(), 0, true};
constexpr Attr with_round = {alternative<ShiftAttribute>()};
constexpr Attr with_nan_mode = {alternative<NanAttribute>(), 0, true};
constexpr Attr with_perms = {alternative<TransposeAttribute>()};
constexpr Attr with_mode = {alternative<ResizeAttribute>()};
constexpr Attr with_scales = {alternative<RescaleAttribute>()};
constexpr Attr with_names = {alternative<CustomAttribute>()};
constexpr Attr with_blocks = {alternative<BranchAttribute>()};

// The inputs that must be constant, as bits.
constexpr std::uint32_t input_1 = 1U << 1U;
constexpr std::uint32_t inputs_1_2 = input_1 | (1U << 2U);
constexpr std::uint32_t input_2 = 1U << 2U;
constexpr std::uint32_t inputs_2_3 = input_2 | (1U << 3U);
constexpr std::uint32_t inputs_3_4 = (1U << 3U) | (1U << 4U);
constexpr std::uint32_t inputs_1_to_3 = inputs_1_2 | (1U << 3U);
constexpr std::uint32_t inputs_1_to_4 = inputs_1_to_3 | (1U << 4U);

using enum OperatorClass;
namespace types = signatures;

// What most rows have in common: the inputs' letters, the output's, their signatures, a rule.
consteval OperatorRow row(Op op, std::string_view name, std::string_view inputs,
                          std::span<const Signature> signatures, ShapeRule shape) {
    OperatorRow row;
    row.op = op;
    row.name = name;
    row.inputs = pattern(inputs);
    row.outputs = pattern("t");
    row.signatures = signatures;
    row.shape = shape;
    return row;
}

consteval OperatorRow elementwise_row(Op op, std::string_view name, std::string_view inputs,
                                      std::span<const Signature> signatures, ShapeRule shape) {
    OperatorRow elementwise_row = row(op, name, inputs, signatures, shape);
    elementwise_row.kind = elementwise;
    return elementwise_row;
}

consteval OperatorRow layout_row(Op op, std::string_view name, std::string_view inputs,
                                 std::span<const Signature> signatures, ShapeRule shape) {
    OperatorRow layout_row = row(op, name, inputs, signatures, shape);
    layout_row.kind = layout;
    return layout_row;
}

// What a row has besides.
consteval OperatorRow operator|(OperatorRow row, OperatorClass kind) {
    row.kind = kind;
    return row;
}

consteval OperatorRow operator|(OperatorRow row, Attr attribute) {
    row.attribute = attribute.alternative;
    row.accumulator = attribute.accumulator;
    row.has_nan_mode = attribute.has_nan_mode;
    return row;
}

struct Out {
    std::string_view letters;
};

consteval OperatorRow operator|(OperatorRow row, Out out) {
    row.outputs = pattern(out.letters);
    return row;
}

struct Constant {
    std::uint32_t inputs;
};

consteval OperatorRow operator|(OperatorRow row, Constant constant) {
    row.constant_inputs = constant.inputs;
    return row;
}

// clang-format off
constexpr OperatorRow rows[] = {
    // Neighbourhoods, matrices and spectra.
    row(Op::argmax, "ARGMAX", "t", types::argmax, shapes::argmax)
        | with_axis_and_nan_mode | Out{"I"},
    row(Op::avg_pool2d, "AVG_POOL2D", "ttt", types::avg_pool, shapes::pool2d)
        | with_average | Constant{inputs_1_2},
    row(Op::conv2d, "CONV2D", "tuvtu", types::convolution, shapes::conv2d)
        | with_window | Out{"v"} | Constant{inputs_3_4},
    row(Op::conv3d, "CONV3D", "tuvtu", types::convolution, shapes::conv3d)
        | with_window3d | Out{"v"} | Constant{inputs_3_4},
    row(Op::depthwise_conv2d, "DEPTHWISE_CONV2D", "tuvtu", types::convolution,
        shapes::depthwise_conv2d) | with_window | Out{"v"} | Constant{inputs_3_4},
    row(Op::fft2d, "FFT2D", "tt", types::fft, shapes::fft2d) | with_fft | Out{"tt"},
    row(Op::matmul, "MATMUL", "tttt", types::matrix_product, shapes::matmul)
        | Out{"u"} | Constant{inputs_2_3},
    row(Op::max_pool2d, "MAX_POOL2D", "t", types::max_pool, shapes::pool2d) | with_maximum,
    row(Op::rfft2d, "RFFT2D", "t", types::fft, shapes::rfft2d) | with_fft | Out{"tt"},
    row(Op::transpose_conv2d, "TRANSPOSE_CONV2D", "tuvtu", types::convolution,
        shapes::transpose_conv2d)
        | with_transposed_window | Out{"v"} | Constant{inputs_3_4},

    // Activations.
    elementwise_row(Op::clamp, "CLAMP", "t", types::narrow, shapes::clamp) | with_bounds,
    elementwise_row(Op::erf, "ERF", "t", types::floats, shapes::as_first),
    elementwise_row(Op::sigmoid, "SIGMOID", "t", types::floats, shapes::as_first),
    elementwise_row(Op::tanh, "TANH", "t", types::floats, shapes::as_first),

    // Two inputs that broadcast.
    elementwise_row(Op::add, "ADD", "tt", types::arithmetic, shapes::broadcast),
    elementwise_row(Op::arithmetic_right_shift, "ARITHMETIC_RIGHT_SHIFT", "tt", types::integers,
        shapes::broadcast) | with_round,
    elementwise_row(Op::bitwise_and, "BITWISE_AND", "tt", types::integers, shapes::broadcast),
    elementwise_row(Op::bitwise_or, "BITWISE_OR", "tt", types::integers, shapes::broadcast),
    elementwise_row(Op::bitwise_xor, "BITWISE_XOR", "tt", types::integers, shapes::broadcast),
    elementwise_row(Op::intdiv, "INTDIV", "tt", types::int32_of_either, shapes::broadcast),
    elementwise_row(Op::logical_and, "LOGICAL_AND", "BB", types::boolean_only, shapes::broadcast)
        | Out{"B"},
    elementwise_row(Op::logical_left_shift, "LOGICAL_LEFT_SHIFT", "tt", types::integers_of_either,
        shapes::broadcast),
    elementwise_row(Op::logical_right_shift, "LOGICAL_RIGHT_SHIFT", "tt",
        types::integers_of_either, shapes::broadcast),
    elementwise_row(Op::logical_or, "LOGICAL_OR", "BB", types::boolean_only, shapes::broadcast)
        | Out{"B"},
    elementwise_row(Op::logical_xor, "LOGICAL_XOR", "BB", types::boolean_only, shapes::broadcast)
        | Out{"B"},
    elementwise_row(Op::maximum, "MAXIMUM", "tt", types::int32_and_floats, shapes::broadcast)
        | with_nan_mode,
    elementwise_row(Op::minimum, "MINIMUM", "tt", types::int32_and_floats, shapes::broadcast)
        | with_nan_mode,
    elementwise_row(Op::mul, "MUL", "ttY", types::product, shapes::mul)
        | Out{"u"} | Constant{input_2},
    elementwise_row(Op::pow, "POW", "tt", types::floats, shapes::broadcast),
    elementwise_row(Op::sub, "SUB", "tt", types::arithmetic, shapes::broadcast),
    elementwise_row(Op::table, "TABLE", "tt", types::lookup, shapes::table)
        | Out{"u"} | Constant{input_1},

    // One input.
    elementwise_row(Op::abs, "ABS", "t", types::int32_and_floats, shapes::as_first),
    elementwise_row(Op::bitwise_not, "BITWISE_NOT", "t", types::integers, shapes::as_first),
    elementwise_row(Op::ceil, "CEIL", "t", types::floats, shapes::as_first),
    elementwise_row(Op::clz, "CLZ", "t", types::int32_only, shapes::as_first),
    elementwise_row(Op::cos, "COS", "t", types::floats, shapes::as_first),
    elementwise_row(Op::exp, "EXP", "t", types::floats, shapes::as_first),
    elementwise_row(Op::floor, "FLOOR", "t", types::floats, shapes::as_first),
    elementwise_row(Op::log, "LOG", "t", types::floats, shapes::as_first),
    elementwise_row(Op::logical_not, "LOGICAL_NOT", "t", types::boolean_only, shapes::as_first),
    elementwise_row(Op::negate, "NEGATE", "ttt", types::integers_and_floats, shapes::negate)
        | Constant{inputs_1_2},
    elementwise_row(Op::reciprocal, "RECIPROCAL", "t", types::floats, shapes::as_first),
    elementwise_row(Op::rsqrt, "RSQRT", "t", types::floats, shapes::as_first),
    elementwise_row(Op::sin, "SIN", "t", types::floats, shapes::as_first),

    // Choices.
    elementwise_row(Op::select, "SELECT", "Btt", types::selectable, shapes::broadcast),
    elementwise_row(Op::equal, "EQUAL", "tt", types::int32_and_floats, shapes::broadcast)
        | Out{"B"},
    elementwise_row(Op::greater, "GREATER", "tt", types::int32_and_floats, shapes::broadcast)
        | Out{"B"},
    elementwise_row(Op::greater_equal, "GREATER_EQUAL", "tt", types::int32_and_floats,
        shapes::broadcast) | Out{"B"},

    // Reductions along an axis.
    row(Op::reduce_all, "REDUCE_ALL", "t", types::boolean_only, shapes::reduce) | with_axis,
    row(Op::reduce_any, "REDUCE_ANY", "t", types::boolean_only, shapes::reduce) | with_axis,
    row(Op::reduce_max, "REDUCE_MAX", "t", types::integers_and_floats, shapes::reduce)
        | with_axis_and_nan_mode,
    row(Op::reduce_min, "REDUCE_MIN", "t", types::integers_and_floats, shapes::reduce)
        | with_axis_and_nan_mode,
    row(Op::reduce_product, "REDUCE_PRODUCT", "t", types::floats, shapes::reduce) | with_axis,
    row(Op::reduce_sum, "REDUCE_SUM", "t", types::int32_and_floats, shapes::reduce) | with_axis,

    // Elements that move.
    layout_row(Op::concat, "CONCAT", "t+", types::joinable, shapes::concat) | with_axis,
    layout_row(Op::pad, "PAD", "tSt", types::movable, shapes::pad) | Constant{inputs_1_2},
    layout_row(Op::reshape, "RESHAPE", "tS", types::movable, shapes::reshape) | Constant{input_1},
    layout_row(Op::reverse, "REVERSE", "t", types::movable, shapes::reverse) | with_axis,
    layout_row(Op::slice, "SLICE", "tSS", types::movable, shapes::slice) | Constant{inputs_1_2},
    layout_row(Op::tile, "TILE", "tS", types::movable, shapes::tile) | Constant{input_1},
    layout_row(Op::transpose, "TRANSPOSE", "t", types::movable, shapes::transpose) | with_perms,
    layout_row(Op::gather, "GATHER", "tI", types::indexed, shapes::gather),
    layout_row(Op::scatter, "SCATTER", "tIt", types::indexed, shapes::scatter),

    // Conversions.
    row(Op::resize, "RESIZE", "tSSS", types::resize, shapes::resize)
        | with_mode | Out{"u"} | Constant{inputs_1_to_3},
    elementwise_row(Op::cast, "CAST", "t", types::cast, shapes::as_first) | Out{"u"},
    elementwise_row(Op::rescale, "RESCALE", "t?Ytu", types::rescale, shapes::rescale)
        | with_scales | Out{"u"} | Constant{inputs_1_to_4},

    // Values, blocks and state.
    row(Op::constant, "CONST", "", types::storable, shapes::as_declared) | data,
    layout_row(Op::identity, "IDENTITY", "t", types::storable, shapes::as_first),
    row(Op::custom, "CUSTOM", "?*", types::nothing_typed, shapes::as_declared)
        | custom | with_names | Out{"?*"},
    row(Op::cond_if, "COND_IF", "B?*", types::controlflow, shapes::cond_if)
        | control | with_blocks | Out{"?*"},
    row(Op::while_loop, "WHILE_LOOP", "?*", types::controlflow, shapes::while_loop)
        | control | with_blocks | Out{"?*"},
    row(Op::variable, "VARIABLE", "", types::variables, shapes::as_declared) | state,
    row(Op::variable_write, "VARIABLE_WRITE", "t", types::variables, shapes::as_first) | state,
    row(Op::variable_read, "VARIABLE_READ", "t", types::variables, shapes::as_first) | state,
    row(Op::const_shape, "CONST_SHAPE", "", types::nothing_typed, shapes::as_declared)
        | data | Out{"S"},
};
// clang-format on

constexpr bool rows_stand_at_their_numbers() {
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        if (static_cast<std::size_t>(rows[i].op) != i + 1) {
            return false;
        }
    }
    return std::size(rows) + 1 == op_end;
}

static_assert(rows_stand_at_their_numbers());

bool types_fit(const OperandPattern& pattern, const Signature& signature,
               std::span<const TensorIndex> operands, std::span<const Tensor> tensors) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const DType wanted = type_of(pattern.letter(i), signature);
        if (wanted != DType::unknown && tensors[operands[i]].dtype != wanted) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::span<const OperatorRow> operator_rows() {
    return rows;
}

const OperatorRow* row_of(Op op) {
    const auto number = static_cast<std::size_t>(op);
    return number == 0 || number >= op_end ? nullptr : &rows[number - 1];
}

std::string_view name_of(Op op) {
    const OperatorRow* row = row_of(op);
    return row == nullptr ? "UNKNOWN" : row->name;
}

DType accumulator_of(const Attribute& attribute) {
    return std::visit(
        [](const auto& kind) {
            if constexpr (requires { kind.accumulator; }) {
                return kind.accumulator;
            } else {
                return DType::unknown;
            }
        },
        attribute);
}

NanMode nan_mode_of(const Attribute& attribute) {
    return std::visit(
        [](const auto& kind) {
            if constexpr (requires { kind.nan_mode; }) {
                return kind.nan_mode;
            } else {
                return NanMode::unknown;
            }
        },
        attribute);
}

DType type_of(char letter, const Signature& signature) {
    switch (letter) {
        case 'B':
            return DType::boolean;
        case 'I':
            return DType::int32;
        case 'S':
            return DType::shape;
        case 'Y':
            return DType::int8;
        case '?':
            return DType::unknown;
        default:
            return signature.types.at(static_cast<std::size_t>(letter - 't'));
    }
}

const Signature* match(const OperatorRow& row, const Operator& op,
                       std::span<const Tensor> tensors) {
    const auto found = std::ranges::find_if(row.signatures, [&](const Signature& signature) {
        return types_fit(row.inputs, signature, op.inputs, tensors) &&
               types_fit(row.outputs, signature, op.outputs, tensors) &&
               (row.accumulator == 0 ||
                type_of(row.accumulator, signature) == accumulator_of(op.attribute));
    });
    return found == row.signatures.end() ? nullptr : &*found;
}

Extensions extra_needs(const OperatorRow& row, const Operator& op,
                       std::span<const Tensor> tensors) {
    Extensions needs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        const bool must_be_constant = i < 32 && ((row.constant_inputs >> i) & 1U) != 0;
        if (must_be_constant && !tensors[op.inputs[i]].is_constant) {
            needs = needs | ExtensionBit::dynamic;
        }
    }
    if (const auto* attribute = std::get_if<RescaleAttribute>(&op.attribute)) {
        if (attribute->rounding == RoundingMode::double_round) {
            needs = needs | ExtensionBit::doubleround;
        }
        if (attribute->rounding == RoundingMode::inexact_round) {
            needs = needs | ExtensionBit::inexactround;
        }
    }
    return needs;
}

}  // namespace virtaccel::tosa

#pragma once
// The operator table: one row for each operator of TOSA 1.0, holding all that is known about it but
// how to compute it. Verification, semantic checks, the builder and backends read it; none of them
// has a switch over operators.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// What a target must offer: one of `profiles`, and all of `extensions`.
struct Needs {
    Profiles profiles;
    Extensions extensions;
};

// One combination of element types an operator takes. `types` are the values of the pattern's
// variables t, u, v and w.
struct Signature {
    std::array<DType, 4> types{};
    Needs needs;
};

// Which element types an operator's operands have, as letters: the variables t, u, v, w of its
// signatures, or fixed: B BOOL, I INT32, S SHAPE, Y INT8, ? anything. A letter followed by + stands
// for one operand or more, by * for any number; only the last of a list may be.
struct OperandPattern {
    std::array<char, 6> letters{};
    std::uint32_t count = 0;     // letters
    std::uint32_t required = 0;  // operands at least
    bool is_open = false;        // the last letter repeats

    [[nodiscard]] constexpr char letter(std::size_t operand) const {
        return letters[operand < count ? operand : count - 1];
    }

    [[nodiscard]] constexpr bool admits(std::size_t operands) const {
        return operands >= required && (is_open || operands <= count);
    }
};

// An operator seen with its operands, for shape rules. `blocks` may be empty where no block is
// named (the builder).
struct Call {
    const Operator& op;
    std::span<const Tensor> tensors;
    std::span<const Block> blocks;
    const LevelLimits& level;

    [[nodiscard]] const Tensor& input(std::size_t i) const { return tensors[op.inputs[i]]; }

    [[nodiscard]] const Tensor& output(std::size_t i) const { return tensors[op.outputs[i]]; }
};

// Checks attributes, operand shapes and constant operands (TOSA's ERROR_IF, and the level), and
// says which shape each output has; they all have the same. Nothing where the model's word is all
// there is: a constant, state, a CUSTOM operator, or an operand that is not known at load. A
// refusal's sentence is a clause ("its stride y (0) must be at least 1"): the caller says of which
// operator.
using ShapeRule = Checked<std::optional<Shape>> (*)(const Call& call);

// How a backend may think of an operator.
enum class OperatorClass : std::uint8_t {
    tensor,       // reads whole neighbourhoods or axes
    elementwise,  // one output element from one element of each input, which broadcast
    layout,       // moves elements and computes nothing
    data,         // CONST, CONST_SHAPE
    state,        // VARIABLE*
    control,      // COND_IF, WHILE_LOOP
    custom,
};

struct OperatorRow {
    Op op = Op::unknown;
    std::uint32_t constant_inputs = 0;  // bit i: input i must be constant unless DYNAMIC is offered
    std::string_view name;
    std::span<const Signature> signatures;
    ShapeRule shape = nullptr;
    std::size_t attribute = 0;  // which alternative of Attribute
    OperandPattern inputs;
    OperandPattern outputs;
    OperatorClass kind = OperatorClass::tensor;
    char accumulator = 0;       // the letter of the attribute's accumulator type, if it has one
    bool has_nan_mode = false;  // the attribute says what becomes of NaNs
};

// All rows, in the order of the operators' numbers, from 1.
[[nodiscard]] std::span<const OperatorRow> operator_rows();

// The row of `op`, or null for a number that TOSA 1.0 does not have.
[[nodiscard]] const OperatorRow* row_of(Op op);

// The type of an operator's accumulator, and what becomes of NaNs; `unknown` where its attribute
// does not say.
[[nodiscard]] DType accumulator_of(const Attribute& attribute);
[[nodiscard]] NanMode nan_mode_of(const Attribute& attribute);

// The type that a letter of a pattern stands for in `signature`; `unknown` for anything.
[[nodiscard]] DType type_of(char letter, const Signature& signature);

// The signature that the operands' types and the accumulator fit, or null. Types must be those of
// tensors whose counts the row admits.
[[nodiscard]] const Signature* match(const OperatorRow& row, const Operator& op,
                                     std::span<const Tensor> tensors);

// What an operator needs of a target besides its signature: rounding modes, operands that are not
// constant.
[[nodiscard]] Extensions extra_needs(const OperatorRow& row, const Operator& op,
                                     std::span<const Tensor> tensors);

}  // namespace virtaccel::tosa

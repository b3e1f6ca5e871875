#pragma once
// What shape rules are written in: checks that name what they check, and readers of constant
// operands. Inside `tosa` only.

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {

// "its stride y (0) must be at least 1": ERROR_IF.
Checked<void> at_least(std::string_view what, std::int64_t value, std::int64_t least);
Checked<void> at_most(std::string_view what, std::int64_t value, std::int64_t most);
Checked<void> equal(std::string_view what, std::int64_t value, std::int64_t wanted);

// The same for a level's limit: INCOMPATIBLE.
Checked<void> in_level(std::string_view what, std::int64_t value, std::int64_t most);

// "its input has rank (3), not (4)".
Checked<void> of_rank(std::string_view what, const Tensor& tensor, std::uint32_t rank);

// "its bias has shape (3), not (1)" for a list of `length` elements.
Checked<void> list_of(std::string_view what, const Tensor& tensor, std::int64_t length);

// A zero point: a list of one element, which is zero, if it is known, for all types but INT8.
Checked<void> zero_point(std::string_view what, const Tensor& tensor);

// Whether a known tensor of one element holds zero of either sign.
bool is_zero(const Tensor& tensor);

// The axis of an operator, inside `rank`.
Checked<std::uint32_t> axis_of(const Operator& op, std::uint32_t rank);

// A shape of dimensions that must be at least 1 and fit 32 bits; at most rank_max of them.
Checked<std::optional<Shape>> shape_of(std::span<const std::int64_t> dims);
Checked<std::optional<Shape>> shape_of(std::initializer_list<std::int64_t> dims);

// The shape of a tensor.
Shape shape_of(const Tensor& tensor);

// A known SHAPE operand's values.
struct ShapeValues {
    std::array<std::int64_t, shape_length_max> values{};
    std::uint32_t length = 0;

    [[nodiscard]] std::int64_t operator[](std::size_t i) const { return values.at(i); }

    [[nodiscard]] std::span<const std::int64_t> span() const { return {values.data(), length}; }
};

// The values of a SHAPE that must have `length` of them; nothing if they are not known at load.
Checked<std::optional<ShapeValues>> values_of(std::string_view what, const Tensor& shape,
                                              std::uint32_t length);

// Element `i` of a known tensor of a whole-byte integer type, sign extended.
std::int64_t integer_at(const Tensor& tensor, std::size_t i);

inline std::int64_t dim(const Tensor& tensor, std::size_t i) {
    return tensor.shape[i];
}

}  // namespace virtaccel::tosa::shapes

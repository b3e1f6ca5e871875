#include "virtaccel/tosa/shape_checks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {

Checked<void> at_least(std::string_view what, std::int64_t value, std::int64_t least) {
    if (value >= least) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " (", value, ") must be at least ",
                  least);
}

Checked<void> at_most(std::string_view what, std::int64_t value, std::int64_t most) {
    if (value <= most) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " (", value, ") must be at most ", most);
}

Checked<void> equal(std::string_view what, std::int64_t value, std::int64_t wanted) {
    if (value == wanted) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " (", value, ") must be ", wanted);
}

Checked<void> in_level(std::string_view what, std::int64_t value, std::int64_t most) {
    if (value <= most) {
        return {};
    }
    return refuse(Status::incompatible, "its ", what, " (", value, ") must be at most ", most,
                  " at the target's level");
}

Checked<void> of_rank(std::string_view what, const Tensor& tensor, std::uint32_t rank) {
    if (tensor.rank() == rank) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " has rank (", tensor.rank(),
                  "); it must have rank ", rank);
}

Checked<void> list_of(std::string_view what, const Tensor& tensor, std::int64_t length) {
    VIRTACCEL_TRY(of_rank(what, tensor, 1));
    if (dim(tensor, 0) == length) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " has (", dim(tensor, 0),
                  ") elements; it must have ", length);
}

Checked<void> zero_point(std::string_view what, const Tensor& tensor) {
    VIRTACCEL_TRY(list_of(what, tensor, 1));
    if (tensor.dtype == DType::int8 || !tensor.is_constant || is_zero(tensor)) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " of type (", name_of(tensor.dtype),
                  ") must be zero; only INT8 has zero points");
}

bool is_zero(const Tensor& tensor) {
    // Minus zero is a zero: the sign of a floating-point type is the top bit of its last byte.
    const bool has_sign_bit = tensor.dtype >= DType::fp32 && tensor.dtype != DType::shape;
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
        const bool is_top = i + 1 == tensor.data.size();
        const std::byte mask{is_top && has_sign_bit ? std::uint8_t{0x7f} : std::uint8_t{0xff}};
        if ((tensor.data[i] & mask) != std::byte{0}) {
            return false;
        }
    }
    return true;
}

Checked<std::uint32_t> axis_of(const Operator& op, std::uint32_t rank) {
    const std::int32_t axis = op.as<AxisAttribute>().axis;
    VIRTACCEL_TRY(at_least("axis", axis, 0));
    VIRTACCEL_TRY(at_most("axis", axis, static_cast<std::int64_t>(rank) - 1));
    return static_cast<std::uint32_t>(axis);
}

Checked<std::optional<Shape>> shape_of(std::span<const std::int64_t> dims) {
    if (dims.size() > rank_max) {
        return refuse(Status::resource_limit, "its output has rank (", dims.size(),
                      "); there is room for ", rank_max);
    }
    Shape shape;
    for (const std::int64_t dim : dims) {
        VIRTACCEL_TRY(at_least("output's dimension", dim, 1));
        VIRTACCEL_TRY(at_most("output's dimension", dim, std::numeric_limits<std::int32_t>::max()));
        shape.dims.at(shape.rank++) = static_cast<std::int32_t>(dim);
    }
    return shape;
}

Checked<std::optional<Shape>> shape_of(std::initializer_list<std::int64_t> dims) {
    return shape_of(std::span{dims.begin(), dims.size()});
}

Shape shape_of(const Tensor& tensor) {
    Shape shape;
    for (const std::int32_t dim : tensor.shape) {
        shape.dims.at(shape.rank++) = dim;
    }
    return shape;
}

Checked<std::optional<ShapeValues>> values_of(std::string_view what, const Tensor& shape,
                                              std::uint32_t length) {
    if (shape.elements != length) {
        return refuse(Status::invalid_argument, "its ", what, " has (", shape.elements,
                      ") elements; it must have ", length);
    }
    if (!shape.is_constant) {
        return std::nullopt;
    }
    ShapeValues values;
    values.length = length;
    for (std::uint32_t i = 0; i < length; ++i) {
        values.values.at(i) = integer_at(shape, i);
    }
    return values;
}

std::int64_t integer_at(const Tensor& tensor, std::size_t i) {
    const std::uint32_t width = bits_of(tensor.dtype).value_or(0) / 8;
    if (width == 0) {
        return 0;  // less than a byte: no list or bound has such elements
    }
    std::uint64_t value = 0;
    for (std::uint32_t byte = 0; byte < width; ++byte) {
        const auto bits = std::to_integer<std::uint64_t>(tensor.data[(i * width) + byte]);
        value |= bits << (8 * byte);
    }
    // Up against the top and back again copies the sign into the bits above.
    const std::uint32_t unused = 64 - (8 * width);
    return static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace virtaccel::tosa::shapes

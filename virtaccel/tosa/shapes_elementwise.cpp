#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/shape_checks.h"
#include "virtaccel/tosa/shapes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {
namespace {

// The shape to which the first `count` inputs broadcast. TOSA stretches dimensions of one but adds
// none, so ranks are equal.
Inferred broadcast_of(const Call& call, std::size_t count) {
    Shape shape = shape_of(call.input(0));
    for (std::size_t i = 1; i < count; ++i) {
        const Tensor& input = call.input(i);
        VIRTACCEL_TRY(of_rank("input", input, shape.rank));
        for (std::uint32_t d = 0; d < shape.rank; ++d) {
            std::int32_t& dim = shape.dims.at(d);
            const std::int32_t other = input.shape[d];
            if (dim != other && dim != 1 && other != 1) {
                return refuse(Status::invalid_argument, "its inputs do not broadcast: dimension ",
                              d, " is (", dim, ") and (", other, ")");
            }
            dim = std::max(dim, other);
        }
    }
    return shape;
}

// A bound's bytes as a number that orders as the values of `dtype` do; nothing for a NaN.
std::optional<std::int64_t> order_of(std::span<const std::byte> bytes, DType dtype) {
    const Tensor bound = {.name = {}, .dtype = dtype, .shape = {}, .data = bytes};
    const std::int64_t bits = integer_at(bound, 0);
    std::int64_t infinity = 0;
    if (dtype == DType::fp32) {
        infinity = 0x7f800000;
    } else if (dtype == DType::fp16) {
        infinity = 0x7c00;
    } else if (dtype == DType::bf16) {
        infinity = 0x7f80;
    } else {
        return bits;
    }
    const std::int64_t sign = std::int64_t{1} << (bits_of(dtype).value_or(64) - 1);
    const std::int64_t magnitude = bits & (sign - 1);
    if (magnitude > infinity) {
        return std::nullopt;
    }
    return bits < 0 ? -magnitude : magnitude;
}

// Only INT8 and INT16 can be read as unsigned, and one side has to stay signed.
Checked<void> check_signedness(const Call& call, const RescaleAttribute& attribute) {
    const DType from = call.input(0).dtype;
    const DType to = call.op.outputs.empty() ? DType::unknown : call.output(0).dtype;
    const bool wide = from == DType::int32 || from == DType::int48 || to == DType::int32;
    if (attribute.input_unsigned && attribute.output_unsigned) {
        return refuse(Status::invalid_argument,
                      "its input and output are both unsigned; one of them must be signed");
    }
    if (wide && (attribute.input_unsigned || attribute.output_unsigned)) {
        return refuse(Status::invalid_argument, "it rescales (", name_of(from), ") to (",
                      name_of(to), ") unsigned; INT32 and INT48 are signed");
    }
    return {};
}

// INT8 has any zero point, an unsigned INT16 zero or 32768, all others zero.
Checked<void> check_rescale_zero_point(std::string_view what, const Tensor& zero,
                                       bool is_unsigned) {
    if (zero.dtype != DType::int16 || !is_unsigned) {
        return zero_point(what, zero);
    }
    VIRTACCEL_TRY(list_of(what, zero, 1));
    if (!zero.is_constant || is_zero(zero) ||
        integer_at(zero, 0) == std::numeric_limits<std::int16_t>::min()) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what,
                  " of an unsigned INT16 must be 0 or 32768");
}

// Multipliers and shifts, as far as they are known.
Checked<void> check_scales(const Call& call) {
    const Tensor& multiplier = call.input(1);
    const Tensor& shift = call.input(2);
    for (std::size_t i = 0; multiplier.is_constant && i < multiplier.elements; ++i) {
        VIRTACCEL_TRY(at_least("multiplier", integer_at(multiplier, i), 0));
    }
    for (std::size_t i = 0; shift.is_constant && i < shift.elements; ++i) {
        VIRTACCEL_TRY(at_least("shift", integer_at(shift, i), 2));
        VIRTACCEL_TRY(at_most("shift", integer_at(shift, i), 62));
    }
    return {};
}

}  // namespace

Inferred as_declared(const Call&) {
    return std::nullopt;
}

Inferred as_first(const Call& call) {
    return shape_of(call.input(0));
}

Inferred broadcast(const Call& call) {
    return broadcast_of(call, call.op.inputs.size());
}

// The third input shifts a product of INT32 right; it is there for other types too, and zero.
Inferred mul(const Call& call) {
    const Tensor& shift = call.input(2);
    VIRTACCEL_TRY(list_of("shift", shift, 1));
    if (shift.is_constant) {
        const bool shifts = call.input(0).dtype == DType::int32;
        VIRTACCEL_TRY(at_least("shift", integer_at(shift, 0), 0));
        VIRTACCEL_TRY(at_most("shift", integer_at(shift, 0), shifts ? 63 : 0));
    }
    return broadcast_of(call, 2);
}

// The bounds are bytes in the attribute; writers fill them up, so more bytes than needed are fine.
Inferred clamp(const Call& call) {
    const auto& attribute = call.op.as<ClampAttribute>();
    const DType dtype = call.input(0).dtype;
    const std::uint64_t bytes = byte_count(dtype, 1).value_or(0);
    if (attribute.min.size() < bytes || attribute.max.size() < bytes) {
        return refuse(Status::invalid_argument, "its bounds have (", attribute.min.size(),
                      ") and (", attribute.max.size(), ") bytes; an element of type ",
                      name_of(dtype), " has ", bytes);
    }
    const auto min = order_of(attribute.min.first(bytes), dtype);
    const auto max = order_of(attribute.max.first(bytes), dtype);
    if (!min || !max || *max < *min) {
        return refuse(Status::invalid_argument,
                      "its bounds are not in order: the lower must not exceed the upper, and "
                      "neither may be a NaN");
    }
    return as_first(call);
}

Inferred negate(const Call& call) {
    VIRTACCEL_TRY(zero_point("input zero point", call.input(1)));
    VIRTACCEL_TRY(zero_point("output zero point", call.input(2)));
    return as_first(call);
}

// INT8 looks up one of 256 values; INT16 interpolates between 513.
Inferred table(const Call& call) {
    VIRTACCEL_TRY(list_of("table", call.input(1), call.input(0).dtype == DType::int8 ? 256 : 513));
    return as_first(call);
}

// Input, multiplier, shift, input zero point, output zero point. Multiplier and shift are one for
// the whole tensor or one for each element of its last dimension.
Inferred rescale(const Call& call) {
    const auto& attribute = call.op.as<RescaleAttribute>();
    const Tensor& input = call.input(0);
    const Tensor& multiplier = call.input(1);
    const DType factor = attribute.scale32 ? DType::int32 : DType::int16;
    if (multiplier.dtype != factor) {
        return refuse(Status::invalid_argument, "its multiplier has type (",
                      name_of(multiplier.dtype), "); with scale32 (", attribute.scale32 ? 1 : 0,
                      ") it must have type ", name_of(factor));
    }
    if (attribute.scale32 && input.dtype == DType::int48) {
        return refuse(Status::invalid_argument, "it rescales INT48 with scale32; it must not");
    }
    if (!attribute.scale32 && attribute.rounding == RoundingMode::double_round) {
        return refuse(Status::invalid_argument, "its DOUBLE_ROUND needs scale32");
    }
    if (attribute.per_channel) {
        VIRTACCEL_TRY(at_least("input's rank", input.rank(), 1));
    }
    const std::int64_t channels = attribute.per_channel ? input.shape.back() : 1;
    VIRTACCEL_TRY(list_of("multiplier", multiplier, channels));
    VIRTACCEL_TRY(list_of("shift", call.input(2), channels));
    VIRTACCEL_TRY(check_signedness(call, attribute));
    VIRTACCEL_TRY(
        check_rescale_zero_point("input zero point", call.input(3), attribute.input_unsigned));
    VIRTACCEL_TRY(
        check_rescale_zero_point("output zero point", call.input(4), attribute.output_unsigned));
    VIRTACCEL_TRY(check_scales(call));
    return shape_of(input);
}

Inferred reduce(const Call& call) {
    Shape shape = shape_of(call.input(0));
    VIRTACCEL_TRY_ASSIGN(const std::uint32_t axis, axis_of(call.op, shape.rank));
    shape.dims.at(axis) = 1;
    return shape;
}

Inferred argmax(const Call& call) {
    Shape shape = shape_of(call.input(0));
    VIRTACCEL_TRY_ASSIGN(const std::uint32_t axis, axis_of(call.op, shape.rank));
    std::copy(shape.dims.begin() + axis + 1, shape.dims.end(), shape.dims.begin() + axis);
    --shape.rank;
    return shape;
}

}  // namespace virtaccel::tosa::shapes

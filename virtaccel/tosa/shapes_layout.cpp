#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

using Dims = std::array<std::int64_t, rank_max>;

// Where an operand arrives at run time, the file's shape of the output is what counts, as long as
// some operand gives it. `fits(output, input)` says so of each dimension, `rule` in words. The
// builder has no output to look at yet.
template <class Fits>
Inferred as_declared_if(const Call& call, std::string_view rule, const Fits& fits) {
    if (call.op.outputs.empty()) {
        return std::nullopt;
    }
    const Tensor& input = call.input(0);
    const Tensor& output = call.output(0);
    VIRTACCEL_TRY(of_rank("output", output, input.rank()));
    for (std::uint32_t d = 0; d < input.rank(); ++d) {
        if (!fits(dim(output, d), dim(input, d))) {
            return refuse(Status::invalid_argument, "its output's dimension ", d, " (",
                          dim(output, d), ") must be ", rule, " its input's (", dim(input, d), ")");
        }
    }
    return std::nullopt;
}

}  // namespace

// All inputs have one shape but for the axis, along which they stand one after the other.
Inferred concat(const Call& call) {
    VIRTACCEL_TRY(in_level("number of inputs", static_cast<std::int64_t>(call.op.inputs.size()),
                           call.level.tensor_list));
    const Tensor& first = call.input(0);
    VIRTACCEL_TRY_ASSIGN(const std::uint32_t axis, axis_of(call.op, first.rank()));
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < call.op.inputs.size(); ++i) {
        const Tensor& input = call.input(i);
        VIRTACCEL_TRY(of_rank("input", input, first.rank()));
        for (std::uint32_t d = 0; d < first.rank(); ++d) {
            if (d != axis && dim(input, d) != dim(first, d)) {
                return refuse(Status::invalid_argument, "its inputs differ in dimension ", d, " (",
                              dim(first, d), " and ", dim(input, d),
                              "); they may differ along the axis (", axis, ") only");
            }
        }
        sum += dim(input, axis);
    }
    Dims dims{};
    for (std::uint32_t d = 0; d < first.rank(); ++d) {
        dims.at(d) = d == axis ? sum : dim(first, d);
    }
    return shape_of(std::span{dims}.first(first.rank()));
}

// The padding is before and after for each dimension, the outermost first. Each side is bounded
// before it is added, so that the sum exists.
Inferred pad(const Call& call) {
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(at_least("input's rank", input.rank(), 1));
    VIRTACCEL_TRY(list_of("padding value", call.input(2), 1));
    VIRTACCEL_TRY_ASSIGN(const auto padding, values_of("padding", call.input(1), 2 * input.rank()));
    if (!padding) {
        return as_declared_if(call, "at least", std::greater_equal<>{});
    }
    Dims dims{};
    for (std::uint32_t d = 0; d < input.rank(); ++d) {
        const std::int64_t before = (*padding)[std::size_t{2} * d];
        const std::int64_t after = (*padding)[(std::size_t{2} * d) + 1];
        for (const std::int64_t side : {before, after}) {
            VIRTACCEL_TRY(at_least("padding", side, 0));
            VIRTACCEL_TRY(at_most("padding", side, std::int64_t{1} << 31U));
        }
        dims.at(d) = before + dim(input, d) + after;
    }
    return shape_of(std::span{dims}.first(input.rank()));
}

// A dimension of -1 is no question here: the file says the whole shape.
Inferred reshape(const Call& call) {
    const Tensor& input = call.input(0);
    const Tensor& operand = call.input(1);
    if (operand.elements > rank_max) {
        return refuse(Status::resource_limit, "its new shape has (", operand.elements,
                      ") dimensions; there is room for ", rank_max);
    }
    VIRTACCEL_TRY_ASSIGN(
        const auto values,
        values_of("new shape", operand, static_cast<std::uint32_t>(operand.elements)));
    if (!values && call.op.outputs.empty()) {
        return std::nullopt;
    }
    std::optional<Shape> shape;
    if (values) {
        VIRTACCEL_TRY_ASSIGN(shape, shape_of(values->span()));
    } else {
        VIRTACCEL_TRY(
            of_rank("output", call.output(0), static_cast<std::uint32_t>(operand.elements)));
        shape = shape_of(call.output(0));
    }
    const std::optional<std::uint64_t> elements = element_count(shape->span());
    if (elements != input.elements) {
        return refuse(Status::invalid_argument, "its new shape has (", elements.value_or(0),
                      ") elements; its input has ", input.elements);
    }
    return shape;
}

Inferred reverse(const Call& call) {
    VIRTACCEL_TRY(axis_of(call.op, call.input(0).rank()));
    return shape_of(call.input(0));
}

// Start and size hold one number for each dimension; the slice lies inside the input.
Inferred slice(const Call& call) {
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(at_least("input's rank", input.rank(), 1));
    VIRTACCEL_TRY_ASSIGN(const auto start, values_of("start", call.input(1), input.rank()));
    VIRTACCEL_TRY_ASSIGN(const auto size, values_of("size", call.input(2), input.rank()));
    if (!start || !size) {
        return as_declared_if(call, "at most", std::less_equal<>{});
    }
    for (std::uint32_t d = 0; d < input.rank(); ++d) {
        VIRTACCEL_TRY(at_least("start", (*start)[d], 0));
        VIRTACCEL_TRY(at_most("start", (*start)[d], dim(input, d) - 1));
        VIRTACCEL_TRY(at_least("size", (*size)[d], 1));
        VIRTACCEL_TRY(at_most("size", (*size)[d], dim(input, d) - (*start)[d]));
    }
    return shape_of(size->span());
}

Inferred tile(const Call& call) {
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(at_least("input's rank", input.rank(), 1));
    VIRTACCEL_TRY_ASSIGN(const auto multiples, values_of("multiples", call.input(1), input.rank()));
    if (!multiples) {
        return as_declared_if(call, "a multiple of", [](std::int64_t output, std::int64_t one) {
            return output % one == 0;
        });
    }
    Dims dims{};
    for (std::uint32_t d = 0; d < input.rank(); ++d) {
        VIRTACCEL_TRY(at_least("multiple", (*multiples)[d], 1));
        VIRTACCEL_TRY(at_most("multiple", (*multiples)[d], std::int64_t{1} << 31U));
        dims.at(d) = dim(input, d) * (*multiples)[d];
    }
    return shape_of(std::span{dims}.first(input.rank()));
}

// Perms that are no permutation would read some elements twice and others never.
Inferred transpose(const Call& call) {
    const Tensor& input = call.input(0);
    const auto& attribute = call.op.as<TransposeAttribute>();
    VIRTACCEL_TRY(at_least("input's rank", input.rank(), 1));
    VIRTACCEL_TRY(equal("number of perms", attribute.rank, input.rank()));
    Dims dims{};
    std::array<bool, rank_max> seen{};
    for (std::uint32_t d = 0; d < attribute.rank; ++d) {
        const std::int32_t from = attribute.perms.at(d);
        VIRTACCEL_TRY(at_least("perm", from, 0));
        VIRTACCEL_TRY(at_most("perm", from, static_cast<std::int64_t>(input.rank()) - 1));
        bool& used = seen.at(static_cast<std::size_t>(from));
        if (used) {
            return refuse(Status::invalid_argument, "its perms name dimension (", from,
                          ") twice; each must stand there once");
        }
        used = true;
        dims.at(d) = dim(input, static_cast<std::size_t>(from));
    }
    return shape_of(std::span{dims}.first(input.rank()));
}

// Values N, K, C; indices N, W; output N, W, C. Whether an index is below K is only known at run
// time.
Inferred gather(const Call& call) {
    const Tensor& values = call.input(0);
    const Tensor& indices = call.input(1);
    VIRTACCEL_TRY(of_rank("values", values, 3));
    VIRTACCEL_TRY(of_rank("indices", indices, 2));
    VIRTACCEL_TRY(equal("indices' first dimension", dim(indices, 0), dim(values, 0)));
    return shape_of({dim(values, 0), dim(indices, 1), dim(values, 2)});
}

// Values N, K, C; indices N, W; input N, W, C; output N, K, C. As no row may be written twice,
// there are at most K indices.
Inferred scatter(const Call& call) {
    const Tensor& values = call.input(0);
    const Tensor& indices = call.input(1);
    const Tensor& input = call.input(2);
    VIRTACCEL_TRY(of_rank("values", values, 3));
    VIRTACCEL_TRY(of_rank("indices", indices, 2));
    VIRTACCEL_TRY(of_rank("input", input, 3));
    VIRTACCEL_TRY(equal("indices' first dimension", dim(indices, 0), dim(values, 0)));
    VIRTACCEL_TRY(equal("input's first dimension", dim(input, 0), dim(values, 0)));
    VIRTACCEL_TRY(equal("input's second dimension", dim(input, 1), dim(indices, 1)));
    VIRTACCEL_TRY(equal("input's third dimension", dim(input, 2), dim(values, 2)));
    VIRTACCEL_TRY(at_most("number of indices", dim(indices, 1), dim(values, 1)));
    return shape_of(values);
}

}  // namespace virtaccel::tosa::shapes

#pragma once
// A small valid model for every operator of TOSA 1.0 and every combination of element types that it
// takes: what shows that something holds for all of them.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::testing {

// "CONV2D INT8 INT8 INT32" and its builder; the model has at least one output.
struct OperatorModel {
    Op op = Op::unknown;
    const Signature* signature = nullptr;
    std::string name;
    Builder builder;
};

// What an operator's inputs are, in order: "2x3" a shape, "=3,2" the values of a SHAPE.
struct InputShapes {
    Op op;
    std::array<std::string_view, 5> inputs;
};

inline constexpr InputShapes input_shapes[] = {
    {Op::avg_pool2d, {"1x4x4x2", "1", "1"}},
    {Op::conv2d, {"1x4x4x2", "3x2x2x2", "3", "1", "1"}},
    {Op::conv3d, {"1x3x3x3x2", "3x2x2x2x2", "3", "1", "1"}},
    {Op::depthwise_conv2d, {"1x4x4x2", "2x2x2x1", "2", "1", "1"}},
    {Op::fft2d, {"1x2x4", "1x2x4"}},
    {Op::matmul, {"1x2x3", "1x3x2", "1", "1"}},
    {Op::max_pool2d, {"1x4x4x2"}},
    {Op::rfft2d, {"1x2x4"}},
    {Op::transpose_conv2d, {"1x3x3x2", "3x2x2x2", "3", "1", "1"}},
    {Op::mul, {"2x3", "2x3", "1"}},
    {Op::negate, {"2x3", "1", "1"}},
    {Op::pad, {"2x3", "=0,1,1,0", "1"}},
    {Op::reshape, {"2x3", "=3,2"}},
    {Op::slice, {"2x3", "=0,1", "=2,2"}},
    {Op::tile, {"2x3", "=2,1"}},
    {Op::gather, {"1x3x2", "1x4"}},
    {Op::scatter, {"1x4x2", "1x2", "1x2x2"}},
    {Op::resize, {"1x2x2x1", "=2,1,2,1", "=0,0", "=1,1"}},
    {Op::rescale, {"2x3", "1", "1", "1", "1"}},
};

// Numbers between any other characters.
template <class Number>
std::vector<Number> numbers_in(std::string_view text) {
    std::vector<Number> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        Number number = 0;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error == std::errc{}) {
            numbers.push_back(number);
        }
        at = error == std::errc{} ? next : at + 1;
    }
    return numbers;
}

inline std::string_view shape_of_input(Op op, std::size_t i, const Signature& signature) {
    if (op == Op::table && i == 1) {
        return signature.types[0] == DType::int8 ? "256" : "513";
    }
    for (const InputShapes& row : input_shapes) {
        if (row.op == op) {
            return row.inputs.at(i);
        }
    }
    return "2x3";
}

// Attributes of no padding, windows of 2 and steps of 1; 2 where a pool needs it.
inline Attribute plain_attribute(const OperatorRow& row, const Signature& signature,
                                 std::span<const std::byte> bound) {
    const DType accumulator =
        row.accumulator == 0 ? DType::unknown : type_of(row.accumulator, signature);
    const NanMode nans = row.has_nan_mode ? NanMode::propagate : NanMode::unknown;
    switch (row.attribute) {
        case 1:
            return AxisAttribute{.axis = 0, .nan_mode = nans};
        case 2:
            return PoolAttribute{.kernel = {2, 2},
                                 .stride = {2, 2},
                                 .pad = {},
                                 .accumulator = accumulator,
                                 .nan_mode = nans};
        case 3:
            return Conv2dAttribute{.pad = {},
                                   .stride = {1, 1},
                                   .dilation = {1, 1},
                                   .local_bound = false,
                                   .accumulator = accumulator};
        case 4:
            return Conv3dAttribute{.pad = {},
                                   .stride = {1, 1, 1},
                                   .dilation = {1, 1, 1},
                                   .local_bound = false,
                                   .accumulator = accumulator};
        case 5:
            return TransposeConv2dAttribute{
                .out_pad = {}, .stride = {1, 1}, .local_bound = false, .accumulator = accumulator};
        case 6:
            return FftAttribute{};
        case 7:
            return ClampAttribute{.min = bound, .max = bound, .nan_mode = nans};
        case 8:
            return ShiftAttribute{.round = true};
        case 9:
            return NanAttribute{.nan_mode = nans};
        case 10:
            return TransposeAttribute{.perms = {1, 0}, .rank = 2};
        case 11:
            return ResizeAttribute{.mode = signature.types[0] == signature.types[1]
                                               ? ResizeMode::nearest
                                               : ResizeMode::bilinear};
        case 12:
            return RescaleAttribute{.scale32 = false, .rounding = RoundingMode::single_round};
        case 13:
            return CustomAttribute{
                .operator_name = "twist", .domain_name = "test", .implementation = {}};
        default:
            return NoAttribute{};
    }
}

// Input `i` of an operator: a constant if TOSA wants one.
inline Value plain_input(Builder& builder, const OperatorRow& row, const Signature& signature,
                         std::size_t i) {
    const std::string_view text = shape_of_input(row.op, i, signature);
    if (text.starts_with('=')) {
        return builder.shape(numbers_in<std::int64_t>(text));
    }
    DType dtype = type_of(row.inputs.letter(i), signature);
    if (dtype == DType::unknown) {
        dtype = row.op == Op::rescale ? DType::int16 : DType::fp32;
    }
    if (row.op == Op::rescale && i == 2) {
        return builder.integers(DType::int8, {1}, {8});
    }
    const auto shape = numbers_in<std::int32_t>(text);
    return ((row.constant_inputs >> i) & 1U) != 0
               ? builder.zeros(dtype, shape)
               : builder.input("in" + std::to_string(i), dtype, shape);
}

// Any operator but those that keep state or run blocks.
inline void add_plain(Builder& builder, const OperatorRow& row, const Signature& signature) {
    if (row.op == Op::constant) {
        builder.output(builder.zeros(signature.types[0], {2, 3}), "out");
        return;
    }
    if (row.op == Op::const_shape) {
        builder.output(builder.reshape(builder.input("in0", DType::fp32, {2, 3}), {3, 2}), "out");
        return;
    }
    std::vector<Value> inputs;
    const std::size_t count = row.inputs.is_open ? 2 : row.inputs.count;
    for (std::size_t i = 0; i < count; ++i) {
        inputs.push_back(plain_input(builder, row, signature, i));
    }
    const std::array<std::byte, 8> bound{};
    const Value value = builder.op(
        row.op, inputs, plain_attribute(row, signature, bound),
        {.dtype = row.op == Op::custom ? DType::fp32 : type_of(row.outputs.letter(0), signature),
         .shape = std::vector<std::int32_t>{2, 3}});
    for (std::uint32_t i = 0; i < row.outputs.required || i == 0; ++i) {
        builder.output(Builder::output_of(value, i), "out" + std::to_string(i));
    }
}

// A variable that is read, and written for the next run.
inline void add_state(Builder& builder, const Signature& signature) {
    const Value x = builder.input("in0", signature.types[0], {2, 3});
    const Value state = builder.variable("state", signature.types[0], {2, 3});
    builder.declare(state);
    builder.output(builder.read(state), "out");
    builder.write(state, x);
}

// in0 if in1 else in0 + in0.
inline void add_condition(Builder& builder) {
    Builder same;
    same.output(same.input("a", DType::int32, {2, 3}), "b");
    Builder twice;
    const Value a = twice.input("a", DType::int32, {2, 3});
    twice.output(twice.add(a, a), "b");
    const Value x = builder.input("in0", DType::int32, {2, 3});
    const Value condition = builder.input("in1", DType::boolean, {1});
    builder.output(builder.cond_if(condition, {x}, same, twice), "out");
}

// in0 counted up to 10.
inline void add_loop(Builder& builder) {
    Builder is_below;
    const Value i = is_below.input("i", DType::int32, {1});
    is_below.output(is_below.op(Op::greater, {is_below.integers(DType::int32, {1}, {10}), i}),
                    "goes on");
    Builder next;
    const Value k = next.input("i", DType::int32, {1});
    next.output(next.add(k, next.integers(DType::int32, {1}, {1})), "next");
    builder.output(builder.while_loop({builder.input("in0", DType::int32, {1})}, is_below, next),
                   "out");
}

inline std::vector<OperatorModel> every_operator() {
    std::vector<OperatorModel> models;
    for (const OperatorRow& row : operator_rows()) {
        for (const Signature& signature : row.signatures) {
            OperatorModel model{.op = row.op,
                                .signature = &signature,
                                .name = std::string{row.name},
                                .builder = {}};
            for (const DType dtype : signature.types) {
                if (dtype != DType::unknown) {
                    model.name += ' ';
                    model.name += name_of(dtype);
                }
            }
            if (row.kind == OperatorClass::state) {
                add_state(model.builder, signature);
            } else if (row.op == Op::cond_if) {
                add_condition(model.builder);
            } else if (row.op == Op::while_loop) {
                add_loop(model.builder);
            } else {
                add_plain(model.builder, row, signature);
            }
            models.push_back(std::move(model));
        }
    }
    return models;
}

}  // namespace virtaccel::tosa::testing

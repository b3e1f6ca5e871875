// Cases of operators that make one element of one element of each input.
#include <cstdint>
#include <limits>
#include <vector>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::NanMode;
using tosa::Op;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr DType floats[] = {DType::fp32, DType::fp16, DType::bf16};
constexpr DType floats_and_int32[] = {DType::fp32, DType::fp16, DType::bf16, DType::int32};

// Operands of a case: as many as the operator has tensors that are not constant.
struct Operand {
    DType dtype = DType::fp32;
    Shape shape;
    Values values;
};

Problem make(Op op, DType output, const std::vector<Operand>& operands,
             const tosa::Attribute& attribute = {}) {
    Sketch sketch;
    std::vector<tosa::Value> inputs;
    inputs.reserve(operands.size());
    for (const Operand& operand : operands) {
        inputs.push_back(sketch.input(operand.dtype, operand.shape, operand.values));
    }
    return sketch.finish(sketch.op(op, inputs, output, attribute));
}

// Every pair of two lists, as two lists of the same length.
struct Pairs {
    Values left;
    Values right;

    explicit Pairs(const Values& values) {
        for (const double a : values) {
            left.insert(left.end(), values.size(), a);
            right.insert(right.end(), values.begin(), values.end());
        }
    }

    [[nodiscard]] Shape shape() const { return {static_cast<std::int32_t>(left.size())}; }
};

Problem make_pairs(Op op, DType dtype, DType output, const Values& values,
                   const tosa::Attribute& attribute = {}) {
    const Pairs pairs{values};
    return make(op, output,
                {{.dtype = dtype, .shape = pairs.shape(), .values = pairs.left},
                 {.dtype = dtype, .shape = pairs.shape(), .values = pairs.right}},
                attribute);
}

// Of integers those whose sums, differences and products fit INT32.
Values values_of(DType dtype) {
    return float_format(dtype) ? calm_edges_of(dtype)
                               : Values{0, 1, -1, 2, -3, 1000, -1000, 32767, -32768};
}

Values edges_and_nan(DType dtype) {
    Values values = calm_edges_of(dtype);
    if (float_format(dtype)) {
        values.push_back(nan);
    }
    return values;
}

void add_broadcast(CaseList& list, Op op, DType dtype, DType output,
                   const tosa::Attribute& attribute = {}) {
    list.add({op, lower_name(dtype), "broadcasts"}, "dimensions of one repeat, on either side",
             {.input = dtype, .output = output}, [op, dtype, output, attribute] {
                 Numbers numbers{61};
                 return make(
                     op, output,
                     {{.dtype = dtype, .shape = {2, 1, 5}, .values = numbers.integers(10, -8, 8)},
                      {.dtype = dtype, .shape = {1, 3, 5}, .values = numbers.integers(15, -8, 8)}},
                     attribute);
             });
}

void add_sums_of(CaseList& list, Op op, DType dtype) {
    const Types types{.input = dtype, .output = dtype};
    list.add({op, lower_name(dtype), "edge_values"}, "every pair of edge values", types,
             [op, dtype] { return make_pairs(op, dtype, dtype, values_of(dtype)); });
    add_broadcast(list, op, dtype, dtype);
    if (!float_format(dtype)) {
        return;
    }
    list.add({op, lower_name(dtype), "rounds"}, "every result is rounded to nearest", types,
             [op, dtype] {
                 Numbers numbers{67};
                 const Values left = numbers.reals(300);
                 return make(op, dtype,
                             {{.dtype = dtype, .shape = {300}, .values = left},
                              {.dtype = dtype, .shape = {300}, .values = numbers.reals(300)}});
             });
}

void add_sums(CaseList& list) {
    for (const Op op : {Op::add, Op::sub}) {
        for (const DType dtype : floats_and_int32) {
            add_sums_of(list, op, dtype);
        }
    }
}

Problem make_product(DType dtype, DType output, const Values& values, double shift) {
    const Pairs pairs{values};
    Sketch sketch;
    const auto a = sketch.input(dtype, pairs.shape(), pairs.left);
    const auto b = sketch.input(dtype, pairs.shape(), pairs.right);
    return sketch.finish(sketch.op(Op::mul, {a, b, sketch.scalar(DType::int8, shift)}, output));
}

void add_products(CaseList& list) {
    for (const DType dtype : floats) {
        const Types types{.input = dtype, .output = dtype};
        list.add({Op::mul, lower_name(dtype), "edge_values"}, "every pair of edge values", types,
                 [dtype] { return make_product(dtype, dtype, calm_edges_of(dtype), 0); });
        list.add({Op::mul, lower_name(dtype), "rounds"}, "every result is rounded to nearest",
                 types, [dtype] {
                     Numbers numbers{71};
                     return make_product(dtype, dtype, numbers.reals(17), 0);
                 });
    }
    for (const DType dtype : {DType::int8, DType::int16}) {
        list.add({Op::mul, lower_name(dtype), "edge_values"}, "products are of type INT32",
                 {.input = dtype, .output = DType::int32},
                 [dtype] { return make_product(dtype, DType::int32, calm_edges_of(dtype), 0); });
    }
    constexpr Types int32 = {.input = DType::int32, .output = DType::int32};
    list.add({Op::mul, "int32", "no_shift"}, "products as they are", int32, [] {
        return make_product(DType::int32, DType::int32, {0, 1, -1, 7, -46340, 46340}, 0);
    });
    list.add({Op::mul, "int32", "rounds_half_up"}, "a shift of one rounds halves up", int32,
             [] { return make_product(DType::int32, DType::int32, {1, -3, -1, 3, 5}, 1); });
    list.add({Op::mul, "int32", "shifts_64_bit_products"},
             "the product is shifted before it is INT32", int32, [] {
                 return make_product(DType::int32, DType::int32,
                                     {2147483647, -2147483647, 1, 65537, -65537}, 31);
             });
}

void add_nan_modes(CaseList& list) {
    for (const Op op : {Op::maximum, Op::minimum}) {
        for (const DType dtype : floats) {
            const Types types{.input = dtype, .output = dtype};
            const Values values = edges_and_nan(dtype);
            list.add({op, lower_name(dtype), "propagates_nan"},
                     "a NaN on either side is the result", types, [op, dtype, values] {
                         return make_pairs(op, dtype, dtype, values,
                                           tosa::NanAttribute{.nan_mode = NanMode::propagate});
                     });
            list.add({op, lower_name(dtype), "ignores_nan"},
                     "a NaN on either side gives way to the number on the other", types,
                     [op, dtype, values] {
                         return make_pairs(op, dtype, dtype, values,
                                           tosa::NanAttribute{.nan_mode = NanMode::ignore});
                     });
        }
        list.add({op, "int32", "edge_values"}, "every pair of edge values",
                 {.input = DType::int32, .output = DType::int32}, [op] {
                     return make_pairs(op, DType::int32, DType::int32, calm_edges_of(DType::int32),
                                       tosa::NanAttribute{.nan_mode = NanMode::propagate});
                 });
        add_broadcast(list, op, DType::fp32, DType::fp32,
                      tosa::NanAttribute{.nan_mode = NanMode::propagate});
    }
}

Problem make_clamp(DType dtype, double least, double most, NanMode nan_mode) {
    const auto bytes_of = [dtype](double value) {
        return pack({.dtype = dtype, .shape = {1}, .values = {value}, .magnitudes = {}});
    };
    const Bytes min = bytes_of(least);
    const Bytes max = bytes_of(most);
    const Values edges = edges_of(dtype);
    return make(
        Op::clamp, dtype,
        {{.dtype = dtype, .shape = {static_cast<std::int32_t>(edges.size())}, .values = edges}},
        tosa::ClampAttribute{.min = min, .max = max, .nan_mode = nan_mode});
}

void add_clamps(CaseList& list) {
    for (const DType dtype : floats) {
        const Types types{.input = dtype, .output = dtype};
        list.add({Op::clamp, lower_name(dtype), "propagates_nan"}, "a NaN stays one", types,
                 [dtype] { return make_clamp(dtype, 0, 1, NanMode::propagate); });
        list.add({Op::clamp, lower_name(dtype), "ignores_nan"}, "a NaN becomes the least", types,
                 [dtype] { return make_clamp(dtype, -0.5, 1, NanMode::ignore); });
    }
    list.add({Op::clamp, "int8", "edge_values"}, "the least and the greatest numbers",
             {.input = DType::int8, .output = DType::int8},
             [] { return make_clamp(DType::int8, -100, 100, NanMode::propagate); });
}

void add_comparisons(CaseList& list) {
    for (const Op op : {Op::equal, Op::greater, Op::greater_equal}) {
        for (const DType dtype : floats_and_int32) {
            list.add({op, lower_name(dtype), "edge_values"},
                     "every pair of edge values; nothing compares with a NaN",
                     {.input = dtype, .output = DType::boolean}, [op, dtype] {
                         return make_pairs(op, dtype, DType::boolean, edges_and_nan(dtype));
                     });
        }
    }
}

void add_selects(CaseList& list) {
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16, DType::int8, DType::int32}) {
        list.add(
            {Op::select, lower_name(dtype), "broadcasts"},
            "elements of one side or the other, bit by bit",
            {.input = DType::boolean, .output = dtype}, [dtype] {
                const Values edges = edges_of(dtype);
                return make(
                    Op::select, dtype,
                    {{.dtype = DType::boolean, .shape = {2, 1, 3}, .values = {1, 0, 0, 1, 1, 0}},
                     {.dtype = dtype, .shape = {2, 6, 1}, .values = edges},
                     {.dtype = dtype, .shape = {1, 6, 3}, .values = edges}});
            });
    }
}

Problem make_negate(DType dtype, double input_zero, double output_zero) {
    const Values edges = float_format(dtype) ? edges_of(dtype) : calm_edges_of(dtype);
    Sketch sketch;
    const auto input = sketch.input(dtype, {static_cast<std::int32_t>(edges.size())}, edges);
    return sketch.finish(sketch.op(
        Op::negate, {input, sketch.scalar(dtype, input_zero), sketch.scalar(dtype, output_zero)},
        dtype));
}

void add_signs(CaseList& list) {
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16, DType::int8, DType::int16}) {
        list.add({Op::negate, lower_name(dtype), "edge_values"},
                 "the least integer becomes the greatest, and not itself",
                 {.input = dtype, .output = dtype}, [dtype] { return make_negate(dtype, 0, 0); });
    }
    list.add({Op::negate, "int8", "zero_points"}, "the input's zero point goes, the output's comes",
             {.input = DType::int8, .output = DType::int8},
             [] { return make_negate(DType::int8, -3, 50); });
}

void add_integers(CaseList& list) {
    for (const DType dtype : {DType::int8, DType::int16, DType::int32}) {
        for (const bool round : {false, true}) {
            list.add({Op::arithmetic_right_shift, lower_name(dtype),
                      round ? "rounds_half_up" : "rounds_down"},
                     "shifts of nothing, of one and of all but the sign",
                     {.input = dtype, .output = dtype}, [dtype, round] {
                         const double bits = tosa::bits_of(dtype).value_or(8);
                         Values values = calm_edges_of(dtype);
                         values.insert(values.end(), {5, -5, 6, -6});
                         const auto length = static_cast<std::int32_t>(values.size());
                         return make(
                             Op::arithmetic_right_shift, dtype,
                             {{.dtype = dtype, .shape = {1, length}, .values = values},
                              {.dtype = dtype, .shape = {3, 1}, .values = {0, 1, bits - 1}}},
                             tosa::ShiftAttribute{.round = round});
                     });
        }
    }
    list.add({Op::intdiv, "int32", "towards_zero"}, "quotients are cut off towards zero",
             {.input = DType::int32, .output = DType::int32}, [] {
                 return make(
                     Op::intdiv, DType::int32,
                     {{.dtype = DType::int32,
                       .shape = {6},
                       .values = {7, -7, 7, -7, -2147483648.0, 2147483647}},
                      {.dtype = DType::int32, .shape = {6}, .values = {2, 2, -2, -2, 1, -1}}});
             });
}

void add_activations(CaseList& list) {
    for (const DType dtype : floats) {
        list.add({Op::sigmoid, lower_name(dtype), "curve"}, "from far below zero to far above",
                 {.input = dtype, .output = dtype}, [dtype] {
                     Values values{0, -0.0, 1, -1, 16, -16, 80, -80};
                     Numbers numbers{73};
                     for (const double x : numbers.reals(200)) {
                         values.push_back(8 * x);
                     }
                     return make(Op::sigmoid, dtype,
                                 {{.dtype = dtype,
                                   .shape = {static_cast<std::int32_t>(values.size())},
                                   .values = values}});
                 });
    }
}

}  // namespace

void add_elementwise_cases(CaseList& list) {
    add_clamps(list);
    add_activations(list);
    add_sums(list);
    add_products(list);
    add_nan_modes(list);
    add_integers(list);
    add_signs(list);
    add_comparisons(list);
    add_selects(list);
}

}  // namespace virtaccel::numerics

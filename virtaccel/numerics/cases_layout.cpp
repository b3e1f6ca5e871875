// Cases of operators that move elements: every bit arrives, and where it should.
#include <cstddef>
#include <cstdint>
#include <string>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::Op;

constexpr DType movable[] = {DType::fp32,    DType::fp16, DType::bf16, DType::fp8e4m3,
                             DType::fp8e5m2, DType::int8, DType::int32};

Types same(DType dtype) {
    return {.input = dtype, .output = dtype};
}

Problem make_identity(DType dtype, const Shape& shape, const Values& values) {
    Sketch sketch;
    return sketch.finish(sketch.op(Op::identity, {sketch.input(dtype, shape, values)}, dtype));
}

void add_identities(CaseList& list) {
    for (const DType dtype :
         {DType::fp32, DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2, DType::boolean,
          DType::int4, DType::int8, DType::int16, DType::int32}) {
        list.add({Op::identity, lower_name(dtype), "edge_values"},
                 "zeros of both signs, the ends of the type, infinities, NaN", same(dtype),
                 [dtype] {
                     const Values edges = edges_of(dtype);
                     return make_identity(dtype, {static_cast<std::int32_t>(edges.size())}, edges);
                 });
        list.add({Op::identity, lower_name(dtype), "four_dimensions"}, "a shape whose sides differ",
                 same(dtype),
                 [dtype] { return make_identity(dtype, {2, 3, 1, 5}, edges_of(dtype)); });
    }
    for (const DType dtype : {DType::fp8e4m3, DType::fp8e5m2, DType::int4, DType::int8}) {
        list.add({Op::identity, lower_name(dtype), "every_value"},
                 "all that the type has, and one more", same(dtype), [dtype] {
                     const Values all = all_of(dtype);
                     return make_identity(dtype, {static_cast<std::int32_t>(all.size()) + 1}, all);
                 });
    }
}

// Numbers of which each is found in one place only, as far as the type has so many.
Values counted(DType dtype, std::size_t count) {
    Values values;
    const double most = dtype == DType::fp8e5m2 ? 8 : dtype == DType::fp8e4m3 ? 16 : 100;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = static_cast<double>(i) - (static_cast<double>(count) / 2);
        values.push_back(value < -most || value > most ? value / 4 : value);
    }
    return values;
}

void add_moves_of(CaseList& list, DType dtype) {
    const std::string type = lower_name(dtype);
    list.add({Op::concat, type, "inner_axis"}, "parts of different lengths along an inner axis",
             same(dtype), [dtype] {
                 Sketch sketch;
                 const auto a = sketch.input(dtype, {2, 3, 2}, counted(dtype, 12));
                 const auto b = sketch.input(dtype, {2, 1, 2}, edges_of(dtype));
                 return sketch.finish(
                     sketch.op(Op::concat, {a, b, a}, dtype, tosa::AxisAttribute{.axis = 1}));
             });
    list.add(
        {Op::pad, type, "uneven"}, "another amount at each side, with a value that is not zero",
        same(dtype), [dtype] {
            Sketch sketch;
            const auto x = sketch.input(dtype, {2, 3}, counted(dtype, 6));
            const auto amounts = sketch.builder().shape({1, 0, 2, 3});
            return sketch.finish(sketch.op(Op::pad, {x, amounts, sketch.scalar(dtype, 7)}, dtype));
        });
    list.add({Op::reshape, type, "other_rank"}, "the elements keep their order", same(dtype),
             [dtype] {
                 Sketch sketch;
                 const auto x = sketch.input(dtype, {2, 6}, edges_of(dtype));
                 return sketch.finish(
                     sketch.op(Op::reshape, {x, sketch.builder().shape({3, 2, 2})}, dtype));
             });
    list.add({Op::reverse, type, "middle_axis"}, "one axis turned around", same(dtype), [dtype] {
        Sketch sketch;
        const auto x = sketch.input(dtype, {2, 3, 2}, counted(dtype, 12));
        return sketch.finish(sketch.op(Op::reverse, {x}, dtype, tosa::AxisAttribute{.axis = 1}));
    });
    list.add({Op::transpose, type, "cyclic"}, "a permutation that is not its own inverse",
             same(dtype), [dtype] {
                 Sketch sketch;
                 const auto x = sketch.input(dtype, {2, 3, 4}, counted(dtype, 24));
                 return sketch.finish(
                     sketch.op(Op::transpose, {x}, dtype,
                               tosa::TransposeAttribute{.perms = {2, 0, 1}, .rank = 3}));
             });
    list.add({Op::gather, type, "repeated"}, "rows in any order, and twice", same(dtype), [dtype] {
        Sketch sketch;
        const auto x = sketch.input(dtype, {2, 3, 2}, counted(dtype, 12));
        const auto rows = sketch.input(DType::int32, {2, 4}, {2, 0, 2, 1, 1, 1, 0, 2});
        return sketch.finish(sketch.op(Op::gather, {x, rows}, dtype));
    });
}

Problem make_scatter(DType dtype, const Shape& shape, const Values& rows) {
    Sketch sketch;
    const auto x = sketch.input(dtype, shape, {0});
    const auto indices =
        sketch.input(DType::int32, {1, static_cast<std::int32_t>(rows.size())}, rows);
    const auto values = sketch.input(dtype, {1, static_cast<std::int32_t>(rows.size()), shape[2]},
                                     counted(dtype, 8));
    return sketch.finish(sketch.op(Op::scatter, {x, indices, values}, dtype));
}

}  // namespace

void add_layout_cases(CaseList& list) {
    for (const DType dtype : movable) {
        add_moves_of(list, dtype);
        list.add({Op::scatter, lower_name(dtype), "rows"}, "rows to their places, others untouched",
                 same(dtype), [dtype] { return make_scatter(dtype, {1, 5, 2}, {3, 0, 4}); });
    }
    list.add({Op::scatter, "fp32", "past_65535"}, "a row's number has more than 16 bits",
             same(DType::fp32),
             [] { return make_scatter(DType::fp32, {1, 70000, 1}, {69999, 1}); });
    add_identities(list);
}

}  // namespace virtaccel::numerics

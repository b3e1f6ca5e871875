// Cases of ARGMAX and the reductions along an axis.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::NanMode;
using tosa::Op;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Reduction {
    Op op = Op::unknown;
    DType input = DType::fp32;
    DType output = DType::fp32;
    std::int32_t axis = 0;
    NanMode nan_mode = NanMode::unknown;
};

Problem make(const Reduction& reduction, const Shape& shape, const Values& values) {
    Sketch sketch;
    const auto input = sketch.input(reduction.input, shape, values);
    return sketch.finish(
        sketch.op(reduction.op, {input}, reduction.output,
                  tosa::AxisAttribute{.axis = reduction.axis, .nan_mode = reduction.nan_mode}));
}

// Rows of 17: a NaN at the first place, at the places around a vector's end, at the last; several;
// nothing but NaNs; none.
Values rows_with_nans() {
    constexpr std::size_t length = 17;
    Values values;
    for (const std::size_t lane : {0U, 7U, 8U, 16U}) {
        Values row(length, 1);
        row[3] = 5;
        row[lane] = nan;
        values.insert(values.end(), row.begin(), row.end());
    }
    Values several(length, -2);
    several[1] = nan;
    several[2] = 5;
    several[3] = nan;
    values.insert(values.end(), several.begin(), several.end());
    values.insert(values.end(), length, nan);
    values.insert(values.end(), length, -3);
    return values;
}

void add_nan_modes(CaseList& list, Op op, DType dtype, DType output) {
    for (const NanMode mode : {NanMode::propagate, NanMode::ignore}) {
        const bool ignores = mode == NanMode::ignore;
        list.add({op, lower_name(dtype), ignores ? "ignores_nan" : "propagates_nan"},
                 ignores ? "NaNs are passed over, unless there is nothing else"
                         : "the first NaN decides",
                 {.input = dtype, .output = output}, [op, dtype, output, mode] {
                     Values values = rows_with_nans();
                     // An index among nothing but NaNs means nothing.
                     const bool finds = op == Op::argmax;
                     values.resize(finds ? values.size() - 34 : values.size());
                     return make(
                         {.op = op, .input = dtype, .output = output, .axis = 1, .nan_mode = mode},
                         {finds ? 5 : 7, 17}, values);
                 });
    }
}

void add_middle_axis(CaseList& list, Op op, DType dtype, DType output) {
    list.add({op, lower_name(dtype), "middle_axis"}, "along an axis with others on both sides",
             {.input = dtype, .output = output}, [op, dtype, output] {
                 const bool has_mode = op != Op::reduce_sum;
                 Numbers numbers{79};
                 return make({.op = op,
                              .input = dtype,
                              .output = output,
                              .axis = 1,
                              .nan_mode = has_mode ? NanMode::propagate : NanMode::unknown},
                             {2, 5, 3}, numbers.integers(30, -8, 8));
             });
}

}  // namespace

void add_reduction_cases(CaseList& list) {
    for (const DType dtype :
         {DType::fp32, DType::fp16, DType::bf16, DType::fp8e4m3, DType::fp8e5m2, DType::int8}) {
        add_middle_axis(list, Op::argmax, dtype, DType::int32);
        if (float_format(dtype)) {
            add_nan_modes(list, Op::argmax, dtype, DType::int32);
        }
    }
    for (const Op op : {Op::reduce_max, Op::reduce_min}) {
        for (const DType dtype :
             {DType::fp32, DType::fp16, DType::bf16, DType::int8, DType::int16, DType::int32}) {
            add_middle_axis(list, op, dtype, dtype);
            if (float_format(dtype)) {
                add_nan_modes(list, op, dtype, dtype);
            }
        }
    }
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16, DType::int32}) {
        add_middle_axis(list, Op::reduce_sum, dtype, dtype);
        if (!float_format(dtype)) {
            continue;
        }
        list.add({Op::reduce_sum, lower_name(dtype), "rounds"},
                 "sums that are not exact stay within their bound",
                 {.input = dtype, .output = dtype}, [dtype] {
                     Numbers numbers{83};
                     return make({.op = Op::reduce_sum, .input = dtype, .output = dtype, .axis = 1},
                                 {3, 101}, numbers.reals(303));
                 });
    }
}

}  // namespace virtaccel::numerics

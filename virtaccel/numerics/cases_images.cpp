// Cases of MAX_POOL2D, AVG_POOL2D and RESIZE.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
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
using tosa::PoolAttribute;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr DType max_pools[] = {DType::fp32,    DType::fp16,    DType::bf16,
                               DType::fp8e4m3, DType::fp8e5m2, DType::int8};

constexpr Types average_pools[] = {
    {.input = DType::fp32, .output = DType::fp32, .accumulator = DType::fp32},
    {.input = DType::fp16, .output = DType::fp16, .accumulator = DType::fp16},
    {.input = DType::fp16, .output = DType::fp16, .accumulator = DType::fp32},
    {.input = DType::bf16, .output = DType::bf16, .accumulator = DType::fp32},
    {.input = DType::fp8e4m3, .output = DType::fp8e4m3, .accumulator = DType::fp16},
    {.input = DType::fp8e5m2, .output = DType::fp8e5m2, .accumulator = DType::fp16},
    {.input = DType::int8, .output = DType::int8, .accumulator = DType::int32},
    {.input = DType::int16, .output = DType::int16, .accumulator = DType::int32}};

constexpr Types int8_average = {
    .input = DType::int8, .output = DType::int8, .accumulator = DType::int32};

Types same(DType dtype) {
    return {.input = dtype, .output = dtype};
}

Problem make_max_pool(DType dtype, const Shape& shape, const Values& values,
                      const PoolAttribute& attribute) {
    Sketch sketch;
    const auto input = sketch.input(dtype, shape, values);
    return sketch.finish(sketch.op(Op::max_pool2d, {input}, dtype, attribute));
}

// Height and width, kernel and stride, and the four pads all differ.
PoolAttribute uneven(NanMode nan_mode) {
    return {.kernel = {3, 2},
            .stride = {2, 1},
            .pad = {1, 0, 0, 1},
            .accumulator = DType::unknown,
            .nan_mode = nan_mode};
}

// Windows of two by two side by side: a NaN at each place of one, and one full of them; over 17
// channels, so that every lane of a vector and the rest beyond it meets them.
Problem make_nan_pool(DType dtype, NanMode nan_mode) {
    constexpr std::int32_t channels = 17;
    const Values squares[] = {{1, nan, 3, 2},   {nan, 1, 2, 3},     {3, 2, 1, nan},
                              {1, 2, nan, 3},   {nan, nan, nan, 1}, {nan, nan, nan, nan},
                              {-1, -2, -3, nan}};
    Values values;
    for (const std::size_t y : {0U, 1U}) {
        for (const Values& square : squares) {
            values.insert(values.end(), channels, square[2 * y]);
            values.insert(values.end(), channels, square[(2 * y) + 1]);
        }
    }
    // One channel in each part of a vector differs from the rest.
    for (const std::size_t lane : {0U, 7U, 8U, 16U}) {
        values[lane] = nan;
    }
    return make_max_pool(dtype, {1, 2, 14, channels}, values,
                         {.kernel = {2, 2},
                          .stride = {2, 2},
                          .pad = {},
                          .accumulator = DType::unknown,
                          .nan_mode = nan_mode});
}

void add_max_pools(CaseList& list) {
    for (const DType dtype : max_pools) {
        const std::string type = lower_name(dtype);
        list.add({Op::max_pool2d, type, "nhwc"},
                 "windows that are not square over images that are not", same(dtype), [dtype] {
                     Numbers numbers{37};
                     return make_max_pool(dtype, {2, 6, 5, 3}, numbers.integers(180, -8, 8),
                                          uneven(NanMode::propagate));
                 });
        list.add({Op::max_pool2d, type, "padding_is_not_counted"},
                 "padding is less than any number, also where all are below zero", same(dtype),
                 [dtype] {
                     Numbers numbers{41};
                     return make_max_pool(dtype, {2, 6, 5, 3}, numbers.integers(180, -8, -1),
                                          uneven(NanMode::propagate));
                 });
        list.add({Op::max_pool2d, type, "edge_values"}, "the least and the greatest numbers",
                 same(dtype), [dtype] {
                     return make_max_pool(dtype, {1, 6, 5, 1}, calm_edges_of(dtype),
                                          uneven(NanMode::propagate));
                 });
        if (!float_format(dtype)) {
            continue;
        }
        list.add({Op::max_pool2d, type, "propagates_nan"}, "a NaN in a window is its result",
                 same(dtype), [dtype] { return make_nan_pool(dtype, NanMode::propagate); });
        list.add({Op::max_pool2d, type, "ignores_nan"},
                 "a NaN in a window is passed over, unless there is nothing else", same(dtype),
                 [dtype] { return make_nan_pool(dtype, NanMode::ignore); });
    }
}

struct AverageProblem {
    Shape shape;
    Values values;
    PoolAttribute attribute;
    double input_zero = 0;
    double output_zero = 0;
};

Problem make_average(const Types& types, const AverageProblem& problem) {
    Sketch sketch;
    PoolAttribute attribute = problem.attribute;
    attribute.accumulator = types.accumulator;
    attribute.nan_mode = NanMode::unknown;
    const auto input = sketch.input(types.input, problem.shape, problem.values);
    const auto input_zero = sketch.scalar(types.input, problem.input_zero);
    const auto output_zero = sketch.scalar(types.input, problem.output_zero);
    return sketch.finish(
        sketch.op(Op::avg_pool2d, {input, input_zero, output_zero}, types.output, attribute));
}

void add_integer_averages(CaseList& list, const Types& types) {
    const std::string type = lower_name(types.input);
    list.add({Op::avg_pool2d, type, "rounds_like_the_reciprocal"},
             "quotients a half from an integer go where a hair above 1 / count takes them", types,
             [types] {
                 // Sums of four: 6, -6, 7, -7, 5, -5, 2, -2.
                 return make_average(
                     types, {.shape = {1, 1, 32, 1},
                             .values = {3, 1, 1, 1, -3, -1, -1, -1, 4, 1,  1,  1, -4, -1, -1, -1,
                                        2, 1, 1, 1, -2, -1, -1, -1, 2, -1, -1, 2, -2, 1,  1,  -2},
                             .attribute = {.kernel = {1, 4}, .stride = {1, 4}, .pad = {}}});
             });
    list.add({Op::avg_pool2d, type, "halves"}, "halves go away from zero", types, [types] {
        return make_average(types, {.shape = {1, 4, 1, 1},
                                    .values = {1, 2, -1, -2},
                                    .attribute = {.kernel = {2, 1}, .stride = {2, 1}, .pad = {}}});
    });
    list.add({Op::avg_pool2d, type, "extremes"}, "a window full of the greatest is the greatest",
             types, [types] {
                 const bool is_byte = types.input == DType::int8;
                 return make_average(
                     types, {.shape = {1, 16, 16, 2},
                             .values = {is_byte ? 127.0 : 32767.0, is_byte ? -128.0 : -32768.0},
                             .attribute = {.kernel = {16, 16}, .stride = {1, 1}, .pad = {}}});
             });
}

void add_averages(CaseList& list) {
    for (const Types& types : average_pools) {
        const bool is_wide = types.input == DType::fp16 && types.accumulator == DType::fp32;
        const std::string type = is_wide ? "fp16_in_fp32" : lower_name(types.input);
        list.add({Op::avg_pool2d, type, "padding_is_not_counted"},
                 "the mean of nines is nine at the edge too", types, [types] {
                     return make_average(types, {.shape = {1, 6, 5, 2},
                                                 .values = {9},
                                                 .attribute = uneven(NanMode::unknown)});
                 });
        list.add({Op::avg_pool2d, type, "nhwc"},
                 "windows that are not square over images that are not", types, [types] {
                     Numbers numbers{43};
                     return make_average(types, {.shape = {2, 6, 5, 3},
                                                 .values = numbers.integers(180, -24, 24),
                                                 .attribute = uneven(NanMode::unknown)});
                 });
        if (!float_format(types.input)) {
            add_integer_averages(list, types);
        }
    }
    list.add({Op::avg_pool2d, "int8", "zero_points"},
             "the input's zero point goes, the output's comes, and the type is not left",
             int8_average, [] {
                 Numbers numbers{47};
                 return make_average(int8_average, {.shape = {2, 6, 5, 3},
                                                    .values = numbers.integers(180, -128, 127),
                                                    .attribute = uneven(NanMode::unknown),
                                                    .input_zero = -60,
                                                    .output_zero = 90});
             });
}

struct ResizeProblem {
    Shape shape;
    Values values;
    std::vector<std::int64_t> scale;
    std::vector<std::int64_t> offset;
    std::vector<std::int64_t> border;
};

Problem make_resize(const Types& types, tosa::ResizeMode mode, const ResizeProblem& problem) {
    Sketch sketch;
    const auto input = sketch.input(types.input, problem.shape, problem.values);
    const auto scale = sketch.builder().shape(problem.scale);
    const auto offset = sketch.builder().shape(problem.offset);
    const auto border = sketch.builder().shape(problem.border);
    return sketch.finish(sketch.op(Op::resize, {input, scale, offset, border}, types.output,
                                   tosa::ResizeAttribute{.mode = mode}));
}

// Starts before the first pixel, where a division that truncates instead of rounding down
// extrapolates.
ResizeProblem doubled(bool in_y) {
    return {.shape = in_y ? Shape{1, 2, 1, 1} : Shape{1, 1, 2, 1},
            .values = {10, 20},
            .scale = in_y ? std::vector<std::int64_t>{4, 2, 1, 1}
                          : std::vector<std::int64_t>{1, 1, 4, 2},
            .offset = in_y ? std::vector<std::int64_t>{-1, 0} : std::vector<std::int64_t>{0, -1},
            .border = in_y ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0, 1}};
}

void add_resizes_of(CaseList& list, const Types& types, tosa::ResizeMode mode) {
    const bool is_nearest = mode == tosa::ResizeMode::nearest;
    const std::string type = lower_name(types.input);
    const std::string prefix = is_nearest ? "nearest_" : "bilinear_";
    list.add({Op::resize, type, prefix + "doubles_width"}, "the left edge is not extrapolated",
             types, [types, mode] { return make_resize(types, mode, doubled(false)); });
    list.add({Op::resize, type, prefix + "doubles_height"}, "the top edge is not extrapolated",
             types, [types, mode] { return make_resize(types, mode, doubled(true)); });
    list.add({Op::resize, type, prefix + "batched"},
             "images and channels stay apart, and y and x are scaled by themselves", types,
             [types, mode] {
                 Numbers numbers{53};
                 return make_resize(types, mode,
                                    {.shape = {2, 3, 4, 3},
                                     .values = numbers.integers(72, -100, 100),
                                     .scale = {4, 2, 8, 2},
                                     .offset = {-1, 3},
                                     .border = {1, 1}});
             });
    list.add({Op::resize, type, prefix + "shrinks"}, "fewer pixels out than in", types,
             [types, mode] {
                 Numbers numbers{59};
                 return make_resize(types, mode,
                                    {.shape = {1, 5, 7, 2},
                                     .values = numbers.integers(70, -100, 100),
                                     .scale = {2, 4, 2, 6},
                                     .offset = {1, 0},
                                     .border = {1, 0}});
             });
}

void add_resizes(CaseList& list) {
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
        add_resizes_of(list, same(dtype), tosa::ResizeMode::bilinear);
        add_resizes_of(list, same(dtype), tosa::ResizeMode::nearest);
    }
    add_resizes_of(list, {.input = DType::int8, .output = DType::int32},
                   tosa::ResizeMode::bilinear);
    add_resizes_of(list, same(DType::int8), tosa::ResizeMode::nearest);
}

}  // namespace

void add_image_cases(CaseList& list) {
    add_max_pools(list);
    add_averages(list);
    add_resizes(list);
}

}  // namespace virtaccel::numerics

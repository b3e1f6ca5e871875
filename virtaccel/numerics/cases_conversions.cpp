// Cases of CAST and RESCALE.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/sketch.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using tosa::DType;
using tosa::Op;
using tosa::RoundingMode;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Conversion {
    DType from = DType::unknown;
    DType to = DType::unknown;
};

// To a format that has all of the source's numbers.
constexpr Conversion widenings[] = {{DType::fp8e4m3, DType::bf16}, {DType::fp8e5m2, DType::bf16},
                                    {DType::fp8e4m3, DType::fp16}, {DType::fp8e5m2, DType::fp16},
                                    {DType::fp8e4m3, DType::fp32}, {DType::fp8e5m2, DType::fp32},
                                    {DType::fp16, DType::fp32},    {DType::bf16, DType::fp32}};

constexpr Conversion narrowings[] = {{DType::fp32, DType::fp16},    {DType::fp32, DType::bf16},
                                     {DType::fp32, DType::fp8e4m3}, {DType::fp32, DType::fp8e5m2},
                                     {DType::fp16, DType::fp8e4m3}, {DType::fp16, DType::fp8e5m2},
                                     {DType::bf16, DType::fp8e4m3}, {DType::bf16, DType::fp8e5m2}};

constexpr DType floats[] = {DType::fp32, DType::fp16, DType::bf16};
constexpr DType integers[] = {DType::int8, DType::int16, DType::int32};

std::string name_of(const Conversion& conversion) {
    return lower_name(conversion.from) + "_to_" + lower_name(conversion.to);
}

Problem make_cast(const Conversion& conversion, const Values& values) {
    Sketch sketch;
    const auto input =
        sketch.input(conversion.from, {static_cast<std::int32_t>(values.size())}, values);
    return sketch.finish(sketch.op(Op::cast, {input}, conversion.to));
}

void add_cast(CaseList& list, const Conversion& conversion, const char* what, const char* title,
              const std::function<Values()>& values) {
    list.add({Op::cast, name_of(conversion), what}, title,
             {.input = conversion.from, .output = conversion.to},
             [conversion, values] { return make_cast(conversion, values()); });
}

// Between neighbours of the narrow format: their middle, and the source's next numbers on either
// side of it. Formats of 16 bits are sampled.
Values middles(const Conversion& conversion) {
    const FloatFormat from = *float_format(conversion.from);
    const FloatFormat to = *float_format(conversion.to);
    const std::uint32_t step = to.bits() > 8 ? 41 : 1;
    const std::uint32_t infinite = encode(to, infinity);
    Values values;
    for (std::uint32_t bits = 0; bits + 1 < infinite; bits += step) {
        const double below = decode(to, bits);
        const double middle = below + ((decode(to, bits + 1) - below) / 2);
        const double next = ulp(from, middle);
        for (const double value : {middle, middle - next, middle + next}) {
            values.insert(values.end(), {value, -value});
        }
    }
    return values;
}

// Around where a format ends.
Values overflows(const Conversion& conversion) {
    const FloatFormat from = *float_format(conversion.from);
    const FloatFormat to = *float_format(conversion.to);
    const double last = largest(to);
    const double limit = last + (ulp(to, last) / 2);
    const double below = limit - ulp(from, last);
    Values values{last, below, limit, 2 * last, largest(from), infinity};
    for (std::size_t i = values.size(); i-- > 0;) {
        values.push_back(-values[i]);
    }
    values.push_back(std::numeric_limits<double>::quiet_NaN());
    return values;
}

void add_float_casts(CaseList& list) {
    for (const Conversion& conversion : widenings) {
        add_cast(list, conversion, "every_value",
                 "all numbers of the type, subnormal ones, infinities and NaNs too",
                 [conversion] { return all_of(conversion.from); });
    }
    for (const Conversion& conversion : narrowings) {
        add_cast(list, conversion, "rounds_to_even",
                 "middles between neighbours, and the numbers next to them",
                 [conversion] { return middles(conversion); });
        add_cast(list, conversion, "overflows", "past the largest number, without saturation",
                 [conversion] { return overflows(conversion); });
    }
}

void add_casts_to_integers(CaseList& list) {
    for (const DType from : floats) {
        for (const DType to : integers) {
            add_cast(list, {.from = from, .to = to}, "rounds_and_saturates",
                     "to nearest, halves to even, and no further than the type goes", [from, to] {
                         const auto [least, most] = range_of(to);
                         const auto low = static_cast<double>(least);
                         const auto high = static_cast<double>(most);
                         const double end = largest(*float_format(from));
                         return Values{0.5,       1.5,  2.5,       -0.5,    -1.5,   -2.5,
                                       0.0,       -0.0, 3.25,      3e9,     -3e9,   infinity,
                                       -infinity, end,  -end,      127.5,   high,   high + 0.5,
                                       high + 1,  low,  low - 0.5, low - 1, low - 2};
                     });
        }
    }
}

// Those of INT32 include some between neighbours of each floating-point type.
Values integers_to_round(DType from) {
    Values values = calm_edges_of(from);
    if (from == DType::int32) {
        values.insert(values.end(), {16777217, 16777219, -16777217, 65519, 65520, 257, 258, 259});
    }
    return values;
}

// Those of more than eight bits do not all fit INT8.
Values integers_to_cut(DType from) {
    Values values = calm_edges_of(from);
    values.insert(values.end(), {127, -128, -7});
    if (from != DType::int8) {
        values.insert(values.end(), {128, -129, 383, 256, 32767});
    }
    return values;
}

void add_casts_from_integers(CaseList& list) {
    for (const DType from : integers) {
        for (const DType to : floats) {
            add_cast(list, {.from = from, .to = to}, "edge_values",
                     "to the nearest number that there is",
                     [from] { return integers_to_round(from); });
        }
        add_cast(list, {.from = from, .to = DType::boolean}, "edge_values",
                 "all but zero is true, also where only high bits are set",
                 [from] { return calm_edges_of(from); });
        add_cast(list, {.from = DType::boolean, .to = from}, "edge_values", "false is 0, true is 1",
                 [] { return Values{0, 1, 1}; });
        for (const DType to : integers) {
            if (to == from) {
                continue;
            }
            add_cast(list, {.from = from, .to = to}, "keeps_the_low_bits",
                     "what does not fit wraps around", [from] { return integers_to_cut(from); });
        }
    }
}

struct RescaleProblem {
    Shape shape;
    Values values;
    Values multiplier;
    Values shift;
    double input_zero = 0;
    double output_zero = 0;
    tosa::RescaleAttribute attribute = {.scale32 = true, .rounding = RoundingMode::single_round};
};

constexpr double one_half = 1 << 30;  // over 2^31

Problem make_rescale(const Conversion& conversion, const RescaleProblem& problem) {
    const DType wide = problem.attribute.scale32 ? DType::int32 : DType::int16;
    const auto channels = static_cast<std::int32_t>(problem.multiplier.size());
    Sketch sketch;
    const auto input = sketch.input(conversion.from, problem.shape, problem.values);
    const auto multiplier = sketch.constant(wide, {channels}, problem.multiplier);
    const auto shift = sketch.constant(DType::int8, {channels}, problem.shift);
    const auto input_zero = sketch.scalar(conversion.from, problem.input_zero);
    const auto output_zero = sketch.scalar(conversion.to, problem.output_zero);
    return sketch.finish(sketch.op(Op::rescale, {input, multiplier, shift, input_zero, output_zero},
                                   conversion.to, problem.attribute));
}

void add_rescale(CaseList& list, const Conversion& conversion, const char* what, const char* title,
                 const std::function<RescaleProblem()>& problem) {
    list.add({Op::rescale, name_of(conversion), what}, title,
             {.input = conversion.from, .output = conversion.to},
             [conversion, problem] { return make_rescale(conversion, problem()); });
}

constexpr Conversion int32_to_int8 = {DType::int32, DType::int8};

void add_roundings(CaseList& list) {
    add_rescale(list, int32_to_int8, "halves", "halves are rounded up", [] {
        return RescaleProblem{
            .shape = {6}, .values = {-5, -3, -1, 1, 3, 5}, .multiplier = {one_half}, .shift = {31}};
    });
    add_rescale(list, int32_to_int8, "quarters", "halves of quarters are rounded up", [] {
        return RescaleProblem{.shape = {9},
                              .values = {-6, -5, -3, -2, 2, 3, 5, 6, 7},
                              .multiplier = {one_half},
                              .shift = {32}};
    });
    add_rescale(list, int32_to_int8, "double_round", "halves of quarters go away from zero", [] {
        return RescaleProblem{
            .shape = {9},
            .values = {-6, -5, -3, -2, 2, 3, 5, 6, 7},
            .multiplier = {one_half},
            .shift = {32},
            .attribute = {.scale32 = true, .rounding = RoundingMode::double_round}};
    });
    add_rescale(list, int32_to_int8, "odd_scale", "a factor of many bits, over many numbers", [] {
        Numbers numbers{89};
        return RescaleProblem{.shape = {4, 50},
                              .values = numbers.integers(200, -8000000, 8000000),
                              .multiplier = {1518500249},
                              .shift = {47}};
    });
}

void add_rescales(CaseList& list) {
    add_roundings(list);
    add_rescale(list, int32_to_int8, "saturates", "what does not fit is the end of the type", [] {
        return RescaleProblem{.shape = {8},
                              .values = {536870911, -536870912, 127, 128, -128, -129, 1000, 0},
                              .multiplier = {one_half},
                              .shift = {30}};
    });
    add_rescale(list, int32_to_int8, "zero_point", "the zero point is added before the end", [] {
        return RescaleProblem{.shape = {8},
                              .values = {0, 1, 100, -100, 300, -300, 500, -500},
                              .multiplier = {one_half},
                              .shift = {31},
                              .output_zero = -20};
    });
    add_rescale(
        list, int32_to_int8, "per_channel", "each of the last dimension has its factor", [] {
            return RescaleProblem{
                .shape = {2, 2, 3},
                .values = {100, 100, 100, -100, -100, -100, 7, 7, 7, -9, -9, -9},
                .multiplier = {one_half, one_half, 1288490189},
                .shift = {30, 32, 33},
                .attribute = {
                    .scale32 = true, .rounding = RoundingMode::single_round, .per_channel = true}};
        });
    add_rescale(list, {DType::int8, DType::int8}, "zero_points",
                "the input's zero point goes, the output's comes", [] {
                    return RescaleProblem{.shape = {256},
                                          .values = all_of(DType::int8),
                                          .multiplier = {1610612736},
                                          .shift = {31},
                                          .input_zero = -20,
                                          .output_zero = 30};
                });
    add_rescale(list, {DType::int8, DType::int8}, "unsigned_output",
                "the same bytes, meant without a sign", [] {
                    return RescaleProblem{.shape = {256},
                                          .values = all_of(DType::int8),
                                          .multiplier = {one_half},
                                          .shift = {30},
                                          .output_zero = -128,
                                          .attribute = {.scale32 = true,
                                                        .rounding = RoundingMode::single_round,
                                                        .output_unsigned = true}};
                });
    add_rescale(list, {DType::int8, DType::int32}, "grows", "to a wider type", [] {
        return RescaleProblem{.shape = {256},
                              .values = all_of(DType::int8),
                              .multiplier = {1610612737},
                              .shift = {21},
                              .input_zero = 3};
    });
    add_rescale(list, {DType::int16, DType::int8}, "scale16", "a factor of 16 bits", [] {
        return RescaleProblem{
            .shape = {9},
            .values = {32767, -32768, 3, -3, 1, -1, 255, -257, 0},
            .multiplier = {16384},
            .shift = {15},
            .attribute = {.scale32 = false, .rounding = RoundingMode::single_round}};
    });
}

}  // namespace

void add_conversion_cases(CaseList& list) {
    add_float_casts(list);
    add_casts_to_integers(list);
    add_casts_from_integers(list);
    add_rescales(list);
}

}  // namespace virtaccel::numerics

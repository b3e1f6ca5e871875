// Backends that convert, move or combine elements wrongly, and the cases that say so by name.
#include "virtaccel/numerics/testing/twins.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <gtest/gtest.h>

#include "virtaccel/numerics/arithmetic.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

namespace {

using testing::attribute_of;
using testing::each_value;
using testing::Inputs;
using testing::Twin;
using tosa::DType;
using tosa::NanMode;
using tosa::Op;

void lose_subnormals(const Step& /*step*/, Tensor& output) {
    const double least = smallest_normal(float_format(output.dtype).value_or(FloatFormat{8, 23}));
    each_value(output,
               [least](double value) { return std::abs(value) < least ? value * 0 : value; });
}

// (value - zero point) * multiplier / 2^shift, rounded by `round`, plus the zero point.
template <class Round>
void rescale_with(const Step& step, Tensor& output, Round round) {
    const double multiplier = step.inputs[1].values[0];
    const double divisor = std::exp2(step.inputs[2].values[0]);
    const double output_zero = step.inputs[4].values[0];
    for (std::size_t i = 0; i < output.values.size(); ++i) {
        const double value = step.inputs[0].values[i] - step.inputs[3].values[0];
        output.values[i] = round(value * multiplier / divisor) + output_zero;
    }
}

template <tosa::RoundingMode mode>
void round_as(tosa::Operator& op, Inputs& /*inputs*/) {
    attribute_of<tosa::RescaleAttribute>(op).rounding = mode;
}

constexpr Twin conversion_twins[] = {
    {"rescale cuts off",
     Op::rescale,
     nullptr,
     [](const Step& step, Tensor& output) {
         rescale_with(step, output, [](double value) { return std::trunc(value); });
     },
     {"numerics.rescale.int32_to_int8.halves", "numerics.rescale.int32_to_int8.odd_scale"}},
    {"rescale rounds halves to even",
     Op::rescale,
     nullptr,
     [](const Step& step, Tensor& output) {
         rescale_with(step, output, [](double value) { return std::nearbyint(value); });
     },
     {"numerics.rescale.int32_to_int8.halves", "numerics.rescale.int32_to_int8.quarters"}},
    {"rescale rounds halves away from zero",
     Op::rescale,
     nullptr,
     [](const Step& step, Tensor& output) {
         rescale_with(step, output, [](double value) { return std::round(value); });
     },
     {"numerics.rescale.int32_to_int8.halves"}},
    {"rescale wraps around",
     Op::rescale,
     nullptr,
     [](const Step& step, Tensor& output) {
         rescale_with(step, output, [](double value) { return std::floor(value + 0.5); });
     },
     {"numerics.rescale.int32_to_int8.saturates", "numerics.rescale.int32_to_int8.zero_point"}},
    {"rescale rounds twice",
     Op::rescale,
     round_as<tosa::RoundingMode::double_round>,
     nullptr,
     {"numerics.rescale.int32_to_int8.quarters"}},
    {"rescale rounds once",
     Op::rescale,
     round_as<tosa::RoundingMode::single_round>,
     nullptr,
     {"numerics.rescale.int32_to_int8.double_round"}},
    {"rescale has one factor for all channels",
     Op::rescale,
     [](tosa::Operator& op, Inputs&) {
         attribute_of<tosa::RescaleAttribute>(op).per_channel = false;
     },
     nullptr,
     {"numerics.rescale.int32_to_int8.per_channel"}},
    {"rescale forgets the output's zero point",
     Op::rescale,
     testing::zero_input<4>,
     nullptr,
     {"numerics.rescale.int32_to_int8.zero_point", "numerics.rescale.int8_to_int8.zero_points"}},
    {"cast cuts off",
     Op::cast,
     nullptr,
     testing::cut_off,
     {"numerics.cast.fp32_to_fp16.rounds_to_even", "numerics.cast.fp32_to_bf16.rounds_to_even",
      "numerics.cast.fp32_to_fp8e4m3.rounds_to_even",
      "numerics.cast.fp16_to_fp8e5m2.rounds_to_even",
      "numerics.cast.bf16_to_fp8e4m3.rounds_to_even"}},
    {"cast cuts floats off to integers",
     Op::cast,
     nullptr,
     [](const Step& step, Tensor& output) {
         const auto [least, most] = range_of(output.dtype);
         for (std::size_t i = 0; float_format(step.inputs[0].dtype) && i < output.values.size();
              ++i) {
             output.values[i] = std::clamp(std::trunc(step.inputs[0].values[i]),
                                           static_cast<double>(least), static_cast<double>(most));
         }
     },
     {"numerics.cast.fp32_to_int32.rounds_and_saturates",
      "numerics.cast.fp16_to_int8.rounds_and_saturates",
      "numerics.cast.bf16_to_int16.rounds_and_saturates"}},
    {"cast reads FP8E4M3 as if it had infinities",
     Op::cast,
     [](tosa::Operator&, Inputs& inputs) {
         if (inputs[0].dtype == DType::fp8e4m3) {
             each_value(inputs[0], [](double value) {
                 return std::abs(value) < 256
                            ? value
                            : std::copysign(std::numeric_limits<double>::infinity(), value);
             });
         }
     },
     nullptr,
     {"numerics.cast.fp8e4m3_to_bf16.every_value", "numerics.cast.fp8e4m3_to_fp16.every_value",
      "numerics.cast.fp8e4m3_to_fp32.every_value"}},
    {"cast has no subnormal FP8",
     Op::cast,
     [](tosa::Operator&, Inputs& inputs) {
         const auto format = float_format(inputs[0].dtype);
         if (format && format->bits() == 8) {
             each_value(inputs[0], [&](double value) {
                 return std::abs(value) < smallest_normal(*format) ? 0 : value;
             });
         }
     },
     nullptr,
     {"numerics.cast.fp8e4m3_to_bf16.every_value", "numerics.cast.fp8e5m2_to_bf16.every_value"}},
    {"cast saturates FP8",
     Op::cast,
     nullptr,
     [](const Step&, Tensor& output) {
         const auto format = float_format(output.dtype);
         if (format && format->bits() == 8) {
             const double most = largest(*format);
             each_value(output, [most](double value) {
                 return std::isnan(value) ? value : std::clamp(value, -most, most);
             });
         }
     },
     {"numerics.cast.fp32_to_fp8e4m3.overflows", "numerics.cast.fp16_to_fp8e5m2.overflows",
      "numerics.cast.bf16_to_fp8e4m3.overflows"}},
};

constexpr Twin other_twins[] = {
    {"identity loses the sign of zero",
     Op::identity,
     nullptr,
     [](const Step&, Tensor& output) { each_value(output, [](double x) { return x + 0.0; }); },
     {"numerics.identity.fp32.edge_values", "numerics.identity.fp16.edge_values",
      "numerics.identity.bf16.edge_values", "numerics.identity.fp8e4m3.every_value",
      "numerics.identity.fp8e5m2.every_value"}},
    {"identity loses subnormal numbers",
     Op::identity,
     nullptr,
     lose_subnormals,
     {"numerics.identity.fp32.edge_values", "numerics.identity.fp16.edge_values",
      "numerics.identity.bf16.edge_values", "numerics.identity.fp8e4m3.edge_values"}},
    {"identity flips a bit",
     Op::identity,
     nullptr,
     testing::flip_a_bit,
     {"numerics.identity.fp32.edge_values", "numerics.identity.int4.every_value",
      "numerics.identity.int8.every_value", "numerics.identity.int32.four_dimensions"}},
    {"add cuts off",
     Op::add,
     nullptr,
     testing::cut_off,
     {"numerics.add.fp32.rounds", "numerics.add.fp16.rounds"}},
    {"mul does not round what it shifts",
     Op::mul,
     nullptr,
     [](const Step& step, Tensor& output) {
         const double shift = step.inputs[2].values[0];
         for (std::size_t i = 0; shift != 0 && i < output.values.size(); ++i) {
             output.values[i] =
                 std::floor(step.inputs[0].values[i] * step.inputs[1].values[i] / std::exp2(shift));
         }
     },
     {"numerics.mul.int32.rounds_half_up"}},
    {"maximum prefers its second side to a NaN",
     Op::maximum,
     nullptr,
     [](const Step& step, Tensor& output) {
         for (std::size_t i = 0;
              i < output.values.size() && step.inputs[0].shape == step.inputs[1].shape; ++i) {
             const double a = step.inputs[0].values[i];
             const double b = step.inputs[1].values[i];
             output.values[i] = a > b ? a : b;
         }
     },
     {"numerics.maximum.fp32.propagates_nan", "numerics.maximum.fp16.ignores_nan"}},
    {"clamp loses NaNs",
     Op::clamp,
     testing::set_nan_mode<tosa::ClampAttribute, NanMode::ignore>,
     nullptr,
     {"numerics.clamp.fp32.propagates_nan", "numerics.clamp.bf16.propagates_nan"}},
    {"argmax takes a NaN for the least",
     Op::argmax,
     testing::set_nan_mode<tosa::AxisAttribute, NanMode::ignore>,
     nullptr,
     {"numerics.argmax.fp32.propagates_nan", "numerics.argmax.fp8e4m3.propagates_nan"}},
    {"reduce_max keeps NaNs",
     Op::reduce_max,
     testing::set_nan_mode<tosa::AxisAttribute, NanMode::propagate>,
     nullptr,
     {"numerics.reduce_max.fp32.ignores_nan"}},
    {"negate leaves the least as it is",
     Op::negate,
     nullptr,
     [](const Step& step, Tensor& output) {
         const auto [least, most] = range_of(output.dtype);
         for (std::size_t i = 0; !float_format(output.dtype) && i < output.values.size(); ++i) {
             const bool is_least = step.inputs[0].values[i] == static_cast<double>(least);
             output.values[i] = is_least ? static_cast<double>(least) : output.values[i];
         }
     },
     {"numerics.negate.int8.edge_values", "numerics.negate.int16.edge_values"}},
    {"arithmetic_right_shift never rounds",
     Op::arithmetic_right_shift,
     [](tosa::Operator& op, Inputs&) { attribute_of<tosa::ShiftAttribute>(op).round = false; },
     nullptr,
     {"numerics.arithmetic_right_shift.int8.rounds_half_up",
      "numerics.arithmetic_right_shift.int32.rounds_half_up"}},
    {"sigmoid is half of what it should be",
     Op::sigmoid,
     nullptr,
     [](const Step&, Tensor& output) { each_value(output, [](double x) { return x / 2; }); },
     {"numerics.sigmoid.fp32.curve", "numerics.sigmoid.fp16.curve", "numerics.sigmoid.bf16.curve"}},
    {"scatter has rows of 16 bits",
     Op::scatter,
     [](tosa::Operator&, Inputs& inputs) {
         each_value(inputs[1], [](double row) { return std::fmod(row, 65536); });
     },
     nullptr,
     {"numerics.scatter.fp32.past_65535"}},
    {"gather keeps to the first batch",
     Op::gather,
     [](tosa::Operator&, Inputs& inputs) {
         testing::reorder(inputs[0], [](const Position& at, const Tensor& x) {
             return index_of(x.shape, {0, at[1], at[2]});
         });
     },
     nullptr,
     {"numerics.gather.fp32.repeated", "numerics.gather.int8.repeated"}},
    {"reduce_sum rounds its sum down",
     Op::reduce_sum,
     nullptr,
     [](const Step&, Tensor& output) {
         each_value(output, [](double sum) { return std::floor(sum); });
     },
     {"numerics.reduce_sum.fp32.rounds"}},
};

TEST(Twins, that_convert_wrongly_are_caught_by_name) {
    testing::expect_caught(conversion_twins);
}

TEST(Twins, that_do_anything_else_wrongly_are_caught_by_name) {
    testing::expect_caught(other_twins);
}

}  // namespace

}  // namespace virtaccel::numerics

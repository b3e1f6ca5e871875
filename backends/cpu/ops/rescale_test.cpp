#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"
#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelOptions;
using testing::ModelRun;
using tosa::DType;
using tosa::Op;
using tosa::RoundingMode;

// Integers in the bytes that a tensor of `dtype` has for them.
std::vector<std::uint8_t> encoded(DType dtype, const std::vector<std::int64_t>& values) {
    const std::size_t bytes = *tosa::bits_of(dtype) / 8;
    std::vector<std::uint8_t> encoded;
    for (const std::int64_t value : values) {
        for (std::size_t i = 0; i < bytes; ++i) {
            encoded.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }
    return encoded;
}

std::vector<std::int64_t> decoded(DType dtype, const std::vector<std::uint8_t>& bytes,
                                  bool is_unsigned) {
    const std::size_t size = *tosa::bits_of(dtype) / 8;
    std::vector<std::int64_t> values;
    for (std::size_t first = 0; first < bytes.size(); first += size) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            value |= std::uint64_t{bytes[first + i]} << (8 * i);
        }
        const std::size_t unused = 64 - (8 * size);
        values.push_back(is_unsigned ? static_cast<std::int64_t>(value)
                                     : static_cast<std::int64_t>(value << unused) >> unused);
    }
    return values;
}

// One RESCALE.
struct Case {
    DType from = DType::int32;
    DType to = DType::int8;
    std::int32_t channels = 1;
    std::vector<std::int64_t> multipliers{1};
    std::vector<std::int64_t> shifts{2};
    std::int64_t input_zero = 0;
    std::int64_t output_zero = 0;
    tosa::RescaleAttribute attribute{.scale32 = true, .rounding = RoundingMode::single_round};
};

// With operands that are constant, or all come at run time.
std::vector<std::int64_t> rescaled(const Case& one, const std::vector<std::int64_t>& values,
                                   bool is_known, std::uint32_t threads = 1) {
    tosa::Builder builder;
    const auto rows = static_cast<std::int32_t>(values.size()) / one.channels;
    std::vector<std::vector<std::uint8_t>> inputs{encoded(one.from, values)};
    std::vector<tosa::Value> operands{builder.input("x", one.from, {rows, one.channels})};
    const auto add = [&](const char* name, DType dtype, const std::vector<std::int64_t>& numbers) {
        const std::vector<std::uint8_t> bytes = encoded(dtype, numbers);
        const std::vector<std::int32_t> shape{static_cast<std::int32_t>(numbers.size())};
        if (is_known) {
            operands.push_back(builder.constant(dtype, shape, bytes));
        } else {
            operands.push_back(builder.input(name, dtype, shape));
            inputs.push_back(bytes);
        }
    };
    add("multiplier", one.attribute.scale32 ? DType::int32 : DType::int16, one.multipliers);
    add("shift", DType::int8, one.shifts);
    add("input_zero", one.from, {one.input_zero});
    add("output_zero", one.to, {one.output_zero});
    builder.output(builder.op(Op::rescale, operands, one.attribute, {.dtype = one.to, .shape = {}}),
                   "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    for (const auto& bytes : inputs) {
        run.input(bytes);
    }
    return decoded(one.to, run.output<std::uint8_t>(), one.attribute.output_unsigned);
}

// The specification's words.
std::int64_t plain(const Case& one, std::int64_t value, std::size_t channel) {
    const std::int64_t shift = one.shifts[channel];
    std::int64_t round = std::int64_t{1} << (shift - 1);
    value -= one.input_zero;
    if (one.attribute.rounding == RoundingMode::double_round && shift > 31) {
        round += value >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    }
    const std::int64_t result = ((value * one.multipliers[channel]) + round) >> shift;
    const std::int64_t half = std::int64_t{1} << (*tosa::bits_of(one.to) - 1);
    const bool is_unsigned = one.attribute.output_unsigned;
    return std::clamp(result + one.output_zero, is_unsigned ? 0 : -half,
                      is_unsigned ? (2 * half) - 1 : half - 1);
}

// Numbers from `low` to `high`, the same every time.
class Integers {
  public:
    std::int64_t next(std::int64_t low, std::int64_t high) {
        state_ = (state_ * 6364136223846793005U) + 1442695040888963407U;
        const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1;
        return low + static_cast<std::int64_t>((state_ >> 11U) % span);
    }

  private:
    std::uint64_t state_ = 1;
};

// A value of which the scaled one fits INT32, as the specification requires.
std::int64_t some_value(Integers& integers, const Case& one, std::size_t channel) {
    const std::uint32_t bits = *tosa::bits_of(one.from);
    std::int64_t low = -(std::int64_t{1} << (bits - 1));
    std::int64_t high = -low - 1;
    if (one.attribute.input_unsigned) {
        high -= low;
        low = 0;
    }
    const std::int64_t most = std::int64_t{1}
                              << std::min<std::int64_t>(30, one.shifts[channel] - 1);
    return integers.next(std::max(low, -most), std::min(high, most));
}

void expect_plain(const Case& one, std::size_t rows) {
    Integers integers;
    const auto channels = static_cast<std::size_t>(one.channels);
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> wanted;
    for (std::size_t i = 0; i < rows * channels; ++i) {
        const std::size_t channel = one.attribute.per_channel ? i % channels : 0;
        values.push_back(some_value(integers, one, channel));
        wanted.push_back(plain(one, values.back(), channel));
    }
    SCOPED_TRACE(::testing::Message()
                 << tosa::name_of(one.from) << " to " << tosa::name_of(one.to) << ", shift "
                 << one.shifts[0] << ", rounding " << static_cast<int>(one.attribute.rounding)
                 << ", channels " << one.channels);
    EXPECT_EQ(rescaled(one, values, true), wanted);
    EXPECT_EQ(rescaled(one, values, true, 3), wanted);
    EXPECT_EQ(rescaled(one, values, false), wanted);
}

TEST(Rescale, rounds_halves_up_once_or_twice) {
    Case one{.from = DType::int32, .to = DType::int8, .multipliers = {1 << 30}, .shifts = {31}};
    const std::vector<std::int64_t> values{-3, -2, -1, 0, 1, 2, 3, 1000, -1000};
    for (const bool is_known : {false, true}) {
        EXPECT_EQ(rescaled(one, values, is_known),
                  (std::vector<std::int64_t>{-1, -1, 0, 0, 1, 1, 2, 127, -128}));
    }
    one.shifts = {33};  // eighths
    const std::vector<std::int64_t> eighths{-12, -4, -3, 3, 4, 5, 12};
    for (const bool is_known : {false, true}) {
        one.attribute.rounding = RoundingMode::inexact_round;
        EXPECT_EQ(rescaled(one, eighths, is_known),
                  (std::vector<std::int64_t>{-1, 0, 0, 0, 1, 1, 2}));
        one.attribute.rounding = RoundingMode::double_round;
        EXPECT_EQ(rescaled(one, eighths, is_known),
                  (std::vector<std::int64_t>{-2, -1, 0, 1, 1, 1, 2}));
    }
}

TEST(Rescale, of_every_type_is_as_the_specification_has_it) {
    for (const DType from : {DType::int8, DType::int16, DType::int32, DType::int48}) {
        for (const DType to : {DType::int8, DType::int16, DType::int32}) {
            Case one{.from = from, .to = to, .multipliers = {23456}, .shifts = {17}};
            one.input_zero = from == DType::int8 ? -7 : 0;
            one.output_zero = to == DType::int8 ? 11 : 0;
            one.attribute.scale32 = false;
            expect_plain(one, 40);
        }
    }
}

TEST(Rescale, takes_numbers_without_a_sign) {
    for (const DType from : {DType::int8, DType::int16}) {
        for (const DType to : {DType::int8, DType::int16}) {
            for (const bool is_output : {false, true}) {
                Case one{.from = from, .to = to, .multipliers = {1 << 29}, .shifts = {30}};
                one.attribute.input_unsigned = !is_output;
                one.attribute.output_unsigned = is_output;
                const std::int64_t half = std::int64_t{1} << (*tosa::bits_of(from) - 1);
                one.input_zero = is_output ? 0 : half;
                one.output_zero = is_output && to == DType::int16 ? 32768 : 0;
                expect_plain(one, 40);
            }
        }
    }
}

// Shifts on both sides of what vectors take, and numbers of channels on both sides of a vector's.
TEST(Rescale, of_int8_and_int32_is_the_same_in_vectors) {
    testing::on_each_instruction_set([] {
        for (const DType from : {DType::int8, DType::int32}) {
            for (const DType to : {DType::int8, DType::int32}) {
                for (const std::int64_t shift : {10, 11, 20, 31, 32, 33, 34, 45, 62}) {
                    for (const auto rounding :
                         {RoundingMode::single_round, RoundingMode::double_round}) {
                        Case one{.from = from, .to = to, .channels = 3, .shifts = {shift}};
                        one.multipliers = {std::numeric_limits<std::int32_t>::max() - 12345};
                        one.attribute.rounding = rounding;
                        one.input_zero = from == DType::int8 ? 127 : 0;
                        one.output_zero = to == DType::int8 ? -128 : 0;
                        expect_plain(one, 15);
                    }
                }
            }
        }
    });
}

TEST(Rescale, has_a_factor_for_each_channel) {
    testing::on_each_instruction_set([] {
        for (const std::int32_t channels : {1, 2, 3, 8, 15, 16, 17, 40}) {
            for (const std::int64_t shift : {20, 33, 60}) {
                Case one{.channels = channels, .multipliers = {}, .shifts = {}};
                Integers integers;
                for (std::int32_t i = 0; i < channels; ++i) {
                    one.multipliers.push_back(integers.next(1 << 30, 0x7fffffff));
                    one.shifts.push_back(integers.next(shift, shift + 2));
                }
                one.attribute.per_channel = true;
                one.attribute.rounding =
                    shift == 33 ? RoundingMode::double_round : RoundingMode::single_round;
                expect_plain(one, 13);
                one.from = DType::int8;
                expect_plain(one, 13);
            }
        }
    });
}

// Sanitizers watch.
TEST(Rescale, of_what_the_specification_forbids_has_some_result) {
    Case one{.from = DType::int48, .to = DType::int32, .multipliers = {-32768}, .shifts = {-5}};
    one.attribute.scale32 = false;
    one.input_zero = std::int64_t{1} << 46;
    const std::int64_t least = -(std::int64_t{1} << 47);
    for (const std::int64_t shift : {-128, -1, 0, 1, 63, 127}) {
        one.shifts = {shift};
        EXPECT_EQ(rescaled(one, {least, -least - 1}, false).size(), 2U);
    }
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

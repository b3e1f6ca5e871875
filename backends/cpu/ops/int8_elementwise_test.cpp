// Sums and PRELU of INT8, on every instruction set.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/ops/int8_prelu.h"
#include "backends/cpu/ops/int8_sum.h"
#include "backends/cpu/testing/instruction_sets.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// RESCALE as the specification has it.
std::int64_t scaled(std::int64_t value, std::int64_t multiplier, std::int64_t shift,
                    bool rounds_twice) {
    std::int64_t round = std::int64_t{1} << (shift - 1);
    if (rounds_twice && shift > 31) {
        round += value >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    }
    return ((value * multiplier) + round) >> shift;
}

std::int64_t term_of(const Int8Term& term, std::int8_t number, bool rounds_twice) {
    const std::int64_t shifted = std::int64_t{number - term.zero} * (std::int64_t{1} << term.left);
    return term.is_scaled ? scaled(shifted, term.multiplier, term.shift, rounds_twice) : shifted;
}

// Every INT8, in an order that depends on `factor`, which is odd.
std::vector<std::int8_t> numbers(std::size_t count, std::size_t factor) {
    std::vector<std::int8_t> found;
    for (std::size_t i = 0; i < count; ++i) {
        found.push_back(static_cast<std::int8_t>((i * factor) & 0xffU));
    }
    return found;
}

constexpr std::array<std::size_t, 6> counts{1, 7, 16, 31, 33, 1029};

void expect_sums(const Int8SumShape& shape, const std::vector<std::int8_t>& left,
                 const std::vector<std::int8_t>& right) {
    std::vector<std::int8_t> wanted;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::int64_t sum = term_of(shape.terms[0], left[i], shape.rounds_twice) +
                                 term_of(shape.terms[1], right[i], shape.rounds_twice);
        const std::int64_t result =
            scaled(sum, shape.multiplier, shape.shift, shape.rounds_twice) + shape.output_zero;
        wanted.push_back(
            static_cast<std::int8_t>(std::clamp<std::int64_t>(result, shape.low, shape.high)));
    }
    std::vector<std::int8_t> got(left.size());
    compute_int8_sum(shape, left.data(), right.data(), got.data(),
                     static_cast<std::int64_t>(left.size()));
    EXPECT_EQ(got, wanted) << left.size() << " elements";
}

void check_sum(bool scales_left, bool scales_right, bool rounds_twice) {
    const Int8SumShape shape{.terms = {{.zero = -128,
                                        .left = 20,
                                        .is_scaled = scales_left,
                                        .multiplier = 1'632'935'131,
                                        .shift = 34},
                                       {.zero = 26,
                                        .left = 19,
                                        .is_scaled = scales_right,
                                        .multiplier = 1'202'669'231,
                                        .shift = 32}},
                             .multiplier = 1'359'686'661,
                             .shift = 49,
                             .rounds_twice = rounds_twice,
                             .output_zero = -20,
                             .low = -100,
                             .high = 90};
    for (const std::size_t count : counts) {
        expect_sums(shape, numbers(count, 37), numbers(count, 101));
    }
}

TEST(Int8Sum, rescales_as_the_specification_says) {
    testing::on_each_instruction_set([] {
        for (int which = 0; which < 8; ++which) {
            check_sum((which & 1) != 0, (which & 2) != 0, (which & 4) != 0);
        }
    });
}

// Sums of which many lie on the border between two INT8, or one unit beside it.
void check_borders(std::int32_t multiplier, bool rounds_twice) {
    std::vector<std::int8_t> left;
    std::vector<std::int8_t> right;
    for (std::size_t i = 0; i < std::size_t{1} << 16U; ++i) {
        left.push_back(static_cast<std::int8_t>(i & 0xffU));
        right.push_back(static_cast<std::int8_t>(i >> 8U));
    }
    for (const std::int32_t left_shift : {11, 15, 21}) {
        expect_sums({.terms = {{.zero = 127,
                                .left = left_shift,
                                .is_scaled = true,
                                .multiplier = multiplier,
                                .shift = 32},
                               {.zero = -128, .left = left_shift}},
                     .multiplier = std::int32_t{1} << 30U,
                     .shift = left_shift + 32,
                     .rounds_twice = rounds_twice,
                     .output_zero = 5},
                    left, right);
    }
}

TEST(Int8Sum, is_exact_where_it_lies_between_two_numbers) {
    testing::on_each_instruction_set([] {
        for (const bool rounds_twice : {false, true}) {
            check_borders(std::int32_t{1} << 30U, rounds_twice);
            check_borders(2'147'483'647, rounds_twice);
            check_borders(1'073'741'825, rounds_twice);
        }
    });
}

void check_prelu(std::int64_t channels, std::int64_t channel, bool rounds_twice) {
    // The positive branch shifts by 31: its numbers are shifted left by 2 more before.
    Int8PreluShape shape{.positive = {.multiplier = 2'002'862'395, .shift = 33, .away = 0},
                         .negative = {.multiplier = 1'430'193'545,
                                      .shift = 37,
                                      .away = rounds_twice ? std::int32_t{1} << 30 : 0},
                         .positive_factor = 4,
                         .input_zero = -19,
                         .output_zero = -10,
                         .slopes = {},
                         .channels = channels};
    for (std::int64_t i = 0; i < channels + prelu_lanes_max; ++i) {
        shape.slopes.push_back(static_cast<std::int32_t>((i % channels * 29) - 61));
    }
    for (const std::size_t count : counts) {
        const auto input = numbers(count, 37);
        std::vector<std::int8_t> wanted;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t number = input[i] - shape.input_zero;
            const auto c =
                (static_cast<std::size_t>(channel) + i) % static_cast<std::size_t>(channels);
            const std::int64_t result =
                number >= 0 ? scaled(number, 2'002'862'395, 31, rounds_twice)
                            : scaled(number * shape.slopes[c], 1'430'193'545, 37, rounds_twice);
            wanted.push_back(
                static_cast<std::int8_t>(std::clamp<std::int64_t>(result - 10, -128, 127)));
        }
        std::vector<std::int8_t> got(count);
        compute_int8_prelu(shape, input.data(), got.data(), static_cast<std::int64_t>(count),
                           channel);
        EXPECT_EQ(got, wanted) << count << " elements of " << channels << " channels";
    }
}

TEST(Int8Prelu, rescales_as_the_specification_says) {
    testing::on_each_instruction_set([] {
        for (const std::int64_t channels : {1, 3, 15, 16, 17, 40}) {
            check_prelu(channels, 0, false);
            check_prelu(channels, channels - 1, true);
        }
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

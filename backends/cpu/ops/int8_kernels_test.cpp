// Products of INT8 in both formats, with the greatest numbers there are.
#include "backends/cpu/ops/int8_kernels.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/testing/instruction_sets.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// One tap; every row of `left` times every column of `right`.
struct Problem {
    std::int64_t rows;
    std::int64_t depth;
    std::int64_t columns;
    std::int32_t zero;

    [[nodiscard]] static std::vector<std::int8_t> numbers(std::int64_t count, std::int64_t step) {
        std::vector<std::int8_t> found(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            // Mostly from the ends of what eight bits hold.
            found[i] = static_cast<std::int8_t>(at % 3 == 0 ? -128 : (at * step) % 256 - 128);
        }
        return found;
    }

    // What is computed into `output`, which is what a target needs.
    void compute(Int8Format format, const Int8Target& output) const {
        const auto left = numbers(rows * depth, 37);
        const auto right = numbers(depth * columns, 101);
        const Int8Shape shape{.format = format,
                              .input_zero = zero,
                              .input_channels = depth,
                              .output_channels = columns};
        std::vector<std::byte> packed(packed_int8_size(shape));
        pack_int8(shape, {.data = right.data(), .channel_step = 1, .element_step = columns},
                  nullptr, packed.data());
        std::vector<std::int32_t> staged(static_cast<std::size_t>(rows * shape.groups()));
        stage_int8(shape, left.data(), rows, staged.data());
        compute_int8(
            shape, packed.data(),
            {.rows = staged.data(), .pixel_step = shape.groups(), .output = output, .count = rows});
    }

    [[nodiscard]] std::vector<std::int32_t> sums() const {
        const auto left = numbers(rows * depth, 37);
        const auto right = numbers(depth * columns, 101);
        std::vector<std::int32_t> wanted;
        for (std::int64_t i = 0; i < rows * columns; ++i) {
            std::int32_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
                sum += (left[static_cast<std::size_t>((i / columns * depth) + k)] - zero) *
                       right[static_cast<std::size_t>((k * columns) + (i % columns))];
            }
            wanted.push_back(sum);
        }
        return wanted;
    }

    void check(Int8Format format) const {
        std::vector<std::int32_t> got(static_cast<std::size_t>(rows * columns));
        compute(format, {.sums = got.data()});
        EXPECT_EQ(got, sums());
    }

    void check_bytes(Int8Format format, const Int8Rescale& rescale) const {
        if (!rescales_in_registers(rescale)) {
            return;
        }
        // Nothing is written behind the last one.
        std::vector<std::int8_t> got(static_cast<std::size_t>(rows * columns) + lanes_after, 77);
        std::vector<std::int8_t> wanted = got;
        compute(format, {.rescale = &rescale, .bytes = got.data()});
        std::vector<std::int32_t> all = sums();
        all.resize(all.size() + lanes_after);
        rescale_to_int8(rescale, all.data(), rows, wanted.data());
        EXPECT_EQ(got, wanted) << columns << " channels";
    }
};

TEST(Int8Kernels, are_exact_in_every_format) {
    testing::on_each_instruction_set([] {
        for (const std::int32_t zero : {-128, 0, 5, 127}) {
            Problem{13, 64, 70, zero}.check(Int8Format::pairs);
            if (best_int8_format() == Int8Format::quads) {
                Problem{13, 64, 70, zero}.check(Int8Format::quads);
            }
        }
    });
}

TEST(Int8Kernels, take_any_number_of_rows_columns_and_channels) {
    testing::on_each_instruction_set([] {
        for (std::int64_t size = 1; size <= 40; ++size) {
            Problem{size, 9, 17, 3}.check(best_int8_format());
            Problem{3, size, 33, 3}.check(best_int8_format());
            Problem{7, 6, size * 4, 3}.check(best_int8_format());
        }
    });
}

Int8Rescale ends(bool rounds_twice, std::int32_t zero, std::int32_t low, std::int32_t high) {
    Int8Rescale rescale;
    rescale.rounds_twice = rounds_twice;
    rescale.output_zero = zero;
    rescale.low = low;
    rescale.high = high;
    return rescale;
}

// Sums that are biases and nothing else, made INT8: those next to where one INT8 becomes another.
void check_borders(const Int8Rescale& ends, std::int32_t multiplier, std::int32_t shift) {
    Int8Rescale rescale = ends;
    std::vector<std::int32_t> sums;
    for (int border = -300; border <= 300; ++border) {
        const double near = std::ldexp((border + 0.5) / multiplier, shift);
        if (std::abs(near) < 2e9) {
            for (std::int32_t beside = -2; beside <= 2; ++beside) {
                sums.push_back(static_cast<std::int32_t>(near) + beside);
            }
        }
    }
    sums.insert(sums.end(), {0, 1, -1, 2'147'483'647, -2'147'483'647 - 1});
    rescale.channels = static_cast<std::int64_t>(sums.size());
    rescale.multipliers.assign(sums.size() + lanes_after, multiplier);
    rescale.shifts.assign(sums.size() + lanes_after, shift);
    if (!rescales_in_registers(rescale)) {
        return;
    }
    const Int8Shape shape{.format = best_int8_format(), .output_channels = rescale.channels};
    const std::vector<std::int8_t> weights(sums.size(), 1);
    std::vector<std::byte> packed(packed_int8_size(shape));
    pack_int8(shape, {.data = weights.data()}, sums.data(), packed.data());
    const std::int8_t input = 0;
    std::int32_t staged = 0;
    stage_int8(shape, &input, 1, &staged);
    std::vector<std::int8_t> got(sums.size());
    compute_int8(
        shape, packed.data(),
        {.rows = &staged, .output = {.rescale = &rescale, .bytes = got.data()}, .count = 1});
    std::vector<std::int8_t> wanted(sums.size());
    sums.resize(sums.size() + lanes_after);
    rescale_to_int8(rescale, sums.data(), 1, wanted.data());
    EXPECT_EQ(got, wanted) << multiplier << " shifted by " << shift;
}

TEST(Int8Kernels, make_the_same_int8_in_registers_next_to_every_border) {
    testing::on_each_instruction_set([] {
        for (const std::int32_t multiplier :
             {1 << 30, 2'147'483'647, 1'234'567'890, 1'073'741'825, 1 << 15, 1}) {
            for (std::int32_t shift = 33; shift <= 62; ++shift) {
                check_borders(ends(true, -128, -128, 127), multiplier, shift);
                check_borders(ends(false, 127, -128, 127), multiplier, shift);
                check_borders(ends(true, 3, -9, 101), multiplier, shift);
            }
        }
    });
}

TEST(Int8Kernels, make_the_same_int8_of_any_number_of_pixels_and_channels) {
    testing::on_each_instruction_set([] {
        for (std::int64_t channels = 1; channels <= 70; ++channels) {
            Int8Rescale rescale = ends(channels % 2 == 0, -3, -100, 127);
            rescale.channels = channels;
            for (std::int64_t c = 0; c < channels; ++c) {
                rescale.multipliers.push_back(static_cast<std::int32_t>(1'234'567'890 - (c * 77)));
                rescale.shifts.push_back(static_cast<std::int32_t>(33 + (c % 9)));
            }
            rescale.multipliers.resize(static_cast<std::size_t>(channels) + lanes_after);
            rescale.shifts.resize(static_cast<std::size_t>(channels) + lanes_after);
            Problem{27, 9, channels, 3}.check_bytes(best_int8_format(), rescale);
        }
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

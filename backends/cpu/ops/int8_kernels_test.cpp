// Products of INT8 in both formats, with the greatest numbers there are.
#include "backends/cpu/ops/int8_kernels.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

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

    void check(Int8Format format) const {
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
        std::vector<std::int32_t> got(static_cast<std::size_t>(rows * columns));
        compute_int8(shape, packed.data(),
                     {.rows = staged.data(),
                      .pixel_step = shape.groups(),
                      .output = {.sums = got.data()},
                      .count = rows});
        std::vector<std::int32_t> wanted;
        for (std::int64_t i = 0; i < rows * columns; ++i) {
            std::int32_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k) {
                sum += (left[static_cast<std::size_t>((i / columns * depth) + k)] - zero) *
                       right[static_cast<std::size_t>((k * columns) + (i % columns))];
            }
            wanted.push_back(sum);
        }
        EXPECT_EQ(got, wanted);
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

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

#include "virtaccel/lowering/broadcast.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace virtaccel::lowering {

namespace {

using Dims = std::vector<std::int32_t>;

// Every element's operand index by the definition of broadcasting.
std::vector<std::uint64_t> by_definition(const Dims& output, const Dims& input) {
    std::vector<std::uint64_t> indexes;
    std::uint64_t total = 1;
    for (const std::int32_t dim : output) {
        total *= static_cast<std::uint64_t>(dim);
    }
    for (std::uint64_t element = 0; element < total; ++element) {
        std::uint64_t rest = element;
        std::uint64_t index = 0;
        std::uint64_t stride = 1;
        for (std::size_t axis = output.size(); axis-- > 0;) {
            const std::uint64_t position = rest % static_cast<std::uint64_t>(output[axis]);
            rest /= static_cast<std::uint64_t>(output[axis]);
            index += input[axis] == 1 ? 0 : position * stride;
            stride *= static_cast<std::uint64_t>(input[axis]);
        }
        indexes.push_back(index);
    }
    return indexes;
}

std::vector<std::uint64_t> by_walk(const BroadcastWalk<2>& walk, std::size_t operand) {
    std::vector<std::uint64_t> indexes;
    for (std::uint64_t row = 0; row < walk.row_count; ++row) {
        for (std::uint64_t i = 0; i < walk.row_length; ++i) {
            indexes.push_back(walk.offsets_of(row)[operand] + (i * walk.row_strides()[operand]));
        }
    }
    return indexes;
}

void expect_walk(const Dims& output, const Dims& left, const Dims& right,
                 std::uint64_t row_length) {
    const auto walk = walk_over<2>(output, {std::span{left}, std::span{right}});
    EXPECT_EQ(by_walk(walk, 0), by_definition(output, left));
    EXPECT_EQ(by_walk(walk, 1), by_definition(output, right));
    EXPECT_EQ(walk.row_length, row_length);
}

TEST(BroadcastWalk, of_equal_shapes_is_one_row) {
    expect_walk({2, 3, 4}, {2, 3, 4}, {2, 3, 4}, 24);
}

TEST(BroadcastWalk, of_a_scalar_is_one_row) {
    expect_walk({2, 3, 4}, {2, 3, 4}, {1, 1, 1}, 24);
    expect_walk({1, 1}, {1, 1}, {1, 1}, 1);
    expect_walk({}, {}, {}, 1);
}

TEST(BroadcastWalk, repeats_along_any_axis) {
    expect_walk({2, 3, 4}, {2, 3, 4}, {1, 1, 4}, 4);
    expect_walk({2, 3, 4}, {2, 3, 1}, {2, 3, 4}, 4);
    expect_walk({2, 3, 4}, {1, 3, 4}, {2, 3, 4}, 12);
    expect_walk({2, 3, 4}, {2, 1, 1}, {1, 3, 4}, 12);
    expect_walk({2, 3, 4}, {2, 1, 4}, {1, 3, 1}, 4);
    expect_walk({2, 1, 3, 1, 2, 2}, {2, 1, 1, 1, 2, 1}, {1, 1, 3, 1, 1, 2}, 2);
}

TEST(BroadcastWalk, joins_axes_that_are_alike_around_one_that_is_not) {
    const auto walk = walk_over<2>(Dims{5, 2, 3, 4}, {Dims{5, 2, 3, 4}, Dims{5, 2, 1, 1}});
    EXPECT_EQ(walk.rank, 2U);
    EXPECT_EQ(walk.row_count, 10U);
    EXPECT_EQ(walk.row_length, 12U);
}

}  // namespace

}  // namespace virtaccel::lowering

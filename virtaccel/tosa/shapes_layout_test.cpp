#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/testing/inference.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::infer;
using testing::Operand;

TEST(ShapeOfConcat, adds_up_along_the_axis) {
    const AxisAttribute axis{.axis = 1};
    EXPECT_EQ(infer(Op::concat, {Operand::of({1, 2, 3}), Operand::of({1, 4, 3})}, axis),
              "1x6x3:FP32");
    EXPECT_EQ(infer(Op::concat, {Operand::of({1, 2})}, axis), "1x2:FP32");
    EXPECT_EQ(infer(Op::concat, {Operand::of({1, 2}), Operand::of({2, 2})}, axis),
              "its inputs differ in dimension 0 (1 and 2); they may differ along the axis (1) "
              "only.");
    EXPECT_EQ(infer(Op::concat, {Operand::of({1, 2}), Operand::of({1})}, axis),
              "its input has rank (1); it must have rank 2.");
    EXPECT_EQ(infer(Op::concat, {Operand::of({2147483647}), Operand::of({1})}, AxisAttribute{}),
              "its output's dimension (2147483648) must be at most 2147483647.");
}

TEST(ShapeOfPad, grows_at_both_ends) {
    const Operand x = Operand::of({2, 3});
    EXPECT_EQ(infer(Op::pad, {x, Operand::list({0, 1, 2, 3}), Operand::zero()}), "3x8:FP32");
    EXPECT_EQ(infer(Op::pad, {x, Operand::list({0, 1, 2}), Operand::zero()}),
              "its padding has (3) elements; it must have 4.");
    EXPECT_EQ(infer(Op::pad, {x, Operand::list({0, 1, 2, -1}), Operand::zero()}),
              "its padding (-1) must be at least 0.");
    EXPECT_EQ(infer(Op::pad, {x, Operand::list({0, 0, 0, 2147483647}), Operand::zero()}),
              "its output's dimension (2147483650) must be at most 2147483647.");
}

TEST(ShapeOfReshape, keeps_the_number_of_elements) {
    const Operand x = Operand::of({2, 6});
    EXPECT_EQ(infer(Op::reshape, {x, Operand::list({3, 4})}), "3x4:FP32");
    EXPECT_EQ(infer(Op::reshape, {Operand::of({1, 1}), Operand::list({})}), ":FP32");
    EXPECT_EQ(infer(Op::reshape, {x, Operand::list({3, 5})}),
              "its new shape has (15) elements; its input has 12.");
    EXPECT_EQ(infer(Op::reshape, {x, Operand::list({-1, 12})}),
              "its output's dimension (-1) must be at least 1.");
    EXPECT_EQ(infer(Op::reshape, {x, Operand::list({1, 1, 1, 1, 1, 1, 1, 1, 12})}),
              "its new shape has (9) dimensions; there is room for 8.");
}

TEST(ShapeOfReverse, needs_an_axis_of_its_input) {
    EXPECT_EQ(infer(Op::reverse, {Operand::of({2, 6})}, AxisAttribute{.axis = 1}), "2x6:FP32");
    EXPECT_EQ(infer(Op::reverse, {Operand::of({2, 6})}, AxisAttribute{.axis = 2}),
              "its axis (2) must be at most 1.");
}

TEST(ShapeOfSlice, is_its_size) {
    const Operand x = Operand::of({4, 6});
    EXPECT_EQ(infer(Op::slice, {x, Operand::list({1, 2}), Operand::list({3, 4})}), "3x4:FP32");
    EXPECT_EQ(infer(Op::slice, {x, Operand::list({1, 2}), Operand::list({3, 5})}),
              "its size (5) must be at most 4.");
    EXPECT_EQ(infer(Op::slice, {x, Operand::list({-1, 2}), Operand::list({3, 4})}),
              "its start (-1) must be at least 0.");
    EXPECT_EQ(infer(Op::slice, {x, Operand::list({0, 0}), Operand::list({0, 4})}),
              "its size (0) must be at least 1.");
    EXPECT_EQ(infer(Op::slice, {x, Operand::list({0}), Operand::list({1, 4})}),
              "its start has (1) elements; it must have 2.");
}

TEST(ShapeOfTile, multiplies_each_dimension) {
    const Operand x = Operand::of({2, 3});
    EXPECT_EQ(infer(Op::tile, {x, Operand::list({3, 1})}), "6x3:FP32");
    EXPECT_EQ(infer(Op::tile, {x, Operand::list({0, 1})}), "its multiple (0) must be at least 1.");
}

TEST(ShapeOfTranspose, follows_its_perms) {
    const Operand x = Operand::of({2, 3, 4});
    EXPECT_EQ(infer(Op::transpose, {x}, TransposeAttribute{.perms = {2, 0, 1}, .rank = 3}),
              "4x2x3:FP32");
    EXPECT_EQ(infer(Op::transpose, {x}, TransposeAttribute{.perms = {2, 2, 1}, .rank = 3}),
              "its perms name dimension (2) twice; each must stand there once.");
    EXPECT_EQ(infer(Op::transpose, {x}, TransposeAttribute{.perms = {3, 2, 1}, .rank = 3}),
              "its perm (3) must be at most 2.");
    EXPECT_EQ(infer(Op::transpose, {x}, TransposeAttribute{.perms = {1, 0}, .rank = 2}),
              "its number of perms (2) must be 3.");
}

TEST(ShapeOfGather, takes_one_row_for_each_index) {
    const Operand indices = Operand::of({2, 5}, DType::int32);
    EXPECT_EQ(infer(Op::gather, {Operand::of({2, 3, 4}), indices}), "2x5x4:FP32");
    EXPECT_EQ(infer(Op::gather, {Operand::of({1, 3, 4}), indices}),
              "its indices' first dimension (2) must be 1.");
}

TEST(ShapeOfScatter, is_that_of_the_values) {
    const Operand values = Operand::of({2, 7, 4});
    const Operand indices = Operand::of({2, 5}, DType::int32);
    EXPECT_EQ(infer(Op::scatter, {values, indices, Operand::of({2, 5, 4})}), "2x7x4:FP32");
    EXPECT_EQ(infer(Op::scatter, {values, indices, Operand::of({2, 6, 4})}),
              "its input's second dimension (6) must be 5.");
    EXPECT_EQ(infer(Op::scatter, {Operand::of({2, 4, 4}), indices, Operand::of({2, 5, 4})}),
              "its number of indices (5) must be at most 4.");
}

}  // namespace
}  // namespace virtaccel::tosa

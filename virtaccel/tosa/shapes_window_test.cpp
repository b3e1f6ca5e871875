#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/testing/inference.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::infer;
using testing::Operand;

constexpr Conv2dAttribute same = {.pad = {1, 1, 1, 1},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .local_bound = false,
                                  .accumulator = DType::fp32};

std::string conv2d(const Conv2dAttribute& attribute,
                   const std::vector<std::int32_t>& weight = {5, 3, 3, 2}, std::int32_t bias = 5) {
    return infer(Op::conv2d,
                 {Operand::of({1, 8, 6, 2}), Operand::of(weight), Operand::of({bias}),
                  Operand::zero(), Operand::zero()},
                 attribute);
}

TEST(ShapeOfConv2d, counts_the_positions_of_its_window) {
    EXPECT_EQ(conv2d(same), "1x8x6x5:FP32");
    Conv2dAttribute strided = same;
    strided.pad = {0, 1, 0, 1};
    strided.stride = {2, 2};
    EXPECT_EQ(conv2d(strided), "1x4x3x5:FP32");
    Conv2dAttribute dilated = same;
    dilated.dilation = {2, 2};
    EXPECT_EQ(conv2d(dilated), "1x6x4x5:FP32");
    EXPECT_EQ(conv2d(same, {5, 3, 3, 2}, 1), "1x8x6x5:FP32");
}

TEST(ShapeOfConv2d, refuses_strides_dilations_and_pads_that_make_no_sense) {
    Conv2dAttribute bad = same;
    bad.stride = {0, 1};
    EXPECT_EQ(conv2d(bad), "its stride (0) must be at least 1.");
    bad = same;
    bad.stride = {1, 65536};
    EXPECT_EQ(conv2d(bad), "its stride (65536) must be at most 8192 at the target's level.");
    bad = same;
    bad.dilation = {1, 0};
    EXPECT_EQ(conv2d(bad), "its dilation (0) must be at least 1.");
    bad = same;
    bad.dilation = {4096, 1};
    EXPECT_EQ(conv2d(bad),
              "its dilated kernel (12288) must be at most 8192 at the target's level.");
    bad = same;
    bad.pad = {0, 0, -1, 0};
    EXPECT_EQ(conv2d(bad), "its padding (-1) must be at least 0.");
    bad = same;
    bad.stride = {2, 1};
    EXPECT_EQ(conv2d(bad), "its window moves over (7) elements, which its stride (2) must divide.");
    bad = same;
    bad.pad = {};
    EXPECT_EQ(conv2d(bad, {5, 9, 3, 2}), "its window exceeds its padded input by (1) elements.");
}

TEST(ShapeOfConv2d, refuses_operands_that_do_not_belong_together) {
    EXPECT_EQ(conv2d(same, {5, 3, 3, 3}), "its weight's input channels (3) must be 2.");
    EXPECT_EQ(conv2d(same, {5, 3, 3, 2}, 4), "its bias has (4) elements; it must have 5.");
    EXPECT_EQ(conv2d(same, {5, 3, 2}), "its weight has rank (3); it must have rank 4.");
}

TEST(ShapeOfConv2d, has_zero_points_for_int8_alone) {
    Conv2dAttribute integer = same;
    integer.accumulator = DType::int32;
    const Operand x = Operand::of({1, 8, 6, 2}, DType::int8);
    const Operand weight = Operand::of({5, 3, 3, 2}, DType::int8);
    const Operand bias = Operand::of({5}, DType::int32);
    EXPECT_EQ(infer(Op::conv2d, {x, weight, bias, Operand::byte(3), Operand::byte(253)}, integer),
              "1x8x6x5:INT32");
    Operand half = Operand::zero();
    half.bytes[3] = std::byte{0x3f};
    EXPECT_EQ(infer(Op::conv2d,
                    {Operand::of({1, 8, 6, 2}), Operand::of({5, 3, 3, 2}), Operand::of({5}), half,
                     Operand::zero()},
                    same),
              "its input zero point of type (FP32) must be zero; only INT8 has zero points.");
}

TEST(ShapeOfConv3d, counts_along_three_axes) {
    const Conv3dAttribute attribute = {.pad = {1, 1, 0, 0, 0, 0},
                                       .stride = {1, 2, 1},
                                       .dilation = {1, 1, 1},
                                       .local_bound = false,
                                       .accumulator = DType::fp32};
    EXPECT_EQ(infer(Op::conv3d,
                    {Operand::of({1, 4, 7, 6, 2}), Operand::of({5, 3, 3, 3, 2}), Operand::of({1}),
                     Operand::zero(), Operand::zero()},
                    attribute),
              "1x4x3x4x5:FP32");
}

TEST(ShapeOfDepthwiseConv2d, multiplies_channels) {
    const auto depthwise = [](const std::vector<std::int32_t>& weight) {
        return infer(Op::depthwise_conv2d,
                     {Operand::of({1, 8, 6, 2}), Operand::of(weight), Operand::of({1}),
                      Operand::zero(), Operand::zero()},
                     same);
    };
    EXPECT_EQ(depthwise({3, 3, 2, 3}), "1x8x6x6:FP32");
    EXPECT_EQ(depthwise({3, 3, 4, 3}), "its weight's channels (4) must be 2.");
}

TEST(ShapeOfTransposeConv2d, grows_by_stride_and_padding) {
    const auto transposed = [](const TransposeConv2dAttribute& attribute) {
        return infer(Op::transpose_conv2d,
                     {Operand::of({1, 4, 4, 2}), Operand::of({5, 3, 3, 2}), Operand::of({5}),
                      Operand::zero(), Operand::zero()},
                     attribute);
    };
    TransposeConv2dAttribute attribute = {.out_pad = {0, 1, -1, -1},
                                          .stride = {2, 2},
                                          .local_bound = false,
                                          .accumulator = DType::fp32};
    EXPECT_EQ(transposed(attribute), "1x10x7x5:FP32");
    attribute.out_pad = {-3, 0, 0, 0};
    EXPECT_EQ(transposed(attribute), "its output padding (-3) must be at least -2.");
    attribute.stride = {0, 1};
    EXPECT_EQ(transposed(attribute), "its stride (0) must be at least 1.");
}

std::string max_pool2d(const PoolAttribute& attribute) {
    return infer(Op::max_pool2d, {Operand::of({1, 8, 6, 3})}, attribute);
}

TEST(ShapeOfPool2d, counts_the_positions_of_its_window) {
    PoolAttribute pool = {.kernel = {2, 2},
                          .stride = {2, 2},
                          .pad = {},
                          .accumulator = DType::unknown,
                          .nan_mode = NanMode::propagate};
    EXPECT_EQ(max_pool2d(pool), "1x4x3x3:FP32");
    pool.kernel = {0, 2};
    EXPECT_EQ(max_pool2d(pool), "its kernel (0) must be at least 1.");
    pool.kernel = {2, 2};
    pool.stride = {2, 0};
    EXPECT_EQ(max_pool2d(pool), "its stride (0) must be at least 1.");
    pool.stride = {2, 2};
    pool.pad = {2, 0, 0, 0};
    EXPECT_EQ(max_pool2d(pool), "its padding (2) must be at most 1.");
    pool.pad = {0, 1, 0, 0};
    EXPECT_EQ(max_pool2d(pool),
              "its window moves over (7) elements, which its stride (2) must divide.");
}

TEST(ShapeOfPool2d, averages_with_an_accumulator_and_zero_points) {
    const PoolAttribute pool = {.kernel = {8, 6},
                                .stride = {1, 1},
                                .pad = {},
                                .accumulator = DType::int32,
                                .nan_mode = NanMode::unknown};
    EXPECT_EQ(
        infer(Op::avg_pool2d,
              {Operand::of({1, 8, 6, 3}, DType::int8), Operand::byte(1), Operand::byte(2)}, pool),
        "1x1x1x3:INT8");
}

TEST(ShapeOfMatmul, multiplies_matrices) {
    const auto product = [](std::vector<std::int32_t> a, std::vector<std::int32_t> b) {
        return infer(Op::matmul, {Operand::of(std::move(a)), Operand::of(std::move(b)),
                                  Operand::zero(), Operand::zero()});
    };
    EXPECT_EQ(product({2, 3, 4}, {2, 4, 5}), "2x3x5:FP32");
    EXPECT_EQ(product({2, 3, 4}, {1, 4, 5}), "its second input's batch (1) must be 2.");
    EXPECT_EQ(product({2, 3, 4}, {2, 3, 5}), "its second input's rows (3) must be 4.");
    EXPECT_EQ(product({3, 4}, {1, 4, 5}), "its first input has rank (2); it must have rank 3.");
}

TEST(ShapeOfResize, follows_its_fractions) {
    const auto resize = [](const std::vector<std::int64_t>& scale,
                           const std::vector<std::int64_t>& offset,
                           const std::vector<std::int64_t>& border) {
        return infer(Op::resize,
                     {Operand::of({1, 1, 2, 1}), Operand::list(scale), Operand::list(offset),
                      Operand::list(border)},
                     ResizeAttribute{.mode = ResizeMode::bilinear});
    };
    EXPECT_EQ(resize({1, 1, 4, 2}, {0, -1}, {0, 1}), "1x1x4x1:FP32");
    EXPECT_EQ(resize({1, 1, 4, 0}, {0, 0}, {0, 0}),
              "its scale's denominator (0) must be at least 1.");
    EXPECT_EQ(resize({1, 1, 2049, 1}, {0, 0}, {0, 0}),
              "its scale's numerator (2049) must be at most 2048.");
    EXPECT_EQ(resize({1, 1, 1, 16}, {0, 0}, {0, 0}),
              "its scale's denominator (16) must be at most 15.");
    EXPECT_EQ(resize({1, 1, 4, 2}, {0, -5}, {0, 0}), "its offset (-5) must be at least -4.");
    EXPECT_EQ(resize({1, 1, 4, 2}, {0, 0}, {0, 4}), "its border (4) must be at most 3.");
    EXPECT_EQ(resize({1, 1, 3, 2}, {0, 0}, {0, 0}),
              "its window moves over (3) elements, which its stride (2) must divide.");
    EXPECT_EQ(resize({1, 1, 512, 1}, {0, 0}, {0, 0}),
              "its scale (512) must be at most 256 at the target's level.");
}

TEST(ShapeOfResize, goes_with_the_type_of_its_output) {
    const auto resize = [](ResizeMode mode, DType from, DType to) {
        return infer(Op::resize,
                     {Operand::of({1, 1, 2, 1}, from), Operand::list({1, 1, 4, 2}),
                      Operand::list({0, -1}), Operand::list({0, 1})},
                     ResizeAttribute{.mode = mode}, to);
    };
    EXPECT_EQ(resize(ResizeMode::bilinear, DType::int8, DType::int32), "1x1x4x1:INT32");
    EXPECT_EQ(resize(ResizeMode::nearest, DType::int16, DType::int16), "1x1x4x1:INT16");
}

TEST(ShapeOfSpectra, are_powers_of_two) {
    const Attribute attribute = FftAttribute{};
    EXPECT_EQ(infer(Op::rfft2d, {Operand::of({1, 4, 8})}, attribute, DType::fp32), "1x4x5:FP32");
    EXPECT_EQ(infer(Op::rfft2d, {Operand::of({1, 4, 6})}, attribute, DType::fp32),
              "its width (6) must be a power of two.");
    EXPECT_EQ(
        infer(Op::fft2d, {Operand::of({1, 4, 8}), Operand::of({1, 4, 4})}, attribute, DType::fp32),
        "its imaginary input's dimension (4) must be 8.");
}

}  // namespace
}  // namespace virtaccel::tosa

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/testing/inference.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::infer;
using testing::Operand;

TEST(ShapeOfBroadcast, stretches_dimensions_of_one) {
    EXPECT_EQ(infer(Op::add, {Operand::of({2, 1, 4}), Operand::of({1, 3, 4})}), "2x3x4:FP32");
    EXPECT_EQ(infer(Op::greater_equal, {Operand::of({4}), Operand::of({1})}), "4:BOOL");
    EXPECT_EQ(infer(Op::select, {Operand::of({2, 1}, DType::boolean), Operand::of({1, 3}),
                                 Operand::of({1, 1})}),
              "2x3:FP32");
    EXPECT_EQ(infer(Op::maximum, {Operand::of({}), Operand::of({})},
                    NanAttribute{.nan_mode = NanMode::ignore}),
              ":FP32");
}

TEST(ShapeOfBroadcast, refuses_other_ranks_and_dimensions) {
    EXPECT_EQ(infer(Op::add, {Operand::of({2, 3}), Operand::of({3})}),
              "its input has rank (1); it must have rank 2.");
    EXPECT_EQ(infer(Op::sub, {Operand::of({2, 3}), Operand::of({2, 4})}),
              "its inputs do not broadcast: dimension 1 is (3) and (4).");
}

TEST(ShapeOfUnary, is_that_of_the_input) {
    EXPECT_EQ(infer(Op::sigmoid, {Operand::of({2, 3})}), "2x3:FP32");
    EXPECT_EQ(infer(Op::cast, {Operand::of({2}, DType::fp16)}, {}, DType::fp32), "2:FP32");
    EXPECT_EQ(infer(Op::identity, {Operand::of({5}, DType::int48)}), "5:INT48");
}

TEST(ShapeOfMul, has_a_shift_for_int32_alone) {
    const Operand x = Operand::of({2}, DType::int32);
    EXPECT_EQ(infer(Op::mul, {x, x, Operand::byte(63)}), "2:INT32");
    EXPECT_EQ(infer(Op::mul, {x, x, Operand::byte(64)}), "its shift (64) must be at most 63.");
    EXPECT_EQ(infer(Op::mul, {x, x, Operand::byte(255)}), "its shift (-1) must be at least 0.");
    const Operand y = Operand::of({2});
    EXPECT_EQ(infer(Op::mul, {y, y, Operand::byte(1)}), "its shift (1) must be at most 0.");
    EXPECT_EQ(infer(Op::mul, {y, y, Operand::zero(DType::int8, 2)}),
              "its shift has (2) elements; it must have 1.");
}

// CLAMP of a type between bounds of these bits.
std::string clamp(DType dtype, std::vector<std::uint8_t> min, std::vector<std::uint8_t> max) {
    return infer(Op::clamp, {Operand::of({2}, dtype)},
                 ClampAttribute{.min = std::as_bytes(std::span{min}),
                                .max = std::as_bytes(std::span{max}),
                                .nan_mode = NanMode::propagate});
}

TEST(ShapeOfClamp, takes_bounds_in_order_in_every_type) {
    EXPECT_EQ(clamp(DType::int8, {0xfb}, {5}), "2:INT8");
    EXPECT_EQ(clamp(DType::int16, {0x00, 0x80}, {0xff, 0x7f}), "2:INT16");
    EXPECT_EQ(clamp(DType::fp16, {0x00, 0xbc}, {0x00, 0xb8}), "2:FP16");              // -1 to -0.5
    EXPECT_EQ(clamp(DType::bf16, {0x00, 0x80}, {0x00, 0x00}), "2:BF16");              // -0 to 0
    EXPECT_EQ(clamp(DType::fp32, {0, 0, 0x80, 0xff}, {0, 0, 0x80, 0x7f}), "2:FP32");  // infinite
}

TEST(ShapeOfClamp, refuses_bounds_out_of_order_and_nans) {
    const std::string refusal =
        "its bounds are not in order: the lower must not exceed the upper, and neither may be a "
        "NaN.";
    EXPECT_EQ(clamp(DType::int8, {5}, {4}), refusal);
    EXPECT_EQ(clamp(DType::fp16, {0x00, 0xb8}, {0x00, 0xbc}), refusal);
    EXPECT_EQ(clamp(DType::fp32, {0, 0, 0, 0}, {0, 0, 0xc0, 0x7f}), refusal);
    EXPECT_EQ(clamp(DType::fp32, {1, 0, 0x80, 0xff}, {0, 0, 0, 0}), refusal);
    EXPECT_EQ(clamp(DType::fp32, {0, 0}, {0, 0, 0, 0}),
              "its bounds have (2) and (4) bytes; an element of type FP32 has 4.");
}

TEST(ShapeOfNegate, has_zero_points_for_int8_alone) {
    EXPECT_EQ(
        infer(Op::negate, {Operand::of({3}, DType::int8), Operand::byte(7), Operand::byte(250)}),
        "3:INT8");
    Operand one = Operand::zero(DType::int16);
    one.bytes[0] = std::byte{1};
    EXPECT_EQ(infer(Op::negate, {Operand::of({3}, DType::int16), one, Operand::zero(DType::int16)}),
              "its input zero point of type (INT16) must be zero; only INT8 has zero points.");
    Operand minus_zero = Operand::zero();
    minus_zero.bytes[3] = std::byte{0x80};
    EXPECT_EQ(infer(Op::negate, {Operand::of({3}), minus_zero, Operand::zero()}), "3:FP32");
}

TEST(ShapeOfTable, has_256_or_513_entries) {
    const Operand x = Operand::of({2, 2}, DType::int8);
    EXPECT_EQ(infer(Op::table, {x, Operand::zero(DType::int8, 256)}), "2x2:INT8");
    EXPECT_EQ(infer(Op::table, {x, Operand::zero(DType::int8, 255)}),
              "its table has (255) elements; it must have 256.");
    EXPECT_EQ(infer(Op::table, {Operand::of({1}, DType::int16), Operand::zero(DType::int16, 513)}),
              "1:INT32");
}

TEST(ShapeOfReduce, has_one_element_along_the_axis) {
    EXPECT_EQ(infer(Op::reduce_sum, {Operand::of({2, 3, 4})}, AxisAttribute{.axis = 1}),
              "2x1x4:FP32");
    EXPECT_EQ(infer(Op::reduce_sum, {Operand::of({2, 3})}, AxisAttribute{.axis = 2}),
              "its axis (2) must be at most 1.");
    EXPECT_EQ(infer(Op::reduce_all, {Operand::of({2}, DType::boolean)}, AxisAttribute{.axis = -1}),
              "its axis (-1) must be at least 0.");
    EXPECT_EQ(infer(Op::reduce_product, {Operand::of({})}, AxisAttribute{.axis = 0}),
              "its axis (0) must be at most -1.");
}

TEST(ShapeOfArgmax, loses_the_axis) {
    const AxisAttribute last{.axis = 2, .nan_mode = NanMode::propagate};
    EXPECT_EQ(infer(Op::argmax, {Operand::of({2, 3, 4})}, last), "2x3:INT32");
    const AxisAttribute first{.axis = 0, .nan_mode = NanMode::propagate};
    EXPECT_EQ(infer(Op::argmax, {Operand::of({2, 3, 4})}, first), "3x4:INT32");
    EXPECT_EQ(infer(Op::argmax, {Operand::of({2})}, first), ":INT32");
}

// RESCALE of INT32 {2, 3} to INT8 with `channels` multipliers and shifts.
struct Rescale {
    RescaleAttribute attribute = {.scale32 = true,
                                  .rounding = RoundingMode::single_round,
                                  .per_channel = false,
                                  .input_unsigned = false,
                                  .output_unsigned = false};
    std::int32_t channels = 1;
    std::uint8_t shift = 31;
    std::uint8_t multiplier_top = 0x40;
    DType from = DType::int32;
    DType to = DType::int8;

    [[nodiscard]] std::string infer() const {
        const DType factor = attribute.scale32 ? DType::int32 : DType::int16;
        Operand multiplier = Operand::zero(factor, channels);
        multiplier.bytes.back() = std::byte{multiplier_top};
        Operand shifts = Operand::zero(DType::int8, channels);
        for (std::byte& byte : shifts.bytes) {
            byte = std::byte{shift};
        }
        return testing::infer(
            Op::rescale,
            {Operand::of({2, 3}, from), multiplier, shifts, Operand::zero(from), Operand::zero(to)},
            attribute, to);
    }
};

TEST(ShapeOfRescale, is_that_of_the_input) {
    EXPECT_EQ(Rescale{}.infer(), "2x3:INT8");
    Rescale channels;
    channels.attribute.per_channel = true;
    channels.channels = 3;
    EXPECT_EQ(channels.infer(), "2x3:INT8");
    channels.channels = 2;
    EXPECT_EQ(channels.infer(), "its multiplier has (2) elements; it must have 3.");
}

TEST(ShapeOfRescale, bounds_shifts_and_multipliers) {
    EXPECT_EQ(Rescale{.shift = 1}.infer(), "its shift (1) must be at least 2.");
    EXPECT_EQ(Rescale{.shift = 63}.infer(), "its shift (63) must be at most 62.");
    EXPECT_EQ(Rescale{.multiplier_top = 0x80}.infer(),
              "its multiplier (-2147483648) must be at least 0.");
}

TEST(ShapeOfRescale, refuses_what_its_flags_contradict) {
    Rescale wide{.from = DType::int48};
    EXPECT_EQ(wide.infer(), "it rescales INT48 with scale32; it must not.");
    Rescale doubled;
    doubled.attribute.scale32 = false;
    doubled.attribute.rounding = RoundingMode::double_round;
    EXPECT_EQ(doubled.infer(), "its DOUBLE_ROUND needs scale32.");
    Rescale both{.from = DType::int8};
    both.attribute.input_unsigned = true;
    both.attribute.output_unsigned = true;
    EXPECT_EQ(both.infer(), "its input and output are both unsigned; one of them must be signed.");
    Rescale unsigned32;
    unsigned32.attribute.input_unsigned = true;
    EXPECT_NE(unsigned32.infer().find("INT32 and INT48 are signed"), std::string::npos);
}

}  // namespace
}  // namespace virtaccel::tosa

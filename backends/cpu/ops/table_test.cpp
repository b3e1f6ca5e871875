#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelOptions;
using testing::ModelRun;
using tosa::DType;
using tosa::Op;

TEST(Table, of_int8_has_a_value_for_each) {
    std::vector<std::int8_t> table(256);
    std::iota(table.begin(), table.end(), std::int8_t{3});  // wraps around
    tosa::Builder builder;
    const tosa::Value x = builder.input("x", DType::int8, {4});
    builder.output(builder.op(Op::table, {x, builder.constant(DType::int8, {256}, table)}), "y");
    EXPECT_EQ(
        ModelRun{builder}.input(std::vector<std::int8_t>{-128, 0, 1, 127}).output<std::int8_t>(),
        (std::vector<std::int8_t>{3, -125, -124, 2}));
}

TEST(Table, of_int16_interpolates) {
    std::vector<std::int16_t> table(513, 0);
    table[0] = -32768;
    table[1] = -32767;
    table[256] = 10;
    table[257] = -10;
    table[511] = 100;
    table[512] = 32767;
    tosa::Builder builder;
    const tosa::Value x = builder.input("x", DType::int16, {5});
    builder.output(builder.op(Op::table, {x, builder.constant(DType::int16, {513}, table)}), "y");
    EXPECT_EQ(ModelRun{builder}
                  .input(std::vector<std::int16_t>{-32768, -32767, 0, 64, 32767})
                  .output<std::int32_t>(),
              (std::vector<std::int32_t>{-32768 * 128, (-32768 * 128) + 1, 1280, 0,
                                         (100 * 128) + (32667 * 127)}));
}

TEST(Table, may_come_at_run_time_and_be_its_own_input) {
    std::vector<std::int8_t> table(256);
    std::iota(table.begin(), table.end(), std::int8_t{-128});  // wraps around
    tosa::Builder builder;
    const tosa::Value x = builder.input("x", DType::int8, {256});
    const tosa::Value turned = builder.op(Op::bitwise_not, {x});
    builder.output(builder.op(Op::table, {turned, turned}), "y");
    EXPECT_EQ((ModelRun{builder, ModelOptions{.threads = 2}}.input(table).output<std::int8_t>()),
              table);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

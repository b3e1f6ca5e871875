#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelRun;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Floats = std::vector<float>;

// Along one axis of two pixels, the other one as it is: to four at -1/4, 1/4, 3/4 and 5/4.
struct Doubling {
    bool along_y = false;

    [[nodiscard]] tosa::Builder build(DType from, DType to, tosa::ResizeMode mode,
                                      std::int32_t channels = 1) const {
        tosa::Builder builder;
        const Value x = along_y ? builder.input("x", from, {1, 2, 1, channels})
                                : builder.input("x", from, {1, 1, 2, channels});
        const std::array<std::int64_t, 4> scale = along_y ? std::array<std::int64_t, 4>{4, 2, 1, 1}
                                                          : std::array<std::int64_t, 4>{1, 1, 4, 2};
        const std::array<std::int64_t, 2> offset =
            along_y ? std::array<std::int64_t, 2>{-1, 0} : std::array<std::int64_t, 2>{0, -1};
        const std::array<std::int64_t, 2> border =
            along_y ? std::array<std::int64_t, 2>{1, 0} : std::array<std::int64_t, 2>{0, 1};
        builder.output(
            builder.op(Op::resize,
                       {x, builder.shape(scale), builder.shape(offset), builder.shape(border)},
                       tosa::ResizeAttribute{.mode = mode}, {.dtype = to, .shape = {}}),
            "y");
        return builder;
    }
};

TEST(Resize, of_floats_does_not_extrapolate) {
    for (const bool along_y : {false, true}) {
        const Doubling doubling{along_y};
        EXPECT_EQ(ModelRun{doubling.build(DType::fp32, DType::fp32, tosa::ResizeMode::bilinear)}
                      .input({10.0F, 20.0F})
                      .output<float>(),
                  (Floats{10, 12.5F, 17.5F, 20}));
        EXPECT_EQ(ModelRun{doubling.build(DType::fp32, DType::fp32, tosa::ResizeMode::nearest)}
                      .input({10.0F, 20.0F})
                      .output<float>(),
                  (Floats{10, 10, 20, 20}));
    }
}

TEST(Resize, of_integers_leaves_the_scale_in) {
    for (const bool along_y : {false, true}) {
        const Doubling doubling{along_y};
        const std::vector<std::int8_t> x{10, 20};
        EXPECT_EQ(ModelRun{doubling.build(DType::int8, DType::int32, tosa::ResizeMode::bilinear)}
                      .input(x)
                      .output<std::int32_t>(),
                  (std::vector<std::int32_t>{40, 50, 70, 80}));
        EXPECT_EQ(ModelRun{doubling.build(DType::int8, DType::int8, tosa::ResizeMode::nearest)}
                      .input(x)
                      .output<std::int8_t>(),
                  (std::vector<std::int8_t>{10, 10, 20, 20}));
    }
}

TEST(Resize, keeps_channels_apart) {
    const Doubling doubling;
    EXPECT_EQ(ModelRun{doubling.build(DType::fp32, DType::fp32, tosa::ResizeMode::bilinear, 2)}
                  .input({10.0F, -1.0F, 20.0F, 1.0F})
                  .output<float>(),
              (Floats{10, -1, 12.5F, -0.5F, 17.5F, 0.5F, 20, 1}));
}

TEST(Resize, mixes_both_axes) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2, 2, 1});
    // Three by three points from corner to corner.
    builder.output(
        builder.op(Op::resize,
                   {x, builder.shape({2, 1, 2, 1}), builder.shape({0, 0}), builder.shape({0, 0})},
                   tosa::ResizeAttribute{.mode = tosa::ResizeMode::bilinear},
                   {.dtype = DType::fp32, .shape = {}}),
        "y");
    EXPECT_EQ(ModelRun{builder}.input({0.0F, 2.0F, 4.0F, 10.0F}).output<float>(),
              (Floats{0, 1, 2, 2, 4, 6, 4, 7, 10}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

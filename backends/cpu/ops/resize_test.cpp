#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/typed.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::decoded;
using testing::encoded;
using testing::ModelRun;
using testing::Whole;
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

TEST(Resize, is_right_for_every_type) {
    struct Types {
        DType from;
        DType interpolated;
        bool keeps_scale;
    };

    constexpr Types types[] = {{DType::int8, DType::int32, true},
                               {DType::int16, DType::int48, true},
                               {DType::fp16, DType::fp16, false},
                               {DType::fp32, DType::fp32, false},
                               {DType::bf16, DType::bf16, false}};
    for (const auto& [from, interpolated, keeps_scale] : types) {
        SCOPED_TRACE(tosa::name_of(from));
        const auto x = encoded(from, {8, 16});
        const Doubling doubling;
        EXPECT_EQ(decoded(interpolated,
                          ModelRun{doubling.build(from, interpolated, tosa::ResizeMode::bilinear)}
                              .input(x)
                              .output<std::byte>()),
                  keeps_scale ? (Whole{32, 40, 56, 64}) : (Whole{8, 10, 14, 16}));
        EXPECT_EQ(decoded(from, ModelRun{doubling.build(from, from, tosa::ResizeMode::nearest)}
                                    .input(x)
                                    .output<std::byte>()),
                  (Whole{8, 8, 16, 16}));
    }
}

TEST(Resize, takes_scales_that_come_with_each_run) {
    tosa::Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 2, 1});
    const Value scale = builder.input("scale", DType::shape, {4});
    const Value offset = builder.input("offset", DType::shape, {2});
    const Value border = builder.input("border", DType::shape, {2});
    builder.output(builder.op(Op::resize, {x, scale, offset, border},
                              tosa::ResizeAttribute{.mode = tosa::ResizeMode::bilinear},
                              {.dtype = DType::fp32, .shape = {{1, 1, 4, 1}}}),
                   "y");
    using Lengths = std::vector<std::int64_t>;
    EXPECT_EQ(ModelRun{builder}
                  .input({10.0F, 20.0F})
                  .input(Lengths{1, 1, 4, 2})
                  .input(Lengths{0, -1})
                  .input(Lengths{0, 1})
                  .output<float>(),
              (Floats{10, 12.5F, 17.5F, 20}));
    // What TOSA forbids computes something.
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t bad : {least, std::int64_t{-1}, std::int64_t{0}, most}) {
        const auto y = ModelRun{builder}
                           .input({10.0F, 10.0F})
                           .input(Lengths{bad, bad, bad, bad})
                           .input(Lengths{bad, bad})
                           .input(Lengths{bad, bad})
                           .output<float>();
        EXPECT_EQ(y, (Floats{10, 10, 10, 10}));
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

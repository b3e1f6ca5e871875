// FFT2D and RFFT2D, compared with the sums that define them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/plain.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::expect_near;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Numbers;
using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Floats = std::vector<float>;

struct Size {
    std::int32_t batch = 1;
    std::int32_t height = 1;
    std::int32_t width = 1;

    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(batch) * static_cast<std::size_t>(height) *
               static_cast<std::size_t>(width);
    }

    [[nodiscard]] std::vector<std::int32_t> shape() const { return {batch, height, width}; }
};

struct Image {
    Floats real;
    Floats imaginary;
};

Image image_of(const Size& size) {
    return {.real = Numbers{1}.take(size.count()), .imaginary = Numbers{2}.take(size.count())};
}

// The first `kept` columns of every spectrum. An inverse turns the other way.
Image plain(const Image& image, const Size& size, std::int32_t kept, bool is_inverse) {
    Image spectrum;
    for (std::int32_t o = 0; o < size.batch * size.height * kept; ++o) {
        const std::int32_t first = o / kept / size.height * size.height * size.width;
        double real = 0;
        double imaginary = 0;
        for (std::int32_t i = 0; i < size.height * size.width; ++i) {
            const std::int32_t down = o / kept % size.height * (i / size.width);
            const std::int32_t along = o % kept * (i % size.width);
            const double turns = (static_cast<double>(down) / size.height) +
                                 (static_cast<double>(along) / size.width);
            const double angle = (is_inverse ? -2 : 2) * std::numbers::pi * turns;
            const auto at = static_cast<std::size_t>(first) + static_cast<std::size_t>(i);
            const auto a = static_cast<double>(image.real[at]);
            const auto b = static_cast<double>(image.imaginary[at]);
            real += (a * std::cos(angle)) + (b * std::sin(angle));
            imaginary += (b * std::cos(angle)) - (a * std::sin(angle));
        }
        spectrum.real.push_back(static_cast<float>(real));
        spectrum.imaginary.push_back(static_cast<float>(imaginary));
    }
    return spectrum;
}

Value fft2d(Builder& builder, Value real, Value imaginary, bool is_inverse) {
    return builder.op(Op::fft2d, {real, imaginary},
                      tosa::FftAttribute{.inverse = is_inverse, .local_bound = false},
                      {.dtype = DType::fp32, .shape = {}});
}

constexpr Size sizes[] = {{1, 1, 1}, {1, 1, 2}, {2, 4, 1}, {3, 8, 4}, {1, 2, 16}, {1, 32, 32}};

TEST(Fft2d, is_right_both_ways) {
    for (const Size& size : sizes) {
        for (const bool is_inverse : {false, true}) {
            const Image image = image_of(size);
            const Image wanted = plain(image, size, size.width, is_inverse);
            Builder builder;
            const Value real = builder.input("r", DType::fp32, size.shape());
            const Value imaginary = builder.input("i", DType::fp32, size.shape());
            const Value spectrum = fft2d(builder, real, imaginary, is_inverse);
            builder.output(spectrum, "real");
            builder.output(Builder::output_of(spectrum, 1), "imaginary");
            ModelRun run{builder, ModelOptions{.threads = 2}};
            run.input(image.real).input(image.imaginary).run();
            expect_near(run.slot<float>(2), wanted.real, 1e-4F);
            expect_near(run.slot<float>(3), wanted.imaginary, 1e-4F);
        }
    }
}

TEST(Rfft2d, is_the_first_half_of_a_spectrum) {
    for (const Size& size : sizes) {
        if (size.width == 1 && size.height == 1) {
            continue;
        }
        Image image = image_of(size);
        image.imaginary.assign(image.imaginary.size(), 0.0F);
        const Image wanted = plain(image, size, (size.width / 2) + 1, false);
        Builder builder;
        const Value spectrum =
            builder.op(Op::rfft2d, {builder.input("r", DType::fp32, size.shape())},
                       tosa::FftAttribute{.inverse = false, .local_bound = true},
                       {.dtype = DType::fp32, .shape = {}});
        builder.output(spectrum, "real");
        builder.output(Builder::output_of(spectrum, 1), "imaginary");
        ModelRun run{builder};
        run.input(image.real).run();
        expect_near(run.slot<float>(1), wanted.real, 1e-4F);
        expect_near(run.slot<float>(2), wanted.imaginary, 1e-4F);
    }
}

TEST(Fft2d, of_constants_is_constant) {
    const Image image{.real = {1, 2, 3, 4}, .imaginary = {0, 0, 0, 0}};
    Builder builder;
    const Value spectrum = fft2d(builder, builder.constant(DType::fp32, {1, 1, 4}, image.real),
                                 builder.constant(DType::fp32, {1, 1, 4}, image.imaginary), false);
    const Value x = builder.input("x", DType::fp32, {1, 1, 4});
    builder.output(builder.add(builder.add(x, spectrum), Builder::output_of(spectrum, 1)), "y");
    ModelRun run{builder};
    expect_near(run.input({0.0F, 0.0F, 0.0F, 0.0F}).output<float>(), {10, 0, -2, -4});
}

TEST(Fft2d, may_be_read_by_half) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 2});
    builder.output(Builder::output_of(fft2d(builder, x, x, false), 1), "y");
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F}).output<float>(), (Floats{3, -1}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

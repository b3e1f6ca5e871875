// FFT2D and RFFT2D. In double precision, so that no order of the sums matters.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

namespace {

struct Complex {
    double real = 0;
    double imaginary = 0;

    friend Complex operator+(const Complex& a, const Complex& b) {
        return {.real = a.real + b.real, .imaginary = a.imaginary + b.imaginary};
    }

    friend Complex operator-(const Complex& a, const Complex& b) {
        return {.real = a.real - b.real, .imaginary = a.imaginary - b.imaginary};
    }

    friend Complex operator*(const Complex& a, const Complex& b) {
        return {.real = (a.real * b.real) - (a.imaginary * b.imaginary),
                .imaginary = (a.real * b.imaginary) + (a.imaginary * b.real)};
    }
};

// Transforms of lengths that are powers of two, up to the one this was made for.
class Transform {
  public:
    Transform(const Memory& memory, std::size_t length_max, bool is_inverse)
        : length_max_(length_max), block_(memory, length_max * sizeof(Complex)) {
        const double turn = (is_inverse ? 2 : -2) * std::numbers::pi;
        for (std::size_t i = 0; i < length_max / 2; ++i) {
            const double angle = turn * static_cast<double>(i) / static_cast<double>(length_max);
            roots()[i] = {.real = std::cos(angle), .imaginary = std::sin(angle)};
        }
    }

    [[nodiscard]] std::uint64_t bytes() const { return block_.size(); }

    // In place.
    void apply(std::span<Complex> line) const {
        reorder(line);
        for (std::size_t half = 1; half < line.size(); half *= 2) {
            const std::size_t root_step = length_max_ / (2 * half);
            for (std::size_t first = 0; first < line.size(); first += 2 * half) {
                for (std::size_t i = first; i < first + half; ++i) {
                    const Complex even = line[i];
                    const Complex odd = line[i + half] * roots()[(i - first) * root_step];
                    line[i] = even + odd;
                    line[i + half] = even - odd;
                }
            }
        }
    }

  private:
    [[nodiscard]] Complex* roots() const { return reinterpret_cast<Complex*>(block_.data()); }

    // Every element where its index, written backwards, says.
    static void reorder(std::span<Complex> line) {
        std::size_t j = 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i < j) {
                std::swap(line[i], line[j]);
            }
            // One more, with the carry going the other way.
            std::size_t bit = line.size() / 2;
            while (bit != 0 && (j & bit) != 0) {
                j ^= bit;
                bit /= 2;
            }
            j |= bit;
        }
    }

    std::size_t length_max_;
    Block block_;
};

struct Shape {
    std::size_t batch = 1;
    std::size_t height = 1;
    std::size_t width = 1;
    std::size_t kept_width = 1;  // of the output

    [[nodiscard]] std::size_t longest() const { return std::max(height, width); }

    // What one image needs: its rows, transformed, and a line.
    [[nodiscard]] std::size_t scratch_length() const { return (height * kept_width) + longest(); }
};

struct Values {
    ValueId real = 0;
    ValueId imaginary = 0;
    bool has_imaginary = false;
    ValueId output_real = 0;
    ValueId output_imaginary = 0;
    ValueId scratch = 0;
};

// Rows, then columns. A part is some of the images.
class Fft2d final : public Step {
  public:
    Fft2d(const Shape& shape, const Values& values, Transform transform, std::uint32_t parts)
        : shape_(shape), values_(values), transform_(std::move(transform)), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override { return transform_.bytes(); }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const std::span scratch{
            frame.at<Complex>(values_.scratch) + (part * shape_.scratch_length()),
            shape_.scratch_length()};
        const Range range = range_of(shape_.batch, parts_, part);
        for (std::size_t image = range.first; image < range.end; ++image) {
            transform_rows(frame, image, scratch);
            transform_columns(frame, image, scratch);
        }
        return true;
    }

  private:
    void transform_rows(const Frame& frame, std::size_t image, std::span<Complex> scratch) const {
        const std::span line = scratch.last(shape_.longest()).first(shape_.width);
        for (std::size_t y = 0; y < shape_.height; ++y) {
            const std::size_t row = ((image * shape_.height) + y) * shape_.width;
            const float* const real = frame.at<const float>(values_.real) + row;
            for (std::size_t x = 0; x < shape_.width; ++x) {
                line[x] = {.real = static_cast<double>(real[x])};
            }
            if (values_.has_imaginary) {
                const float* const imaginary = frame.at<const float>(values_.imaginary) + row;
                for (std::size_t x = 0; x < shape_.width; ++x) {
                    line[x].imaginary = static_cast<double>(imaginary[x]);
                }
            }
            transform_.apply(line);
            std::ranges::copy(line.first(shape_.kept_width),
                              scratch.subspan(y * shape_.kept_width).begin());
        }
    }

    void transform_columns(const Frame& frame, std::size_t image,
                           std::span<Complex> scratch) const {
        const std::span line = scratch.last(shape_.longest()).first(shape_.height);
        const std::size_t first = image * shape_.height * shape_.kept_width;
        float* const real = frame.at<float>(values_.output_real) + first;
        float* const imaginary = frame.at<float>(values_.output_imaginary) + first;
        for (std::size_t x = 0; x < shape_.kept_width; ++x) {
            for (std::size_t y = 0; y < shape_.height; ++y) {
                line[y] = scratch[(y * shape_.kept_width) + x];
            }
            transform_.apply(line);
            for (std::size_t y = 0; y < shape_.height; ++y) {
                const std::size_t at = (y * shape_.kept_width) + x;
                real[at] = static_cast<float>(line[y].real);
                imaginary[at] = static_cast<float>(line[y].imaginary);
            }
        }
    }

    Shape shape_;
    Values values_;
    Transform transform_;
    std::uint32_t parts_;
};

void lower(Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const auto size = [](std::int32_t dim) { return static_cast<std::size_t>(dim); };
    const Shape shape{.batch = size(input.shape[0]),
                      .height = size(input.shape[1]),
                      .width = size(input.shape[2]),
                      .kept_width = size(output.shape[2])};
    const auto levels = static_cast<std::uint64_t>(std::bit_width(shape.height * shape.width));
    const std::uint32_t parts = lowering.parts_for(shape.batch, input.elements * levels);
    Values values{
        .real = op.inputs[0], .output_real = op.outputs[0], .output_imaginary = op.outputs[1]};
    values.has_imaginary = op.inputs.size() == 2;
    values.imaginary = op.inputs.back();
    values.scratch = lowering.add_scratch(parts * shape.scratch_length() * sizeof(Complex));
    lowering.emit(std::make_unique<Fft2d>(shape, values,
                                          Transform{lowering.memory(), shape.longest(),
                                                    op.as<tosa::FftAttribute>().inverse},
                                          parts),
                  op.inputs, op.outputs);
}

}  // namespace

void lower_fft2d(Lowering& lowering, const tosa::Operator& op) {
    lower(lowering, op);
}

void lower_rfft2d(Lowering& lowering, const tosa::Operator& op) {
    lower(lowering, op);
}

}  // namespace virtaccel::backends::cpu::ops

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/shape_checks.h"
#include "virtaccel/tosa/shapes.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::shapes {
namespace {

// A window sliding along one axis: the common part of pools and convolutions. Pads and strides come
// from attributes and are anything; size and kernel may come from shapes and are at least 1.
struct Window {
    std::int64_t size = 0;  // of the input along the axis
    std::int64_t kernel = 0;
    std::int64_t pad_before = 0;
    std::int64_t pad_after = 0;
    std::int64_t stride = 0;
    std::int64_t dilation = 1;
};

// Kernel, stride and dilation first: later arithmetic divides and multiplies by them.
Checked<void> check_window(const Window& window, const LevelLimits& level) {
    VIRTACCEL_TRY(at_least("kernel", window.kernel, 1));
    VIRTACCEL_TRY(at_least("stride", window.stride, 1));
    VIRTACCEL_TRY(at_least("dilation", window.dilation, 1));
    VIRTACCEL_TRY(at_least("padding", window.pad_before, 0));
    VIRTACCEL_TRY(at_least("padding", window.pad_after, 0));
    VIRTACCEL_TRY(in_level("dilated kernel", window.kernel * window.dilation, level.kernel));
    VIRTACCEL_TRY(in_level("stride", window.stride, level.stride));
    VIRTACCEL_TRY(in_level("padding", window.pad_before, level.kernel));
    return in_level("padding", window.pad_after, level.kernel);
}

// `span` / `divisor`, which must come out even: the model says exactly which positions there are.
Checked<std::int64_t> exact_quotient(std::int64_t span, std::int64_t divisor) {
    if (span < 0) {
        return refuse(Status::invalid_argument, "its window exceeds its padded input by (", -span,
                      ") elements");
    }
    if (span % divisor != 0) {
        return refuse(Status::invalid_argument, "its window moves over (", span,
                      ") elements, which its stride (", divisor, ") must divide");
    }
    return span / divisor;
}

// How many positions a window has: (size + pads - 1 - (kernel - 1) * dilation) / stride + 1.
Checked<std::int64_t> positions(const Window& window, const LevelLimits& level) {
    VIRTACCEL_TRY(check_window(window, level));
    VIRTACCEL_TRY_ASSIGN(const std::int64_t steps,
                         exact_quotient(window.size + window.pad_before + window.pad_after - 1 -
                                            ((window.kernel - 1) * window.dilation),
                                        window.stride));
    return steps + 1;
}

// Bias and zero points of a convolution with `channels` outputs; a bias of one element counts for
// all of them.
Checked<void> check_convolution(const Call& call, std::int64_t channels) {
    const Tensor& bias = call.input(2);
    VIRTACCEL_TRY(of_rank("bias", bias, 1));
    if (dim(bias, 0) != 1) {
        VIRTACCEL_TRY(list_of("bias", bias, channels));
    }
    VIRTACCEL_TRY(zero_point("input zero point", call.input(3)));
    return zero_point("weight zero point", call.input(4));
}

// The sizes of a convolution's output along the axes of its image, y or z first. `kernel` is the
// first of the weight's dimensions that are the kernel's.
template <class Attribute>
Checked<void> convolve(const Call& call, std::size_t kernel, std::span<std::int64_t> sizes) {
    const auto& attribute = call.op.as<Attribute>();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Window window = {.size = dim(call.input(0), i + 1),
                               .kernel = dim(call.input(1), kernel + i),
                               .pad_before = attribute.pad.at(2 * i),
                               .pad_after = attribute.pad.at((2 * i) + 1),
                               .stride = attribute.stride.at(i),
                               .dilation = attribute.dilation.at(i)};
        VIRTACCEL_TRY_ASSIGN(sizes[i], positions(window, call.level));
    }
    return {};
}

Checked<void> check_power_of_two(std::string_view what, std::int64_t value) {
    if (is_power_of_two(static_cast<std::uint64_t>(value))) {
        return {};
    }
    return refuse(Status::invalid_argument, "its ", what, " (", value, ") must be a power of two");
}

// FFT2D and RFFT2D look at N, H, W. The level bounds H and W as it bounds kernels.
Checked<void> check_spectrum(const Call& call) {
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(of_rank("input", input, 3));
    VIRTACCEL_TRY(check_power_of_two("height", dim(input, 1)));
    VIRTACCEL_TRY(check_power_of_two("width", dim(input, 2)));
    VIRTACCEL_TRY(in_level("height", dim(input, 1), call.level.kernel));
    return in_level("width", dim(input, 2), call.level.kernel);
}

// One axis of RESIZE: an output element lies at (i * denominator + offset) / numerator, and the
// last one may reach `border` beyond the last input element.
struct Scale {
    std::int64_t size = 0;
    std::int64_t numerator = 0;
    std::int64_t denominator = 0;
    std::int64_t offset = 0;
    std::int64_t border = 0;
};

// Downscaling ends at 1/16 and upscaling at 2048, so that INT8 fits an accumulator of 32 bits.
Checked<std::int64_t> resized(const Scale& scale, const LevelLimits& level) {
    constexpr std::int64_t size_max = 16383;
    constexpr std::int64_t numerator_max = 1 << 11;
    VIRTACCEL_TRY(at_most("input's size", scale.size, size_max));
    VIRTACCEL_TRY(at_least("scale's numerator", scale.numerator, 1));
    VIRTACCEL_TRY(at_most("scale's numerator", scale.numerator, numerator_max));
    VIRTACCEL_TRY(at_least("scale's denominator", scale.denominator, 1));
    VIRTACCEL_TRY(at_most("scale's denominator", scale.denominator, (16 * scale.numerator) - 1));
    VIRTACCEL_TRY(at_least("offset", scale.offset, -scale.numerator));
    VIRTACCEL_TRY(at_most("offset", scale.offset, (16 * scale.numerator) - 1));
    VIRTACCEL_TRY(at_least("border", scale.border, -16 * scale.numerator));
    VIRTACCEL_TRY(at_most("border", scale.border, scale.numerator - 1));
    VIRTACCEL_TRY(in_level("scale", scale.numerator / scale.denominator, level.scale));
    VIRTACCEL_TRY_ASSIGN(
        const std::int64_t steps,
        exact_quotient(((scale.size - 1) * scale.numerator) - scale.offset + scale.border,
                       scale.denominator));
    VIRTACCEL_TRY(at_most("output's size", steps + 1, size_max));
    return steps + 1;
}

}  // namespace

// Input N, IH, IW, IC; weight OC, KH, KW, IC; output N, OH, OW, OC.
Inferred conv2d(const Call& call) {
    const Tensor& input = call.input(0);
    const Tensor& weight = call.input(1);
    VIRTACCEL_TRY(of_rank("input", input, 4));
    VIRTACCEL_TRY(of_rank("weight", weight, 4));
    VIRTACCEL_TRY(equal("weight's input channels", dim(weight, 3), dim(input, 3)));
    VIRTACCEL_TRY(check_convolution(call, dim(weight, 0)));
    std::int64_t sizes[2] = {};
    VIRTACCEL_TRY(convolve<Conv2dAttribute>(call, 1, sizes));
    return shape_of({dim(input, 0), sizes[0], sizes[1], dim(weight, 0)});
}

// Input N, ID, IH, IW, IC; weight OC, KD, KH, KW, IC; output N, OD, OH, OW, OC.
Inferred conv3d(const Call& call) {
    const Tensor& input = call.input(0);
    const Tensor& weight = call.input(1);
    VIRTACCEL_TRY(of_rank("input", input, 5));
    VIRTACCEL_TRY(of_rank("weight", weight, 5));
    VIRTACCEL_TRY(equal("weight's input channels", dim(weight, 4), dim(input, 4)));
    VIRTACCEL_TRY(check_convolution(call, dim(weight, 0)));
    std::int64_t sizes[3] = {};
    VIRTACCEL_TRY(convolve<Conv3dAttribute>(call, 1, sizes));
    return shape_of({dim(input, 0), sizes[0], sizes[1], sizes[2], dim(weight, 0)});
}

// Input N, IH, IW, C; weight KH, KW, C, M; output N, OH, OW, C * M.
Inferred depthwise_conv2d(const Call& call) {
    const Tensor& input = call.input(0);
    const Tensor& weight = call.input(1);
    VIRTACCEL_TRY(of_rank("input", input, 4));
    VIRTACCEL_TRY(of_rank("weight", weight, 4));
    VIRTACCEL_TRY(equal("weight's channels", dim(weight, 2), dim(input, 3)));
    const std::int64_t channels = dim(weight, 2) * dim(weight, 3);
    VIRTACCEL_TRY(check_convolution(call, channels));
    std::int64_t sizes[2] = {};
    VIRTACCEL_TRY(convolve<Conv2dAttribute>(call, 0, sizes));
    return shape_of({dim(input, 0), sizes[0], sizes[1], channels});
}

// Input N, IH, IW, IC; weight OC, KH, KW, IC; output N, OH, OW, OC, where OH is
// (IH - 1) * stride + KH + out_pad. A negative out_pad crops, but never a whole kernel.
Inferred transpose_conv2d(const Call& call) {
    const auto& attribute = call.op.as<TransposeConv2dAttribute>();
    const Tensor& input = call.input(0);
    const Tensor& weight = call.input(1);
    VIRTACCEL_TRY(of_rank("input", input, 4));
    VIRTACCEL_TRY(of_rank("weight", weight, 4));
    VIRTACCEL_TRY(equal("weight's input channels", dim(weight, 3), dim(input, 3)));
    VIRTACCEL_TRY(check_convolution(call, dim(weight, 0)));
    std::int64_t sizes[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t kernel = dim(weight, i + 1);
        const std::int64_t stride = attribute.stride.at(i);
        VIRTACCEL_TRY(at_least("stride", stride, 1));
        VIRTACCEL_TRY(in_level("stride", stride, call.level.stride));
        VIRTACCEL_TRY(in_level("kernel", kernel, call.level.kernel));
        std::int64_t size = ((dim(input, i + 1) - 1) * stride) + kernel;
        for (const std::int32_t side :
             {attribute.out_pad.at(2 * i), attribute.out_pad.at((2 * i) + 1)}) {
            VIRTACCEL_TRY(at_least("output padding", side, 1 - kernel));
            VIRTACCEL_TRY(in_level("output padding", side, call.level.kernel));
            size += side;
        }
        sizes[i] = size;
    }
    return shape_of({dim(input, 0), sizes[0], sizes[1], dim(weight, 0)});
}

// Input N, IH, IW, C; output N, OH, OW, C. A pad as large as the kernel would make positions
// without a single input element.
Inferred pool2d(const Call& call) {
    const auto& attribute = call.op.as<PoolAttribute>();
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(of_rank("input", input, 4));
    if (call.op.op == Op::avg_pool2d) {
        VIRTACCEL_TRY(zero_point("input zero point", call.input(1)));
        VIRTACCEL_TRY(zero_point("output zero point", call.input(2)));
    }
    std::int64_t sizes[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
        const Window window = {.size = dim(input, i + 1),
                               .kernel = attribute.kernel.at(i),
                               .pad_before = attribute.pad.at(2 * i),
                               .pad_after = attribute.pad.at((2 * i) + 1),
                               .stride = attribute.stride.at(i),
                               .dilation = 1};
        VIRTACCEL_TRY(at_least("kernel", window.kernel, 1));
        VIRTACCEL_TRY(at_most("padding", window.pad_before, window.kernel - 1));
        VIRTACCEL_TRY(at_most("padding", window.pad_after, window.kernel - 1));
        VIRTACCEL_TRY_ASSIGN(sizes[i], positions(window, call.level));
    }
    return shape_of({dim(input, 0), sizes[0], sizes[1], dim(input, 3)});
}

// A is N, H, C and B is N, C, W; the output is N, H, W.
Inferred matmul(const Call& call) {
    const Tensor& a = call.input(0);
    const Tensor& b = call.input(1);
    VIRTACCEL_TRY(of_rank("first input", a, 3));
    VIRTACCEL_TRY(of_rank("second input", b, 3));
    VIRTACCEL_TRY(equal("second input's batch", dim(b, 0), dim(a, 0)));
    VIRTACCEL_TRY(equal("second input's rows", dim(b, 1), dim(a, 2)));
    VIRTACCEL_TRY(zero_point("first zero point", call.input(2)));
    VIRTACCEL_TRY(zero_point("second zero point", call.input(3)));
    return shape_of({dim(a, 0), dim(a, 1), dim(b, 2)});
}

// Real and imaginary part in, both out.
Inferred fft2d(const Call& call) {
    VIRTACCEL_TRY(check_spectrum(call));
    const Tensor& imaginary = call.input(1);
    VIRTACCEL_TRY(of_rank("imaginary input", imaginary, 3));
    for (std::size_t d = 0; d < 3; ++d) {
        VIRTACCEL_TRY(
            equal("imaginary input's dimension", dim(imaginary, d), dim(call.input(0), d)));
    }
    return shape_of(call.input(0));
}

// A real input has a symmetric spectrum, of which half is kept.
Inferred rfft2d(const Call& call) {
    VIRTACCEL_TRY(check_spectrum(call));
    const Tensor& input = call.input(0);
    return shape_of({dim(input, 0), dim(input, 1), (dim(input, 2) / 2) + 1});
}

// Interpolated integers are not divided by the scale, so they do not fit their own type.
Checked<void> check_resized_type(const Call& call) {
    const DType from = call.input(0).dtype;
    const DType to = call.op.outputs.empty() ? DType::unknown : call.output(0).dtype;
    const bool is_integer = from == DType::int8 || from == DType::int16;
    const bool is_bilinear = call.op.as<ResizeAttribute>().mode == ResizeMode::bilinear;
    if (!is_integer || to == DType::unknown || is_bilinear == (to != from)) {
        return {};
    }
    return is_bilinear ? refuse(Status::invalid_argument, "its output (", name_of(to),
                                ") must be of a wider type, for it interpolates")
                       : refuse(Status::invalid_argument, "its output (", name_of(to),
                                ") must be of its input's type, for it picks the nearest element");
}

// Operands are scale (y numerator, y denominator, x numerator, x denominator), offset (y, x) and
// border (y, x).
Inferred resize(const Call& call) {
    const Tensor& input = call.input(0);
    VIRTACCEL_TRY(of_rank("input", input, 4));
    VIRTACCEL_TRY(check_resized_type(call));
    VIRTACCEL_TRY_ASSIGN(const auto scale, values_of("scale", call.input(1), 4));
    VIRTACCEL_TRY_ASSIGN(const auto offset, values_of("offset", call.input(2), 2));
    VIRTACCEL_TRY_ASSIGN(const auto border, values_of("border", call.input(3), 2));
    if (!scale || !offset || !border) {
        return std::nullopt;
    }
    std::int64_t sizes[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
        const Scale axis = {.size = dim(input, i + 1),
                            .numerator = (*scale)[2 * i],
                            .denominator = (*scale)[(2 * i) + 1],
                            .offset = (*offset)[i],
                            .border = (*border)[i]};
        VIRTACCEL_TRY_ASSIGN(sizes[i], resized(axis, call.level));
    }
    return shape_of({dim(input, 0), sizes[0], sizes[1], dim(input, 3)});
}

}  // namespace virtaccel::tosa::shapes

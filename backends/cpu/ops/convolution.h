#pragma once
// A convolution over an NHWC image, with what follows it in one step: a bias, another image added,
// and a clamp.

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu {

class Lowering;

namespace ops {

// An image of the output's height and width that is added to a convolution's result. It may have
// fewer channels; those it lacks are zero.
struct Residual {
    ValueId value = 0;
    std::int64_t channels = 0;
};

struct Convolution {
    // `window.channels` are the input's.
    ImageWindow window;
    std::int64_t output_channels = 1;
    bool is_depthwise = false;
    ValueId input = 0;
    ValueId output = 0;
    // Known tensors of floats: OHWI (HWCM if depthwise), and one for each output channel or one for
    // all.
    ValueId weights = 0;
    ValueId bias = 0;
    std::optional<Residual> residual;
    std::optional<Clamp> clamp;
    // A known tensor, one for each output channel or one for all: what negative numbers are
    // multiplied by, instead of being clamped. None where `is_multiplied`.
    std::optional<ValueId> slopes;

    // One tap, at every pixel.
    [[nodiscard]] bool is_pointwise() const {
        return !is_depthwise && window.y.is_every_element() && window.x.is_every_element();
    }

    // Depthwise, with several output channels for each input channel.
    [[nodiscard]] bool is_multiplied() const {
        return is_depthwise && output_channels != window.channels;
    }

    // Pointwise, with more weights than should be read more than once for so few pixels as it has.
    [[nodiscard]] bool has_far_weights() const {
        constexpr std::int64_t weights_min = 98304;  // most of what a second-level cache holds
        constexpr std::int64_t input_max = 65536;    // stays there beside weights that pass by
        return is_pointwise() && window.channels * output_channels >= weights_min &&
               window.batch * window.y.output * window.x.output * window.channels <= input_max;
    }

    // Multiplications, of all output elements together.
    [[nodiscard]] std::uint64_t operations() const {
        const std::int64_t depth = is_depthwise ? 1 : window.channels;
        return rows() * static_cast<std::uint64_t>(window.x.output * output_channels *
                                                   window.y.kernel * window.x.kernel * depth);
    }

    [[nodiscard]] std::uint64_t rows() const {
        return static_cast<std::uint64_t>(window.batch * window.y.output);
    }
};

// Whether a floating-point convolution's weights and bias are known and its zero points of no
// effect, so that a step of its own packs them.
[[nodiscard]] bool has_known_weights(const Lowering& lowering, const tosa::Operator& op);

// One bias for each output channel; one slope, if there are any.
[[nodiscard]] std::vector<float> bias_of(const Lowering& lowering, const Convolution& convolution);
[[nodiscard]] std::vector<float> slopes_of(const Lowering& lowering,
                                           const Convolution& convolution);

}  // namespace ops

}  // namespace virtaccel::backends::cpu

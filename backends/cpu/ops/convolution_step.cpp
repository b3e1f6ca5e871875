#include "backends/cpu/ops/convolution_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

class ConvolutionStep final : public Step {
  public:
    ConvolutionStep(const Convolution& c, Block packed, std::uint32_t parts)
        : c_(c), packed_(std::move(packed)), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override { return packed_.size(); }

    void run(const Frame& frame, std::uint32_t part) noexcept override {
        const float* bias = reinterpret_cast<const float*>(packed_.data());
        const float* w0 = bias + c_.output_channels;
        const auto oc = c_.output_channels, ic = c_.window.channels;
        const Range range = range_of(c_.rows(), parts_, part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            const auto& y = c_.window.y;
            const auto& x = c_.window.x;
            const std::int64_t n = row / y.output, oy = row % y.output;
            for (std::int64_t ox = 0; ox < x.output; ++ox) {
                float* out = frame.at<float>(c_.output) + ((row * x.output) + ox) * oc;
                float acc[4096];
                for (std::int64_t o = 0; o < oc; ++o) {
                    acc[o] = bias[o];
                }
                const auto ty = y.taps_inside(oy), tx = x.taps_inside(ox);
                for (auto ky = ty.first; ky < ty.end; ++ky) {
                    for (auto kx = tx.first; kx < tx.end; ++kx) {
                        const float* in =
                            frame.at<const float>(c_.input) +
                            (((n * y.input) + y.origin(oy) + ky * y.dilation) * x.input +
                             x.origin(ox) + kx * x.dilation) *
                                ic;
                        const float* w =
                            w0 + ((ky * x.kernel) + kx) * (c_.is_depthwise ? oc : ic * oc);
                        if (c_.is_depthwise) {
                            const auto m = oc / ic;
                            for (std::int64_t o = 0; o < oc; ++o) {
                                acc[o] += in[o / m] * w[o];
                            }
                        } else {
                            for (std::int64_t i = 0; i < ic; ++i) {
                                for (std::int64_t o = 0; o < oc; ++o) {
                                    acc[o] += in[i] * w[i * oc + o];
                                }
                            }
                        }
                    }
                }
                if (c_.residual) {
                    const float* r = frame.at<const float>(c_.residual->value) +
                                     ((row * x.output) + ox) * c_.residual->channels;
                    for (std::int64_t o = 0; o < c_.residual->channels; ++o) {
                        acc[o] += r[o];
                    }
                }
                if (c_.clamp) {
                    for (std::int64_t o = 0; o < oc; ++o) {
                        acc[o] = acc[o] < c_.clamp->low    ? c_.clamp->low
                                 : acc[o] > c_.clamp->high ? c_.clamp->high
                                                           : acc[o];
                    }
                }
                std::copy_n(acc, oc, out);
            }
        }
    }

  private:
    Convolution c_;
    Block packed_;
    std::uint32_t parts_;
};

}  // namespace

std::unique_ptr<Step> make_convolution_step(const Lowering& lowering, const Convolution& c) {
    const auto oc = static_cast<std::size_t>(c.output_channels);
    const auto weights = lowering.known<float>(c.weights);
    const auto bias = lowering.known<float>(c.bias);
    Block packed{lowering.memory(), (oc + weights.size()) * sizeof(float)};
    auto* p = reinterpret_cast<float*>(packed.data());
    for (std::size_t o = 0; o < oc; ++o) {
        p[o] = bias[bias.size() == 1 ? 0 : o];
    }
    p += oc;
    if (c.is_depthwise) {
        std::copy(weights.begin(), weights.end(), p);
    } else {
        const std::size_t k = weights.size() / oc;
        for (std::size_t o = 0; o < oc; ++o) {
            for (std::size_t i = 0; i < k; ++i) {
                p[i * oc + o] = weights[o * k + i];
            }
        }
    }
    return std::make_unique<ConvolutionStep>(c, std::move(packed),
                                             lowering.parts_for(c.rows(), 1000000));
}

}  // namespace virtaccel::backends::cpu::ops

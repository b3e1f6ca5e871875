#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/clamp.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/convolution_step.h"
#include "backends/cpu/ops/dense_kernels.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// What of the input a block of pixels may use while the panels take turns with it: half of a usual
// first-level cache.
constexpr std::int64_t block_floats = 4096;

// Where the runs of a window begin in an image of rows `width` pixels wide.
std::vector<std::int64_t> run_offsets(const Convolution& convolution, std::int64_t width,
                                      std::int64_t row_step) {
    const WindowAxis& x = convolution.window.x;
    const std::int64_t runs_per_row = x.dilation == 1 ? 1 : x.kernel;
    std::vector<std::int64_t> offsets;
    for (std::int64_t ky = 0; ky < convolution.window.y.kernel; ++ky) {
        for (std::int64_t kx = 0; kx < runs_per_row; ++kx) {
            offsets.push_back(((ky * row_step * width) + (kx * x.dilation)) *
                              convolution.window.channels);
        }
    }
    return offsets;
}

class DenseStep : public Step {
  public:
    DenseStep(const Convolution& convolution, const DenseShape& shape, Block packed,
              std::uint32_t parts)
        : convolution_(convolution), shape_(shape), packed_(std::move(packed)), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override { return packed_.size(); }

  protected:
    // Where output pixel `pixel`, counted over all images, is and what is added to it.
    void locate(const Frame& frame, std::int64_t pixel, DensePixels& pixels) const {
        pixels.output = frame.at<float>(convolution_.output) + (pixel * shape_.output_channels);
        if (convolution_.residual) {
            pixels.residual = frame.at<const float>(convolution_.residual->value) +
                              (pixel * shape_.residual_channels);
        }
    }

    void compute(const DensePixels& pixels) const {
        compute_dense(shape_, reinterpret_cast<const float*>(packed_.data()), pixels);
    }

    [[nodiscard]] const Convolution& convolution() const { return convolution_; }

    [[nodiscard]] const ImageWindow& window() const { return convolution_.window; }

    [[nodiscard]] const DenseShape& shape() const { return shape_; }

  private:
    Convolution convolution_;
    DenseShape shape_;
    Block packed_;
    std::uint32_t parts_;
};

// One tap, at every pixel: rows and images run on, and nothing hangs over an edge.
class PointwiseStep final : public DenseStep {
  public:
    using DenseStep::DenseStep;

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        static constexpr std::int64_t no_offset[] = {0};
        const std::int64_t tile = dense_tile(shape());
        const std::int64_t block =
            std::max<std::int64_t>(block_floats / shape().run_length / tile, 1) * tile;
        const Range range = range_of(
            convolution().rows() * static_cast<std::uint64_t>(window().x.output), parts(), part);
        const auto end = static_cast<std::int64_t>(range.end);
        for (auto pixel = static_cast<std::int64_t>(range.first); pixel < end; pixel += block) {
            DensePixels pixels{.input = frame.at<const float>(convolution().input),
                               .window = pixel * shape().run_length,
                               .input_step = shape().run_length,
                               .run_offsets = no_offset,
                               .count = std::min(block, end - pixel)};
            locate(frame, pixel, pixels);
            compute(pixels);
        }
        return true;
    }
};

// The same, a panel of weights after the other, each for all pixels.
class PanelStep final : public DenseStep {
  public:
    using DenseStep::DenseStep;

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        static constexpr std::int64_t no_offset[] = {0};
        const Range panels =
            range_of(static_cast<std::uint64_t>(dense_panels(shape())), parts(), part);
        DensePixels pixels{
            .input = frame.at<const float>(convolution().input),
            .window = 0,
            .input_step = shape().run_length,
            .run_offsets = no_offset,
            .count = static_cast<std::int64_t>(convolution().rows()) * window().x.output,
            .first_panel = static_cast<std::int64_t>(panels.first),
            .panels_max = static_cast<std::int64_t>(panels.size())};
        locate(frame, 0, pixels);
        compute(pixels);
        return true;
    }
};

// Any window. Tiles that hang over the left or right edge are computed from a copy of their input
// with zeros around it; of those over the upper or lower edge, the runs outside are left out.
class WindowStep final : public DenseStep {
  public:
    WindowStep(const Convolution& convolution, const DenseShape& shape, Block packed,
               std::uint32_t parts)
        : DenseStep(convolution, shape, std::move(packed), parts),
          tile_(dense_tile(shape)),
          edge_width_(((tile_ - 1) * window().x.stride) +
                      ((window().x.kernel - 1) * window().x.dilation) + 1),
          offsets_(run_offsets(convolution, window().x.input, window().y.dilation)),
          edge_offsets_(run_offsets(convolution, edge_width_, 1)) {}

    // Floats that each part needs for the copy.
    [[nodiscard]] std::uint64_t edge_floats() const {
        return static_cast<std::uint64_t>(window().y.kernel * edge_width_ * window().channels);
    }

    void set_edge(ValueId edge) { edge_ = edge; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(convolution().rows(), parts(), part);
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            compute_row(frame, part, row);
        }
        return true;
    }

  private:
    struct Row {
        const float* image = nullptr;
        std::int64_t y = 0;
        WindowAxis::Taps taps;
        std::int64_t first_pixel = 0;
    };

    void compute_row(const Frame& frame, std::uint32_t part, std::int64_t number) const {
        const WindowAxis& x = window().x;
        const std::int64_t y = number % window().y.output;
        const std::int64_t image_floats = window().y.input * x.input * window().channels;
        const Row row{.image = frame.at<const float>(convolution().input) +
                               (number / window().y.output * image_floats),
                      .y = y,
                      .taps = window().y.taps_inside(y),
                      .first_pixel = number * x.output};
        const std::int64_t reach = (x.kernel - 1) * x.dilation;
        float* const edge =
            frame.at<float>(edge_) + (static_cast<std::uint64_t>(part) * edge_floats());
        std::int64_t pixel = 0;
        while (pixel < x.output) {
            // Of the tiles from here on, how many lie inside.
            const std::int64_t last_inside =
                (x.input - 1 - reach + x.pad) >= 0 ? (x.input - 1 - reach + x.pad) / x.stride : -1;
            std::int64_t count = std::min(tile_, x.output - pixel);
            if (x.origin(pixel) >= 0 && pixel + count - 1 <= last_inside) {
                const std::int64_t inside = std::min(last_inside + 1, x.output) - pixel;
                count = std::max(inside / tile_ * tile_, count);
                compute_inside(frame, row, pixel, count);
            } else {
                compute_edge(frame, row, {pixel, count}, edge);
            }
            pixel += count;
        }
    }

    // The pixels' runs that lie inside the image's height.
    void select_runs(const Row& row, const std::vector<std::int64_t>& offsets,
                     DensePixels& pixels) const {
        const std::int64_t runs_per_row = shape().runs / window().y.kernel;
        pixels.first_run = row.taps.first * runs_per_row;
        pixels.run_offsets = std::span{offsets}.subspan(
            static_cast<std::size_t>(pixels.first_run),
            static_cast<std::size_t>((row.taps.end - row.taps.first) * runs_per_row));
    }

    void compute_inside(const Frame& frame, const Row& row, std::int64_t pixel,
                        std::int64_t count) const {
        const std::int64_t channels = window().channels;
        DensePixels pixels{
            .input = row.image,
            .window = ((window().y.origin(row.y) * window().x.input) + window().x.origin(pixel)) *
                      channels,
            .input_step = window().x.stride * channels,
            .run_offsets = {},
            .count = count};
        select_runs(row, offsets_, pixels);
        locate(frame, row.first_pixel + pixel, pixels);
        compute(pixels);
    }

    struct Pixels {
        std::int64_t first = 0;
        std::int64_t count = 0;
    };

    void compute_edge(const Frame& frame, const Row& row, const Pixels& which, float* edge) const {
        copy_edge(row, which.first, edge);
        DensePixels pixels{.input = edge,
                           .window = 0,
                           .input_step = window().x.stride * window().channels,
                           .run_offsets = {},
                           .count = which.count};
        select_runs(row, edge_offsets_, pixels);
        locate(frame, row.first_pixel + which.first, pixels);
        compute(pixels);
    }

    // What a tile sees, with zeros left and right of the image.
    void copy_edge(const Row& row, std::int64_t pixel, float* edge) const {
        const WindowAxis& x = window().x;
        const std::int64_t channels = window().channels;
        const std::int64_t origin = x.origin(pixel);
        const std::int64_t first = std::clamp<std::int64_t>(-origin, 0, edge_width_);
        const std::int64_t end = std::clamp<std::int64_t>(x.input - origin, first, edge_width_);
        for (std::int64_t ky = row.taps.first; ky < row.taps.end; ++ky) {
            const std::int64_t y = window().y.origin(row.y) + (ky * window().y.dilation);
            float* const target = edge + (ky * edge_width_ * channels);
            std::fill_n(target, first * channels, 0.0F);
            if (end > first) {
                std::copy_n(row.image + (((y * x.input) + origin + first) * channels),
                            (end - first) * channels, target + (first * channels));
            }
            std::fill_n(target + (end * channels), (edge_width_ - end) * channels, 0.0F);
        }
    }

    std::int64_t tile_;
    std::int64_t edge_width_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int64_t> edge_offsets_;
    ValueId edge_ = 0;
};

}  // namespace

DenseShape dense_shape_of(const Convolution& convolution) {
    const WindowAxis& x = convolution.window.x;
    // Taps that are neighbours in the input make one run.
    const std::int64_t taps_per_run = x.dilation == 1 ? x.kernel : 1;
    return {.output_channels = convolution.output_channels,
            .runs = convolution.window.y.kernel * x.kernel / taps_per_run,
            .run_length = taps_per_run * convolution.window.channels,
            .residual_channels = convolution.residual ? convolution.residual->channels : 0,
            .clamp = convolution.clamp.value_or(Clamp{}),
            .has_slopes = convolution.slopes.has_value()};
}

Block pack_dense(const Lowering& lowering, const Convolution& convolution) {
    const DenseShape shape = dense_shape_of(convolution);
    Block packed{lowering.memory(), packed_dense_size(shape) * sizeof(float)};
    std::vector<float> storage;
    pack_dense(shape, known_floats(lowering, convolution.weights, storage),
               bias_of(lowering, convolution), slopes_of(lowering, convolution),
               reinterpret_cast<float*>(packed.data()));
    return packed;
}

std::unique_ptr<Step> make_dense_step(Lowering& lowering, const Convolution& convolution) {
    const DenseShape shape = dense_shape_of(convolution);
    Block packed = pack_dense(lowering, convolution);
    const std::uint64_t rows = convolution.rows();
    const auto columns = static_cast<std::uint64_t>(convolution.window.x.output);
    const std::uint64_t operations = convolution.operations();
    if (convolution.has_far_weights()) {
        const auto panels = static_cast<std::uint64_t>(dense_panels(shape));
        return std::make_unique<PanelStep>(convolution, shape, std::move(packed),
                                           lowering.parts_for(panels, operations));
    }
    if (convolution.is_pointwise()) {
        const std::uint64_t tiles = std::max<std::uint64_t>(
            rows * columns / static_cast<std::uint64_t>(dense_tile(shape)), 1);
        return std::make_unique<PointwiseStep>(convolution, shape, std::move(packed),
                                               lowering.parts_for(tiles, operations));
    }
    auto step = std::make_unique<WindowStep>(convolution, shape, std::move(packed),
                                             lowering.parts_for(rows, operations));
    step->set_edge(lowering.add_scratch(step->parts() * step->edge_floats() * sizeof(float)));
    return step;
}

}  // namespace virtaccel::backends::cpu::ops

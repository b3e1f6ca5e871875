#include "backends/cpu/ops/int8_convolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/convolution.h"
#include "backends/cpu/ops/int8_ends.h"
#include "backends/cpu/ops/int8_kernels.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// How much of 32 bits a part may stage, and sum up, at a time: half of a usual first-level cache.
constexpr std::int64_t block_numbers = 4096;
// What a part may stage in all. Windows that need more are rare, and not worth it.
constexpr std::int64_t staged_groups_max = std::int64_t{1} << 20U;

// Windows are folded by so many bytes at a time.
constexpr std::int64_t fold_bytes = 4;

constexpr std::int64_t whole_folds(std::int64_t bytes) {
    return (bytes + fold_bytes - 1) / fold_bytes * fold_bytes;
}

// How many pixels of `numbers` numbers each fill a block.
std::int64_t pixels_at_once(const Int8Shape& shape, std::int64_t numbers) {
    const std::int64_t tile = int8_tile(shape);
    return std::max<std::int64_t>(block_numbers / numbers / tile, 1) * tile;
}

class Int8Step : public Step {
  public:
    // `staged_groups` is what a part needs for its input, in groups.
    Int8Step(Int8Convolution plan, const Int8Shape& shape, Block packed, std::int64_t staged_groups,
             std::uint32_t parts)
        : plan_(std::move(plan)),
          shape_(shape),
          packed_(std::move(packed)),
          staged_groups_(staged_groups),
          sums_at_once_(pixels_at_once(shape, shape.output_channels)),
          in_registers_(plan_.rescale && rescales_in_registers(*plan_.rescale)),
          parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        const std::size_t scales = plan_.rescale ? 2 * plan_.rescale->multipliers.size() : 0;
        return packed_.size() + (scales * sizeof(std::int32_t));
    }

    // For each part: the staged input, and sums that are written before they become INT8.
    [[nodiscard]] std::uint64_t scratch_bytes() const {
        const auto sums =
            static_cast<std::uint64_t>(sums_at_once_ * shape_.output_channels) + lanes_after;
        return (static_cast<std::uint64_t>(staged_groups_) +
                (plan_.rescale && !in_registers_ ? sums : 0)) *
               sizeof(std::int32_t);
    }

    void set_scratch(ValueId scratch) { scratch_ = scratch; }

  protected:
    [[nodiscard]] std::int32_t* staged(const Frame& frame, std::uint32_t part) const {
        return reinterpret_cast<std::int32_t*>(frame.at<std::byte>(scratch_) +
                                               (part * scratch_bytes()));
    }

    [[nodiscard]] const std::int8_t* input(const Frame& frame, std::int64_t pixel) const {
        return frame.at<const std::int8_t>(plan_.convolution.input) + (pixel * window().channels);
    }

    [[nodiscard]] const std::int8_t* input(const Frame& frame, std::int64_t image,
                                           std::int64_t row) const {
        return input(frame, ((image * window().y.input) + row) * window().x.input);
    }

    // Computes `pixels` of a part, of which the first is the output's pixel `pixel`.
    void compute(const Frame& frame, std::uint32_t part, Int8Pixels pixels,
                 std::int64_t pixel) const {
        const std::int64_t first = pixel * shape_.output_channels;
        if (!plan_.rescale) {
            pixels.output.sums = frame.at<std::int32_t>(plan_.convolution.output) + first;
            compute_int8(shape_, packed_.data(), pixels);
            return;
        }
        auto* output = frame.at<std::int8_t>(plan_.convolution.output) + first;
        if (in_registers_) {
            pixels.output.rescale = &*plan_.rescale;
            pixels.output.bytes = output;
            compute_int8(shape_, packed_.data(), pixels);
            return;
        }
        pixels.output.sums = staged(frame, part) + staged_groups_;
        for (std::int64_t left = pixels.count; left > 0; left -= pixels.count) {
            pixels.count = std::min(left, sums_at_once_);
            compute_int8(shape_, packed_.data(), pixels);
            rescale_to_int8(*plan_.rescale, pixels.output.sums, pixels.count, output);
            pixels.rows += pixels.count * pixels.pixel_step;
            output += pixels.count * shape_.output_channels;
        }
    }

    [[nodiscard]] const Convolution& convolution() const { return plan_.convolution; }

    [[nodiscard]] const ImageWindow& window() const { return plan_.convolution.window; }

    [[nodiscard]] const Int8Shape& shape() const { return shape_; }

  private:
    Int8Convolution plan_;
    Int8Shape shape_;
    Block packed_;
    std::int64_t staged_groups_;
    std::int64_t sums_at_once_;
    bool in_registers_;
    std::uint32_t parts_;
    ValueId scratch_ = 0;
};

// One tap, at every pixel: rows and images run on, and nothing hangs over an edge.
class PointwiseInt8 final : public Int8Step {
  public:
    PointwiseInt8(const Int8Convolution& plan, const Int8Shape& shape, Block packed,
                  std::uint32_t parts)
        : Int8Step(plan, shape, std::move(packed), block_of(shape) * shape.groups(), parts),
          block_(block_of(shape)) {}

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        std::int32_t* const groups = staged(frame, part);
        const Range range = range_of(
            convolution().rows() * static_cast<std::uint64_t>(window().x.output), parts(), part);
        const auto end = static_cast<std::int64_t>(range.end);
        for (auto pixel = static_cast<std::int64_t>(range.first); pixel < end; pixel += block_) {
            const std::int64_t count = std::min(block_, end - pixel);
            stage_int8(shape(), input(frame, pixel), count, groups);
            compute(frame, part,
                    {.rows = groups, .pixel_step = shape().groups(), .output = {}, .count = count},
                    pixel);
        }
        return true;
    }

  private:
    static std::int64_t block_of(const Int8Shape& shape) {
        return pixels_at_once(shape, shape.groups());
    }

    std::int64_t block_;
};

// Whether what a window sees of a row is staged for each window as if it was one pixel: where
// channels do not fill their groups, all products by nothing are left out, but for the last ones.
bool folds(const ImageWindow& window, const Int8Shape& shape) {
    return window.x.kernel > 1 && shape.kernel_x == 1;
}

// The staged rows under a window: as many as it is high, those between its taps included, and as
// wide as all windows of a row see.
struct Ring {
    std::int64_t rows = 1;
    std::int64_t row_pixels = 1;
    std::int64_t row_groups = 1;
    std::int64_t pixel_step = 1;
    // Where windows are folded, bytes of an image's row with what stands left and right of it, and
    // of all windows of a row.
    std::int64_t row_bytes = 0;
    std::int64_t folded_bytes = 0;

    Ring(const Int8Convolution& plan, const Int8Shape& shape) {
        const WindowAxis& y = plan.convolution.window.y;
        const WindowAxis& x = plan.convolution.window.x;
        rows = ((y.kernel - 1) * y.dilation) + 1;
        row_pixels = ((x.output - 1) * x.stride) + ((x.kernel - 1) * x.dilation) + 1;
        pixel_step = x.stride * shape.groups();
        if (folds(plan.convolution.window, shape)) {
            row_bytes = whole_folds((row_pixels * plan.convolution.window.channels) + fold_bytes);
            row_pixels = x.output;
            folded_bytes = row_pixels * shape.input_channels;
            pixel_step = shape.groups();
        }
        row_groups = row_pixels * shape.groups();
    }

    [[nodiscard]] std::int64_t groups() const { return rows * row_groups; }

    // All that a part stages, in words.
    [[nodiscard]] std::int64_t staged() const {
        return groups() + ((row_bytes + folded_bytes) / fold_bytes);
    }

    // Where a row of the image is, also one above it.
    [[nodiscard]] std::int64_t place_of(std::int64_t row) const {
        const std::int64_t rest = row % rows;
        return rest < 0 ? rest + rows : rest;
    }
};

// Any window, over a ring of staged rows with what stands left and right of the image.
class WindowInt8 final : public Int8Step {
  public:
    WindowInt8(const Int8Convolution& plan, const Int8Shape& shape, Block packed,
               std::uint32_t parts)
        : Int8Step(plan, shape, std::move(packed), Ring{plan, shape}.staged(), parts),
          ring_(plan, shape) {}

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const WindowAxis& y = window().y;
        std::int32_t* const groups = staged(frame, part);
        const Range range = range_of(convolution().rows(), parts(), part);
        std::int64_t staged_end = 0;
        std::int64_t image = -1;
        for (auto row = static_cast<std::int64_t>(range.first);
             row < static_cast<std::int64_t>(range.end); ++row) {
            const std::int64_t origin = y.origin(row % y.output);
            // Rows that the window before this one has seen are there.
            const bool is_same_image = image == row / y.output;
            image = row / y.output;
            std::int64_t next = is_same_image ? std::max(origin, staged_end) : origin;
            staged_end = origin + ring_.rows;
            for (; next < staged_end; ++next) {
                std::int32_t* const target = groups + (ring_.place_of(next) * ring_.row_groups);
                if (ring_.folded_bytes != 0) {
                    fold_row(frame, image, next, target, groups + ring_.groups());
                } else {
                    stage_row(frame, image, next, target);
                }
            }
            compute(frame, part,
                    {.rows = groups,
                     .row_step = ring_.row_groups,
                     .row_count = ring_.rows,
                     .first_row = ring_.place_of(origin),
                     .pixel_step = ring_.pixel_step,
                     .output = {},
                     .count = window().x.output},
                    row * window().x.output);
        }
        return true;
    }

  private:
    void stage_row(const Frame& frame, std::int64_t image, std::int64_t row,
                   std::int32_t* target) const {
        const WindowAxis& x = window().x;
        const std::int64_t groups = shape().groups();
        const bool is_inside = row >= 0 && row < window().y.input;
        const std::int64_t before =
            is_inside ? std::min(x.pad, ring_.row_pixels) : ring_.row_pixels;
        const std::int64_t inside =
            is_inside ? std::clamp<std::int64_t>(x.input, 0, ring_.row_pixels - before) : 0;
        stage_int8_nothing(shape(), before, target);
        target += before * groups;
        if (inside > 0) {
            stage_int8(shape(), input(frame, image, row), inside, target);
            target += inside * groups;
        }
        stage_int8_nothing(shape(), ring_.row_pixels - before - inside, target);
    }

    // What each window sees of a row, one after the other.
    void fold_row(const Frame& frame, std::int64_t image, std::int64_t row, std::int32_t* target,
                  std::int32_t* scratch) const {
        const WindowAxis& x = window().x;
        if (row < 0 || row >= window().y.input) {
            stage_int8_nothing(shape(), x.output, target);
            return;
        }
        const std::int64_t channels = window().channels;
        auto* const bytes = reinterpret_cast<std::int8_t*>(scratch);
        const auto zero = static_cast<std::int8_t>(shape().input_zero);
        const std::int64_t before = std::min(x.pad * channels, ring_.row_bytes);
        const std::int64_t inside =
            std::clamp<std::int64_t>(x.input * channels, 0, ring_.row_bytes - before);
        std::fill_n(bytes, before, zero);
        std::copy_n(input(frame, image, row), inside, bytes + before);
        std::fill(bytes + before + inside, bytes + ring_.row_bytes, zero);
        std::int8_t* const folded = bytes + ring_.row_bytes;
        const std::int64_t step = x.stride * channels;
        const std::int64_t length = shape().input_channels;
        for (std::int64_t pixel = 0; pixel < x.output; ++pixel) {
            for (std::int64_t i = 0; i < length; i += fold_bytes) {
                std::memcpy(folded + (pixel * length) + i, bytes + (pixel * step) + i, fold_bytes);
            }
        }
        stage_int8(shape(), folded, x.output, target);
    }

    Ring ring_;
};

Int8Shape shape_of(const Int8Convolution& plan) {
    const ImageWindow& window = plan.convolution.window;
    Int8Shape shape{.format = best_int8_format(),
                    .input_zero = plan.input_zero,
                    .input_channels = window.channels,
                    .output_channels = plan.convolution.output_channels,
                    .kernel_y = window.y.kernel,
                    .kernel_x = window.x.kernel,
                    .dilation_y = window.y.dilation,
                    .dilation_x = window.x.dilation};
    if (window.x.kernel > 1 && window.x.dilation == 1 &&
        window.channels % shape.group_channels() != 0) {
        shape.kernel_x = 1;
        shape.input_channels = whole_folds(window.x.kernel * window.channels);
    }
    return shape;
}

// The weights of all output channels, and of as many elements as are staged for each row.
std::vector<std::int8_t> weights_of(const Lowering& lowering, const Int8Convolution& plan,
                                    const Int8Shape& shape) {
    std::vector<std::int8_t> weights = known_int8(lowering, plan.convolution.weights);
    const ImageWindow& window = plan.convolution.window;
    if (!folds(window, shape)) {
        return weights;
    }
    const std::int64_t used = window.x.kernel * window.channels;
    const std::int64_t rows = shape.output_channels * shape.kernel_y;
    std::vector<std::int8_t> folded(static_cast<std::size_t>(rows * shape.input_channels),
                                    static_cast<std::int8_t>(plan.weight_zero));
    for (std::int64_t row = 0; row < rows; ++row) {
        std::copy_n(weights.begin() + (row * used), used,
                    folded.begin() + (row * shape.input_channels));
    }
    return folded;
}

Block pack(const Lowering& lowering, const Int8Convolution& plan, const Int8Shape& shape) {
    const auto weights = weights_of(lowering, plan, shape);
    const auto bias = known_int32_bias(lowering, plan.convolution);
    Block packed{lowering.memory(), packed_int8_size(shape)};
    pack_int8(shape,
              {.data = weights.data(),
               .channel_step = shape.taps() * shape.input_channels,
               .element_step = 1,
               .zero = plan.weight_zero},
              bias.data(), packed.data());
    return packed;
}

std::unique_ptr<Int8Step> make_step(const Lowering& lowering, const Int8Convolution& plan) {
    const Int8Shape shape = shape_of(plan);
    const Convolution& convolution = plan.convolution;
    // Four of these products cost as much as one of floats.
    const std::uint64_t operations = convolution.operations() / 4;
    if (!convolution.is_pointwise()) {
        return std::make_unique<WindowInt8>(plan, shape, pack(lowering, plan, shape),
                                            lowering.parts_for(convolution.rows(), operations));
    }
    const std::uint64_t pixels =
        convolution.rows() * static_cast<std::uint64_t>(convolution.window.x.output);
    const std::uint64_t tiles =
        std::max<std::uint64_t>(pixels / static_cast<std::uint64_t>(int8_tile(shape)), 1);
    return std::make_unique<PointwiseInt8>(plan, shape, pack(lowering, plan, shape),
                                           lowering.parts_for(tiles, operations));
}

}  // namespace

bool fits_int8_dense(const Lowering& lowering, const Int8Convolution& plan) {
    const auto [least, most] = std::ranges::minmax(known_int8(lowering, plan.convolution.weights));
    const bool fits_bytes = least - plan.weight_zero >= std::numeric_limits<std::int8_t>::min() &&
                            most - plan.weight_zero <= std::numeric_limits<std::int8_t>::max();
    const Ring ring{plan, shape_of(plan)};
    return fits_bytes && ring.rows <= staged_groups_max / ring.row_groups;
}

void emit_int8_dense(Lowering& lowering, const Int8Convolution& plan) {
    auto step = make_step(lowering, plan);
    step->set_scratch(lowering.add_scratch(step->parts() * step->scratch_bytes()));
    lowering.emit(std::move(step), {plan.convolution.input}, plan.convolution.output);
}

}  // namespace virtaccel::backends::cpu::ops

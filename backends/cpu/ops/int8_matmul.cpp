#include "backends/cpu/ops/int8_matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "backends/cpu/block.h"
#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/int8_convolution.h"
#include "backends/cpu/ops/int8_kernels.h"
#include "backends/cpu/ops/matmul.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// What a part may stage before it computes: half of a usual first-level cache.
constexpr std::int64_t block_groups = 4096;

// Packs the right factors, one matrix after the other.
void pack_matrix(const Int8Shape& shape, const std::int8_t* right, std::int64_t matrix,
                 std::byte* packed) {
    pack_int8(shape,
              {.data = right + (matrix * shape.input_channels * shape.output_channels),
               .channel_step = 1,
               .element_step = shape.output_channels},
              nullptr, packed + (static_cast<std::size_t>(matrix) * packed_int8_size(shape)));
}

class PackInt8 final : public Step {
  public:
    PackInt8(const Int8Shape& shape, ValueId right, ValueId packed, std::uint64_t batch,
             std::uint32_t parts)
        : shape_(shape), right_(right), packed_(packed), batch_(batch), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(batch_, parts_, part);
        for (std::uint64_t matrix = range.first; matrix < range.end; ++matrix) {
            pack_matrix(shape_, frame.at<const std::int8_t>(right_),
                        static_cast<std::int64_t>(matrix), frame.at<std::byte>(packed_));
        }
        return true;
    }

  private:
    Int8Shape shape_;
    ValueId right_;
    ValueId packed_;
    std::uint64_t batch_;
    std::uint32_t parts_;
};

struct Values {
    ValueId left = 0;
    ValueId packed = 0;  // if the right factors are not known
    ValueId staged = 0;
    ValueId output = 0;
};

class Int8Matmul final : public Step {
  public:
    // `known` is what is packed already, or empty.
    Int8Matmul(const MatmulShape& matrices, const Int8Shape& shape, std::int32_t right_zero,
               Block known, std::uint32_t parts)
        : matrices_(matrices),
          shape_(shape),
          right_zero_(right_zero),
          known_(std::move(known)),
          parts_(parts),
          block_(std::max<std::int64_t>(block_groups / shape.groups() / int8_tile(shape), 1) *
                 int8_tile(shape)) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override { return known_.size(); }

    // For each part.
    [[nodiscard]] std::uint64_t staged_bytes() const {
        return static_cast<std::uint64_t>(block_ * shape_.groups()) * sizeof(std::int32_t);
    }

    void set_values(const Values& values) { values_ = values; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const std::int64_t rows = matrices_.rows;
        const std::byte* const packed =
            known_.size() != 0 ? known_.data() : frame.at<const std::byte>(values_.packed);
        auto* const staged = reinterpret_cast<std::int32_t*>(frame.at<std::byte>(values_.staged) +
                                                             (part * staged_bytes()));
        const Range range =
            range_of(static_cast<std::uint64_t>(matrices_.batch * rows), parts_, part);
        const auto end = static_cast<std::int64_t>(range.end);
        for (auto row = static_cast<std::int64_t>(range.first); row < end;) {
            const std::int64_t matrix = row / rows;
            const std::int64_t count = std::min({block_, rows - (row % rows), end - row});
            const auto* const left =
                frame.at<const std::int8_t>(values_.left) + (row * matrices_.depth);
            auto* const output = frame.at<std::int32_t>(values_.output) + (row * matrices_.columns);
            stage_int8(shape_, left, count, staged);
            compute_int8(shape_,
                         packed + (static_cast<std::size_t>(matrix) * packed_int8_size(shape_)),
                         {.rows = staged,
                          .pixel_step = shape_.groups(),
                          .output = {.sums = output},
                          .count = count});
            subtract_right_zero(left, count, output);
            row += count;
        }
        return true;
    }

  private:
    // What the right factors' zero point takes from every product of a row is the same.
    void subtract_right_zero(const std::int8_t* left, std::int64_t count,
                             std::int32_t* output) const {
        if (right_zero_ == 0) {
            return;
        }
        for (std::int64_t row = 0; row < count; ++row) {
            std::uint32_t sum = 0;
            for (std::int64_t k = 0; k < matrices_.depth; ++k) {
                sum += static_cast<std::uint32_t>(left[k] - shape_.input_zero);
            }
            sum *= static_cast<std::uint32_t>(right_zero_);
            for (std::int64_t i = 0; i < matrices_.columns; ++i) {
                output[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(output[i]) - sum);
            }
            left += matrices_.depth;
            output += matrices_.columns;
        }
    }

    MatmulShape matrices_;
    Int8Shape shape_;
    std::int32_t right_zero_;
    Block known_;
    std::uint32_t parts_;
    std::int64_t block_;
    Values values_;
};

}  // namespace

void lower_int8_matmul(Lowering& lowering, const tosa::Operator& op) {
    const MatmulShape matrices = matmul_shape_of(lowering, op);
    const auto batch = static_cast<std::uint64_t>(matrices.batch);
    const Int8Shape shape{.format = best_int8_format(),
                          .input_zero = known_int8(lowering, op.inputs[2]).front(),
                          .input_channels = matrices.depth,
                          .output_channels = matrices.columns};
    const ValueId right = op.inputs[1];
    const std::size_t packed_bytes = packed_int8_size(shape) * static_cast<std::size_t>(batch);
    const std::uint32_t parts = lowering.parts_for(
        batch * static_cast<std::uint64_t>(matrices.rows), matrices.operations() / 4);
    Values values{.left = op.inputs[0], .output = op.outputs[0]};
    Block known;
    if (lowering.is_known(right)) {
        known = Block{lowering.memory(), packed_bytes};
        for (std::int64_t matrix = 0; matrix < matrices.batch; ++matrix) {
            pack_matrix(shape, lowering.known<std::int8_t>(right).data(), matrix, known.data());
        }
    } else {
        values.packed = lowering.add_scratch(packed_bytes);
        const std::uint32_t pack_parts = lowering.parts_for(batch, lowering.tensor(right).elements);
        lowering.emit(std::make_unique<PackInt8>(shape, right, values.packed, batch, pack_parts),
                      {right}, values.packed);
    }
    auto step = std::make_unique<Int8Matmul>(
        matrices, shape, known_int8(lowering, op.inputs[3]).front(), std::move(known), parts);
    values.staged = lowering.add_scratch(parts * step->staged_bytes());
    step->set_values(values);
    if (lowering.is_known(right)) {
        lowering.emit(std::move(step), {values.left}, values.output);
    } else {
        lowering.emit(std::move(step), {values.left, values.packed}, values.output);
    }
}

}  // namespace virtaccel::backends::cpu::ops

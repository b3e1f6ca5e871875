// GATHER and SCATTER: rows of C elements, found by an index.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/box.h"
#include "backends/cpu/ops/copy.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// `rows` rows for each of some batches on the side that is indexed, `indices` of them on the other.
struct Rows {
    std::uint64_t batches = 1;
    std::uint64_t rows = 1;
    std::uint64_t indices = 1;
    std::uint64_t row_bytes = 1;
};

Rows rows_of(const tosa::Tensor& values, const tosa::Tensor& indices) {
    return {.batches = static_cast<std::uint64_t>(dim(values, 0)),
            .rows = static_cast<std::uint64_t>(dim(values, 1)),
            .indices = static_cast<std::uint64_t>(dim(indices, 1)),
            .row_bytes = static_cast<std::uint64_t>(dim(values, 2) * element_bytes(values))};
}

// An index, read once: it may lie in a caller's buffer and change there.
std::int32_t index_at(const std::int32_t* indices, std::uint64_t i) {
    return std::atomic_ref{const_cast<std::int32_t&>(indices[i])}.load(std::memory_order_relaxed);
}

// What an index that is out of range gathers is not defined: here, the nearest row.
class Gather final : public Step {
  public:
    struct Values {
        ValueId values = 0;
        ValueId indices = 0;
        ValueId output = 0;
    };

    Gather(const Values& values, const Rows& rows, std::uint32_t parts)
        : values_(values), rows_(rows), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const auto* const values = frame.at<const std::byte>(values_.values);
        const auto* const indices = frame.at<const std::int32_t>(values_.indices);
        auto* const output = frame.at<std::byte>(values_.output);
        const Range range = range_of(rows_.batches * rows_.indices, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            const auto last = static_cast<std::int32_t>(rows_.rows - 1);
            const auto row = static_cast<std::uint64_t>(std::clamp(index_at(indices, i), 0, last));
            const std::uint64_t batch = i / rows_.indices;
            std::memcpy(output + (i * rows_.row_bytes),
                        values + (((batch * rows_.rows) + row) * rows_.row_bytes),
                        static_cast<std::size_t>(rows_.row_bytes));
        }
        return true;
    }

  private:
    Values values_;
    Rows rows_;
    std::uint32_t parts_;
};

// Writes rows over those of the output, which holds the values already. What happens to an index
// that is out of range is not defined: here, nothing.
class Scatter final : public Step {
  public:
    struct Values {
        ValueId indices = 0;
        ValueId input = 0;
        ValueId output = 0;
    };

    Scatter(const Values& values, const Rows& rows) : values_(values), rows_(rows) {}

    bool run(const Frame& frame, std::uint32_t /*part*/) noexcept override {
        const auto* const indices = frame.at<const std::int32_t>(values_.indices);
        const auto* const input = frame.at<const std::byte>(values_.input);
        auto* const output = frame.at<std::byte>(values_.output);
        for (std::uint64_t i = 0; i < rows_.batches * rows_.indices; ++i) {
            const std::int32_t index = index_at(indices, i);
            if (index < 0 || static_cast<std::uint64_t>(index) >= rows_.rows) {
                continue;
            }
            const std::uint64_t row =
                ((i / rows_.indices) * rows_.rows) + static_cast<std::uint64_t>(index);
            std::memcpy(output + (row * rows_.row_bytes), input + (i * rows_.row_bytes),
                        static_cast<std::size_t>(rows_.row_bytes));
        }
        return true;
    }

  private:
    Values values_;
    Rows rows_;
};

}  // namespace

void lower_gather(Lowering& lowering, const tosa::Operator& op) {
    const Gather::Values values{
        .values = op.inputs[0], .indices = op.inputs[1], .output = op.outputs[0]};
    const Rows rows = rows_of(lowering.tensor(values.values), lowering.tensor(values.indices));
    const std::uint32_t parts =
        lowering.parts_for(rows.batches * rows.indices, lowering.tensor(values.output).bytes);
    lowering.emit(std::make_unique<Gather>(values, rows, parts), {values.values, values.indices},
                  values.output);
}

void lower_scatter(Lowering& lowering, const tosa::Operator& op) {
    const ValueId source = op.inputs[0];
    const Scatter::Values values{
        .indices = op.inputs[1], .input = op.inputs[2], .output = op.outputs[0]};
    const tosa::Tensor& tensor = lowering.tensor(source);
    const bool stands_alone =
        !lowering.is_shared(source, values.indices) && !lowering.is_shared(source, values.input);
    if (!stands_alone || !lowering.compute_in_place(values.output, source)) {
        lowering.emit(std::make_unique<CopyAll>(source, values.output, tensor.bytes), {source},
                      values.output);
    }
    lowering.emit(
        std::make_unique<Scatter>(values, rows_of(tensor, lowering.tensor(values.indices))),
        {values.indices, values.input}, values.output);
}

}  // namespace virtaccel::backends::cpu::ops

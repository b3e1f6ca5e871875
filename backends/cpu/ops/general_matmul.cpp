// MATMUL in the plainest way, of every element type.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/elements.h"
#include "backends/cpu/ops/matmul.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/sums.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

struct Values {
    ValueId left = 0;
    ValueId right = 0;
    ValueId left_zero = 0;
    ValueId right_zero = 0;
    ValueId output = 0;
};

template <class In, class Out>
class GeneralMatmul final : public Step {
  public:
    GeneralMatmul(const MatmulShape& shape, const Values& values, std::uint32_t parts)
        : shape_(shape), values_(values), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Operands operands{.left = frame.at<const In>(values_.left),
                                .right = frame.at<const In>(values_.right),
                                .left_zero = widened(*frame.at<const In>(values_.left_zero)),
                                .right_zero = widened(*frame.at<const In>(values_.right_zero)),
                                .output = frame.at<Out>(values_.output)};
        const Range range = range_of(shape_.outputs(), parts_, part);
        const auto columns = static_cast<std::uint64_t>(shape_.columns);
        for (std::uint64_t i = range.first; i < range.end;) {
            const std::uint64_t column = i % columns;
            const std::uint64_t count = std::min({block, columns - column, range.end - i});
            compute(operands, static_cast<std::int64_t>(i / columns),
                    static_cast<std::int64_t>(column), static_cast<std::int64_t>(count));
            i += count;
        }
        return true;
    }

  private:
    using Total = Sum<Out>;

    // Columns that are computed at a time.
    static constexpr std::uint64_t block = 64;

    struct Operands {
        const In* left;
        const In* right;
        Wide<In> left_zero;
        Wide<In> right_zero;
        Out* output;
    };

    // `row` counts over all matrices.
    void compute(const Operands& operands, std::int64_t row, std::int64_t column,
                 std::int64_t count) const {
        std::array<Total, block> totals{};
        const In* const left = operands.left + (row * shape_.depth);
        const In* right =
            operands.right + (row / shape_.rows * shape_.depth * shape_.columns) + column;
        for (std::int64_t k = 0; k < shape_.depth; ++k) {
            const auto factor = static_cast<Total>(widened(left[k]) - operands.left_zero);
            for (std::int64_t i = 0; i < count; ++i) {
                totals[static_cast<std::size_t>(i)] +=
                    factor * static_cast<Total>(widened(right[i]) - operands.right_zero);
            }
            right += shape_.columns;
        }
        Out* const output = operands.output + (row * shape_.columns) + column;
        for (std::int64_t i = 0; i < count; ++i) {
            output[i] = element_of<Out>(totals[static_cast<std::size_t>(i)]);
        }
    }

    MatmulShape shape_;
    Values values_;
    std::uint32_t parts_;
};

template <class In, class Out>
std::unique_ptr<Step> make(const MatmulShape& shape, const Values& values, std::uint32_t parts) {
    return std::make_unique<GeneralMatmul<In, Out>>(shape, values, parts);
}

struct Row {
    DType input;
    DType output;
    std::unique_ptr<Step> (*make)(const MatmulShape&, const Values&, std::uint32_t parts);
};

constexpr Row rows[] = {
    {DType::int8, DType::int32, make<std::int8_t, std::int32_t>},
    {DType::int16, DType::int48, make<std::int16_t, Int48>},
    {DType::fp16, DType::fp16, make<Fp16, Fp16>},
    {DType::fp16, DType::fp32, make<Fp16, float>},
    {DType::fp32, DType::fp32, make<float, float>},
    {DType::bf16, DType::fp32, make<Bf16, float>},
    {DType::fp8e4m3, DType::fp16, make<Fp8E4M3, Fp16>},
    {DType::fp8e5m2, DType::fp16, make<Fp8E5M2, Fp16>},
};

}  // namespace

MatmulShape matmul_shape_of(const Lowering& lowering, const tosa::Operator& op) {
    const tosa::Tensor& left = lowering.tensor(op.inputs[0]);
    return {.batch = left.shape[0],
            .rows = left.shape[1],
            .depth = left.shape[2],
            .columns = lowering.tensor(op.inputs[1]).shape[2]};
}

void lower_general_matmul(Lowering& lowering, const tosa::Operator& op) {
    const MatmulShape shape = matmul_shape_of(lowering, op);
    const Values values{.left = op.inputs[0],
                        .right = op.inputs[1],
                        .left_zero = op.inputs[2],
                        .right_zero = op.inputs[3],
                        .output = op.outputs[0]};
    const auto* const row = std::ranges::find_if(rows, [&](const Row& one) {
        return one.input == lowering.tensor(op.inputs[0]).dtype &&
               one.output == lowering.tensor(op.outputs[0]).dtype;
    });
    const std::uint32_t parts = lowering.parts_for(shape.outputs(), shape.operations());
    lowering.emit(row->make(shape, values, parts), op.inputs, op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

// MAX_POOL2D and AVG_POOL2D.
#include <cstddef>
#include <cstdint>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/conversion.h"
#include "backends/cpu/ops/general_pooling.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/pool_step.h"
#include "backends/cpu/ops/pooling_kernels.h"
#include "backends/cpu/ops/window.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// Rows by kernels.
struct FloatRows {
    using Element = float;
    Pooling pooling;

    [[nodiscard]] auto in(const Frame& /*frame*/) const {
        return [this](const ImageWindow& window, const PoolingRow<float>& row) {
            compute_pooling(pooling, window, row);
        };
    }
};

struct LargestInt8Rows {
    using Element = std::int8_t;

    static auto in(const Frame& /*frame*/) { return compute_int8_max_pool; }
};

WindowAxis axis_of(const tosa::PoolAttribute& attribute, std::size_t axis,
                   const tosa::Tensor& input, const tosa::Tensor& output) {
    return {.input = input.shape[axis + 1],
            .output = output.shape[axis + 1],
            .kernel = attribute.kernel[axis],
            .stride = attribute.stride[axis],
            .pad = attribute.pad[2 * axis]};
}

GeneralPool pool_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto& attribute = op.as<tosa::PoolAttribute>();
    const tosa::Tensor& input = lowering.tensor(op.inputs[0]);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    const ImageWindow window{.batch = output.shape[0],
                             .channels = output.shape[3],
                             .y = axis_of(attribute, 0, input, output),
                             .x = axis_of(attribute, 1, input, output)};
    const auto rows = static_cast<std::uint64_t>(window.batch * window.y.output);
    const auto taps = static_cast<std::uint64_t>(window.y.kernel * window.x.kernel);
    const bool has_zeros = op.inputs.size() == 3;
    return {.dtype = input.dtype,
            .window = window,
            .values = {.input = op.inputs[0],
                       .output = op.outputs[0],
                       .input_zero = has_zeros ? op.inputs[1] : 0,
                       .output_zero = has_zeros ? op.inputs[2] : 0},
            .parts = lowering.parts_for(rows, output.elements * taps)};
}

}  // namespace

void lower_max_pool2d(Lowering& lowering, const tosa::Operator& op) {
    const bool ignores_nan = op.as<tosa::PoolAttribute>().nan_mode == tosa::NanMode::ignore;
    const GeneralPool pool = pool_of(lowering, op);
    if (pool.dtype == tosa::DType::int8) {
        lowering.emit(make_pool_step(pool, LargestInt8Rows{}), op.inputs, op.outputs[0]);
        return;
    }
    if (pool.dtype != tosa::DType::fp32) {
        lowering.emit(make_general_max_pool(pool, ignores_nan), op.inputs, op.outputs[0]);
        return;
    }
    const Pooling pooling = ignores_nan ? Pooling::largest_number : Pooling::largest_or_nan;
    lowering.emit(make_pool_step(pool, FloatRows{pooling}), op.inputs, op.outputs[0]);
}

void lower_avg_pool2d(Lowering& lowering, const tosa::Operator& op) {
    const GeneralPool pool = pool_of(lowering, op);
    if (pool.dtype != tosa::DType::fp32 || !is_known_zero(lowering, op.inputs[1])) {
        lowering.emit(make_general_avg_pool(pool), op.inputs, op.outputs[0]);
        return;
    }
    lowering.emit(make_pool_step(pool, FloatRows{Pooling::average}), {op.inputs[0]}, op.outputs[0]);
}

}  // namespace virtaccel::backends::cpu::ops

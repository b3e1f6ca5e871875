#include "backends/cpu/ops/elementwise.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/narrow_floats.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/lowering/broadcast.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

// How many elements are widened at a time: few enough to stay in the nearest cache.
constexpr std::uint64_t block_length = 128;

// A tensor that a step works on.
struct Operand {
    ValueId value = 0;
    std::uint32_t bytes = 0;              // of an element in memory
    const NarrowFloat* format = nullptr;  // if that is not what the loops see
};

template <std::size_t operands>
class Elementwise final : public Step {
  public:
    using Kernel = ElementwiseKernel<operands>;
    using Walk = lowering::BroadcastWalk<operands>;

    struct Operands {
        Operand output;
        std::array<Operand, operands> inputs{};
    };

    Elementwise(const Kernel& kernel, const Operands& tensors, const Walk& walk,
                std::uint32_t parts)
        : kernel_(kernel), tensors_(tensors), walk_(walk), parts_(parts) {
        is_narrow_ = tensors.output.format != nullptr;
        std::size_t may_move = 0;
        for (std::size_t k = 0; k < operands; ++k) {
            moves_ |= static_cast<std::size_t>(walk.row_strides()[k]) << k;
            may_move |= std::size_t{kernel.inputs[k].is_one ? 0U : 1U} << k;
            is_narrow_ = is_narrow_ || tensors.inputs[k].format != nullptr;
        }
        if (moves_ == 0) {  // there is but one element
            moves_ = may_move;
        }
    }

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        if (is_narrow_) {
            Blocks blocks{};
            for_each_row(frame, part, [&](const Pointers& inputs, std::byte* output, auto count) {
                run_blocks(blocks, inputs, output, count);
            });
        } else {
            for_each_row(frame, part, [&](const Pointers& inputs, std::byte* output, auto count) {
                kernel_.rows[moves_](kernel_.function.data(), inputs.data(), output, count);
            });
        }
        return true;
    }

  private:
    using Pointers = std::array<const std::byte*, operands>;
    using Block = std::array<float, block_length>;

    struct Blocks {
        std::array<Block, operands> inputs{};
        Block output{};
    };

    template <class Row>
    void for_each_row(const Frame& frame, std::uint32_t part, const Row& row) const {
        auto* const output = frame.at<std::byte>(tensors_.output.value);
        const std::uint64_t output_bytes = tensors_.output.bytes;
        if (walk_.row_count == 1) {
            const Range range = range_of(walk_.row_length, parts_, part);
            typename Walk::Offsets offsets{};
            for (std::size_t k = 0; k < operands; ++k) {
                offsets[k] = range.first * walk_.row_strides()[k];
            }
            row(inputs_at(frame, offsets), output + (range.first * output_bytes), range.size());
            return;
        }
        const Range range = range_of(walk_.row_count, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            row(inputs_at(frame, walk_.offsets_of(i)),
                output + (i * walk_.row_length * output_bytes), walk_.row_length);
        }
    }

    [[nodiscard]] Pointers inputs_at(const Frame& frame,
                                     const typename Walk::Offsets& offsets) const {
        Pointers inputs{};
        for (std::size_t k = 0; k < operands; ++k) {
            inputs[k] = frame.at<const std::byte>(tensors_.inputs[k].value) +
                        (offsets[k] * tensors_.inputs[k].bytes);
        }
        return inputs;
    }

    // A row of which some operands are not as the loop sees them.
    void run_blocks(Blocks& blocks, Pointers inputs, std::byte* output, std::uint64_t count) const {
        const NarrowFloat* const narrowing = tensors_.output.format;
        for (std::uint64_t done = 0; done < count; done += block_length) {
            const std::uint64_t length = std::min(block_length, count - done);
            Pointers seen = inputs;
            for (std::size_t k = 0; k < operands; ++k) {
                const bool moves = ((moves_ >> k) & 1U) != 0;
                if (tensors_.inputs[k].format != nullptr) {
                    tensors_.inputs[k].format->widen(inputs[k], blocks.inputs[k].data(),
                                                     moves ? length : 1);
                    seen[k] = reinterpret_cast<const std::byte*>(blocks.inputs[k].data());
                }
                inputs[k] += moves ? length * tensors_.inputs[k].bytes : 0;
            }
            auto* const target =
                narrowing != nullptr ? reinterpret_cast<std::byte*>(blocks.output.data()) : output;
            kernel_.rows[moves_](kernel_.function.data(), seen.data(), target, length);
            if (narrowing != nullptr) {
                narrowing->narrow(blocks.output.data(), output, length);
            }
            output += length * tensors_.output.bytes;
        }
    }

    Kernel kernel_;
    Operands tensors_;
    Walk walk_;
    std::uint32_t parts_;
    std::size_t moves_ = 0;
    bool is_narrow_ = false;
};

// How a kernel finds a tensor.
template <class KernelOperand>
Operand operand_of(const Lowering& lowering, tosa::TensorIndex tensor, const KernelOperand& seen) {
    Operand operand{.value = tensor, .bytes = seen.bytes};
    if (seen.is_float) {
        operand.format = narrow_float_of(lowering.tensor(tensor).dtype);
        operand.bytes = operand.format != nullptr ? operand.format->bytes : seen.bytes;
    }
    return operand;
}

// Whether no element is read after it has been written, if the output takes the place of `input`:
// an operand that lies elsewhere in the same bytes stands in the way.
bool may_be_overwritten(const Lowering& lowering, std::span<const ValueId> operands,
                        ValueId input) {
    return std::ranges::all_of(operands, [&](ValueId other) {
        return !lowering.is_shared(other, input) ||
               lowering.tensor(other).bytes == lowering.tensor(input).bytes;
    });
}

}  // namespace

template <std::size_t operands>
void emit_kernel(Lowering& lowering, const tosa::Operator& op,
                 const ElementwiseKernel<operands>& kernel) {
    using Kernel = Elementwise<operands>;
    std::array<std::int32_t, tosa::rank_max> ones{};
    ones.fill(1);
    const tosa::Tensor& output = lowering.tensor(op.outputs[0]);
    typename Kernel::Operands tensors{.output = operand_of(lowering, op.outputs[0], kernel.output)};
    std::array<ValueId, operands> values{};
    std::array<std::span<const std::int32_t>, operands> shapes;
    for (std::size_t i = 0; i < operands; ++i) {
        values[i] = op.inputs[i];
        tensors.inputs[i] = operand_of(lowering, op.inputs[i], kernel.inputs[i]);
        shapes[i] = kernel.inputs[i].is_one ? std::span{ones}.first(output.shape.size())
                                            : lowering.tensor(op.inputs[i]).shape;
    }
    const auto walk = lowering::walk_over<operands>(output.shape, shapes);
    const std::uint32_t parts =
        lowering.parts_for(walk.row_count == 1 ? walk.row_length : walk.row_count, output.elements);
    for (std::size_t i = 0; i < operands; ++i) {
        if (kernel.inputs[i].is_of_output_type && may_be_overwritten(lowering, values, values[i]) &&
            lowering.compute_in_place(op.outputs[0], values[i])) {
            break;
        }
    }
    lowering.emit(std::make_unique<Kernel>(kernel, tensors, walk, parts), values, op.outputs[0]);
}

template void emit_kernel(Lowering&, const tosa::Operator&, const ElementwiseKernel<1>&);
template void emit_kernel(Lowering&, const tosa::Operator&, const ElementwiseKernel<2>&);
template void emit_kernel(Lowering&, const tosa::Operator&, const ElementwiseKernel<3>&);

}  // namespace virtaccel::backends::cpu::ops

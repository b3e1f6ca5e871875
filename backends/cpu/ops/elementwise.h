#pragma once
// The step behind all elementwise operators: a function of one element of each input, over shapes
// that broadcast.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/lowering/broadcast.h"
#include "virtaccel/tosa/graph.h"

namespace virtaccel::backends::cpu::ops {

// `Function` makes an Out from an element of each of In.
template <class Function, class Out, class... In>
class Elementwise final : public Step {
  public:
    static constexpr std::size_t operands = sizeof...(In);
    using Walk = lowering::BroadcastWalk<operands>;

    struct Operands {
        ValueId output = 0;
        std::array<ValueId, operands> inputs{};
    };

    Elementwise(const Function& function, const Operands& values, const Walk& walk,
                std::uint32_t parts)
        : function_(function), values_(values), walk_(walk), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        run(frame, part, std::index_sequence_for<In...>{});
        return true;
    }

  private:
    using Pointers = std::tuple<const In*...>;

    template <std::size_t... k>
    void run(const Frame& frame, std::uint32_t part, std::index_sequence<k...> /*which*/) {
        const Pointers inputs{frame.at<const In>(values_.inputs[k])...};
        Out* const output = frame.at<Out>(values_.output);
        const auto row = row_kernels[((walk_.row_strides()[k] << k) | ...)];
        if (walk_.row_count == 1) {
            const Range range = range_of(walk_.row_length, parts_, part);
            const Pointers moved{std::get<k>(inputs) + (range.first * walk_.row_strides()[k])...};
            row(function_, moved, output + range.first, range.size());
            return;
        }
        const Range range = range_of(walk_.row_count, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            const auto offsets = walk_.offsets_of(i);
            const Pointers moved{std::get<k>(inputs) + offsets[k]...};
            row(function_, moved, output + (i * walk_.row_length), walk_.row_length);
        }
    }

    // Bit k of `moves` says whether operand k walks along the row or stands still.
    template <std::size_t moves, std::size_t... k>
    static void row_of(const Function& function, const Pointers& inputs, Out* output,
                       std::uint64_t count, std::index_sequence<k...> /*which*/) {
        const std::tuple<In...> still{*std::get<k>(inputs)...};
        for (std::uint64_t i = 0; i < count; ++i) {
            output[i] =
                function(((moves >> k) & 1U) != 0 ? std::get<k>(inputs)[i] : std::get<k>(still)...);
        }
    }

    template <std::size_t moves>
    static void row_of(const Function& function, const Pointers& inputs, Out* output,
                       std::uint64_t count) {
        row_of<moves>(function, inputs, output, count, std::index_sequence_for<In...>{});
    }

    using Row = void (*)(const Function&, const Pointers&, Out*, std::uint64_t);

    static constexpr auto row_kernels = []<std::size_t... moves>(std::index_sequence<moves...>) {
        return std::array<Row, sizeof...(moves)>{&row_of<moves>...};
    }(std::make_index_sequence<std::size_t{1} << operands>{});

    Function function_;
    Operands values_;
    Walk walk_;
    std::uint32_t parts_;
};

// Whether no element is read after it has been written, if the output takes the place of `input`:
// an operand that lies elsewhere in the same bytes stands in the way.
inline bool may_be_overwritten(const Lowering& lowering, std::span<const ValueId> operands,
                               ValueId input) {
    return std::ranges::all_of(operands, [&](ValueId other) {
        return !lowering.is_shared(other, input) ||
               lowering.tensor(other).bytes == lowering.tensor(input).bytes;
    });
}

// Emits the step for an operator whose first inputs are In, in place if it can be.
template <class Out, class... In, class Function>
void emit_elementwise(Lowering& lowering, const tosa::Operator& op, const Function& function) {
    using Kernel = Elementwise<Function, Out, In...>;
    typename Kernel::Operands values{.output = op.outputs[0]};
    std::array<std::span<const std::int32_t>, Kernel::operands> shapes;
    for (std::size_t i = 0; i < Kernel::operands; ++i) {
        values.inputs[i] = op.inputs[i];
        shapes[i] = lowering.tensor(op.inputs[i]).shape;
    }
    const tosa::Tensor& output = lowering.tensor(values.output);
    const auto walk = lowering::walk_over<Kernel::operands>(output.shape, shapes);
    const std::uint32_t parts =
        lowering.parts_for(walk.row_count == 1 ? walk.row_length : walk.row_count, output.elements);
    constexpr std::array has_type{std::is_same_v<In, Out>...};
    for (std::size_t i = 0; i < Kernel::operands; ++i) {
        if (has_type[i] && may_be_overwritten(lowering, values.inputs, values.inputs[i]) &&
            lowering.compute_in_place(values.output, values.inputs[i])) {
            break;
        }
    }
    lowering.emit(std::make_unique<Kernel>(function, values, walk, parts), values.inputs,
                  values.output);
}

}  // namespace virtaccel::backends::cpu::ops

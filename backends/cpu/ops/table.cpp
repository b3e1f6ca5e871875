// TABLE: one of 256 values for each INT8; for each INT16 one between two of 513.
#include <cstdint>
#include <memory>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/lower.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

std::int8_t looked_up(const std::int8_t* table, std::int8_t x) {
    return table[std::int32_t{x} + 128];
}

// The upper nine bits choose, the other seven interpolate and are seven more bits of the result.
std::int32_t looked_up(const std::int16_t* table, std::int16_t x) {
    const std::int32_t place = std::int32_t{x} + 32768;
    const std::int32_t here = table[place / 128];
    const std::int32_t next = table[(place / 128) + 1];
    return (here * 128) + ((next - here) * (place % 128));
}

template <class Out, class In>
class Lookup final : public Step {
  public:
    struct Operands {
        ValueId output = 0;
        ValueId input = 0;
        ValueId table = 0;
    };

    Lookup(const Operands& values, std::uint64_t elements, std::uint32_t parts)
        : values_(values), elements_(elements), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const auto* const input = frame.at<const In>(values_.input);
        const auto* const table = frame.at<const In>(values_.table);
        auto* const output = frame.at<Out>(values_.output);
        const Range range = range_of(elements_, parts_, part);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
            output[i] = looked_up(table, input[i]);
        }
        return true;
    }

  private:
    Operands values_;
    std::uint64_t elements_;
    std::uint32_t parts_;
};

template <class Out, class In>
void lower(Lowering& lowering, const tosa::Operator& op) {
    const ValueId output = op.outputs[0];
    const ValueId input = op.inputs[0];
    const ValueId table = op.inputs[1];
    // A table that is its own input is needed until the end.
    if (!lowering.is_shared(input, table)) {
        static_cast<void>(lowering.compute_in_place(output, input));
    }
    const std::uint64_t elements = lowering.tensor(output).elements;
    lowering.emit(
        std::make_unique<Lookup<Out, In>>(
            typename Lookup<Out, In>::Operands{.output = output, .input = input, .table = table},
            elements, lowering.parts_for(elements, elements)),
        {input, table}, output);
}

}  // namespace

void lower_table(Lowering& lowering, const tosa::Operator& op) {
    if (lowering.tensor(op.inputs[0]).dtype == tosa::DType::int8) {
        lower<std::int8_t, std::int8_t>(lowering, op);
    } else {
        lower<std::int32_t, std::int16_t>(lowering, op);
    }
}

}  // namespace virtaccel::backends::cpu::ops

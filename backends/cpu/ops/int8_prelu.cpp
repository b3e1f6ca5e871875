#include "backends/cpu/ops/int8_prelu.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/int8_fusion.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/ops/prelu.h"
#include "backends/cpu/step.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;
using tosa::Op;

// The upper half of a product is all that is looked at, and rounded.
constexpr std::int32_t shift_min = 33;
constexpr std::int32_t shift_max = 62;
// An INT8 less a zero point has nine bits, and so it can be shifted left this far.
constexpr std::int32_t left_max = 21;
constexpr std::int32_t half_of_bit_31 = std::int32_t{1} << 30U;

class Int8PreluStep final : public Step {
  public:
    Int8PreluStep(Int8PreluShape shape, ValueId input, ValueId output, std::uint64_t elements,
                  std::uint32_t parts)
        : shape_(std::move(shape)),
          input_(input),
          output_(output),
          elements_(elements),
          parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    [[nodiscard]] std::uint64_t resident_bytes() const override {
        return shape_.slopes.size() * sizeof(std::int32_t);
    }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(elements_, parts_, part);
        compute_int8_prelu(shape_, frame.at<const std::int8_t>(input_) + range.first,
                           frame.at<std::int8_t>(output_) + range.first,
                           static_cast<std::int64_t>(range.size()),
                           static_cast<std::int64_t>(range.first) % shape_.channels);
        return true;
    }

  private:
    Int8PreluShape shape_;
    ValueId input_;
    ValueId output_;
    std::uint64_t elements_;
    std::uint32_t parts_;
};

// A PRELU and all that it is made of.
struct Plan {
    Int8PreluShape shape;
    ValueId input = 0;
    ValueId slopes = 0;
    ValueId output = 0;
    std::vector<std::uint32_t> positions;  // of the other operators; the last one is SELECT
};

// The RESCALE `op` from `from` to `to` by one factor.
std::optional<KnownRescale> one_rescale(const Lowering& lowering, const tosa::Operator& op,
                                        DType from, DType to) {
    const auto rescale = known_rescale(lowering, op);
    const bool fits = rescale && rescale->multipliers.size() == 1 && rescale->multipliers[0] > 0 &&
                      lowering.tensor(op.inputs[0]).dtype == from &&
                      lowering.tensor(op.outputs[0]).dtype == to;
    return fits ? rescale : std::nullopt;
}

// Whether a RESCALE takes a zero point away and does nothing else.
bool is_only_zero_point(const KnownRescale& rescale) {
    return rescale.output_zero == 0 && rescale.shifts[0] <= 30 && rescale.shifts[0] >= 2 &&
           rescale.multipliers[0] == std::int32_t{1} << static_cast<std::uint32_t>(
                                         static_cast<std::uint8_t>(rescale.shifts[0]));
}

Int8PreluScale scale_of(const KnownRescale& rescale) {
    const std::int32_t shift = +rescale.shifts[0];
    return {.multiplier = rescale.multipliers[0],
            .shift = shift,
            .away = rescale.rounds_twice && shift > 31 ? half_of_bit_31 : 0};
}

// The branch of numbers that are not negative.
bool take_positive(const Lowering& lowering, const tosa::Operator& op, Plan& plan) {
    const auto rescale = one_rescale(lowering, op, DType::int8, DType::int8);
    if (!rescale || rescale->input_zero != plan.shape.input_zero || op.inputs[0] != plan.input) {
        return false;
    }
    plan.shape.positive = scale_of(*rescale);
    plan.shape.output_zero = rescale->output_zero;
    Int8PreluScale& scale = plan.shape.positive;
    const std::int32_t left = std::max(shift_min - scale.shift, 0);
    if (scale.shift > shift_max || left > left_max || (left > 0 && scale.away != 0)) {
        return false;
    }
    scale.shift += left;
    plan.shape.positive_factor = std::int32_t{1} << static_cast<std::uint32_t>(left);
    return true;
}

// The branch of negative numbers, which are `image` times slopes.
bool take_negative(const Lowering& lowering, const tosa::Operator& op, Plan& plan) {
    const auto rescale = one_rescale(lowering, op, DType::int32, DType::int8);
    if (!rescale || rescale->input_zero != 0 || rescale->output_zero != plan.shape.output_zero) {
        return false;
    }
    plan.shape.negative = scale_of(*rescale);
    return plan.shape.negative.shift >= shift_min && plan.shape.negative.shift <= shift_max;
}

bool shifts_nothing(const Lowering& lowering, const tosa::Operator& mul) {
    return lowering.is_known(mul.inputs[2]) && lowering.known<std::int8_t>(mul.inputs[2])[0] == 0;
}

// From the two readers of `image`, the difference of a number and its zero point, to SELECT.
bool take_readers(const Lowering& lowering, ValueId image, std::uint32_t test,
                  std::uint32_t product, Plan& plan) {
    const tosa::Operator& testing = lowering.operator_at(test);
    const tosa::Operator& multiplying = lowering.operator_at(product);
    const auto slopes = slopes_in(lowering, multiplying, image);
    if (!slopes || !shifts_nothing(lowering, multiplying) ||
        !is_sign_test(lowering, testing, image)) {
        return false;
    }
    const std::uint32_t selection = lowering.only_reader(testing.outputs[0]);
    const std::uint32_t negative = lowering.only_reader(multiplying.outputs[0]);
    if (selection == tosa::nowhere || negative == tosa::nowhere) {
        return false;
    }
    const tosa::Operator& selecting = lowering.operator_at(selection);
    const tosa::Operator& scaling = lowering.operator_at(negative);
    const tosa::Operator* const other =
        selecting.op == Op::select ? lowering.producer_of(selecting.inputs[1]) : nullptr;
    if (other == nullptr || selecting.inputs[0] != testing.outputs[0] ||
        selecting.inputs[2] != scaling.outputs[0] ||
        lowering.only_reader(scaling.outputs[0]) != selection ||
        lowering.only_reader(selecting.inputs[1]) != selection ||
        lowering.position_of(*other) <= lowering.position() ||
        !take_positive(lowering, *other, plan) || !take_negative(lowering, scaling, plan)) {
        return false;
    }
    plan.slopes = *slopes;
    plan.output = selecting.outputs[0];
    plan.positions = {test, product, negative, lowering.position_of(*other), selection};
    return std::ranges::equal(lowering.tensor(plan.output).shape,
                              lowering.tensor(plan.input).shape);
}

std::optional<Plan> plan_of(const Lowering& lowering, const tosa::Operator& op) {
    const auto rescale = one_rescale(lowering, op, DType::int8, DType::int32);
    if (!rescale || !is_only_zero_point(*rescale) || lowering.is_known(op.inputs[0])) {
        return std::nullopt;
    }
    const ValueId image = op.outputs[0];
    const std::vector<std::uint32_t> readers = lowering.near_readers(image);
    if (readers.size() != 2) {
        return std::nullopt;
    }
    Plan plan;
    plan.input = op.inputs[0];
    plan.shape.input_zero = rescale->input_zero;
    const bool is_found = take_readers(lowering, image, readers[0], readers[1], plan) ||
                          take_readers(lowering, image, readers[1], readers[0], plan);
    return is_found ? std::optional{plan} : std::nullopt;
}

void take_slopes(const Lowering& lowering, Plan& plan) {
    const auto known = lowering.known<std::int32_t>(plan.slopes);
    plan.shape.channels = static_cast<std::int64_t>(known.size());
    for (std::size_t i = 0; i < known.size() + prelu_lanes_max; ++i) {
        plan.shape.slopes.push_back(known[i % known.size()]);
    }
}

void emit(Lowering& lowering, Plan plan) {
    take_slopes(lowering, plan);
    static_cast<void>(lowering.compute_in_place(plan.output, plan.input));
    const std::uint64_t elements = lowering.tensor(plan.output).elements;
    lowering.emit(std::make_unique<Int8PreluStep>(std::move(plan.shape), plan.input, plan.output,
                                                  elements, lowering.parts_for(elements, elements)),
                  {plan.input}, plan.output);
}

}  // namespace

bool lower_int8_prelu(Lowering& lowering, const tosa::Operator& op) {
    const auto plan = plan_of(lowering, op);
    if (!plan) {
        return false;
    }
    const std::uint32_t last = std::ranges::max(plan->positions);
    for (const std::uint32_t position : plan->positions) {
        lowering.take(position);
    }
    lowering.keep_until(plan->input, last);
    lowering.keep_until(plan->slopes, last);
    lowering.defer(last, [made = *plan](Lowering& later) { emit(later, made); });
    return true;
}

}  // namespace virtaccel::backends::cpu::ops

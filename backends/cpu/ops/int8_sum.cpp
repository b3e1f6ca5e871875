#include "backends/cpu/ops/int8_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "backends/cpu/lowering.h"
#include "backends/cpu/ops/int8_fusion.h"
#include "backends/cpu/ops/parts.h"
#include "backends/cpu/step.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using tosa::DType;

// Products are by factors that shift at least this far, as far as TOSA has shifts.
constexpr std::int8_t shift_min = 32;
constexpr std::int8_t shift_max = 62;
// An INT8 minus a zero point has ten bits.
constexpr std::int32_t left_max = 21;
// Where a multiplier is cut, so that its products by such a number have 32 bits; and how far they
// are shifted left at least, so that what rounds them has as many.
constexpr std::int32_t cut_min = 9;
constexpr std::int32_t cut_max = 21;
constexpr std::int32_t scaled_left_min = 8;

// What an element costs, in products of floats.
constexpr std::uint64_t operations_of_an_element = 6;

class Int8SumStep final : public Step {
  public:
    Int8SumStep(const Int8SumShape& shape, std::array<ValueId, 2> inputs, ValueId output,
                std::uint64_t elements, std::uint32_t parts)
        : shape_(shape), inputs_(inputs), output_(output), elements_(elements), parts_(parts) {}

    [[nodiscard]] std::uint32_t parts() const override { return parts_; }

    bool run(const Frame& frame, std::uint32_t part) noexcept override {
        const Range range = range_of(elements_, parts_, part);
        compute_int8_sum(shape_, frame.at<const std::int8_t>(inputs_[0]) + range.first,
                         frame.at<const std::int8_t>(inputs_[1]) + range.first,
                         frame.at<std::int8_t>(output_) + range.first,
                         static_cast<std::int64_t>(range.size()));
        return true;
    }

  private:
    Int8SumShape shape_;
    std::array<ValueId, 2> inputs_;
    ValueId output_;
    std::uint64_t elements_;
    std::uint32_t parts_;
};

// A sum and what is fused with it.
struct Plan {
    Int8SumShape shape;
    std::array<ValueId, 2> inputs{};
    std::array<const tosa::Operator*, 4> before{};  // all that stand before it
    ValueId output = 0;
    std::uint32_t rescale = tosa::nowhere;  // the position of the one behind
};

// By how much the RESCALE `op` shifts INT8 left, if that is all it does.
std::optional<Int8Term> shifted_term(const Lowering& lowering, const tosa::Operator& op) {
    const auto rescale = known_rescale(lowering, op);
    if (!rescale || rescale->multipliers.size() != 1 || lowering.is_known(op.inputs[0]) ||
        lowering.tensor(op.inputs[0]).dtype != DType::int8 || rescale->output_zero != 0 ||
        rescale->multipliers[0] <= 0) {
        return std::nullopt;
    }
    const auto multiplier = static_cast<std::uint32_t>(rescale->multipliers[0]);
    const std::int32_t left = std::countr_zero(multiplier) - rescale->shifts[0];
    if (!is_power_of_two(multiplier) || left < 0 || left > left_max) {
        return std::nullopt;
    }
    return Int8Term{.zero = rescale->input_zero, .left = left};
}

// A term, and the operators that it is made of: one that reads the image, and perhaps another.
struct FoundTerm {
    Int8Term term;
    const tosa::Operator* first = nullptr;
    const tosa::Operator* last = nullptr;
};

// What one RESCALE or two make of one of the images, if nobody reads it but `op`.
std::optional<FoundTerm> term_of(const Lowering& lowering, const tosa::Operator& op,
                                 tosa::TensorIndex value, bool rounds_twice) {
    const auto reads_alone = [&](tosa::TensorIndex tensor, const tosa::Operator& reader) {
        return lowering.only_reader(tensor) == lowering.position_of(reader);
    };
    const tosa::Operator* const last = lowering.producer_of(value);
    if (last == nullptr || !reads_alone(value, op)) {
        return std::nullopt;
    }
    if (const auto term = shifted_term(lowering, *last)) {
        return FoundTerm{.term = *term, .first = last, .last = last};
    }
    const auto rescale = known_rescale(lowering, *last);
    const tosa::Operator* const first = lowering.producer_of(last->inputs[0]);
    if (!rescale || rescale->multipliers.size() != 1 || rescale->input_zero != 0 ||
        rescale->output_zero != 0 || rescale->rounds_twice != rounds_twice ||
        !rescale->is_within(shift_min, shift_max) || first == nullptr ||
        !reads_alone(last->inputs[0], *last)) {
        return std::nullopt;
    }
    auto term = shifted_term(lowering, *first);
    if (!term || term->left < scaled_left_min || rescale->multipliers[0] <= 0 ||
        rescale->shifts[0] - term->left < cut_min || rescale->shifts[0] - term->left > cut_max) {
        return std::nullopt;
    }
    term->is_scaled = true;
    term->multiplier = rescale->multipliers[0];
    term->shift = +rescale->shifts[0];
    return FoundTerm{.term = *term, .first = first, .last = last};
}

// Takes the RESCALE behind the sum.
bool absorb_rescale(const Lowering& lowering, Plan& plan) {
    const tosa::Operator& op = lowering.operator_at(plan.rescale);
    const auto rescale = known_rescale(lowering, op);
    if (!rescale || rescale->multipliers.size() != 1 || rescale->input_zero != 0 ||
        rescale->multipliers[0] < 0 || lowering.tensor(op.outputs[0]).dtype != DType::int8 ||
        !rescale->is_within(shift_min, shift_max)) {
        return false;
    }
    plan.shape.multiplier = rescale->multipliers[0];
    plan.shape.shift = +rescale->shifts[0];
    plan.shape.rounds_twice = rescale->rounds_twice;
    plan.shape.output_zero = rescale->output_zero;
    plan.output = op.outputs[0];
    return true;
}

// The same answer whoever asks first: the sum, or what stands before it.
std::optional<Plan> plan_of(const Lowering& lowering, const tosa::Operator& op) {
    if (op.op != tosa::Op::add || lowering.tensor(op.outputs[0]).dtype != DType::int32) {
        return std::nullopt;
    }
    Plan plan;
    plan.rescale = lowering.only_reader(op.outputs[0]);
    if (plan.rescale == tosa::nowhere || !absorb_rescale(lowering, plan)) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < 2; ++i) {
        if (!std::ranges::equal(lowering.tensor(op.inputs[i]).shape,
                                lowering.tensor(op.outputs[0]).shape)) {
            return std::nullopt;
        }
        const auto found = term_of(lowering, op, op.inputs[i], plan.shape.rounds_twice);
        if (!found) {
            return std::nullopt;
        }
        plan.shape.terms[i] = found->term;
        plan.inputs[i] = found->first->inputs[0];
        plan.before[2 * i] = found->first;
        plan.before[(2 * i) + 1] = found->last;
    }
    return plan;
}

void emit(Lowering& lowering, const Plan& plan) {
    for (const ValueId input : plan.inputs) {
        // Elements are read before they are written, and both images lie apart or are one.
        if (lowering.compute_in_place(plan.output, input)) {
            break;
        }
    }
    const std::uint64_t elements = lowering.tensor(plan.output).elements;
    const std::uint32_t parts = lowering.parts_for(elements, elements * operations_of_an_element);
    lowering.emit(
        std::make_unique<Int8SumStep>(plan.shape, plan.inputs, plan.output, elements, parts),
        plan.inputs, plan.output);
}

}  // namespace

bool is_left_to_int8_sum(Lowering& lowering, const tosa::Operator& op) {
    std::uint32_t reader = lowering.only_reader(op.outputs[0]);
    if (reader != tosa::nowhere && lowering.operator_at(reader).op == tosa::Op::rescale) {
        reader = lowering.only_reader(lowering.operator_at(reader).outputs[0]);
    }
    if (reader == tosa::nowhere) {
        return false;
    }
    const auto plan = plan_of(lowering, lowering.operator_at(reader));
    if (!plan || std::ranges::find(plan->before, &op) == plan->before.end()) {
        return false;
    }
    lowering.keep_until(op.inputs[0], reader);
    return true;
}

bool lower_int8_sum(Lowering& lowering, const tosa::Operator& op) {
    auto plan = plan_of(lowering, op);
    if (!plan) {
        return false;
    }
    lowering.take(plan->rescale);
    std::uint32_t last = plan->rescale;
    const std::uint32_t clamp = int8_clamp_after(lowering, plan->output);
    if (clamp != tosa::nowhere) {
        const tosa::Operator& bounding = lowering.operator_at(clamp);
        const Int8Bounds bounds = int8_bounds_of(bounding);
        plan->shape.low = bounds.low;
        plan->shape.high = bounds.high;
        plan->output = bounding.outputs[0];
        lowering.take(clamp);
        last = clamp;
    }
    for (const ValueId input : plan->inputs) {
        lowering.keep_until(input, last);
    }
    lowering.defer(last, [made = *plan](Lowering& later) { emit(later, made); });
    return true;
}

}  // namespace virtaccel::backends::cpu::ops

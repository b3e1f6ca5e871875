#include "virtaccel/lowering/capabilities.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::lowering {
namespace {

using tosa::Op;
using tosa::Text;

// The end of a sentence that begins with an operator; empty if nothing is against it.
using Clause = Text;

Clause clause(std::string_view words) {
    Clause text;
    text.append(words);
    return text;
}

// Which inputs are zero points, as bits.
struct ZeroPoints {
    Op op;
    std::uint32_t inputs;
};

constexpr std::uint32_t inputs_1_2 = 0b00110;
constexpr std::uint32_t inputs_2_3 = 0b01100;
constexpr std::uint32_t inputs_3_4 = 0b11000;

constexpr ZeroPoints zero_points[] = {
    {Op::avg_pool2d, inputs_1_2}, {Op::conv2d, inputs_3_4},
    {Op::conv3d, inputs_3_4},     {Op::depthwise_conv2d, inputs_3_4},
    {Op::matmul, inputs_2_3},     {Op::negate, inputs_1_2},
    {Op::rescale, inputs_3_4},    {Op::transpose_conv2d, inputs_3_4},
};
constexpr std::uint32_t shift_of_mul = 0b00100;

bool is_bit(std::uint32_t bits, std::size_t i) {
    return i < 32 && ((bits >> i) & 1U) != 0;
}

bool is_zero(const tosa::Tensor& tensor) {
    return tensor.is_constant &&
           std::ranges::all_of(tensor.data, [](std::byte byte) { return byte == std::byte{0}; });
}

bool has_padding(const tosa::Attribute& attribute) {
    return std::visit(
        [](const auto& kind) {
            if constexpr (requires { kind.pad; }) {
                return std::ranges::any_of(kind.pad, [](std::int32_t side) { return side != 0; });
            } else if constexpr (requires { kind.out_pad; }) {
                return std::ranges::any_of(kind.out_pad,
                                           [](std::int32_t side) { return side != 0; });
            } else {
                return false;
            }
        },
        attribute);
}

bool is_floating(tosa::DType dtype) {
    return dtype >= tosa::DType::fp32 && dtype != tosa::DType::shape;
}

// Whether all of the inputs that `bits` name are known and zero.
bool are_zero(const OperatorInGraph& candidate, std::uint32_t bits) {
    for (std::size_t i = 0; i < candidate.op.inputs.size(); ++i) {
        if (is_bit(bits, i) && !is_zero(candidate.input(i))) {
            return false;
        }
    }
    return true;
}

bool are_constant(const OperatorInGraph& candidate, std::uint32_t bits) {
    for (std::size_t i = 0; i < candidate.op.inputs.size(); ++i) {
        if (is_bit(bits, i) && !candidate.input(i).is_constant) {
            return false;
        }
    }
    return true;
}

// What of a constraint an operator breaks.
std::string_view broken_constraint(const OperatorCapability& capability,
                                   const OperatorInGraph& candidate, const tosa::OperatorRow& row) {
    using enum OperatorConstraint;
    const OperatorConstraints constraints = capability.constraints;
    if (constraints.has(propagating_nan) && row.has_nan_mode &&
        is_floating(candidate.input(0).dtype) &&
        nan_mode_of(candidate.op.attribute) != tosa::NanMode::propagate) {
        return "must propagate NaNs";
    }
    if (constraints.has(zero_padding) && has_padding(candidate.op.attribute)) {
        return "must have no padding";
    }
    const auto* const points = std::ranges::find(zero_points, candidate.op.op, &ZeroPoints::op);
    if (constraints.has(zero_zero_points) && points != std::end(zero_points) &&
        !are_zero(candidate, points->inputs)) {
        return "must have zero points that are constant and zero";
    }
    if (constraints.has(zero_shift) && candidate.op.op == Op::mul &&
        !are_zero(candidate, shift_of_mul)) {
        return "must have a shift that is constant and zero";
    }
    if (constraints.has(constant_parameters) && !are_constant(candidate, row.constant_inputs)) {
        return "must have parameters that are constant";
    }
    return {};
}

// One descriptor against one graph.
class Judge {
  public:
    Judge(const CapabilityDescriptor& descriptor, const tosa::Graph& graph,
          const tosa::TargetAnalysis& analysis)
        : descriptor_(descriptor),
          graph_(graph),
          analysis_(analysis),
          refused_(graph.operators().size()) {
        for (const tosa::RuntimeCondition& condition : analysis.conditions) {
            if (!lives_with(condition.demand)) {
                refused_[condition.op] = &condition;
            }
        }
    }

    std::vector<CapabilityReason> run() {
        judge_graph();
        for (const tosa::OperatorIndex index : analysis_.graph.order) {
            judge_operator(index);
        }
        // What is left is about the level, and about what is in no operator.
        if (reasons_.empty()) {
            if (const auto valid = validate_for(graph_, descriptor_.target); !valid) {
                reasons_.push_back({.op = tosa::nowhere, .sentence = valid.error().sentence});
            }
        }
        return std::move(reasons_);
    }

  private:
    void judge_graph() {
        const std::size_t blocks = graph_.blocks().size();
        Text text;
        if (blocks > descriptor_.limits.blocks_max || regions() > descriptor_.limits.regions_max) {
            text.append("The model has (").append(blocks).append(") blocks in (");
            text.append(regions()).append(") regions; at most ");
            text.append(descriptor_.limits.blocks_max).append(" in ");
            text.append(descriptor_.limits.regions_max)
                .append(" are taken: choose another backend.");
            reasons_.push_back({.op = tosa::nowhere, .sentence = text});
        }
    }

    // Blocks of one region stand together.
    [[nodiscard]] std::size_t regions() const {
        std::size_t count = 0;
        std::string_view last;
        for (const tosa::Block& block : graph_.blocks()) {
            count += count == 0 || block.region != last ? 1 : 0;
            last = block.region;
        }
        return count;
    }

    void judge_operator(tosa::OperatorIndex index) {
        const tosa::Operator& op = graph_.operators()[index];
        const Clause against =
            against_operator({.graph = graph_, .analysis = analysis_.graph, .op = op}, index);
        if (against.view().empty()) {
            return;
        }
        Text text;
        text.append("The operator ").append(op.index).append(" (").append(tosa::name_of(op.op));
        text.append(") ").append(against.view()).append(": choose another backend.");
        reasons_.push_back({.op = index, .sentence = text});
    }

    [[nodiscard]] Clause against_operator(const OperatorInGraph& candidate,
                                          tosa::OperatorIndex index) const {
        const auto capability =
            std::ranges::find(descriptor_.operators, candidate.op.op, &OperatorCapability::op);
        const tosa::OperatorRow* const row = row_of(candidate.op.op);
        if (capability == descriptor_.operators.end() || row == nullptr) {
            return clause("is not among the backend's operators");
        }
        if (const Clause against = against_target(candidate, *row); !against.view().empty()) {
            return against;
        }
        if (const Clause against = against_types(candidate, *capability); !against.view().empty()) {
            return against;
        }
        if (const Clause against = against_tensors(candidate, *row); !against.view().empty()) {
            return against;
        }
        if (const std::string_view words = broken_constraint(*capability, candidate, *row);
            !words.empty()) {
            return clause(words);
        }
        if (const Clause against = against_conditions(index); !against.view().empty()) {
            return against;
        }
        return capability->objection == nullptr ? Clause{}
                                                : clause(capability->objection(candidate));
    }

    [[nodiscard]] Clause against_target(const OperatorInGraph& candidate,
                                        const tosa::OperatorRow& row) const {
        const tosa::Signature* const signature = match(row, candidate.op, graph_.tensors());
        if (signature == nullptr) {
            return clause("has element types that TOSA does not allow it");
        }
        if (row.kind != tosa::OperatorClass::state && touches_state(candidate.op)) {
            return clause("uses a variable as if it were none");
        }
        const tosa::Extensions needs =
            signature->needs.extensions | extra_needs(row, candidate.op, graph_.tensors());
        const tosa::Extensions missing = needs - descriptor_.target.extensions;
        Clause text;
        if (!missing.empty()) {
            const auto first = static_cast<tosa::ExtensionBit>(missing.bits & (~missing.bits + 1));
            text.append("needs the extension ").append(tosa::name_of(first));
            text.append(", which the backend does not offer");
        } else if (!descriptor_.target.profiles.has_any(signature->needs.profiles)) {
            text.append("needs the profile ");
            text.append(signature->needs.profiles.has(tosa::ProfileBit::integer) ? "PRO-INT"
                                                                                 : "PRO-FP");
            text.append(", which the backend does not offer");
        }
        return text;
    }

    // A file may call any tensor a variable, whoever reads and writes it.
    [[nodiscard]] bool touches_state(const tosa::Operator& op) const {
        const auto is_variable = [this](tosa::TensorIndex tensor) {
            return graph_.tensors()[tensor].is_variable;
        };
        return std::ranges::any_of(op.inputs, is_variable) ||
               std::ranges::any_of(op.outputs, is_variable);
    }

    [[nodiscard]] static Clause against_types(const OperatorInGraph& candidate,
                                              const OperatorCapability& capability) {
        Clause text;
        if (capability.types.empty() || candidate.op.outputs.empty()) {
            return text;
        }
        const tosa::DType output = candidate.output().dtype;
        const tosa::DType input = candidate.op.inputs.empty() ? output : candidate.input(0).dtype;
        if (std::ranges::none_of(capability.types, [&](const OperandTypes& types) {
                return types.input == input && types.output == output;
            })) {
            text.append("is not taken for input (").append(tosa::name_of(input));
            text.append(") and output (").append(tosa::name_of(output)).append(")");
        }
        return text;
    }

    [[nodiscard]] Clause against_tensors(const OperatorInGraph& candidate,
                                         const tosa::OperatorRow& row) const {
        for (std::size_t i = 0; i < candidate.op.inputs.size(); ++i) {
            const Clause against =
                against_tensor(candidate.op.inputs[i], is_bit(row.constant_inputs, i));
            if (!against.view().empty()) {
                return against;
            }
        }
        for (const tosa::TensorIndex output : candidate.op.outputs) {
            // Whether a constant stands at its place is for its reader to say.
            const Clause against = against_tensor(output, true);
            if (!against.view().empty()) {
                return against;
            }
        }
        return {};
    }

    [[nodiscard]] Clause against_tensor(tosa::TensorIndex index, bool is_parameter) const {
        const tosa::Tensor& tensor = graph_.tensors()[index];
        Clause text;
        if (tensor.dtype == tosa::DType::shape) {
            return text;
        }
        const GraphLimits& limits = descriptor_.limits;
        const bool is_large = std::ranges::any_of(
            tensor.shape, [&](std::int32_t dim) { return dim > limits.dimension_max; });
        if (tensor.rank() > limits.rank_max || is_large || tensor.bytes > limits.tensor_bytes_max) {
            text.append("has an operand (").append_foreign(tensor.name);
            return text.append(") that is larger than the backend takes");
        }
        const auto row =
            std::ranges::find(descriptor_.dtypes, tensor.dtype, &DTypeCapability::dtype);
        const DTypeRoles roles = roles_of(index);
        if (row == descriptor_.dtypes.end() || !row->roles.has_all(roles) ||
            (row->is_parameter_only && roles.has(DTypeRole::constant) && !is_parameter)) {
            text.append("has an operand (").append_foreign(tensor.name).append(") of type (");
            text.append(tosa::name_of(tensor.dtype)).append("), which the backend does not take");
            text.append(row == descriptor_.dtypes.end() ? "" : " there");
        }
        return text;
    }

    // All the places at which a tensor stands. Slots are few.
    [[nodiscard]] DTypeRoles roles_of(tosa::TensorIndex index) const {
        DTypeRoles roles;
        const bool is_bound = analysis_.graph.tensors[index].slot != tosa::nowhere;
        for (std::size_t i = 0; is_bound && i < analysis_.graph.slots.size(); ++i) {
            if (analysis_.graph.slots[i].tensor == index) {
                roles = roles |
                        (i < analysis_.graph.input_count ? DTypeRole::input : DTypeRole::output);
            }
        }
        if (graph_.tensors()[index].is_constant) {
            return roles | DTypeRole::constant;
        }
        return roles.empty() ? DTypeRoles{DTypeRole::intermediate} : roles;
    }

    [[nodiscard]] bool lives_with(tosa::Demand demand) const {
        using Support = RuntimeConditionSupport;
        const Support support = descriptor_.limits.runtime_conditions;
        return support == Support::all || is_arithmetic(demand) ||
               (support == Support::advisory_only && !is_error_if(demand));
    }

    [[nodiscard]] Clause against_conditions(tosa::OperatorIndex index) const {
        Clause text;
        if (const tosa::RuntimeCondition* const refused = refused_[index]; refused != nullptr) {
            text.append("has an operand ").append(refused->operand).append(" that ");
            text.append(tosa::describe(refused->demand));
            text.append(", which the backend cannot leave to a run");
        }
        return text;
    }

    const CapabilityDescriptor& descriptor_;
    const tosa::Graph& graph_;
    const tosa::TargetAnalysis& analysis_;
    std::vector<const tosa::RuntimeCondition*> refused_;  // for each operator; null for none
    std::vector<CapabilityReason> reasons_;
};

}  // namespace

std::vector<CapabilityDescriptor> no_capabilities() {
    return {};
}

std::vector<CapabilityReason> reasons_against(const CapabilityDescriptor& descriptor,
                                              const tosa::Graph& graph,
                                              const tosa::TargetAnalysis& analysis) {
    return Judge{descriptor, graph, analysis}.run();
}

}  // namespace virtaccel::lowering

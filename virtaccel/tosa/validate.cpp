#include "virtaccel/tosa/validate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/place.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// Appends " (FP32, INT8 -> FP32)".
void list_types(Text& text, const Operator& op, std::span<const Tensor> tensors) {
    text.append(" (");
    std::string_view separator;
    for (const TensorIndex input : op.inputs) {
        text.append(separator).append(name_of(tensors[input].dtype));
        separator = ", ";
    }
    separator = " -> ";
    for (const TensorIndex output : op.outputs) {
        text.append(separator).append(name_of(tensors[output].dtype));
        separator = ", ";
    }
    text.append(")");
}

// One pass over blocks, tensors and operators; the first thing that does not fit ends it. Nothing
// grows, so that a graph can be checked where there is no memory.
class Validator {
  public:
    Validator(const Graph& graph, const Target& target)
        : graph_(graph),
          tensors_(graph.tensors()),
          target_(target),
          level_(limits_of(target.level)) {}

    Checked<void> run() {
        VIRTACCEL_TRY(check_version());
        VIRTACCEL_TRY(check_blocks());
        for (const Tensor& tensor : tensors_) {
            VIRTACCEL_TRY(check_tensor(tensor));
        }
        for (const Operator& op : graph_.operators()) {
            VIRTACCEL_TRY(check_operator(op));
        }
        return {};
    }

  private:
    // Every 1.0.x is the same language (spec §10).
    Checked<void> check_version() {
        const Version version = graph_.version();
        if (version.major == static_cast<std::int64_t>(target_.major) &&
            version.minor == static_cast<std::int64_t>(target_.minor) && target_.major == 1 &&
            target_.minor == 0) {
            return {};
        }
        return refuse(Status::incompatible, "The model has version (", version.major, ".",
                      version.minor, ") and the target version (", target_.major, ".",
                      target_.minor, "); both must be 1.0: write the model again for TOSA 1.0.");
    }

    Checked<void> check_blocks() {
        for (const Block& block : graph_.blocks()) {
            if (block.nesting > level_.nesting) {
                return refuse(Status::incompatible, "Block (", Foreign{block.name}, ") is nested (",
                              block.nesting, ") deep; at most ", level_.nesting,
                              " is allowed at the target's level.");
            }
        }
        if (graph_.blocks().size() == 1 || target_.extensions.has(ExtensionBit::controlflow)) {
            return {};
        }
        return refuse(Status::incompatible, "The model has (", graph_.blocks().size(),
                      ") blocks; more than one needs the extension CONTROLFLOW, which the target "
                      "does not offer.");
    }

    Checked<void> check_tensor(const Tensor& tensor) {
        if (!bits_of(tensor.dtype)) {
            return refuse(Status::incompatible, "Tensor (", Foreign{tensor.name}, ") has a type (",
                          static_cast<std::uint32_t>(tensor.dtype),
                          ") that TOSA 1.0 does not have.");
        }
        const bool is_shape = tensor.dtype == DType::shape;
        if (is_shape ? tensor.elements > level_.shape_length
                     : static_cast<std::int64_t>(tensor.rank()) > level_.rank) {
            return refuse(Status::incompatible, "Tensor (", Foreign{tensor.name}, ") has (",
                          is_shape ? tensor.elements : tensor.rank(),
                          ") dimensions, which is more than the target's level allows.");
        }
        if ((tensor.bytes >> level_.log2_bytes) > 0) {
            return refuse(Status::incompatible, "Tensor (", Foreign{tensor.name}, ") has (",
                          tensor.bytes, ") bytes, which is more than the target's level allows.");
        }
        return {};
    }

    // In this order, because a shape rule trusts the types and modes it reads.
    Checked<void> check_operator(const Operator& op) {
        const OperatorRow* row = row_of(op.op);
        if (row == nullptr) {
            return refuse_operator(Status::incompatible, op, "has a number (",
                                   static_cast<std::uint32_t>(op.op),
                                   ") that TOSA 1.0 does not have.");
        }
        VIRTACCEL_TRY(check_types(*row, op));
        VIRTACCEL_TRY(check_constants(*row, op));
        VIRTACCEL_TRY(check_modes(*row, op));
        const Call call = {
            .op = op, .tensors = tensors_, .blocks = graph_.blocks(), .level = level_};
        const auto shape = row->shape(call);
        if (!shape) {
            return refuse_clause(shape.error().status, op, shape.error().sentence.view());
        }
        return *shape ? check_outputs(call, **shape) : Checked<void>{};
    }

    // The rule's clause behind the operator and what it makes.
    std::unexpected<Refusal> refuse_clause(Status status, const Operator& op,
                                           std::string_view clause) {
        if (op.outputs.empty()) {
            return refuse_operator(status, op, "is refused: ", clause, ".");
        }
        return refuse_operator(status, op, "that makes (",
                               Foreign{tensors_[op.outputs.front()].name}, ") is refused: ", clause,
                               ".");
    }

    // INVALID_ARGUMENT if TOSA has no such combination, INCOMPATIBLE if this target does not offer
    // it.
    Checked<void> check_types(const OperatorRow& row, const Operator& op) {
        const Signature* signature = match(row, op, tensors_);
        if (signature == nullptr) {
            auto refusal = refuse_operator(Status::invalid_argument, op,
                                           "has types that TOSA 1.0 "
                                           "does not allow it:");
            list_types(refusal.error().sentence, op, tensors_);
            if (const DType accumulator = accumulator_of(op.attribute);
                accumulator != DType::unknown) {
                refusal.error()
                    .sentence.append(", accumulator (")
                    .append(name_of(accumulator))
                    .append(")");
            }
            refusal.error().sentence.append(".");
            return refusal;
        }
        VIRTACCEL_TRY(
            check_extensions(op, signature->needs.extensions | extra_needs(row, op, tensors_)));
        if (!target_.profiles.has_any(signature->needs.profiles)) {
            return refuse_operator(
                Status::incompatible, op, "needs the profile ",
                signature->needs.profiles.has(ProfileBit::integer) ? "PRO-INT" : "PRO-FP",
                ", which the target does not offer.");
        }
        return {};
    }

    Checked<void> check_extensions(const Operator& op, Extensions needs) {
        const Extensions missing = needs - target_.extensions;
        if (missing.empty() || missing == Extensions{ExtensionBit::dynamic}) {
            return {};  // check_constants() says which input
        }
        const auto first = static_cast<ExtensionBit>(missing.bits & (~missing.bits + 1));
        return refuse_operator(Status::incompatible, op, "needs the extension ", name_of(first),
                               ", which the target does not offer.");
    }

    // Zero points, paddings and the like shape the code a backend makes, so they are known at load.
    Checked<void> check_constants(const OperatorRow& row, const Operator& op) {
        if (target_.extensions.has(ExtensionBit::dynamic) ||
            !extra_needs(row, op, tensors_).has(ExtensionBit::dynamic)) {
            return {};
        }
        std::size_t input = 0;
        while (((row.constant_inputs >> input) & 1U) == 0 ||
               tensors_[op.inputs[input]].is_constant) {
            ++input;
        }
        return refuse_operator(Status::incompatible, op, "has an input (",
                               Foreign{tensors_[op.inputs[input]].name},
                               ") that is not constant; it must be, as the target does not offer "
                               "the extension DYNAMIC.");
    }

    // Modes that TOSA gives a meaning. Integers have no NaN, so their mode is not looked at.
    Checked<void> check_modes(const OperatorRow& row, const Operator& op) {
        if (row.has_nan_mode && is_floating(tensors_[op.inputs.front()].dtype)) {
            VIRTACCEL_TRY(check_mode(op, "nan_mode",
                                     static_cast<std::uint32_t>(nan_mode_of(op.attribute)), 2));
        }
        if (const auto* resize = std::get_if<ResizeAttribute>(&op.attribute)) {
            return check_mode(op, "mode", static_cast<std::uint32_t>(resize->mode), 2);
        }
        if (const auto* rescale = std::get_if<RescaleAttribute>(&op.attribute)) {
            return check_mode(op, "rounding_mode", static_cast<std::uint32_t>(rescale->rounding),
                              3);
        }
        return {};
    }

    static bool is_floating(DType dtype) { return dtype >= DType::fp32 && dtype != DType::shape; }

    static Checked<void> check_mode(const Operator& op, std::string_view what, std::uint32_t mode,
                                    std::uint32_t last) {
        if (mode != 0 && mode <= last) {
            return {};
        }
        return refuse_operator(Status::invalid_argument, op, "has an unknown ", what, " (", mode,
                               "); it must be 1 to ", last, ".");
    }

    // The file says every shape, and what it says must be what follows.
    Checked<void> check_outputs(const Call& call, const Shape& shape) {
        for (const TensorIndex output : call.op.outputs) {
            const Tensor& tensor = tensors_[output];
            if (!std::ranges::equal(tensor.shape, shape.span())) {
                auto refusal = refuse_operator(Status::invalid_argument, call.op, "declares (",
                                               Foreign{tensor.name}, ") with shape ");
                list_shape(refusal.error().sentence, tensor.shape);
                refusal.error().sentence.append("; its inputs and attribute give ");
                list_shape(refusal.error().sentence, shape.span());
                refusal.error().sentence.append(".");
                return refusal;
            }
        }
        return {};
    }

    static void list_shape(Text& text, std::span<const std::int32_t> shape) {
        text.append("(");
        std::string_view separator;
        for (const std::int32_t dim : shape) {
            text.append(separator).append(dim);
            separator = ", ";
        }
        text.append(")");
    }

    const Graph& graph_;
    std::span<const Tensor> tensors_;
    const Target& target_;
    const LevelLimits& level_;
};

// A version word; one that the file does not have becomes one that no model has.
std::uint32_t version_word(std::int32_t number) {
    constexpr std::uint32_t last = 65535;
    return number < 0 ? last : std::min(static_cast<std::uint32_t>(number), last);
}

}  // namespace

Checked<void> validate_for(const Graph& graph, const Target& target) noexcept {
    return Validator{graph, target}.run();
}

Target target_of(const Graph& graph) noexcept {
    Target target = {.major = version_word(graph.version().major),
                     .minor = version_word(graph.version().minor),
                     .patch = version_word(graph.version().patch),
                     .profiles = {},
                     .level = Level::eight_k,
                     .extensions = {}};
    for (const Operator& op : graph.operators()) {
        const OperatorRow* row = row_of(op.op);
        const Signature* signature = row == nullptr ? nullptr : match(*row, op, graph.tensors());
        if (signature == nullptr) {
            continue;
        }
        if (signature->needs.profiles != profiles_known) {
            target.profiles = target.profiles | signature->needs.profiles;
        }
        target.extensions = target.extensions | signature->needs.extensions |
                            extra_needs(*row, op, graph.tensors());
    }
    if (graph.blocks().size() > 1) {
        // Also where the operator that runs them has the wrong types, which is then the reason.
        target.extensions = target.extensions | ExtensionBit::controlflow;
    }
    if (target.profiles.empty()) {
        target.profiles = profiles_known;
    }
    return target;
}

}  // namespace virtaccel::tosa

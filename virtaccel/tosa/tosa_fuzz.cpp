// Any model, byte by byte or made up of operators: verified, within all limits and within narrow
// ones, validated and analysed, as a backend would before lowering it. A graph that breaks its
// promises ends the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/choices.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/dynamic_operands.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/chosen_model.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace {

namespace tosa = virtaccel::tosa;

using virtaccel::Status;
using virtaccel::testing::Choices;

constexpr tosa::Limits narrow{.bytes_max = 4096,
                              .depth_max = 6,
                              .tables_max = 64,
                              .blocks_max = 2,
                              .operators_max = 8,
                              .tensors_max = 16,
                              .name_bytes_max = 16,
                              .operands_max = 4,
                              .operands_total_max = 32,
                              .slots_max = 6,
                              .tensor_bytes_max = 1U << 12U};

// Reads every byte of `tensor`'s value and name.
bool is_readable(const tosa::Tensor& tensor) {
    const auto zeros = std::ranges::count(tensor.data, std::byte{0});
    const auto blanks = std::ranges::count(tensor.name, ' ');
    return zeros <= static_cast<std::ptrdiff_t>(tensor.data.size()) &&
           blanks <= static_cast<std::ptrdiff_t>(tensor.name.size());
}

void check_tensor(const tosa::Tensor& tensor, const tosa::Limits& limits) {
    VIRTACCEL_CHECK(is_readable(tensor) && tensor.rank() <= tosa::rank_max);
    VIRTACCEL_CHECK(tensor.data.empty() || tensor.data.size() == tensor.bytes);
    VIRTACCEL_CHECK(!tensor.is_constant || tensor.data.size() == tensor.bytes);
    VIRTACCEL_CHECK(!tensor.name.empty() && tensor.name.size() <= limits.name_bytes_max);
    VIRTACCEL_CHECK(tensor.bytes <= limits.tensor_bytes_max);
}

void check_block(const tosa::Graph& graph, const tosa::Block& block, const tosa::Limits& limits) {
    const auto is_ours = [&](tosa::TensorIndex index) {
        return index >= block.tensors.first && index < block.tensors.end();
    };
    VIRTACCEL_CHECK(block.tensors.end() <= graph.tensors().size());
    VIRTACCEL_CHECK(block.operators.end() <= graph.operators().size());
    VIRTACCEL_CHECK(block.inputs.size() + block.outputs.size() <= limits.slots_max);
    VIRTACCEL_CHECK(std::ranges::all_of(block.inputs, is_ours) &&
                    std::ranges::all_of(block.outputs, is_ours));
    std::vector<bool> is_made(graph.tensors().size());
    for (const tosa::Operator& op : graph.operators(block)) {
        VIRTACCEL_CHECK(op.inputs.size() <= limits.operands_max &&
                        op.outputs.size() <= limits.operands_max);
        VIRTACCEL_CHECK(std::ranges::all_of(op.inputs, is_ours) &&
                        std::ranges::all_of(op.outputs, is_ours));
        for (const tosa::TensorIndex output : op.outputs) {
            VIRTACCEL_CHECK(!is_made[output] || graph.tensors()[output].is_variable);
            is_made[output] = true;
        }
    }
}

void check_graph(const tosa::Graph& graph, const tosa::Limits& limits) {
    VIRTACCEL_CHECK(!graph.blocks().empty() && graph.blocks().size() <= limits.blocks_max);
    VIRTACCEL_CHECK(graph.operators().size() <= limits.operators_max);
    VIRTACCEL_CHECK(graph.tensors().size() <= limits.tensors_max);
    for (const tosa::Tensor& tensor : graph.tensors()) {
        check_tensor(tensor, limits);
    }
    for (const tosa::Block& block : graph.blocks()) {
        check_block(graph, block, limits);
    }
}

void check_refusal(const tosa::Refusal& refusal) {
    VIRTACCEL_CHECK(refusal.status != Status::ok);
    VIRTACCEL_CHECK(refusal.sentence.view().ends_with('.'));
}

void check_analysis(const tosa::Graph& graph) {
    const auto analysis = tosa::analyze(graph);
    if (!analysis) {
        return check_refusal(analysis.error());
    }
    VIRTACCEL_CHECK(analysis->order.size() + analysis->dead.size() == graph.operators().size());
    VIRTACCEL_CHECK(analysis->blocks.size() == graph.blocks().size());
    for (const tosa::BlockPlace& block : analysis->blocks) {
        VIRTACCEL_CHECK(block.positions.end() <= analysis->order.size());
    }
    VIRTACCEL_CHECK(analysis->tensors.size() == graph.tensors().size());
    VIRTACCEL_CHECK(analysis->slots.size() ==
                    graph.main().inputs.size() + graph.main().outputs.size());
    for (const tosa::TensorLife& life : analysis->tensors) {
        VIRTACCEL_CHECK(life.first_use == tosa::nowhere || life.first_use <= life.last_use);
        VIRTACCEL_CHECK((life.origin == tosa::Origin::variable) ==
                        (life.state < analysis->states.size()));
        VIRTACCEL_CHECK(life.defined_at == tosa::nowhere || life.last_use == tosa::nowhere ||
                        life.defined_at <= life.last_use);
    }
}

void check_analysis_for(const tosa::Graph& graph, const tosa::Target& target) {
    const auto analysis = tosa::analyze_for(graph, target);
    if (!analysis) {
        return check_refusal(analysis.error());
    }
    VIRTACCEL_CHECK(analysis->hints.size() == graph.operators().size());
    VIRTACCEL_CHECK(analysis->macs.size() == graph.operators().size());
    VIRTACCEL_CHECK(analysis->peak_arena_bytes <= analysis->graph.activation_bytes);
    for (const tosa::RuntimeCondition& condition : analysis->conditions) {
        VIRTACCEL_CHECK(condition.operand < graph.operators()[condition.op].inputs.size());
    }
    // Bytes that a hostile guest may supply for what is not constant.
    std::vector<tosa::SuppliedOperand> supplied;
    std::vector<std::vector<std::byte>> values;
    for (const tosa::TensorIndex tensor : analysis->specialisation.operands) {
        const auto bytes = std::min<std::uint64_t>(graph.tensors()[tensor].bytes, 4096);
        values.emplace_back(static_cast<std::size_t>(bytes), std::byte{0xff});
        supplied.push_back({.tensor = tensor, .bytes = values.back()});
    }
    if (const auto fits = tosa::check_supplied(graph, supplied, target); !fits) {
        check_refusal(fits.error());
    }
}

void check_model(std::span<const std::byte> model) {
    const auto within_narrow = tosa::verify(model, narrow);
    const auto graph = tosa::verify(model);
    if (within_narrow) {
        check_graph(*within_narrow, narrow);
        VIRTACCEL_CHECK(graph && graph->tensors().size() == within_narrow->tensors().size() &&
                        graph->operators().size() == within_narrow->operators().size());
    }
    if (!graph) {
        return check_refusal(graph.error());
    }
    check_graph(*graph, {});
    const auto target = tosa::target_of(*graph);
    const auto decoded = tosa::decode_target(tosa::encode_target(target));
    VIRTACCEL_CHECK(decoded && *decoded == target);
    if (const auto valid = tosa::validate_for(*graph, target); !valid) {
        check_refusal(valid.error());
    }
    check_analysis(*graph);
    check_analysis_for(*graph, target);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    Choices choices{{data, bytes}};
    if (choices.byte() % 2 == 0) {
        // On the heap, where a model's address is a multiple of 8 and its end is watched.
        const auto rest = std::as_bytes(choices.rest());
        check_model(std::vector<std::byte>{rest.begin(), rest.end()});
    } else {
        check_model(tosa::testing::chosen_model(choices));
    }
    return 0;
}

// Any bytes as a model: verified, validated and analysed, as a backend would before lowering it. A
// graph that breaks its promises ends the program.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace {

namespace tosa = virtaccel::tosa;

// Reads every byte of `tensor`'s value and name.
bool is_readable(const tosa::Tensor& tensor) {
    const auto zeros = std::ranges::count(tensor.data, std::byte{0});
    const auto blanks = std::ranges::count(tensor.name, ' ');
    return zeros <= static_cast<std::ptrdiff_t>(tensor.data.size()) &&
           blanks <= static_cast<std::ptrdiff_t>(tensor.name.size());
}

bool keeps_promises(const tosa::Graph& graph) {
    for (const tosa::Tensor& tensor : graph.tensors()) {
        if (!is_readable(tensor) || tensor.rank() > tosa::rank_max ||
            (!tensor.data.empty() && tensor.data.size() != tensor.bytes) ||
            (tensor.is_constant && tensor.data.size() != tensor.bytes)) {
            return false;
        }
    }
    const auto is_tensor = [&](tosa::TensorIndex index) { return index < graph.tensors().size(); };
    return std::ranges::all_of(graph.operators(), [&](const tosa::Operator& op) {
        return std::ranges::all_of(op.inputs, is_tensor) &&
               std::ranges::all_of(op.outputs, is_tensor);
    });
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer chose the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size != 0) {
        std::memcpy(bytes.data(), data, size);
    }
    const auto graph = tosa::verify(bytes);
    if (!graph) {
        return 0;
    }
    if (!keeps_promises(*graph)) {
        std::abort();
    }
    const auto valid = tosa::validate_for(*graph, tosa::target_of(*graph));
    const auto analysis = tosa::analyze(*graph);
    return valid && analysis && analysis->order.size() > graph->operators().size() ? -1 : 0;
}

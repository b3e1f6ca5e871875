// Any bytes as a model: verified, validated and analysed, as a backend would before lowering it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/validate.h"

namespace {

using virtaccel::tosa::Graph;

// Reads all that a graph promises to be readable.
void touch(const Graph& graph) {
    std::size_t sum = 0;
    for (const auto& tensor : graph.tensors()) {
        for (const std::byte byte : tensor.data) {
            sum += std::to_integer<std::size_t>(byte);
        }
        sum += tensor.name.size() + tensor.shape.size();
    }
    for (const auto& op : graph.operators()) {
        for (const auto input : op.inputs) {
            sum += graph.tensors()[input].bytes;
        }
    }
    if (sum == 1) {
        std::abort();  // keeps the sum alive; a graph has more than one byte
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size != 0) {
        std::memcpy(bytes.data(), data, size);
    }
    const auto graph = virtaccel::tosa::verify(bytes);
    if (!graph) {
        return 0;
    }
    touch(*graph);
    virtaccel::tosa::Target generous = virtaccel::tosa::target_of(*graph);
    (void)virtaccel::tosa::validate_for(*graph, generous);
    (void)virtaccel::tosa::analyze(*graph);
    return 0;
}

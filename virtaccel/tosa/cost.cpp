#include "virtaccel/tosa/cost.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "virtaccel/base/checked.h"
#include "virtaccel/tosa/analysis.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/hints.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// How often an operator multiplies for each element: of its output, or of its first input where
// that is what it walks over. The factors are dimensions of an input.
struct MacRow {
    Op op = Op::unknown;
    std::uint32_t input = 0;  // whose dimensions from `first` to before `end` are multiplied
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    bool of_first_input = false;  // not of the output
};

constexpr MacRow mac_rows[] = {
    {.op = Op::conv2d, .input = 1, .first = 1, .end = 4},
    {.op = Op::conv3d, .input = 1, .first = 1, .end = 5},
    {.op = Op::depthwise_conv2d, .input = 1, .first = 0, .end = 2},
    {.op = Op::matmul, .input = 0, .first = 2, .end = 3},
    {.op = Op::transpose_conv2d, .input = 1, .first = 0, .end = 3, .of_first_input = true},
};

// Bytes that appear before a position and disappear after another one.
class LiveBytes {
  public:
    explicit LiveBytes(std::size_t positions) : born_(positions + 2), dead_(positions + 2) {}

    void add(std::uint32_t first, std::uint32_t last, std::uint64_t bytes) {
        born_[first] += bytes;
        dead_[last] += bytes;
    }

    [[nodiscard]] std::uint64_t peak() const {
        std::uint64_t live = 0;
        std::uint64_t peak = 0;
        for (std::size_t i = 0; i < born_.size(); ++i) {
            live += born_[i];
            peak = std::max(peak, live);
            live -= dead_[i];
        }
        return peak;
    }

  private:
    std::vector<std::uint64_t> born_;
    std::vector<std::uint64_t> dead_;
};

}  // namespace

std::optional<std::uint64_t> macs_of(const Operator& op, std::span<const Tensor> tensors) {
    const auto* const row = std::ranges::find(mac_rows, op.op, &MacRow::op);
    if (row == std::end(mac_rows)) {
        return 0;
    }
    const TensorIndex walked = row->of_first_input ? op.inputs.front() : op.outputs.front();
    std::optional<std::uint64_t> macs = tensors[walked].elements;
    const std::span<const std::int32_t> shape = tensors[op.inputs[row->input]].shape;
    for (std::uint32_t i = row->first; i < row->end && macs; ++i) {
        macs = checked_mul(*macs, static_cast<std::uint64_t>(shape[i]));
    }
    return macs;
}

// No sum wraps: analyze() has added up all the bytes there are.
std::uint64_t peak_arena_bytes(const Graph& graph, const Analysis& analysis) {
    const Aliases aliases = aliases_of(graph, analysis);
    LiveBytes live{analysis.order.size()};
    for (TensorIndex i = 0; i < aliases.owners.size(); ++i) {
        const TensorLife& life = analysis.tensors[i];
        const bool lies_there = aliases.owners[i] == i && life.origin == Origin::computed &&
                                life.slot == nowhere && life.defined_at != nowhere;
        const std::uint32_t last_use = aliases.last_uses[i];
        if (lies_there && last_use != nowhere) {
            live.add(life.defined_at, std::max(life.defined_at, last_use),
                     graph.tensors()[i].bytes);
        }
    }
    return live.peak();
}

}  // namespace virtaccel::tosa

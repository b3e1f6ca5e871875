#pragma once
// A TOSA flatbuffer that has been checked, seen as dense tables. The one thing to know: names and
// constants stay where they are in the bytes given to `verify`, which must outlive the graph and
// must not change under it (copy a guest's bytes first). What holds after `verify` is said at each
// member; whether a graph makes sense for a target is for `validate_for` (validate.h) to say.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// What a model may use at most. Past one of these it is refused with RESOURCE_LIMIT before anything
// grows. The tables of a graph take less than 400 bytes for each operator, tensor and operand.
struct Limits {
    std::uint64_t bytes_max = 1U << 30U;
    std::uint32_t depth_max = 16;          // nesting of flatbuffer tables
    std::uint32_t tables_max = 1U << 20U;  // flatbuffer tables, each counted as often as it is met
    std::uint32_t blocks_max = 1U << 10U;  // and regions
    std::uint32_t operators_max = 1U << 16U;
    std::uint32_t tensors_max = 1U << 17U;  // and shapes
    std::uint32_t name_bytes_max = 1U << 10U;
    std::uint32_t operands_max = 1U << 10U;  // inputs of one operator, and its outputs
    std::uint32_t operands_total_max = 1U << 18U;
    std::uint32_t slots_max = 1U << 12U;  // inputs and outputs of a block, together
    std::uint64_t tensor_bytes_max = std::uint64_t{1} << 40U;
};

// As the file has it; -1 where it says nothing. The draft flag is ignored (spec §10).
struct Version {
    std::int32_t major = -1;
    std::int32_t minor = -1;
    std::int32_t patch = -1;
};

// Index into Graph::tensors(), Graph::operators() and Graph::blocks().
using TensorIndex = std::uint32_t;
using OperatorIndex = std::uint32_t;
using BlockIndex = std::uint32_t;

// A value that operators produce and consume. Every dimension is at least 1, and `elements` and
// `bytes` are true. A SHAPE of length n has dtype SHAPE and shape {n} (n may be 0).
// `data` is empty or holds exactly `bytes` bytes, as byte_count() says. It is aligned to one byte:
// memcpy from it. An unknown dtype has `bytes` 0 and is refused by validate_for().
struct Tensor {
    std::string_view name;
    DType dtype = DType::unknown;
    std::span<const std::int32_t> shape;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::span<const std::byte> data;
    bool is_constant = false;  // the output of CONST or CONST_SHAPE; `data` is its value
    bool is_variable = false;  // state; `data`, if there is any, is its first value
    std::string_view state{};  // of a variable: the state's name, which other blocks may name too

    [[nodiscard]] std::uint32_t rank() const { return static_cast<std::uint32_t>(shape.size()); }
};

// One operator. `inputs` and `outputs` are tensors of its block. If `op` is known, their counts are
// what its row allows and `attribute` is of the row's kind.
struct Operator {
    Op op = Op::unknown;
    std::uint32_t index = nowhere;  // its position in its block in the file, for messages
    std::span<const TensorIndex> inputs;
    std::span<const TensorIndex> outputs;
    Attribute attribute;

    // The attribute of the kind that the operator's row names; another kind ends the program.
    template <class Kind>
    [[nodiscard]] const Kind& as() const {
        return std::get<Kind>(attribute);
    }
};

// A range of a graph's tables.
struct IndexRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] std::uint32_t end() const { return first + count; }
};

// Operators in an order in which each comes after those whose outputs it reads. Every input of
// theirs is an input of the block, a variable, or the output of exactly one of them; so is every
// output of the block. No tensor is an input of the block and an operator's output.
struct Block {
    std::string_view name;
    std::string_view region;
    IndexRange tensors;
    IndexRange operators;
    std::span<const TensorIndex> inputs;  // no tensor twice
    std::span<const TensorIndex> outputs;
    std::uint32_t nesting = 0;  // how many operators stand around it at most; 0 for the main block
};

// The checked model. Moves, and keeps its addresses when it does.
class Graph {
  public:
    Graph() = default;
    Graph(Graph&&) = default;
    Graph& operator=(Graph&&) = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() = default;

    [[nodiscard]] Version version() const { return version_; }

    // All blocks' tensors and operators, each block's in one run. Tensors are in the file's order;
    // operators are too where that is executable, and sorted where it is not.
    [[nodiscard]] std::span<const Tensor> tensors() const { return tensors_; }

    [[nodiscard]] std::span<const Operator> operators() const { return operators_; }

    [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }

    // The first block of the first region: what a submission runs. There is always one after
    // `verify`.
    [[nodiscard]] const Block& main() const { return blocks_.front(); }

    [[nodiscard]] std::span<const Operator> operators(const Block& block) const {
        return operators().subspan(block.operators.first, block.operators.count);
    }

  private:
    friend class GraphReader;

    Version version_;
    std::vector<Tensor> tensors_;
    std::vector<Operator> operators_;
    std::vector<Block> blocks_;
    std::vector<TensorIndex> operands_;  // behind the spans of operators and blocks
};

// Checks `bytes` (a whole flatbuffer, at an address that is a multiple of 8) and makes its tables.
// Bounded in time and memory by `limits` and the number of bytes, whatever the bytes are. Refuses
// what is malformed, names that two tensors have or none has, operands that nobody produces, two
// producers of a tensor, cycles, and blocks that call themselves. Operators out of order are
// sorted, unless a variable is among their operands: then they are refused. Throws nothing.
[[nodiscard]] Checked<Graph> verify(std::span<const std::byte> bytes,
                                    const Limits& limits = {}) noexcept;

}  // namespace virtaccel::tosa

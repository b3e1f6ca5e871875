#pragma once
// Writes valid TOSA 1.0 models: for tests, examples and the graphs that conformance shares with
// everybody. Output types and shapes come from the operator table; the first mistake is kept, and
// `finish` says what it was. The same calls make the same bytes. A builder writes one block; those
// that it runs are written by others.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {

// A list for the length of a call: braces, an array, a vector or a span.
template <class T>
class List {
  public:
    List(std::initializer_list<T> list) : List(std::span<const T>{list.begin(), list.size()}) {}

    template <std::ranges::contiguous_range Range>
        requires std::same_as<std::ranges::range_value_t<Range>, T>
    List(const Range& range) : values_(range) {}

    [[nodiscard]] std::span<const T> span() const { return values_; }

  private:
    std::span<const T> values_;
};

using Dims = List<std::int32_t>;
using Lengths = List<std::int64_t>;

// A tensor of the model being built.
struct Value {
    TensorIndex tensor = 0;
};

// What the table cannot say of an output: its type where the inputs allow several (CAST, RESCALE,
// RESIZE, MATMUL of FP16), and its type and shape for CUSTOM.
struct DeclaredOutput {
    DType dtype = DType::unknown;
    std::optional<std::vector<std::int32_t>> shape;
};

// Throws std::bad_alloc; a mistake is never thrown.
class Builder {
  public:
    // An input slot.
    Value input(std::string_view name, DType dtype, Dims shape);

    // A constant of `bytes`, encoded as byte_count() says.
    Value constant(DType dtype, Dims shape, std::span<const std::byte> bytes);

    // A constant whose elements are stored as those of `values`: float for FP32, std::int32_t for
    // INT32, ...
    template <std::ranges::contiguous_range Range>
    Value constant(DType dtype, Dims shape, const Range& values) {
        // Of an array, the span would have its own type and come back here.
        return constant(dtype, shape, std::span<const std::byte>{std::as_bytes(std::span{values})});
    }

    // A constant of FP32.
    Value constant(Dims shape, std::initializer_list<float> values) {
        return constant(DType::fp32, shape, std::span{values.begin(), values.size()});
    }

    // A constant of an integer type or BOOL from its elements' numbers, which the type must have:
    // INT4 and INT48, which C++ lacks, are packed as byte_count() says.
    Value integers(DType dtype, Dims shape, Lengths values);

    // A constant of zeros.
    Value zeros(DType dtype, Dims shape);

    // A constant SHAPE.
    Value shape(Lengths values);

    // Any operator but those that run blocks or keep state; its first output.
    Value op(Op op, List<Value> inputs, const Attribute& attribute = {},
             const DeclaredOutput& declared = {});

    // Output `i` of the operator whose first output is `first`.
    static Value output_of(Value first, std::uint32_t i) { return {first.tensor + i}; }

    // Makes `value` the next output slot.
    void output(Value value, std::string_view name);

    // State, whose first value are these bytes, or zeros. In builders of one model, variables of
    // one name are the same.
    Value variable(std::string_view name, DType dtype, Dims shape,
                   std::span<const std::byte> first = {});
    Value read(Value variable);
    void write(Value variable, Value value);

    // Run blocks that other builders have written so far, whose inputs and outputs stand in the
    // order in which they were made. The first output, or none of the model's values if there is
    // none.
    Value cond_if(Value condition, List<Value> inputs, const Builder& then_block,
                  const Builder& else_block);
    // `condition` has one output, a BOOL; both take all `inputs`, and `body` makes as many again.
    Value while_loop(List<Value> inputs, const Builder& condition, const Builder& body);

    // The VARIABLE operator, which a model may have beside the variable itself.
    void declare(Value variable);

    // Operators with the constants they ask for: zero points, shifts, shapes.
    Value add(Value a, Value b) { return op(Op::add, {a, b}); }

    Value mul(Value a, Value b);
    Value clamp(Value x, float least, float most);  // FP32

    Value cast(Value x, DType dtype) {
        return op(Op::cast, {x}, {}, {.dtype = dtype, .shape = {}});
    }

    Value conv2d(Value x, Value weight, Value bias, const Conv2dAttribute& attribute);
    Value depthwise_conv2d(Value x, Value weight, Value bias, const Conv2dAttribute& attribute);

    Value max_pool2d(Value x, const PoolAttribute& attribute) {
        return op(Op::max_pool2d, {x}, attribute);
    }

    Value matmul(Value a, Value b);

    Value concat(List<Value> values, std::int32_t axis) {
        return op(Op::concat, values, AxisAttribute{.axis = axis});
    }

    Value reshape(Value x, Lengths dims);
    Value pad(Value x, Lengths padding);  // with zeros

    // The model, which verify() and validate_for() accept; or the first mistake. The builder may
    // go on afterwards.
    [[nodiscard]] Checked<std::vector<std::byte>> finish() const;

    // The same model as plain values, to be spoilt before it is written.
    [[nodiscard]] FileModel file() const;

    // Type and shape of a value; of no type if it is none of this builder's.
    [[nodiscard]] const Tensor& tensor(Value value) const;

  private:
    struct Node {
        std::string name;
        std::vector<std::int32_t> shape;
        std::vector<std::byte> data;
    };

    // What attributes point to.
    struct Kept {
        std::deque<std::vector<std::byte>> bytes;
        std::vector<std::shared_ptr<const void>> others;  // of blocks that others have written
    };

    struct Step {
        Op op = Op::unknown;
        std::vector<TensorIndex> inputs;
        std::vector<TensorIndex> outputs;
        Attribute attribute;
        std::vector<std::string> branches;  // the blocks that it runs
    };

    Value add_tensor(DType dtype, std::span<const std::int32_t> shape,
                     std::span<const std::byte> data);
    Value add_step(const OperatorRow& row, const Operator& op, const Shape& shape, DType dtype);
    Value give_up(Op op, std::string_view why);
    Value zero_for(Value value);
    std::string add_block(const Builder& builder);
    Value run_blocks(Step step, std::span<const Tensor> outputs);
    bool take(Step& step, std::span<const Value> inputs);
    std::span<const std::byte> keep(std::span<const std::byte> bytes);
    Attribute keep(Attribute attribute);

    std::deque<Node> nodes_;  // stay where they are, behind the spans of tensors_
    std::vector<Tensor> tensors_;
    std::vector<Step> steps_;
    std::vector<FileBlock> blocks_;  // that the steps run
    std::vector<TensorIndex> inputs_;
    std::vector<TensorIndex> outputs_;
    std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
    std::optional<Refusal> mistake_;
};

}  // namespace virtaccel::tosa

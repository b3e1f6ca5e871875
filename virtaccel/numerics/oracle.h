#pragma once
// What each operator of a TOSA model has to give, by the specification's own loops over doubles: no
// speed, no cleverness, and nothing shared with any backend. The one thing to know: a result is not
// rounded to its type yet, so that an error can be measured from the true value.

#include <functional>
#include <span>
#include <vector>

#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

// One operator with the values of its inputs.
struct Step {
    const tosa::Operator& op;
    std::span<const Tensor> inputs;
};

// Fills in the values of an output whose type and shape are set.
using Oracle = void (*)(const Step& step, Tensor& output);

// The oracle of an operator, or null.
[[nodiscard]] Oracle oracle_of(tosa::Op op);

// The first operator of a model that has no oracle, or `unknown`.
[[nodiscard]] tosa::Op first_without_oracle(const tosa::Graph& graph);

// What makes a wrong backend out of an oracle: it may change an operator and its inputs before, and
// its output after it was computed. For tests of the cases.
struct Interference {
    std::function<void(tosa::Operator& op, std::vector<Tensor>& inputs)> before;
    std::function<void(const Step& step, Tensor& output)> after;
};

// The outputs of a model for `inputs`, in the order of its slots. Every operator has an oracle, and
// every input the type and the shape of its slot.
[[nodiscard]] std::vector<Tensor> evaluate(const tosa::Graph& graph, std::span<const Tensor> inputs,
                                           const Interference& interference = {});

}  // namespace virtaccel::numerics

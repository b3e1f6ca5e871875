#pragma once
// The cases that judge a backend's numbers: for each operator and type a small model, inputs with
// the values at which such operators go wrong, and the oracle for what has to come out. The one
// thing to know: the model's bytes are the same for everybody, made by the TOSA builder; who cannot
// load them is not judged by others.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

// A model of one output, which the last of its operators writes, and what goes into it.
struct Problem {
    Bytes model;
    std::vector<Tensor> inputs;
};

struct Case {
    // "numerics.matmul.bf16.non_square_batched": operator, type of the first input (or what is
    // converted into what), what it is about. Stable over releases.
    std::string name;
    std::string title;
    // What a backend has to run.
    tosa::Op op = tosa::Op::unknown;
    tosa::DType input = tosa::DType::unknown;
    tosa::DType output = tosa::DType::unknown;
    // The same problem, to the last bit, whenever and wherever it is made.
    std::function<Problem()> make;
};

// All of them, in the order of their operators.
[[nodiscard]] std::span<const Case> cases();

}  // namespace virtaccel::numerics

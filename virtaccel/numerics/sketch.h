#pragma once
// How cases are written: a model and its inputs, put together side by side. Internal to this
// folder.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/numerics/cases.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::numerics {

using Values = std::vector<double>;

// What an operator reads and writes. `accumulator` where its attribute has one.
struct Types {
    tosa::DType input = tosa::DType::unknown;
    tosa::DType output = tosa::DType::unknown;
    tosa::DType accumulator = tosa::DType::unknown;
    tosa::DType weight = tosa::DType::unknown;
};

// "fp8e4m3", "int8".
[[nodiscard]] std::string lower_name(tosa::DType dtype);

// "numerics.OPERATOR.TYPE.WHAT". TYPE is the input's, or "INPUT_to_OUTPUT" if the output is of
// another type that does not follow from it.
struct CaseName {
    tosa::Op op = tosa::Op::unknown;
    std::string type;
    std::string what;
};

class CaseList {
  public:
    void add(const CaseName& name, std::string_view title, const Types& types,
             std::function<Problem()> make);

    [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

  private:
    std::vector<Case> cases_;
};

// Lists of values are repeated until they fill a shape, and rounded to the type.
class Sketch {
  public:
    tosa::Value input(tosa::DType dtype, const Shape& shape, const Values& values);
    tosa::Value constant(tosa::DType dtype, const Shape& shape, const Values& values);
    // A constant of one element.
    tosa::Value scalar(tosa::DType dtype, double value);

    tosa::Builder& builder() { return builder_; }

    // An operator whose output has a type that its inputs may leave open.
    tosa::Value op(tosa::Op op, tosa::List<tosa::Value> inputs, tosa::DType output,
                   const tosa::Attribute& attribute = {});

    // The problem whose only output is `output`.
    [[nodiscard]] Problem finish(tosa::Value output);

  private:
    tosa::Builder builder_;
    std::vector<Tensor> inputs_;
};

// Numbers that are the same on every machine.
class Numbers {
  public:
    explicit Numbers(std::uint32_t seed) : state_(seed) {}

    // `count` integers from `least` to `most`.
    Values integers(std::size_t count, std::int64_t least, std::int64_t most);
    // `count` numbers between -1 and 1, more of them near 0.
    Values reals(std::size_t count);

  private:
    std::uint32_t next();

    std::uint32_t state_;
};

// Zeros, ones, the least and the greatest; of floating-point types also the subnormal numbers'
// ends, infinities and NaN.
[[nodiscard]] Values edges_of(tosa::DType dtype);

// The same without NaN, and without numbers below the smallest normal one.
[[nodiscard]] Values calm_edges_of(tosa::DType dtype);

// Every number of a type of at most 16 bits.
[[nodiscard]] Values all_of(tosa::DType dtype);

// The parts of the list, one for each file of cases.
void add_product_cases(CaseList& list);
void add_image_cases(CaseList& list);
void add_elementwise_cases(CaseList& list);
void add_reduction_cases(CaseList& list);
void add_layout_cases(CaseList& list);
void add_conversion_cases(CaseList& list);

}  // namespace virtaccel::numerics

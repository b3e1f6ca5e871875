#pragma once
// What the operator table infers for one operator, for tests of shape rules.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa::testing {

// One operand: an input slot of a type and a shape, a constant SHAPE, or constant bytes.
struct Operand {
    DType dtype = DType::fp32;
    std::vector<std::int32_t> shape;
    std::vector<std::int64_t> values;  // of a SHAPE
    std::vector<std::byte> bytes;      // of a constant

    static Operand of(std::vector<std::int32_t> shape, DType dtype = DType::fp32) {
        return {.dtype = dtype, .shape = std::move(shape), .values = {}, .bytes = {}};
    }

    static Operand list(std::vector<std::int64_t> values) {
        return {.dtype = DType::shape, .shape = {}, .values = std::move(values), .bytes = {}};
    }

    static Operand zero(DType dtype = DType::fp32, std::int32_t length = 1) {
        const auto elements = static_cast<std::uint64_t>(length);
        return {.dtype = dtype,
                .shape = {length},
                .values = {},
                .bytes = std::vector<std::byte>(byte_count(dtype, elements).value_or(0))};
    }

    static Operand byte(int value, DType dtype = DType::int8) {
        return {.dtype = dtype, .shape = {1}, .values = {}, .bytes = {std::byte(value)}};
    }
};

// "1x8x8x4:FP32", or what is wrong.
inline std::string infer(Op op, std::initializer_list<Operand> operands,
                         const Attribute& attribute = {}, DType output = DType::unknown) {
    Builder builder;
    std::vector<Value> inputs;
    for (const Operand& operand : operands) {
        if (operand.dtype == DType::shape) {
            inputs.push_back(builder.shape(operand.values));
        } else if (!operand.bytes.empty()) {
            inputs.push_back(builder.constant(operand.dtype, operand.shape, operand.bytes));
        } else {
            const std::string name = "in" + std::to_string(inputs.size());
            inputs.push_back(builder.input(name, operand.dtype, operand.shape));
        }
    }
    const Value value = builder.op(op, inputs, attribute, {.dtype = output, .shape = {}});
    builder.output(value, "out");
    const auto finished = builder.finish();
    if (!finished) {
        const std::string sentence{finished.error().sentence.view()};
        const std::string mark = "built: ";
        const auto at = sentence.find(mark);
        return at == std::string::npos ? sentence : sentence.substr(at + mark.size());
    }
    std::string text;
    for (const std::int32_t dim : builder.tensor(value).shape) {
        text += (text.empty() ? "" : "x") + std::to_string(dim);
    }
    return text + ":" + std::string{name_of(builder.tensor(value).dtype)};
}

}  // namespace virtaccel::tosa::testing

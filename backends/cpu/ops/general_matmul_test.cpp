// MATMUL of every type.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "backends/cpu/testing/typed.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::combinations_of;
using testing::decoded;
using testing::encoded;
using testing::ModelOptions;
using testing::ModelRun;
using testing::Whole;
using testing::whole_numbers;
using tosa::DType;
using tosa::Op;
using tosa::Value;

struct Types {
    DType input;
    DType output;
};

struct Problem {
    std::int32_t batch;
    std::int32_t rows;
    std::int32_t depth;
    std::int32_t columns;
    Whole left;
    Whole right;
    std::int64_t left_zero = 0;
    std::int64_t right_zero = 0;

    [[nodiscard]] Whole plain() const {
        Whole product;
        for (std::int32_t i = 0; i < batch * rows * columns; ++i) {
            const std::int32_t row = i / columns;
            std::int64_t sum = 0;
            for (std::int32_t k = 0; k < depth; ++k) {
                const std::int32_t l = (row * depth) + k;
                const std::int32_t r = (((row / rows * depth) + k) * columns) + (i % columns);
                sum += (left[static_cast<std::size_t>(l)] - left_zero) *
                       (right[static_cast<std::size_t>(r)] - right_zero);
            }
            product.push_back(sum);
        }
        return product;
    }
};

// With numbers from -`most` to `most`.
Problem problem_of(std::int32_t batch, std::int32_t rows, std::int32_t depth, std::int32_t columns,
                   std::int64_t most) {
    const auto matrices = static_cast<std::size_t>(batch) * static_cast<std::size_t>(depth);
    return {.batch = batch,
            .rows = rows,
            .depth = depth,
            .columns = columns,
            .left = whole_numbers(matrices * static_cast<std::size_t>(rows), most, 1),
            .right = whole_numbers(matrices * static_cast<std::size_t>(columns), most, 2)};
}

enum class Known : std::uint8_t { zeros, zeros_and_right, nothing, everything };

Whole computed(const Problem& p, const Types& types, Known known, std::uint32_t threads = 1) {
    tosa::Builder builder;
    std::vector<std::vector<std::byte>> inputs;
    const auto operand = [&](const char* name, const std::vector<std::int32_t>& shape,
                             const Whole& numbers, bool is_known) {
        const auto bytes = encoded(types.input, numbers);
        if (is_known) {
            return builder.constant(types.input, shape, bytes);
        }
        inputs.push_back(bytes);
        return builder.input(name, types.input, shape);
    };
    const Value left = operand("a", {p.batch, p.rows, p.depth}, p.left, known == Known::everything);
    const Value right = operand("b", {p.batch, p.depth, p.columns}, p.right,
                                known == Known::zeros_and_right || known == Known::everything);
    const Value left_zero = operand("az", {1}, {p.left_zero}, known != Known::nothing);
    const Value right_zero = operand("bz", {1}, {p.right_zero}, known != Known::nothing);
    builder.output(builder.op(Op::matmul, {left, right, left_zero, right_zero}, {},
                              {.dtype = types.output, .shape = {}}),
                   "y");
    ModelRun run{builder, ModelOptions{.threads = threads}};
    for (const auto& bytes : inputs) {
        run.input(bytes);
    }
    return decoded(types.output, run.output<std::byte>());
}

TEST(GeneralMatmul, is_right_for_every_type) {
    Problem p = problem_of(2, 3, 9, 70, 4);
    for (const Types& types : combinations_of<Types>(Op::matmul)) {
        SCOPED_TRACE(tosa::name_of(types.input));
        SCOPED_TRACE(tosa::name_of(types.output));
        p.left_zero = types.input == DType::int8 ? 3 : 0;
        p.right_zero = types.input == DType::int8 ? -2 : 0;
        const Whole wanted = p.plain();
        for (const Known known :
             {Known::zeros, Known::zeros_and_right, Known::nothing, Known::everything}) {
            EXPECT_EQ(computed(p, types, known), wanted);
        }
        EXPECT_EQ(computed(p, types, Known::zeros, 3), wanted);
    }
}

TEST(GeneralMatmul, of_the_greatest_integers_is_exact) {
    Problem p = problem_of(1, 1, 4, 1, 1);
    p.left = {-128, -128, 127, 127};
    p.right = {-128, 127, -128, 127};
    p.left_zero = 127;
    p.right_zero = -128;
    EXPECT_EQ(computed(p, {DType::int8, DType::int32}, Known::zeros), p.plain());
    p.left = {-32768, -32768, 32767, 32767};
    p.right = {-32768, -32768, -32768, 32767};
    p.left_zero = 0;
    p.right_zero = 0;
    EXPECT_EQ(computed(p, {DType::int16, DType::int48}, Known::zeros), p.plain());
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

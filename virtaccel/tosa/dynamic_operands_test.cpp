#include "virtaccel/tosa/dynamic_operands.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

using testing::Verdict;
using testing::verdict_of;

// y = SLICE(x, start, size) with both SHAPEs as inputs of the model.
class DynamicSlice : public ::testing::Test {
  protected:
    DynamicSlice() {
        Builder builder;
        const Value x = builder.input("x", DType::fp32, {4, 6});
        const Value start = builder.input("start", DType::shape, {2});
        const Value size = builder.input("size", DType::shape, {2});
        builder.output(builder.op(Op::slice, {x, start, size}, {},
                                  {.dtype = {}, .shape = std::vector<std::int32_t>{2, 3}}),
                       "y");
        bytes_ = builder.finish().value();
        graph_ = verify(bytes_).value();
        const auto& inputs = graph_.main().inputs;
        start_ = inputs[1];
        size_ = inputs[2];
    }

    // What is said to these values, of which an empty list is not supplied.
    Verdict check(std::vector<std::int64_t> start, std::vector<std::int64_t> size) {
        std::vector<SuppliedOperand> supplied;
        for (const auto& [tensor, values] : {std::pair{start_, &start}, std::pair{size_, &size}}) {
            if (!values->empty()) {
                supplied.push_back({.tensor = tensor, .bytes = std::as_bytes(std::span{*values})});
            }
        }
        return verdict_of(check_supplied(graph_, supplied, target_of(graph_)));
    }

    Graph& graph() { return graph_; }

    [[nodiscard]] TensorIndex start() const { return start_; }

  private:
    std::vector<std::byte> bytes_;
    Graph graph_;
    TensorIndex start_ = 0;
    TensorIndex size_ = 0;
};

TEST_F(DynamicSlice, takes_values_that_make_the_declared_shape) {
    EXPECT_EQ(check({0, 0}, {2, 3}).status, Status::ok);
    EXPECT_EQ(check({2, 3}, {2, 3}).status, Status::ok);
}

TEST_F(DynamicSlice, refuses_values_that_leave_the_input) {
    EXPECT_TRUE(check({3, 0}, {2, 3}).says(Status::invalid_argument, "cannot run with the values"));
    EXPECT_TRUE(check({-1, 0}, {2, 3}).says(Status::invalid_argument, "its start (-1)"));
    EXPECT_TRUE(check({INT64_MAX, INT64_MIN}, {INT64_MIN, INT64_MAX})
                    .says(Status::invalid_argument, "its start"));
}

TEST_F(DynamicSlice, refuses_values_that_make_another_shape) {
    EXPECT_TRUE(check({0, 0}, {3, 3}).says(Status::invalid_argument, "another shape than its "));
}

TEST_F(DynamicSlice, judges_only_what_is_there) {
    EXPECT_EQ(check({0, 0}, {}).status, Status::ok);
    EXPECT_EQ(check({}, {}).status, Status::ok);
}

TEST_F(DynamicSlice, refuses_another_number_of_bytes) {
    EXPECT_TRUE(check({0, 0, 0}, {2, 3})
                    .says(Status::invalid_argument,
                          "is given (24) bytes for its operand (start), which "
                          "has 16."));
}

TEST_F(DynamicSlice, refuses_a_list_out_of_order) {
    const std::vector<std::int64_t> zeros(2);
    const SuppliedOperand one = {.tensor = start(), .bytes = std::as_bytes(std::span{zeros})};
    const std::vector<SuppliedOperand> twice = {one, one};
    EXPECT_TRUE(verdict_of(check_supplied(graph(), twice, target_of(graph())))
                    .says(Status::invalid_argument, "in ascending order"));
}

// A zero point that no FP32 may have.
TEST(DynamicOperands, are_judged_like_constants) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value zero = builder.input("zero", DType::fp32, {1});
    builder.output(builder.op(Op::negate, {x, zero, builder.zeros(DType::fp32, {1})}), "y");
    const auto bytes = builder.finish().value();
    const Graph graph = verify(bytes).value();
    const auto judge = [&](float value) {
        const SuppliedOperand one = {.tensor = graph.main().inputs[1],
                                     .bytes = std::as_bytes(std::span{&value, 1})};
        return check_supplied(graph, std::span{&one, 1}, target_of(graph)).has_value();
    };
    EXPECT_TRUE(judge(0));
    EXPECT_FALSE(judge(1));
}

}  // namespace
}  // namespace virtaccel::tosa

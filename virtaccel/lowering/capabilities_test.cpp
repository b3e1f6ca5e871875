#include "virtaccel/lowering/capabilities.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::lowering {
namespace {

using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

// What a float accelerator might say: the matrix of a real one, made small.
CapabilityDescriptor small_descriptor() {
    CapabilityDescriptor descriptor;
    descriptor.name = "float";
    descriptor.target.profiles = tosa::ProfileBit::floating_point;
    descriptor.dtypes = {
        {.dtype = DType::fp32},
        {.dtype = DType::int32,
         .roles = DTypeRoles{DTypeRole::output} | DTypeRole::constant | DTypeRole::intermediate},
        {.dtype = DType::int8, .roles = DTypeRole::constant, .is_parameter_only = true}};
    descriptor.operators = {
        {.op = Op::add},
        {.op = Op::constant},
        {.op = Op::const_shape},
        {.op = Op::identity},
        {.op = Op::argmax, .constraints = OperatorConstraint::propagating_nan},
        {.op = Op::clamp, .constraints = OperatorConstraint::propagating_nan},
        {.op = Op::gather},
        {.op = Op::max_pool2d,
         .constraints = OperatorConstraints{OperatorConstraint::propagating_nan} |
                        OperatorConstraint::zero_padding},
        {.op = Op::matmul, .constraints = OperatorConstraint::zero_zero_points},
        {.op = Op::mul, .constraints = OperatorConstraint::zero_shift},
        {.op = Op::reshape, .constraints = OperatorConstraint::constant_parameters},
    };
    return descriptor;
}

// All reasons, one a line; empty if the graph is taken.
std::string against(const Builder& builder,
                    const CapabilityDescriptor& descriptor = small_descriptor()) {
    const auto bytes = builder.finish();
    if (!bytes) {
        return "cannot be built: " + std::string{bytes.error().sentence.view()};
    }
    const tosa::Graph graph = tosa::verify(*bytes).value();
    const auto analysis = tosa::analyze_for(graph, tosa::target_of(graph));
    if (!analysis) {
        return "cannot be analysed: " + std::string{analysis.error().sentence.view()};
    }
    std::string text;
    for (const CapabilityReason& reason : reasons_against(descriptor, graph, *analysis)) {
        text += std::string{reason.sentence.view()} + "\n";
    }
    return text;
}

// The reason against one operator on inputs of these types and shapes.
struct Input {
    DType dtype = DType::fp32;
    std::vector<std::int32_t> shape;
};

std::string against_one(Op op, const std::vector<Input>& inputs,
                        const tosa::Attribute& attribute = {},
                        const tosa::DeclaredOutput& declared = {}) {
    Builder builder;
    std::vector<Value> values;
    for (const Input& input : inputs) {
        values.push_back(
            builder.input("in" + std::to_string(values.size()), input.dtype, input.shape));
    }
    builder.output(builder.op(op, values, attribute, declared), "y");
    return against(builder);
}

TEST(Capabilities, take_what_they_say_they_take) {
    EXPECT_EQ(against(tosa::testing::two_additions()), "");
    Builder builder;
    const Value a = builder.input("a", DType::fp32, {1, 2, 3});
    const Value product = builder.matmul(a, builder.zeros(DType::fp32, {1, 3, 2}));
    const Value flat = builder.reshape(builder.mul(product, product), {4});
    builder.output(builder.clamp(flat, 0, 1), "y");
    EXPECT_EQ(against(builder), "") << "shapes and shifts need no row of their own";
}

TEST(Capabilities, name_each_operator_that_is_not_among_them) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    builder.output(builder.op(Op::exp, {builder.op(Op::erf, {builder.add(x, x)})}), "y");
    EXPECT_EQ(against(builder),
              "The operator 1 (ERF) is not among the backend's operators: choose another "
              "backend.\n"
              "The operator 2 (EXP) is not among the backend's operators: choose another "
              "backend.\n");
}

TEST(Capabilities, name_the_profile_or_extension_that_is_missing) {
    EXPECT_EQ(against_one(Op::add, {{DType::bf16, {4}}, {DType::bf16, {4}}}),
              "The operator 0 (ADD) needs the extension BF16, which the backend does not offer: "
              "choose another backend.\n");
    EXPECT_EQ(against_one(Op::clamp, {{DType::int8, {4}}},
                          tosa::ClampAttribute{.min = std::as_bytes(std::span{"a", 1}),
                                               .max = std::as_bytes(std::span{"b", 1}),
                                               .nan_mode = tosa::NanMode::propagate}),
              "The operator 0 (CLAMP) needs the profile PRO-INT, which the backend does not "
              "offer: choose another backend.\n");
}

TEST(Capabilities, know_where_each_type_may_stand) {
    EXPECT_EQ(against_one(Op::argmax, {{DType::fp32, {2, 3}}},
                          tosa::AxisAttribute{.axis = 1, .nan_mode = tosa::NanMode::propagate}),
              "");
    EXPECT_EQ(against_one(Op::add, {{DType::int32, {4}}, {DType::int32, {4}}}),
              "The operator 0 (ADD) has an operand (in0) of type (INT32), which the backend does "
              "not take there: choose another backend.\n");
    EXPECT_EQ(against_one(Op::add, {{DType::fp16, {4}}, {DType::fp16, {4}}}),
              "The operator 0 (ADD) has an operand (in0) of type (FP16), which the backend does "
              "not take: choose another backend.\n");
    Builder builder;
    builder.output(builder.op(Op::identity, {builder.zeros(DType::int8, {4})}), "y");
    EXPECT_NE(against(builder), "") << "INT8 is for parameters only";
}

TEST(Capabilities, know_how_nans_must_go) {
    const auto ignoring = tosa::AxisAttribute{.axis = 1, .nan_mode = tosa::NanMode::ignore};
    EXPECT_EQ(against_one(Op::argmax, {{DType::fp32, {2, 3}}}, ignoring),
              "The operator 0 (ARGMAX) must propagate NaNs: choose another backend.\n");
}

TEST(Capabilities, know_paddings_that_must_be_zero) {
    const auto pooled = [](std::int32_t pad) {
        return against_one(Op::max_pool2d, {{DType::fp32, {1, 4, 4, 1}}},
                           tosa::PoolAttribute{.kernel = {2, 2},
                                               .stride = {2, 2},
                                               .pad = {pad, pad, 0, 0},
                                               .accumulator = DType::unknown,
                                               .nan_mode = tosa::NanMode::propagate});
    };
    EXPECT_EQ(pooled(0), "");
    EXPECT_EQ(pooled(1),
              "The operator 0 (MAX_POOL2D) must have no padding: choose another backend.\n");
}

TEST(Capabilities, want_parameters_that_are_known_and_zero) {
    Builder builder;
    const Value a = builder.input("a", DType::fp32, {1, 2, 3});
    const Value b = builder.input("b", DType::fp32, {1, 3, 2});
    const Value zero = builder.input("zero", DType::fp32, {1});
    builder.output(builder.op(Op::matmul, {a, b, zero, zero}), "y");
    CapabilityDescriptor dynamic = small_descriptor();
    dynamic.target.extensions = tosa::ExtensionBit::dynamic;
    EXPECT_EQ(against(builder, dynamic),
              "The operator 0 (MATMUL) must have zero points that are constant and zero: choose "
              "another backend.\n");
    Builder shapes;
    const Value x = shapes.input("x", DType::fp32, {4});
    const Value to = shapes.input("to", DType::shape, {2});
    shapes.output(shapes.op(Op::reshape, {x, to}, {},
                            {.dtype = {}, .shape = std::vector<std::int32_t>{2, 2}}),
                  "y");
    EXPECT_EQ(against(shapes, dynamic),
              "The operator 0 (RESHAPE) must have parameters that are constant: choose another "
              "backend.\n");
}

TEST(Capabilities, say_which_conditions_they_live_with) {
    Builder builder;
    const Value values = builder.input("values", DType::fp32, {1, 3, 2});
    const Value at = builder.input("at", DType::int32, {1, 2});
    builder.output(builder.op(Op::gather, {values, at}), "y");
    CapabilityDescriptor descriptor = small_descriptor();
    descriptor.dtypes[1].roles = all_roles;
    EXPECT_EQ(against(builder, descriptor),
              "The operator 0 (GATHER) has an operand 1 that must hold indices from 0 to one below "
              "the number of rows, which the backend cannot leave to a run: choose another "
              "backend.\n");
    descriptor.limits.runtime_conditions = RuntimeConditionSupport::advisory_only;
    EXPECT_EQ(against(builder, descriptor), "");
}

TEST(Capabilities, bound_static_shapes) {
    CapabilityDescriptor descriptor = small_descriptor();
    descriptor.limits.dimension_max = 3;
    EXPECT_NE(against(tosa::testing::two_additions(), descriptor), "");
    descriptor.limits.dimension_max = 4;
    EXPECT_EQ(against(tosa::testing::two_additions(), descriptor), "");
    descriptor.limits.tensor_bytes_max = 15;
    EXPECT_NE(against(tosa::testing::two_additions(), descriptor), "");
    descriptor.limits.tensor_bytes_max = 16;
    descriptor.limits.rank_max = 1;
    EXPECT_NE(against(tosa::testing::two_additions(), descriptor), "");
}

TEST(Capabilities, have_types_and_objections_of_an_operator_alone) {
    static constexpr OperandTypes only_int32[] = {{DType::int32, DType::int32}};
    CapabilityDescriptor descriptor = small_descriptor();
    descriptor.operators[0].types = only_int32;
    EXPECT_EQ(against(tosa::testing::two_additions(), descriptor),
              "The operator 1 (ADD) is not taken for input (FP32) and output (FP32): choose "
              "another backend.\n"
              "The operator 2 (ADD) is not taken for input (FP32) and output (FP32): choose "
              "another backend.\n");
    descriptor.operators[0].types = {};
    descriptor.operators[0].objection = [](const OperatorInGraph& candidate) {
        return candidate.is_known(1) ? std::string_view{"must add two inputs"} : std::string_view{};
    };
    EXPECT_EQ(against(tosa::testing::two_additions(), descriptor),
              "The operator 1 (ADD) must add two inputs: choose another backend.\n");
}

TEST(Capabilities, do_not_look_at_operators_that_nobody_needs) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    builder.op(Op::erf, {x});
    builder.output(builder.add(x, x), "y");
    EXPECT_EQ(against(builder), "");
}

TEST(Capabilities, can_be_none_at_all) {
    EXPECT_TRUE(no_capabilities().empty());
}

}  // namespace
}  // namespace virtaccel::lowering

#include "virtaccel/tosa/builder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

TEST(Builder, writes_a_model_that_reads_back_as_it_was_built) {
    const Builder builder = testing::small_network();
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    EXPECT_EQ(graph.main().inputs.size(), 1U);
    EXPECT_EQ(graph.main().outputs.size(), 2U);
    EXPECT_EQ(graph.operators().back().op, Op::concat);
    EXPECT_EQ(graph.operators().back().as<AxisAttribute>().axis, 1);
}

TEST(Builder, infers_types_and_shapes) {
    Builder builder;
    const Value x = builder.input("x", DType::int8, {1, 3, 4});
    const Value y = builder.matmul(x, builder.zeros(DType::int8, {1, 4, 2}));
    EXPECT_EQ(builder.tensor(y).dtype, DType::int32);
    EXPECT_EQ(builder.tensor(y).elements, 6U);
    const Value product = builder.mul(y, y);
    EXPECT_EQ(builder.tensor(product).dtype, DType::int32);
    builder.output(product, "y");
    EXPECT_TRUE(builder.finish());
}

TEST(Builder, has_all_outputs_of_an_operator) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 4, 8});
    const Value real =
        builder.op(Op::rfft2d, {x}, FftAttribute{}, {.dtype = DType::fp32, .shape = {}});
    builder.output(real, "real");
    builder.output(Builder::output_of(real, 1), "imaginary");
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    EXPECT_EQ(verify(*bytes).value().main().outputs.size(), 2U);
}

TEST(Builder, takes_the_callers_word_for_a_custom_operator) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    const Value y = builder.op(
        Op::custom, {x},
        CustomAttribute{.operator_name = "twist", .domain_name = "test", .implementation = {}},
        {.dtype = DType::fp32, .shape = std::vector<std::int32_t>{2, 2}});
    builder.output(y, "y");
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    EXPECT_EQ(graph.operators()[0].as<CustomAttribute>().operator_name, "twist");
    EXPECT_EQ(graph.tensors()[graph.main().outputs[0]].elements, 4U);
}

TEST(Builder, keeps_the_first_mistake) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 3});
    const Value bad = builder.add(x, builder.input("z", DType::fp32, {2, 4}));
    builder.output(builder.add(bad, x), "y");
    const auto bytes = builder.finish();
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().sentence.view(),
              "Operator 0 (ADD) cannot be built: its inputs do not broadcast: dimension 1 is (3) "
              "and (4).");
}

TEST(Builder, takes_constants_from_any_range_of_elements) {
    Builder builder;
    const Value vector = builder.constant(DType::int32, {2}, std::vector<std::int32_t>{1, 2});
    const Value array = builder.constant(DType::int32, {2}, std::array<std::int32_t, 2>{1, 2});
    builder.output(builder.add(vector, array), "y");
    EXPECT_TRUE(builder.finish().has_value());
    EXPECT_TRUE(std::ranges::equal(builder.tensor(vector).data, builder.tensor(array).data));
}

TEST(Builder, refuses_a_constant_of_another_size) {
    Builder builder;
    builder.output(builder.constant({3}, {1, 2}), "y");
    const auto bytes = builder.finish();
    ASSERT_FALSE(bytes);
    EXPECT_NE(bytes.error().sentence.view().find("(CONST) cannot be built"), std::string::npos);
}

TEST(Builder, writes_the_same_bytes_every_time) {
    const auto first = testing::small_network().finish();
    const auto second = testing::small_network().finish();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(*first, *second);
}

// Five elements: of INT4, the last byte is half empty.
TEST(Builder, keeps_the_bytes_of_constants_of_every_type) {
    for (auto number = std::uint32_t{1}; number <= static_cast<std::uint32_t>(DType::fp8e5m2);
         ++number) {
        const auto dtype = static_cast<DType>(number);
        if (dtype == DType::shape) {
            continue;
        }
        std::vector<std::byte> bytes(byte_count(dtype, 5).value());
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : i + 1);
        }
        Builder builder;
        builder.output(builder.op(Op::identity, {builder.constant(dtype, {5}, bytes)}), "y");
        const auto model = builder.finish();
        ASSERT_TRUE(model) << name_of(dtype) << ": " << model.error().sentence.view();
        const Graph graph = verify(*model).value();
        const auto data = graph.tensors()[graph.operators()[0].outputs[0]].data;
        EXPECT_TRUE(std::ranges::equal(data, bytes)) << name_of(dtype);
    }
}

TEST(Builder, refuses_values_of_another_model) {
    Builder other;
    other.input("a", DType::fp32, {4});
    const Value foreign = other.input("b", DType::fp32, {4});
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    builder.output(builder.matmul(x, foreign), "y");
    EXPECT_FALSE(builder.finish());
    EXPECT_EQ(builder.tensor({.tensor = 1000}).dtype, DType::unknown);
    Builder without;
    without.output(foreign, "y");
    EXPECT_FALSE(without.finish());
}

TEST(Builder, asks_for_a_type_where_several_are_allowed) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {3});
    builder.output(builder.op(Op::cast, {x}), "y");
    EXPECT_FALSE(builder.finish());
}

TEST(Builder, writes_blocks_inside_blocks_and_names_each_anew) {
    Builder leaf;
    const Value a = leaf.input("a", DType::fp32, {2});
    leaf.output(leaf.clamp(leaf.add(a, a), 0, 1), "b");
    Builder arm;
    const Value x = arm.input("x", DType::fp32, {2});
    const Value choice = arm.input("choice", DType::boolean, {1});
    arm.output(arm.cond_if(choice, {x}, leaf, leaf), "y");
    Builder builder;
    const Value in = builder.input("in", DType::fp32, {2});
    const Value which = builder.input("which", DType::boolean, {1});
    const Value out = builder.cond_if(which, {in, which}, arm, arm);
    EXPECT_EQ(builder.tensor(out).dtype, DType::fp32);
    builder.output(out, "out");
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    EXPECT_EQ(graph.blocks().size(), 7U);
    EXPECT_EQ(graph.blocks().back().nesting, 2U);
}

TEST(Builder, writes_state_that_blocks_share_by_name) {
    Builder arm;
    arm.write(arm.variable("state", DType::fp32, {2}), arm.input("x", DType::fp32, {2}));
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value choice = builder.input("choice", DType::boolean, {1});
    const Value state = builder.variable("state", DType::fp32, {2});
    builder.cond_if(choice, {x}, arm, arm);
    builder.output(builder.read(state), "y");
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    for (const Tensor& tensor : graph.tensors()) {
        EXPECT_EQ(tensor.is_variable, tensor.name == "state");
        EXPECT_EQ(tensor.state, tensor.name);
    }
}

TEST(Builder, keeps_the_mistakes_of_blocks_and_of_those_who_run_them) {
    Builder wrong;
    wrong.output(wrong.add(wrong.input("x", DType::fp32, {2}), wrong.input("y", DType::fp32, {3})),
                 "z");
    Builder right;
    right.output(right.input("x", DType::fp32, {2}), "y");
    const auto sentence = [](const Builder& builder) {
        const auto bytes = builder.finish();
        return bytes ? std::string{} : std::string{bytes.error().sentence.view()};
    };
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value choice = builder.input("choice", DType::boolean, {1});
    Builder first = builder;
    first.cond_if(choice, {x}, right, wrong);
    EXPECT_NE(sentence(first).find("(ADD) cannot be built"), std::string::npos) << sentence(first);
    Builder second = builder;
    second.cond_if(second.input("wide", DType::boolean, {2}), {x}, right, right);
    EXPECT_NE(sentence(second).find("must be one BOOL"), std::string::npos) << sentence(second);
    Builder third = builder;
    third.read(x);
    EXPECT_NE(sentence(third).find("reads no variable"), std::string::npos) << sentence(third);
}

}  // namespace
}  // namespace virtaccel::tosa

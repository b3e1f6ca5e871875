#include "virtaccel/tosa/analysis.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// A model with its graph and what is known of it.
struct Analysed {
    std::vector<std::byte> bytes;
    Graph graph;
    Analysis analysis;

    explicit Analysed(const FileModel& model)
        : bytes(write_file(model)),
          graph(verify(bytes).value()),
          analysis(analyze(graph).value()) {}

    [[nodiscard]] const TensorLife& life(std::string_view name) const {
        const auto tensors = graph.tensors();
        const auto at = std::ranges::find(tensors, name, &Tensor::name);
        return analysis.tensors.at(static_cast<std::size_t>(at - tensors.begin()));
    }
};

TEST(Analysis, numbers_slots_inputs_first_then_outputs) {
    const Analysed model{testing::small_network().file()};
    ASSERT_EQ(model.analysis.slots.size(), 3U);
    EXPECT_EQ(model.analysis.input_count, 1U);
    EXPECT_EQ(model.analysis.slots[0].kind, SlotKind::input);
    EXPECT_EQ(model.analysis.slots[0].elements, 192U);
    EXPECT_EQ(model.analysis.slots[0].bytes, 768U);
    EXPECT_EQ(model.analysis.slots[1].kind, SlotKind::output);
    EXPECT_EQ(model.graph.tensors()[model.analysis.slots[1].tensor].name, "boxes");
    EXPECT_EQ(model.analysis.slots[1].bytes, 32U * 6 * 4);
    EXPECT_EQ(model.graph.tensors()[model.analysis.slots[2].tensor].name, "features");
    EXPECT_EQ(model.analysis.slot_bytes, 768U + (32 * 6 * 4) + (4 * 4 * 4 * 4));
    EXPECT_EQ(model.life("features").slot, 2U);
}

TEST(Analysis, finds_when_each_tensor_lives) {
    const Analysed model{testing::two_additions().file()};
    EXPECT_EQ(model.analysis.order, (std::vector<OperatorIndex>{0, 1, 2}));
    const TensorLife& x = model.life("x");
    EXPECT_EQ(x.origin, Origin::input);
    EXPECT_EQ(x.producer, nowhere);
    EXPECT_EQ(x.defined_at, nowhere);
    EXPECT_EQ(x.first_use, 1U);
    EXPECT_EQ(x.last_use, 2U);
    EXPECT_EQ(x.slot, 0U);
    const TensorLife& c = model.life("value_1");
    EXPECT_EQ(c.origin, Origin::constant);
    EXPECT_EQ(c.producer, 0U);
    EXPECT_EQ(c.last_use, 1U);
    const TensorLife& sum = model.life("value_2");
    EXPECT_EQ(sum.origin, Origin::computed);
    EXPECT_EQ(sum.defined_at, 1U);
    EXPECT_EQ(sum.first_use, 2U);
    EXPECT_EQ(sum.last_use, 2U);
    EXPECT_EQ(sum.slot, nowhere);
    const TensorLife& y = model.life("y");
    EXPECT_EQ(y.defined_at, 2U);
    EXPECT_EQ(y.first_use, nowhere);
    EXPECT_EQ(y.last_use, 3U);
    EXPECT_EQ(y.slot, 1U);
    EXPECT_EQ(model.analysis.constant_bytes, 16U);
    EXPECT_EQ(model.analysis.activation_bytes, 16U);
}

TEST(Analysis, finds_operators_whose_outputs_nobody_needs) {
    FileModel model = testing::two_additions().file();
    FileBlock& block = testing::main_of(model);
    block.tensors.push_back({.name = "spare", .shape = {1, 4}, .dtype = DType::fp32, .data = {}});
    block.tensors.push_back({.name = "spare2", .shape = {1, 4}, .dtype = DType::fp32, .data = {}});
    FileOperator exp;
    exp.op = Op::exp;
    exp.inputs = {"value_2"};
    exp.outputs = {"spare"};
    block.operators.push_back(exp);
    exp.inputs = {"spare"};
    exp.outputs = {"spare2"};
    block.operators.push_back(exp);
    const Analysed analysed{model};
    EXPECT_EQ(analysed.analysis.order, (std::vector<OperatorIndex>{0, 1, 2}));
    EXPECT_EQ(analysed.analysis.dead, (std::vector<OperatorIndex>{3, 4}));
    EXPECT_EQ(analysed.life("spare").origin, Origin::unused);
    EXPECT_EQ(analysed.life("value_2").last_use, 2U);
}

TEST(Analysis, knows_what_follows_from_constants) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 2});
    const Value half = builder.zeros(DType::fp16, {4});
    const Value folded = builder.reshape(builder.cast(half, DType::fp32), {2, 2});
    builder.output(builder.add(x, folded), "y");
    const Analysed model{builder.file()};
    EXPECT_EQ(model.life("value_1").origin, Origin::constant);
    EXPECT_EQ(model.life("value_2").origin, Origin::folded);
    EXPECT_EQ(model.life(builder.tensor(folded).name).origin, Origin::folded);
    EXPECT_EQ(model.life("y").origin, Origin::computed);
    EXPECT_EQ(model.analysis.activation_bytes, 0U);
}

TEST(Analysis, keeps_writers_of_state_alive) {
    FileModel model = testing::two_additions().file();
    FileBlock& block = testing::main_of(model);
    block.tensors.push_back(
        {.name = "state", .shape = {1, 4}, .dtype = DType::fp32, .data = {}, .is_variable = true});
    FileOperator write;
    write.op = Op::variable_write;
    write.inputs = {"value_2"};
    write.outputs = {"state"};
    block.operators.push_back(write);
    const Analysed analysed{model};
    EXPECT_EQ(analysed.analysis.order, (std::vector<OperatorIndex>{0, 1, 2, 3}));
    EXPECT_EQ(analysed.life("state").origin, Origin::variable);
    EXPECT_EQ(analysed.life("value_2").last_use, 3U);
}

TEST(Analysis, lets_an_input_be_an_output_and_an_output_come_twice) {
    FileModel model = testing::two_additions().file();
    testing::main_of(model).outputs = {"x", "y", "y"};
    const Analysed analysed{model};
    ASSERT_EQ(analysed.analysis.slots.size(), 4U);
    EXPECT_EQ(analysed.analysis.slots[1].tensor, analysed.analysis.slots[0].tensor);
    EXPECT_EQ(analysed.analysis.slots[2].tensor, analysed.analysis.slots[3].tensor);
    EXPECT_EQ(analysed.life("x").slot, 0U);
    EXPECT_EQ(analysed.life("x").last_use, 3U);
    EXPECT_EQ(analysed.life("y").slot, 2U);
}

// y = x + x, where the loop runs; and a CONST and an ADD that nobody needs.
Builder doubling() {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1});
    builder.add(x, builder.constant({1}, {1.0F}));
    builder.output(builder.add(x, x), "y");
    return builder;
}

TEST(Analysis, puts_the_operators_of_blocks_behind_those_that_run_them) {
    Builder condition;
    const Value x = condition.input("x", DType::fp32, {1});
    condition.output(condition.op(Op::greater, {condition.constant({1}, {9.0F}), x}), "goes on");
    Builder builder;
    const Value first = builder.input("first", DType::fp32, {1});
    const Value start = builder.add(first, first);
    builder.while_loop({first}, condition, doubling());  // nobody needs it
    const Value end = builder.while_loop({start}, condition, doubling());
    builder.output(builder.add(end, first), "last");
    const Analysed model{builder.file()};
    // ADD, [WHILE_LOOP], WHILE_LOOP with CONST, GREATER and ADD, and ADD; in the file, the blocks
    // of the dead one come first.
    EXPECT_EQ(model.analysis.order, (std::vector<OperatorIndex>{0, 2, 9, 10, 13, 3}));
    EXPECT_EQ(model.analysis.dead, (std::vector<OperatorIndex>{1, 4, 5, 6, 7, 8, 11, 12}));
    EXPECT_EQ(model.analysis.blocks[0].positions.count, 6U);
    EXPECT_EQ(model.analysis.blocks[1].callers, 0U);
    EXPECT_EQ(model.analysis.blocks[3].positions.first, 2U);
    EXPECT_EQ(model.analysis.blocks[3].positions.count, 2U);
    EXPECT_EQ(model.analysis.blocks[4].positions.first, 4U);
    EXPECT_EQ(model.analysis.blocks[4].callers, 1U);
    const Block& body = model.graph.blocks()[4];
    const TensorLife& in = model.analysis.tensors[body.inputs[0]];
    EXPECT_EQ(in.origin, Origin::computed);
    EXPECT_EQ(in.producer, nowhere);
    EXPECT_EQ(in.last_use, 4U);
    const TensorLife& out = model.analysis.tensors[body.outputs[0]];
    EXPECT_EQ(out.defined_at, 4U);
    EXPECT_EQ(out.last_use, 5U);
}

TEST(Analysis, places_a_block_of_several_callers_once) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1});
    const Value choice = builder.input("choice", DType::boolean, {1});
    builder.output(builder.cond_if(choice, {x}, doubling(), doubling()), "y");
    FileModel file = builder.file();
    testing::main_of(file).operators[0].branches[1] = "block_0_main";
    const Analysed model{file};
    EXPECT_EQ(model.analysis.order, (std::vector<OperatorIndex>{0, 3}));
    EXPECT_EQ(model.analysis.blocks[1].callers, 2U);
    EXPECT_EQ(model.analysis.blocks[2].callers, 0U);
}

TEST(Analysis, keeps_blocks_alive_that_write_state_and_knows_variables_by_name) {
    Builder arm;
    const Value a = arm.input("a", DType::fp32, {1});
    arm.write(arm.variable("count", DType::fp32, {1}), a);
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1});
    const Value choice = builder.input("choice", DType::boolean, {1});
    const std::vector<float> first{3.0F};
    const Value count =
        builder.variable("count", DType::fp32, {1}, std::as_bytes(std::span{first}));
    builder.variable("unused", DType::fp32, {1});
    builder.cond_if(choice, {x}, arm, arm);
    builder.output(builder.read(count), "y");
    const Analysed model{builder.file()};
    EXPECT_EQ(model.analysis.order, (std::vector<OperatorIndex>{0, 2, 3, 1}));
    ASSERT_EQ(model.analysis.states.size(), 1U);
    EXPECT_EQ(model.graph.tensors()[model.analysis.states[0]].data.size(), 4U);
    EXPECT_EQ(model.analysis.state_bytes, 4U);
    EXPECT_EQ(model.life("count").state, 0U);
    EXPECT_EQ(model.life("unused").state, nowhere);
}

TEST(Analysis, refuses_bytes_that_sum_past_64_bits) {
    FileModel model = testing::two_additions().file();
    for (FileTensor& tensor : testing::main_of(model).tensors) {
        if (tensor.data.empty()) {
            tensor.shape = {65536, 65536, 65536, 8192};
        }
    }
    Limits limits;
    limits.tensor_bytes_max = ~std::uint64_t{0};
    const std::vector<std::byte> bytes = write_file(model);
    const auto verdict = testing::verdict_of(analyze(verify(bytes, limits).value()));
    EXPECT_TRUE(verdict.says(Status::resource_limit, "more bytes than 64 bits count")) << verdict;
}

}  // namespace
}  // namespace virtaccel::tosa

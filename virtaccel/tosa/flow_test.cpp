#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::main_of;
using testing::two_additions;
using testing::verify_verdict;

// The operators' positions in the file, in the order in which the graph has them.
std::vector<std::uint32_t> order_of(const FileModel& model) {
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    std::vector<std::uint32_t> order;
    if (graph) {
        for (const Operator& op : graph->operators()) {
            order.push_back(op.index);
        }
    }
    return order;
}

// One COND_IF per block, each running `callee` in both cases.
FileBlock caller(const std::string& name, const std::string& callee) {
    FileBlock block;
    block.name = name;
    block.tensors = {{.name = "c", .shape = {1}, .dtype = DType::boolean, .data = {}}};
    block.inputs = {"c"};
    FileOperator op;
    op.op = Op::cond_if;
    op.inputs = {"c"};
    op.branches = {callee, callee};
    block.operators = {op};
    return block;
}

FileModel calling(const std::vector<FileBlock>& blocks) {
    FileModel model;
    for (const FileBlock& block : blocks) {
        model.regions.push_back({.name = block.name, .blocks = {block}});
    }
    return model;
}

TEST(Flow, keeps_the_files_order_where_it_can_run) {
    EXPECT_EQ(order_of(two_additions().file()), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Flow, sorts_operators_that_are_out_of_order) {
    FileModel model = two_additions().file();
    std::ranges::reverse(main_of(model).operators);
    EXPECT_EQ(order_of(model), (std::vector<std::uint32_t>{2, 1, 0}));
    model = two_additions().file();
    std::swap(main_of(model).operators[0], main_of(model).operators[1]);
    EXPECT_EQ(order_of(model), (std::vector<std::uint32_t>{1, 0, 2}));
}

TEST(Flow, refuses_two_producers_of_a_tensor) {
    FileModel model = two_additions().file();
    main_of(model).operators[2].outputs[0] = main_of(model).operators[1].outputs[0];
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument,
        "Operator 2 (ADD) produces (value_2), which operator 1 produces too"));
    model = two_additions().file();
    main_of(model).operators[2].outputs[0] = "x";
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "produces (x), which is an input of its block"));
}

TEST(Flow, refuses_what_nothing_produces) {
    FileModel model = two_additions().file();
    main_of(model).inputs.clear();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "Operator 1 (ADD) reads (x), which nothing produces"));
    model = two_additions().file();
    main_of(model).operators.pop_back();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "Block (main) has an output (y) that nothing produces"));
}

TEST(Flow, refuses_an_input_that_is_named_twice) {
    FileModel model = two_additions().file();
    main_of(model).inputs = {"x", "x"};
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "has an input (x) that is"));
}

TEST(Flow, refuses_a_cycle) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].inputs[0] = "y";
    const auto verdict = verify_verdict(model);
    EXPECT_TRUE(verdict.says(Status::invalid_argument, "Operator 1 (ADD) waits for its own output"))
        << verdict;
    model = two_additions().file();
    main_of(model).operators[1].inputs[0] = "value_2";
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "Operator 1 (ADD) waits"));
}

TEST(Flow, takes_values_in_the_file_from_constants_alone) {
    FileModel model = two_additions().file();
    main_of(model).tensors[2].data.resize(16);
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument, "Operator 1 (ADD) has an output (value_2) with a value"));
    model = two_additions().file();
    main_of(model).tensors[0].data.resize(16);
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph);
    EXPECT_TRUE(graph->tensors()[0].data.empty());
    EXPECT_FALSE(graph->tensors()[0].is_constant);
}

TEST(Flow, lets_a_variable_be_written_again_and_again_but_only_in_order) {
    FileModel model = two_additions().file();
    FileBlock& block = main_of(model);
    block.tensors.push_back(
        {.name = "state", .shape = {1, 4}, .dtype = DType::fp32, .data = {}, .is_variable = true});
    FileOperator write;
    write.op = Op::variable_write;
    write.inputs = {"y"};
    write.outputs = {"state"};
    block.operators.push_back(write);
    block.operators.push_back(write);
    EXPECT_EQ(order_of(model), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
    std::swap(block.operators[1], block.operators[2]);
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "Operator 3 (VARIABLE_WRITE) uses a variable in a block "
                                           "whose operators are out of order"));
}

TEST(Flow, reads_an_identity_with_a_variables_attribute_as_that_variables_operator) {
    FileModel model = two_additions().file();
    FileBlock& block = main_of(model);
    block.tensors.push_back(
        {.name = "state", .shape = {1, 4}, .dtype = DType::fp32, .data = {}, .is_variable = true});
    block.tensors.push_back({.name = "now", .shape = {1, 4}, .dtype = DType::fp32, .data = {}});
    FileOperator read;
    read.op = Op::identity;
    read.attribute_op = Op::variable_read;
    read.inputs = {"state"};
    read.outputs = {"now"};
    block.operators.push_back(read);
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph) << graph.error().sentence.view();
    EXPECT_EQ(graph->operators().back().op, Op::variable_read);
}

TEST(Nesting, is_counted_from_the_outermost_block) {
    FileBlock leaf;
    leaf.name = "leaf";
    const FileModel model = calling({caller("main", "inner"), caller("inner", "leaf"), leaf});
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph) << graph.error().sentence.view();
    EXPECT_EQ(graph->blocks()[0].nesting, 0U);
    EXPECT_EQ(graph->blocks()[1].nesting, 1U);
    EXPECT_EQ(graph->blocks()[2].nesting, 2U);
    EXPECT_EQ(graph->operators()[0].as<BranchAttribute>().second, 1U);
}

TEST(Nesting, refuses_blocks_that_run_themselves) {
    EXPECT_TRUE(verify_verdict(calling({caller("main", "main")}))
                    .says(Status::invalid_argument, "Block (main) runs itself"));
    EXPECT_TRUE(verify_verdict(calling({caller("main", "a"), caller("a", "b"), caller("b", "a")}))
                    .says(Status::invalid_argument, "Block (a) runs itself"));
}

TEST(Nesting, refuses_a_block_that_is_not_there_and_names_of_two) {
    EXPECT_TRUE(
        verify_verdict(calling({caller("main", "ghost")}))
            .says(Status::invalid_argument,
                  "Operator 0 (COND_IF) names a block (ghost) that the model does not have"));
    FileBlock leaf;
    leaf.name = "main";
    EXPECT_TRUE(
        verify_verdict(calling({caller("main", "main"), leaf}))
            .says(Status::invalid_argument, "Two regions or two blocks have the name (main)"));
}

TEST(Nesting, is_bounded_by_the_number_of_blocks) {
    std::vector<FileBlock> blocks;
    blocks.reserve(10000);
    for (int i = 0; i < 10000; ++i) {
        blocks.push_back(caller("b" + std::to_string(i), "b" + std::to_string(i + 1)));
    }
    EXPECT_TRUE(verify_verdict(calling(blocks))
                    .says(Status::resource_limit, "The model has (10000) regions"));
}

}  // namespace
}  // namespace virtaccel::tosa

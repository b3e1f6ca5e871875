#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::main_of;
using testing::two_additions;
using testing::verify_verdict;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}

TEST(Verify, shows_a_model_as_dense_tables) {
    const std::vector<std::byte> bytes = two_additions().finish().value();
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph) << graph.error().sentence.view();
    EXPECT_EQ(graph->version().major, 1);
    EXPECT_EQ(graph->version().minor, 0);
    ASSERT_EQ(graph->blocks().size(), 1U);
    const Block& block = graph->main();
    EXPECT_EQ(block.name, "main");
    ASSERT_EQ(block.inputs.size(), 1U);
    EXPECT_EQ(graph->tensors()[block.inputs[0]].name, "x");
    ASSERT_EQ(graph->operators(block).size(), 3U);
    const Operator& last = graph->operators()[2];
    EXPECT_EQ(last.op, Op::add);
    EXPECT_EQ(last.index, 2U);
    EXPECT_EQ(graph->tensors()[last.outputs[0]].name, "y");
    EXPECT_EQ(graph->tensors()[last.inputs[1]].name, "x");
}

TEST(Verify, leaves_names_and_constants_where_they_are) {
    const std::vector<std::byte> bytes = two_additions().finish().value();
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph);
    const auto inside = [&bytes](const void* at) {
        const auto* byte = static_cast<const std::byte*>(at);
        return byte >= bytes.data() && byte < bytes.data() + bytes.size();
    };
    for (const Tensor& tensor : graph->tensors()) {
        EXPECT_TRUE(inside(tensor.name.data())) << tensor.name;
        EXPECT_EQ(tensor.is_constant, !tensor.data.empty()) << tensor.name;
        EXPECT_TRUE(tensor.data.empty() || inside(tensor.data.data())) << tensor.name;
    }
    const Tensor& constant = graph->tensors()[graph->operators()[0].outputs[0]];
    ASSERT_EQ(constant.data.size(), 4 * sizeof(float));
    float third = 0;
    std::memcpy(&third, constant.data.data() + (2 * sizeof(float)), sizeof(float));
    EXPECT_EQ(third, 3.0F);
}

TEST(Verify, survives_being_moved) {
    const std::vector<std::byte> bytes = testing::small_network().finish().value();
    Graph graph = verify(bytes).value();
    const TensorIndex first = graph.operators().back().inputs[0];
    const Graph moved = std::move(graph);
    EXPECT_EQ(moved.operators().back().inputs[0], first);
    EXPECT_EQ(moved.main().outputs.size(), 2U);
}

TEST(Verify, refuses_files_that_are_no_tosa_flatbuffer) {
    for (std::size_t size = 0; size <= 8; ++size) {
        const std::vector<std::byte> bytes(size);
        EXPECT_EQ(verify_verdict(bytes).status, Status::invalid_argument) << size;
    }
    EXPECT_TRUE(verify_verdict(bytes_of({"\x18\0\0\0TOSA", 8}))
                    .says(Status::invalid_argument, "its root does not lie inside it"));
    std::vector<std::byte> other = two_additions().finish().value();
    std::ranges::copy(bytes_of("TFL3"), other.begin() + 4);
    EXPECT_TRUE(verify_verdict(other).says(Status::invalid_argument, "must be \"TOSA\""));
}

TEST(Verify, refuses_files_that_do_not_end_at_a_word) {
    std::vector<std::byte> bytes = two_additions().finish().value();
    for (int byte = 0; byte < 3; ++byte) {
        bytes.push_back(std::byte{});
        EXPECT_TRUE(verify_verdict(bytes).says(Status::invalid_argument, "no multiple of 4"));
    }
}

TEST(Verify, asks_for_aligned_bytes) {
    std::vector<std::byte> bytes = two_additions().finish().value();
    bytes.insert(bytes.begin(), 4, std::byte{});
    const auto shifted = std::span<const std::byte>{bytes}.subspan(4);
    EXPECT_TRUE(verify_verdict(shifted).says(Status::internal_error, "multiple of 8"));
}

TEST(Verify, refuses_a_name_that_no_tensor_has) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].inputs[1] = "ghost";
    const auto verdict = verify_verdict(model);
    EXPECT_TRUE(verdict.says(Status::invalid_argument,
                             "Operator 1 (ADD) has an operand (ghost) that no tensor has"))
        << verdict;
    EXPECT_EQ(verdict.operator_index, 1U);

    model = two_additions().file();
    main_of(model).operators[2].outputs[0] = "";
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "Operator 2 (ADD)"));

    model = two_additions().file();
    main_of(model).outputs[0] = "ghost";
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "Block (main) has an input or output (ghost)"));
}

TEST(Verify, refuses_two_tensors_of_one_name) {
    FileModel model = two_additions().file();
    main_of(model).tensors[1].name = "x";
    EXPECT_TRUE(
        verify_verdict(model).says(Status::invalid_argument, "Two tensors have the name (x)"));
    model = two_additions().file();
    main_of(model).shapes.push_back({.name = "x", .rank = 0, .data = {}});
    EXPECT_TRUE(
        verify_verdict(model).says(Status::invalid_argument, "Two tensors have the name (x)"));
}

TEST(Verify, refuses_things_without_a_name) {
    FileModel model = two_additions().file();
    main_of(model).tensors[0].name.reset();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "a tensor without a name"));
    model = two_additions().file();
    main_of(model).tensors[0].name = "";
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "a tensor without a name"));
    model = two_additions().file();
    main_of(model).name.reset();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "a block without a name"));
    model = two_additions().file();
    model.regions[0].name.reset();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "a region without a name"));
}

TEST(Verify, refuses_a_model_with_nothing_to_run) {
    FileModel model = two_additions().file();
    model.regions[0].blocks.clear();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "Region (main) has no block"));
    model.regions.clear();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "nothing to run"));
}

TEST(Verify, refuses_an_attribute_that_is_missing_or_another_operators) {
    FileModel model = testing::small_network().file();
    auto conv = std::ranges::find(main_of(model).operators, Op::conv2d, &FileOperator::op);
    conv->attribute_op = Op::max_pool2d;
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument,
        "(CONV2D) has an attribute of the kind (8); it must have its own (3)"));
    conv->attribute_op = Op::unknown;
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                           "(CONV2D) has an attribute of the kind (0)"));
    conv->attribute_op.reset();
    conv->has_attribute_table = false;
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument, "(CONV2D) names the kind of its attribute but has none"));
}

TEST(Verify, lets_an_operator_without_members_go_without_its_attribute) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].attribute_op = Op::unknown;
    EXPECT_EQ(verify_verdict(model).status, Status::ok);
    main_of(model).operators[1].attribute_op = Op::sub;
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "Operator 1 (ADD)"));
}

TEST(Verify, refuses_data_that_is_shorter_or_longer_than_its_shape) {
    FileModel model = two_additions().file();
    std::vector<std::byte>& data = main_of(model).tensors[1].data;
    data.resize(8);
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument,
        "Tensor (value_1) has (8) bytes of data; its type and shape take 16"));
    data.resize(24);
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "has (24) bytes of data"));
    data.clear();
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument, "Operator 0 (CONST) has an output (value_1) without a value"));
}

TEST(Verify, takes_only_zeros_behind_data) {
    FileModel model = two_additions().file();
    FileBlock& block = main_of(model);
    for (FileTensor& tensor : block.tensors) {
        tensor.shape = {1, 3};
    }
    block.tensors[1].data.resize(12);
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph);
    EXPECT_EQ(graph->tensors()[1].data.size(), 12U);
    block.tensors[1].data.resize(16, std::byte{1});
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "which zeros may follow"));
}

TEST(Verify, counts_bytes_as_each_type_is_stored) {
    for (const auto& [dtype, bytes] :
         {std::pair{DType::int4, 3}, std::pair{DType::int48, 30}, std::pair{DType::boolean, 5},
          std::pair{DType::bf16, 10}, std::pair{DType::fp8e4m3, 5}, std::pair{DType::int32, 20}}) {
        Builder builder;
        builder.output(builder.zeros(dtype, {5}), "y");
        FileModel model = builder.file();
        EXPECT_EQ(verify_verdict(model).status, Status::ok) << name_of(dtype);
        main_of(model).tensors[0].data.assign(static_cast<std::size_t>(bytes), std::byte{1});
        const std::vector<std::byte> file = write_file(model);
        const Checked<Graph> graph = verify(file);
        ASSERT_TRUE(graph) << name_of(dtype);
        EXPECT_EQ(graph->tensors()[0].bytes, static_cast<std::uint64_t>(bytes)) << name_of(dtype);
        main_of(model).tensors[0].data.emplace_back(std::byte{1});
        EXPECT_EQ(verify_verdict(model).status, Status::invalid_argument) << name_of(dtype);
    }
}

TEST(Verify, refuses_dimensions_that_make_no_tensor) {
    for (const std::int32_t dim : {0, -1}) {
        FileModel model = two_additions().file();
        main_of(model).tensors[0].shape = {1, dim};
        EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument,
                                               "Tensor (x) has a dimension below 1"))
            << dim;
    }
    FileModel model = two_additions().file();
    main_of(model).tensors[0].shape.assign(4, 65536);
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "more elements than 64 bits"));
    main_of(model).tensors[0].shape.assign(3, 65536);
    EXPECT_TRUE(verify_verdict(model).says(Status::resource_limit, "Tensor (x) has ("));
    main_of(model).tensors[0].shape.assign(9, 1);
    EXPECT_TRUE(verify_verdict(model).says(Status::resource_limit, "has rank (9)"));
}

TEST(Verify, refuses_what_is_not_in_the_file_or_not_in_tosa_1_0) {
    FileModel model = two_additions().file();
    main_of(model).tensors[0].is_unranked = true;
    EXPECT_TRUE(verify_verdict(model).says(Status::incompatible, "Tensor (x) has no rank"));
    model = two_additions().file();
    main_of(model).tensors[1].outside_offset = 64;
    EXPECT_TRUE(verify_verdict(model).says(Status::incompatible, "keeps its data outside"));
    model = two_additions().file();
    main_of(model).tensors[0].dtype = DType::shape;
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "put it among the shapes"));
    model = two_additions().file();
    main_of(model).shapes.push_back({.name = "s", .rank = 17, .data = {}});
    EXPECT_TRUE(verify_verdict(model).says(Status::resource_limit, "Shape (s) has (17) elements"));
}

TEST(Verify, keeps_numbers_it_does_not_know) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].op = static_cast<Op>(200);
    main_of(model).operators[1].attribute_op = static_cast<Op>(200);
    main_of(model).tensors[2].dtype = static_cast<DType>(99);
    const std::vector<std::byte> bytes = write_file(model);
    const Checked<Graph> graph = verify(bytes);
    ASSERT_TRUE(graph) << graph.error().sentence.view();
    EXPECT_EQ(static_cast<std::uint32_t>(graph->operators()[1].op), 200U);
    EXPECT_EQ(static_cast<std::uint32_t>(graph->tensors()[2].dtype), 99U);
}

TEST(Verify, counts_operands_by_the_operators_row) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].inputs.pop_back();
    EXPECT_TRUE(verify_verdict(model).says(
        Status::invalid_argument,
        "Operator 1 (ADD) has (1) inputs and (1) outputs; it takes 2 and 1"));
    model = two_additions().file();
    main_of(model).operators[1].outputs.clear();
    EXPECT_TRUE(verify_verdict(model).says(Status::invalid_argument, "(2) inputs and (0) outputs"));
}

TEST(Verify, refuses_attribute_lists_of_a_wrong_length) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 2, 3});
    TransposeAttribute perms = {.perms = {1, 0, 2}, .rank = 3};
    builder.output(builder.op(Op::transpose, {x}, perms), "y");
    FileModel model = builder.file();
    // A MAX_POOL2D written with the lists of a TRANSPOSE has none of its own.
    main_of(model).operators[0].op = Op::transpose;
    EXPECT_EQ(verify_verdict(model).status, Status::ok);
    perms.rank = 2;
    main_of(model).operators[0].attribute = perms;
    EXPECT_TRUE(testing::validate_verdict(model, testing::generous())
                    .says(Status::invalid_argument, "its number of perms (2) must be 3"));
}

TEST(Verify, keeps_every_named_limit) {
    const FileModel model = testing::small_network().file();
    const std::vector<std::byte> bytes = write_file(model);
    ASSERT_EQ(verify_verdict(bytes).status, Status::ok);
    const auto refused = [&bytes](auto set, std::string_view what) {
        Limits limits;
        set(limits);
        const testing::Verdict verdict = verify_verdict(bytes, limits);
        EXPECT_TRUE(verdict.says(Status::resource_limit, std::string{what})) << verdict;
    };
    refused([](Limits& l) { l.bytes_max = 100; }, "bytes; at most 100");
    refused([](Limits& l) { l.tables_max = 20; }, "flatbuffer tables; at most 20");
    refused([](Limits& l) { l.blocks_max = 0; }, "regions; at most 0");
    refused([](Limits& l) { l.operators_max = 10; }, "operators; at most 10");
    refused([](Limits& l) { l.tensors_max = 10; }, "tensors and shapes; at most 10");
    refused([](Limits& l) { l.name_bytes_max = 4; }, "at most 4");
    refused([](Limits& l) { l.operands_max = 3; }, "inputs at one operator; at most 3");
    refused([](Limits& l) { l.operands_total_max = 20; }, "operands; at most 20");
    refused([](Limits& l) { l.slots_max = 2; }, "inputs and outputs; at most 2");
    refused([](Limits& l) { l.tensor_bytes_max = 100; }, "at most 100 bytes");
    Limits shallow;
    shallow.depth_max = 3;
    EXPECT_NE(verify_verdict(bytes, shallow).status, Status::ok);
}

TEST(Verify, gives_every_operator_the_attribute_of_its_row) {
    for (const OperatorRow& row : operator_rows()) {
        FileBlock block;
        FileOperator op;
        op.op = row.op;
        op.branches = {"other", "other"};
        for (std::uint32_t i = 0; i < row.inputs.required; ++i) {
            op.inputs.emplace_back("in");
        }
        for (std::uint32_t i = 0; i < row.outputs.required; ++i) {
            op.outputs.push_back("out" + std::to_string(i));
            block.tensors.push_back({.name = op.outputs.back(),
                                     .shape = {1},
                                     .dtype = DType::int8,
                                     .data = {},
                                     .is_variable = row.op == Op::variable_write});
        }
        if (row.kind == OperatorClass::data) {
            block.tensors[0].data.resize(1);
        }
        block.tensors.push_back({.name = "in", .shape = {1}, .dtype = DType::int8, .data = {}});
        block.inputs = {"in"};
        block.operators.push_back(op);
        FileModel model;
        FileBlock other;
        other.name = "other";
        model.regions = {{.name = "main", .blocks = {block}}, {.name = "other", .blocks = {other}}};
        const std::vector<std::byte> bytes = write_file(model);
        const Checked<Graph> graph = verify(bytes);
        ASSERT_TRUE(graph) << row.name << ": " << graph.error().sentence.view();
        EXPECT_EQ(graph->operators()[0].op, row.op);
        EXPECT_EQ(graph->operators()[0].attribute.index(), row.attribute) << row.name;
    }
}

}  // namespace
}  // namespace virtaccel::tosa

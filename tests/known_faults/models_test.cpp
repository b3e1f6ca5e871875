// A model is a file that anybody may have made. Elsewhere a parser followed an offset out of the
// file, an attribute of zero divided, a product of dimensions wrapped to a small number, and an
// operator read a tensor before anything wrote it. Each of these is refused with its place and its
// reason, by the program as by the device, which goes on.

#include "virtaccel/tosa/testing/models.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "host/files.h"
#include "tests/known_faults/cpu_stack.h"
#include "tools/virtaccel/command_line.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::known_faults {
namespace {

using tosa::DType;
using tosa::FileModel;
using tosa::FileOperator;
using tosa::Op;
using tosa::testing::main_of;

// What `virtaccel run` says of a file with these bytes.
struct Said {
    int code = 0;
    std::string words;
};

Said run_program(std::span<const std::byte> bytes) {
    // Tests run side by side, each in a process of its own.
    const std::string path =
        ::testing::TempDir() + "/known_faults_" + std::to_string(::getpid()) + ".tosa";
    auto file = host::NewFile::write(path, bytes);
    EXPECT_TRUE(file.has_value() && file->commit().has_value());
    const std::array arguments{"virtaccel", "run", path.c_str()};
    ::testing::internal::CaptureStderr();
    const int code = cli::run_command_line(arguments);
    const Said said{.code = code, .words = ::testing::internal::GetCapturedStderr()};
    EXPECT_EQ(std::remove(path.c_str()), 0);
    return said;
}

// The program ends with 1 and one line that names the file, and the device refuses the bytes too.
void expect_refused(std::span<const std::byte> bytes, std::string_view what) {
    const auto said = run_program(bytes);
    EXPECT_EQ(said.code, 1) << what;
    EXPECT_TRUE(said.words.starts_with("virtaccel: The file (")) << what << ": " << said.words;
    EXPECT_NE(said.words.find(") is no model that can be taken: "), std::string::npos) << what;
    EXPECT_EQ(std::ranges::count(said.words, '\n'), 1) << what << ": " << said.words;
    EXPECT_TRUE(said.words.ends_with(".\n")) << what << ": " << said.words;
    if (!bytes.empty()) {
        CpuStack stack;
        const auto ran = stack.load(bytes);
        EXPECT_FALSE(ran.loaded) << what;
        EXPECT_EQ(ran.status, Status::invalid_argument) << what << ": " << ran.refusals;
        EXPECT_FALSE(ran.refusals.empty()) << what;
    }
}

TEST(ModelFiles, that_are_none_are_refused) {
    for (std::size_t size = 0; size <= 8; ++size) {
        expect_refused(Bytes(size), std::to_string(size) + " zeros");
    }
    const std::string_view offset{"\x18\0\0\0TOSA", 8};
    expect_refused(std::as_bytes(std::span{offset}), "an offset out of the file");
    Bytes other = tosa::testing::two_additions().finish().value();
    constexpr std::string_view foreign = "TFL3";
    std::ranges::copy(std::as_bytes(std::span{foreign}), other.begin() + 4);
    expect_refused(other, "another format");
    const Bytes whole = tosa::testing::two_additions().finish().value();
    for (std::size_t size = 9; size < whole.size(); size += whole.size() / 16) {
        expect_refused(std::span{whole}.first(size), "cut at " + std::to_string(size));
    }
}

struct Spoilt {
    std::string_view what;
    std::function<void(tosa::FileBlock&)> spoil;
};

// CONST, ADD, ADD over x, value_1, value_2, y.
const Spoilt spoilt_graphs[] = {
    {"an operand that no tensor has", [](auto& block) { block.operators[1].inputs[1] = "ghost"; }},
    {"an output that no tensor has", [](auto& block) { block.operators[2].outputs[0] = "ghost"; }},
    {"two tensors of one name", [](auto& block) { block.tensors[1].name = "x"; }},
    {"a tensor without a name", [](auto& block) { block.tensors[0].name.reset(); }},
    {"an attribute that is announced and absent",
     [](auto& block) {
         block.operators[1].attribute_op = Op::max_pool2d;
         block.operators[1].has_attribute_table = false;
     }},
    {"an attribute of another operator",
     [](auto& block) { block.operators[1].attribute_op = Op::max_pool2d; }},
    {"data shorter than their shape", [](auto& block) { block.tensors[1].data.resize(8); }},
    {"data longer than their shape", [](auto& block) { block.tensors[1].data.resize(24); }},
    {"an output that nothing produces", [](auto& block) { block.operators.pop_back(); }},
    {"a cycle", [](auto& block) { block.operators[1].inputs[0] = "y"; }},
    {"two producers of a tensor",
     [](auto& block) { block.operators[2].outputs[0] = block.operators[1].outputs[0]; }},
    {"a dimension of zero", [](auto& block) { block.tensors[0].shape = {1, 0}; }},
    {"a dimension below zero", [](auto& block) { block.tensors[0].shape = {1, -1}; }},
    {"a product of dimensions of 2 to the 64th",
     [](auto& block) { block.tensors[0].shape.assign(4, 65536); }},
};

TEST(ModelFiles, whose_graph_makes_no_sense_are_refused) {
    for (const auto& [what, spoil] : spoilt_graphs) {
        FileModel model = tosa::testing::two_additions().file();
        spoil(main_of(model));
        expect_refused(tosa::write_file(model), what);
    }
}

TEST(ModelFiles, of_another_version_are_incompatible) {
    FileModel model = tosa::testing::two_additions().file();
    model.version = {.major = 9, .minor = 9, .patch = 0};
    CpuStack stack;
    const auto ran = stack.load(tosa::write_file(model));
    EXPECT_FALSE(ran.loaded);
    EXPECT_EQ(ran.status, Status::incompatible);
    EXPECT_NE(ran.refusals.find("9.9"), std::string::npos) << ran.refusals;
}

TEST(ModelFiles, with_operators_out_of_order_never_read_before_a_write) {
    FileModel model = tosa::testing::two_additions().file();
    std::ranges::reverse(main_of(model).operators);
    CpuStack stack;
    const std::vector<Bytes> inputs{bytes_of<float>({10, 20, 30, 40})};
    const auto ran = stack.run(tosa::write_file(model), inputs);
    ASSERT_TRUE(ran.loaded) << ran.refusals;
    EXPECT_EQ(ran.output, bytes_of<float>({21, 42, 63, 84}));
}

// One operator with an attribute or an operand that makes no sense.
struct BadOperator {
    std::string_view name;       // of the operator
    std::string_view complaint;  // about the attribute
    Op op = Op::unknown;
    std::function<void(FileOperator&)> spoil;
};

template <class Attribute>
std::function<void(FileOperator&)> with(void (*change)(Attribute&)) {
    return [change](FileOperator& op) { change(std::get<Attribute>(op.attribute)); };
}

using Conv = tosa::Conv2dAttribute;
using Pool = tosa::PoolAttribute;

const BadOperator bad_operators[] = {
    {"(CONV2D)", "stride (0)", Op::conv2d, with<Conv>([](Conv& c) { c.stride = {0, 1}; })},
    {"(CONV2D)", "stride (65536)", Op::conv2d, with<Conv>([](Conv& c) { c.stride = {1, 65536}; })},
    {"(CONV2D)", "dilation (0)", Op::conv2d, with<Conv>([](Conv& c) { c.dilation = {1, 0}; })},
    {"(CONV2D)", "padding (-1)", Op::conv2d, with<Conv>([](Conv& c) { c.pad = {-1, 0, 0, 0}; })},
    {"(DEPTHWISE_CONV2D)", "stride (0)", Op::depthwise_conv2d,
     with<Conv>([](Conv& c) { c.stride = {1, 0}; })},
    {"(DEPTHWISE_CONV2D)", "dilation (0)", Op::depthwise_conv2d,
     with<Conv>([](Conv& c) { c.dilation = {0, 1}; })},
    {"(MAX_POOL2D)", "stride (0)", Op::max_pool2d, with<Pool>([](Pool& p) { p.stride = {0, 2}; })},
    {"(MAX_POOL2D)", "stride (65536)", Op::max_pool2d,
     with<Pool>([](Pool& p) { p.stride = {2, 65536}; })},
    {"(MAX_POOL2D)", "kernel (0)", Op::max_pool2d, with<Pool>([](Pool& p) { p.kernel = {2, 0}; })},
    {"(MAX_POOL2D)", "padding (2)", Op::max_pool2d,
     with<Pool>([](Pool& p) { p.pad = {2, 2, 0, 0}; })},
};

TEST(Attributes, that_make_no_sense_are_refused_by_operator_and_name) {
    for (const BadOperator& bad : bad_operators) {
        FileModel model = tosa::testing::small_network().file();
        const auto op = std::ranges::find(main_of(model).operators, bad.op, &FileOperator::op);
        ASSERT_NE(op, main_of(model).operators.end());
        bad.spoil(*op);
        CpuStack stack;
        const auto ran = stack.load(tosa::write_file(model));
        EXPECT_FALSE(ran.loaded) << bad.name << bad.complaint;
        EXPECT_TRUE(ran.status == Status::invalid_argument || ran.status == Status::incompatible);
        EXPECT_NE(ran.refusals.find(bad.name), std::string::npos) << ran.refusals;
        EXPECT_NE(ran.refusals.find(bad.complaint), std::string::npos)
            << bad.name << " " << bad.complaint << ": " << ran.refusals;
    }
}

TEST(Attributes, of_a_kernel_without_elements_are_refused_by_its_tensor) {
    FileModel model = tosa::testing::small_network().file();
    const auto op = std::ranges::find(main_of(model).operators, Op::conv2d, &FileOperator::op);
    const auto weight = std::ranges::find(main_of(model).tensors, op->inputs[1],
                                          [](const auto& tensor) { return *tensor.name; });
    ASSERT_NE(weight, main_of(model).tensors.end());
    weight->shape[1] = 0;
    expect_refused(tosa::write_file(model), "a kernel of zero");
}

TEST(Attributes, of_a_reshape_that_its_output_does_not_have_are_refused) {
    const std::vector<std::vector<std::int64_t>> shapes{{1, 1, 4}, {5}, {2, 2}};
    for (const auto& wanted : shapes) {
        tosa::Builder builder;
        const auto x = builder.input("x", DType::fp32, {1, 4});
        builder.output(builder.reshape(x, {4}), "y");
        FileModel model = builder.file();
        tosa::FileBlock& block = main_of(model);
        ASSERT_EQ(block.shapes.size(), 1U);
        block.shapes[0].rank = static_cast<std::uint32_t>(wanted.size());
        block.shapes[0].data = bytes_of(wanted);
        CpuStack stack;
        const auto ran = stack.load(tosa::write_file(model));
        EXPECT_FALSE(ran.loaded);
        EXPECT_EQ(ran.status, Status::invalid_argument);
        EXPECT_NE(ran.refusals.find("(RESHAPE)"), std::string::npos) << ran.refusals;
    }
}

}  // namespace
}  // namespace virtaccel::known_faults

#include "virtaccel/tosa/validate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

using testing::generous;
using testing::main_of;
using testing::two_additions;
using testing::validate_verdict;

Target target_for(const FileModel& model) {
    const std::vector<std::byte> bytes = write_file(model);
    return target_of(verify(bytes).value());
}

TEST(Validate, accepts_a_sound_model) {
    const FileModel model = testing::small_network().file();
    EXPECT_EQ(validate_verdict(model, target_for(model)).status, Status::ok);
    EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
}

TEST(Validate, compares_versions_but_not_patches) {
    FileModel model = two_additions().file();
    model.version.patch = 7;
    EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
    model.version = {.major = 9, .minor = 9, .patch = 0};
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::incompatible,
                          "The model has version (9.9) and the target version (1.0)"));
    EXPECT_EQ(validate_verdict(model, target_for(model)).status, Status::incompatible);
    model.version = {.major = 1, .minor = 1, .patch = 0};
    EXPECT_EQ(validate_verdict(model, target_for(model)).status, Status::incompatible);
    model.version = {};
    EXPECT_EQ(validate_verdict(model, target_for(model)).status, Status::incompatible);
}

TEST(Validate, asks_for_the_profile_of_the_types) {
    const FileModel model = two_additions().file();
    Target target = generous();
    target.extensions = {};
    target.profiles = ProfileBit::integer;
    EXPECT_TRUE(validate_verdict(model, target)
                    .says(Status::incompatible, "Operator 0 (CONST) needs the profile PRO-FP"));
    target.profiles = ProfileBit::floating_point;
    EXPECT_EQ(validate_verdict(model, target).status, Status::ok);
}

TEST(Validate, asks_for_the_extension_of_the_types) {
    Builder builder;
    const Value x = builder.input("x", DType::bf16, {4});
    builder.output(builder.op(Op::exp, {x}), "y");
    Target target;
    const auto verdict = validate_verdict(builder.file(), target);
    EXPECT_TRUE(verdict.says(Status::incompatible, "Operator 0 (EXP) needs the extension BF16"))
        << verdict;
    target.extensions = ExtensionBit::bf16;
    EXPECT_EQ(validate_verdict(builder.file(), target).status, Status::ok);
}

TEST(Validate, refuses_a_resize_whose_mode_and_type_disagree) {
    for (const bool is_wide : {false, true}) {
        Builder builder;
        const Value x = builder.input("x", DType::int8, {1, 1, 2, 1});
        const Value parameters[] = {x, builder.shape({1, 1, 4, 2}), builder.shape({0, -1}),
                                    builder.shape({0, 1})};
        builder.output(builder.op(Op::resize, parameters,
                                  ResizeAttribute{.mode = is_wide ? ResizeMode::bilinear
                                                                  : ResizeMode::nearest},
                                  {.dtype = is_wide ? DType::int32 : DType::int8, .shape = {}}),
                       "y");
        FileModel model = builder.file();
        EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
        std::get<ResizeAttribute>(main_of(model).operators.back().attribute).mode =
            is_wide ? ResizeMode::nearest : ResizeMode::bilinear;
        const auto verdict = validate_verdict(model, generous());
        EXPECT_TRUE(verdict.says(Status::invalid_argument, is_wide ? "must be of its input's type"
                                                                   : "must be of a wider type"))
            << verdict;
    }
}

TEST(Validate, refuses_types_that_tosa_does_not_allow) {
    FileModel model = two_additions().file();
    main_of(model).tensors[2].dtype = DType::int32;
    const auto verdict = validate_verdict(model, generous());
    EXPECT_TRUE(verdict.says(Status::invalid_argument,
                             "Operator 1 (ADD) has types that TOSA 1.0 does not allow it: (FP32, "
                             "FP32 -> INT32)"))
        << verdict;
    EXPECT_EQ(verdict.operator_index, 1U);
}

TEST(Validate, refuses_an_accumulator_that_tosa_does_not_allow) {
    FileModel model = testing::small_network().file();
    auto conv = std::ranges::find(main_of(model).operators, Op::conv2d, &FileOperator::op);
    std::get<Conv2dAttribute>(conv->attribute).accumulator = DType::fp16;
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::invalid_argument, "-> FP32), accumulator (FP16)."));
}

TEST(Validate, refuses_operators_and_types_that_tosa_1_0_does_not_have) {
    FileModel model = two_additions().file();
    main_of(model).operators[1].op = static_cast<Op>(200);
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::incompatible, "Operator 1 (UNKNOWN) has a number (200)"));
    model = two_additions().file();
    main_of(model).tensors[2].dtype = static_cast<DType>(17);
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::incompatible, "Tensor (value_2) has a type (17)"));
}

TEST(Validate, refuses_a_shape_that_the_inputs_do_not_give) {
    FileModel model = two_additions().file();
    main_of(model).tensors[2].shape = {4, 1};
    const auto verdict = validate_verdict(model, generous());
    EXPECT_TRUE(verdict.says(Status::invalid_argument,
                             "Operator 1 (ADD) declares (value_2) with shape (4, 1); its inputs "
                             "and attribute give (1, 4)."))
        << verdict;
}

TEST(Validate, names_operator_output_and_attribute_of_what_a_rule_refuses) {
    FileModel model = testing::small_network().file();
    auto pool = std::ranges::find(main_of(model).operators, Op::max_pool2d, &FileOperator::op);
    std::get<PoolAttribute>(pool->attribute).stride = {0, 2};
    const auto verdict = validate_verdict(model, generous());
    EXPECT_TRUE(verdict.says(Status::invalid_argument,
                             "(MAX_POOL2D) that makes (features) is refused: its stride (0) must "
                             "be at least 1."))
        << verdict;
}

TEST(Validate, asks_for_constants_unless_dynamic_is_offered) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 2});
    builder.output(builder.pad(x, {1, 1, 1, 1}), "y");
    FileModel model = builder.file();
    FileBlock& block = main_of(model);
    // The padding value comes from a slot instead of a CONST.
    const std::string zero = block.operators.back().inputs[2];
    std::erase_if(block.operators, [&](const FileOperator& op) { return op.outputs[0] == zero; });
    std::ranges::find(block.tensors, FileName{zero}, &FileTensor::name)->data.clear();
    block.inputs.push_back(zero);
    const auto verdict = validate_verdict(model, Target{});
    EXPECT_TRUE(verdict.says(Status::incompatible,
                             "(PAD) has an input (" + zero + ") that is not constant"))
        << verdict;
    EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
    EXPECT_TRUE(target_for(model).extensions.has(ExtensionBit::dynamic));
}

TEST(Validate, wants_an_output_that_some_operand_gives_where_one_arrives_at_run_time) {
    struct Case {
        Op op = Op::unknown;
        std::vector<std::int32_t> shape;
        std::string_view sentence;  // nothing if the shape can come about
    };

    const Case cases[] = {
        {Op::pad, {2, 5}, ""},
        {Op::pad, {2, 2}, "its output's dimension 1 (2) must be at least its"},
        {Op::pad, {2, 3, 1}, "its output has rank (3)"},
        {Op::slice, {1, 3}, ""},
        {Op::slice, {3, 3}, "its output's dimension 0 (3) must be at most its"},
        {Op::tile, {4, 3}, ""},
        {Op::tile, {3, 3}, "dimension 0 (3) must be a multiple of its input's"},
        {Op::reshape, {6, 1}, ""},
        {Op::reshape, {5, 1}, "its new shape has (5) elements"},
        {Op::reshape, {6}, "its output has rank (1)"},
    };
    for (const Case& one : cases) {
        Builder builder;
        const Value x = builder.input("x", DType::fp32, {2, 3});
        const Value numbers = builder.input("n", DType::shape, {one.op == Op::pad ? 4 : 2});
        std::vector<Value> operands{x, numbers};
        if (one.op == Op::pad) {
            operands.push_back(builder.zeros(DType::fp32, {1}));
        } else if (one.op == Op::slice) {
            operands.push_back(numbers);
        }
        const DeclaredOutput declared{.dtype = DType::unknown, .shape = one.shape};
        builder.output(builder.op(one.op, operands, {}, declared), "y");
        const auto verdict = validate_verdict(builder.file(), generous());
        EXPECT_TRUE(verdict.says(one.sentence.empty() ? Status::ok : Status::invalid_argument,
                                 std::string{one.sentence}))
            << name_of(one.op) << ": " << verdict;
    }
}

TEST(Validate, refuses_modes_without_a_meaning) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    builder.output(builder.op(Op::maximum, {x, x}, NanAttribute{.nan_mode = NanMode::ignore}), "y");
    FileModel model = builder.file();
    EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
    for (const std::uint32_t mode : {0U, 3U}) {
        main_of(model).operators[0].attribute =
            NanAttribute{.nan_mode = static_cast<NanMode>(mode)};
        EXPECT_TRUE(validate_verdict(model, generous())
                        .says(Status::invalid_argument, "(MAXIMUM) has an unknown nan_mode"))
            << mode;
    }
}

TEST(Validate, keeps_the_levels_ranks_and_sizes) {
    FileModel model = two_additions().file();
    for (FileTensor& tensor : main_of(model).tensors) {
        tensor.shape = {1, 1, 1, 1, 1, 1, 4};
    }
    Target target = generous();
    EXPECT_TRUE(validate_verdict(model, target)
                    .says(Status::incompatible, "Tensor (x) has (7) dimensions"));
    target.level = Level::unbounded;
    EXPECT_EQ(validate_verdict(model, target).status, Status::ok);

    FileModel large = two_additions().file();
    main_of(large).tensors[0].shape = {8192, 8192, 16};
    EXPECT_TRUE(validate_verdict(large, generous())
                    .says(Status::incompatible, "Tensor (x) has (4294967296) bytes"));
}

// main runs `then` or `otherwise`, which both negate.
FileModel branching() {
    FileModel model;
    FileBlock block;
    block.tensors = {{.name = "c", .shape = {1}, .dtype = DType::boolean, .data = {}},
                     {.name = "x", .shape = {2}, .dtype = DType::fp32, .data = {}},
                     {.name = "y", .shape = {2}, .dtype = DType::fp32, .data = {}}};
    block.inputs = {"c", "x"};
    block.outputs = {"y"};
    FileOperator branch;
    branch.op = Op::cond_if;
    branch.inputs = {"c", "x"};
    branch.outputs = {"y"};
    branch.branches = {"then", "otherwise"};
    block.operators = {branch};
    model.regions.push_back({.name = "main", .blocks = {block}});
    for (const char* name : {"then", "otherwise"}) {
        FileBlock inner;
        inner.name = name;
        inner.tensors = {block.tensors[1], block.tensors[2]};
        inner.inputs = {"x"};
        inner.outputs = {"y"};
        FileOperator exp;
        exp.op = Op::exp;
        exp.inputs = {"x"};
        exp.outputs = {"y"};
        inner.operators = {exp};
        model.regions.push_back({.name = name, .blocks = {inner}});
    }
    return model;
}

TEST(Validate, takes_blocks_with_the_extension_controlflow_alone) {
    const FileModel model = branching();
    EXPECT_EQ(validate_verdict(model, generous()).status, Status::ok);
    EXPECT_TRUE(target_for(model).extensions.has(ExtensionBit::controlflow));
    EXPECT_TRUE(validate_verdict(model, Target{})
                    .says(Status::incompatible, "needs the extension CONTROLFLOW"));
}

TEST(Validate, compares_a_block_with_the_operator_that_runs_it) {
    FileModel model = branching();
    for (FileTensor& tensor : model.regions[1].blocks[0].tensors) {
        tensor.shape = {3};
    }
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::invalid_argument,
                          "(COND_IF) that makes (y) is refused: its then block's inputs differ at "
                          "position 0"));
    model = branching();
    model.regions[2].blocks[0].outputs = {"y", "y"};
    EXPECT_TRUE(validate_verdict(model, generous())
                    .says(Status::invalid_argument, "its else block's outputs are (2)"));
    model = branching();
    main_of(model).tensors[0].shape = {2};
    EXPECT_TRUE(
        validate_verdict(model, generous()).says(Status::invalid_argument, "must be one BOOL"));
}

TEST(TargetOf, leaves_the_reason_to_the_operator_that_is_wrong) {
    FileModel model = branching();
    main_of(model).tensors[0].dtype = DType::fp32;
    EXPECT_TRUE(
        validate_verdict(model, target_for(model)).says(Status::invalid_argument, "(COND_IF)"));
}

TEST(TargetOf, names_just_what_a_model_needs) {
    const Target target = target_for(two_additions().file());
    EXPECT_EQ(target.profiles, Profiles{ProfileBit::floating_point});
    EXPECT_EQ(target.level, Level::eight_k);
    EXPECT_TRUE(target.extensions.empty());
    EXPECT_TRUE(decode_target(encode_target(target)));

    Builder builder;
    const Value x = builder.input("x", DType::boolean, {2});
    builder.output(builder.op(Op::logical_not, {x}), "y");
    EXPECT_EQ(target_for(builder.file()).profiles, profiles_known);
}

}  // namespace
}  // namespace virtaccel::tosa

// COND_IF, WHILE_LOOP and variables.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelRun;
using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Floats = std::vector<float>;
using Numbers = std::vector<std::int32_t>;
using Bools = std::vector<std::uint8_t>;

// A builder with inputs of INT32, each one number.
struct Block {
    Builder builder;
    std::vector<Value> inputs;

    explicit Block(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            inputs.push_back(builder.input("in" + std::to_string(i), DType::int32, {1}));
        }
    }

    Value number(std::int32_t value) { return builder.constant(DType::int32, {1}, Numbers{value}); }

    Value add(Value a, Value b) { return builder.add(a, b); }

    // Outputs, all at once, as the same value may come twice and an input may be one.
    void outputs(const std::vector<Value>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            builder.output(values[i], builder.tensor(values[i]).name.starts_with("in")
                                          ? std::string{builder.tensor(values[i]).name}
                                          : "out" + std::to_string(i));
        }
    }
};

// Goes on while the first of `count` numbers is below `limit`.
Builder first_below(std::size_t count, std::int32_t limit) {
    Block block{count};
    block.outputs({block.builder.op(Op::greater, {block.number(limit), block.inputs[0]})});
    return std::move(block.builder);
}

TEST(CondIf, runs_the_block_that_the_condition_chooses) {
    Builder doubled;
    const Value a = doubled.input("a", DType::fp32, {3});
    doubled.output(doubled.add(a, a), "y");
    Builder squared;
    const Value b = squared.input("b", DType::fp32, {3});
    squared.output(squared.mul(b, b), "y");
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {3});
    const Value choice = builder.input("choice", DType::boolean, {1});
    const Value sum = builder.add(x, x);
    builder.output(builder.add(builder.cond_if(choice, {sum}, doubled, squared), sum), "y");
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F, 3.0F}).input(Bools{1}).output<float>(),
              (Floats{6, 12, 18}));
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F, 3.0F}).input(Bools{0}).output<float>(),
              (Floats{6, 20, 42}));
}

TEST(CondIf, passes_inputs_and_constants_through) {
    Block then_block{2};
    then_block.outputs({then_block.inputs[1], then_block.number(7), then_block.inputs[1]});
    Block else_block{2};
    else_block.outputs({else_block.number(8), else_block.inputs[0], else_block.inputs[1]});
    Block main{1};
    const Value choice = main.builder.input("choice", DType::boolean, {1});
    const Value first = main.builder.cond_if(choice, {main.inputs[0], main.number(5)},
                                             then_block.builder, else_block.builder);
    main.outputs({first, Builder::output_of(first, 1), Builder::output_of(first, 2)});
    for (const bool chosen : {true, false}) {
        ModelRun run{main.builder};
        run.input(Numbers{3}).input(Bools{static_cast<std::uint8_t>(chosen ? 2 : 0)}).run();
        EXPECT_EQ(run.slot<std::int32_t>(2), Numbers{chosen ? 5 : 8});
        EXPECT_EQ(run.slot<std::int32_t>(3), Numbers{chosen ? 7 : 3});
        EXPECT_EQ(run.slot<std::int32_t>(4), Numbers{5});
    }
}

TEST(WhileLoop, goes_around_until_its_condition_is_false) {
    Block body{2};
    body.outputs(
        {body.add(body.inputs[0], body.number(1)), body.add(body.inputs[1], body.inputs[0])});
    Block main{2};
    const Value first = main.builder.while_loop(main.inputs, first_below(2, 5), body.builder);
    main.outputs({first, Builder::output_of(first, 1)});
    ModelRun run{main.builder};
    run.input(Numbers{0}).input(Numbers{100}).run();
    EXPECT_EQ(run.slot<std::int32_t>(2), Numbers{5});
    EXPECT_EQ(run.slot<std::int32_t>(3), Numbers{110});
    ModelRun never{main.builder};
    never.input(Numbers{9}).input(Numbers{100}).run();
    EXPECT_EQ(never.slot<std::int32_t>(2), Numbers{9});
    EXPECT_EQ(never.slot<std::int32_t>(3), Numbers{100});
}

TEST(WhileLoop, exchanges_what_goes_around) {
    Block body{4};
    const auto& in = body.inputs;
    body.outputs({body.add(in[0], body.number(1)), in[2], body.add(in[1], in[2]), in[3]});
    Block main{1};
    // What goes around unchanged stays, however much is computed meanwhile.
    const Value kept = main.add(main.inputs[0], main.number(40));
    const Value first = main.builder.while_loop(
        {main.inputs[0], main.number(0), main.number(1), kept}, first_below(4, 10), body.builder);
    main.outputs({Builder::output_of(first, 1), Builder::output_of(first, 2),
                  main.add(Builder::output_of(first, 3), main.number(0))});
    ModelRun run{main.builder};
    run.input(Numbers{0}).run();
    EXPECT_EQ(run.slot<std::int32_t>(1), Numbers{55});
    EXPECT_EQ(run.slot<std::int32_t>(2), Numbers{89});
    EXPECT_EQ(run.slot<std::int32_t>(3), Numbers{40});
}

TEST(WhileLoop, leaves_alone_what_lives_across_it) {
    // Values of all ages around and in a loop, of which none may overwrite another.
    Block body{3};
    Value sum = body.inputs[1];
    std::vector<Value> parts;
    for (int i = 0; i < 5; ++i) {
        parts.push_back(body.builder.mul(body.add(sum, body.inputs[2]), body.number(i)));
        sum = body.add(sum, body.number(1));
    }
    for (const Value part : parts) {
        sum = body.add(sum, part);
    }
    body.outputs({body.add(body.inputs[0], body.number(1)), sum, body.inputs[2]});
    Block main{1};
    const Value before = main.builder.mul(main.inputs[0], main.number(3));
    const Value other = main.builder.mul(main.inputs[0], main.number(5));
    const Value first =
        main.builder.while_loop({main.number(0), before, other}, first_below(3, 4), body.builder);
    const Value after = main.add(Builder::output_of(first, 1), main.add(before, other));
    main.outputs({main.add(after, Builder::output_of(first, 2))});
    std::uint32_t wanted = 6;
    for (int round = 0; round < 4; ++round) {
        std::uint32_t all = wanted + 5;
        for (std::uint32_t i = 0; i < 5; ++i) {
            all += (wanted + i + 10) * i;
        }
        wanted = all;
    }
    EXPECT_EQ(ModelRun{main.builder}.input(Numbers{2}).output<std::int32_t>(),
              Numbers{static_cast<std::int32_t>(wanted + 6 + 10 + 10)});
}

TEST(WhileLoop, runs_inside_another) {
    // For i in 0..4, for j in 0..i: total += 10 where j is below 2, 1 where it is not.
    Block ten{1};
    ten.outputs({ten.add(ten.inputs[0], ten.number(10))});
    Block one{1};
    one.outputs({one.add(one.inputs[0], one.number(1))});
    Block inner{3};  // j, i, total
    const Value is_low = inner.builder.op(Op::greater, {inner.number(2), inner.inputs[0]});
    inner.outputs({inner.add(inner.inputs[0], inner.number(1)), inner.inputs[1],
                   inner.builder.cond_if(is_low, {inner.inputs[2]}, ten.builder, one.builder)});
    Block below{3};
    below.outputs({below.builder.op(Op::greater, {below.inputs[1], below.inputs[0]})});
    Block outer{2};  // i, total
    const Value row = outer.builder.while_loop({outer.number(0), outer.inputs[0], outer.inputs[1]},
                                               below.builder, inner.builder);
    outer.outputs({outer.add(outer.inputs[0], outer.number(1)), Builder::output_of(row, 2)});
    Block main{1};
    const Value all =
        main.builder.while_loop({main.number(0), main.inputs[0]}, first_below(2, 5), outer.builder);
    main.outputs({Builder::output_of(all, 1)});
    EXPECT_EQ(ModelRun{main.builder}.input(Numbers{1000}).output<std::int32_t>(),
              Numbers{1000 + 10 + 20 + 21 + 22});
}

TEST(WhileLoop, folds_what_a_block_makes_of_constants) {
    const auto steps = [](bool folds) {
        Block body{1};
        const Value step = folds ? body.add(body.number(1), body.number(1)) : body.number(2);
        body.outputs({body.add(body.inputs[0], step)});
        Block main{1};
        main.outputs({main.builder.while_loop(main.inputs, first_below(1, 5), body.builder)});
        ModelRun run{main.builder};
        EXPECT_EQ(run.input(Numbers{0}).output<std::int32_t>(), Numbers{6});
        return run.steps();
    };
    EXPECT_EQ(steps(true), steps(false));
}

TEST(Blocks, may_be_run_by_several_operators) {
    // Both arms of two COND_IFs, and the body of a loop, are one block: the number after next.
    Block next{1};
    next.outputs({next.add(next.add(next.inputs[0], next.number(1)), next.number(1))});
    Block main{1};
    const Value choice = main.builder.input("choice", DType::boolean, {1});
    const Value kept = main.builder.mul(main.inputs[0], main.number(100));
    const Value a = main.builder.cond_if(choice, {main.inputs[0]}, next.builder, next.builder);
    const Value b = main.builder.while_loop({a}, first_below(1, 20), next.builder);
    const Value c =
        main.builder.cond_if(choice, {main.builder.mul(b, b)}, next.builder, next.builder);
    main.outputs({main.add(main.add(c, b), kept)});
    auto file = main.builder.file();
    for (auto& op : file.regions[0].blocks[0].operators) {
        for (auto& branch : op.branches) {
            branch = branch == "block_2_main" ? branch : "block_0_main";
        }
    }
    for (const bool chosen : {false, true}) {
        ModelRun run{file};
        // 3, then 5, 7 ... 21, then 441 and 443
        EXPECT_EQ(run.input(Numbers{3})
                      .input(Bools{static_cast<std::uint8_t>(chosen)})
                      .output<std::int32_t>(),
                  Numbers{443 + 21 + 300});
    }
}

// y = the sum of all x so far.
Builder summing(std::span<const std::byte> first) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value state = builder.variable("state", DType::fp32, {2}, first);
    const Value before = builder.read(state);
    const Value sum = builder.add(before, x);
    builder.write(state, sum);
    builder.output(sum, "sum");
    builder.output(before, "before");
    builder.output(state, "after");
    return builder;
}

TEST(Variable, keeps_its_value_from_run_to_run_in_each_program) {
    const Floats values{1, 2};
    ModelRun run{summing(std::as_bytes(std::span{values}))};
    ModelRun other{summing({})};
    run.input({10.0F, 20.0F}).run();
    other.input({0.5F, 0.5F}).run();
    EXPECT_EQ(run.slot<float>(1), (Floats{11, 22}));
    EXPECT_EQ(run.slot<float>(2), (Floats{1, 2}));
    run.run();
    other.run();
    EXPECT_EQ(run.slot<float>(1), (Floats{21, 42}));
    EXPECT_EQ(run.slot<float>(2), (Floats{11, 22})) << "what was read does not change";
    EXPECT_EQ(run.slot<float>(3), (Floats{21, 42}));
    EXPECT_EQ(other.slot<float>(1), (Floats{1, 1}));
}

TEST(Variable, is_one_in_all_blocks) {
    // A loop through which nothing goes but state.
    Builder condition;
    const Value now = condition.read(condition.variable("count", DType::fp32, {1}));
    condition.output(condition.op(Op::greater, {condition.constant({1}, {5.0F}), now}), "below");
    Builder body;
    const Value count = body.variable("count", DType::fp32, {1});
    body.write(count, body.add(body.read(count), body.constant({1}, {1.0F})));
    Builder builder;
    const Floats first{2};
    const Value state =
        builder.variable("count", DType::fp32, {1}, std::as_bytes(std::span{first}));
    const Value before = builder.read(state);
    builder.while_loop({}, condition, body);
    builder.output(before, "before");
    builder.output(builder.read(state), "after");
    ModelRun run{builder};
    run.run();
    EXPECT_EQ(run.slot<float>(0), Floats{2});
    EXPECT_EQ(run.slot<float>(1), Floats{5});
    run.run();
    EXPECT_EQ(run.slot<float>(0), Floats{5});
}

TEST(Variable, is_refused_if_blocks_disagree_about_it) {
    Builder arm;
    arm.write(arm.variable("state", DType::fp32, {2}), arm.input("x", DType::fp32, {2}));
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value choice = builder.input("choice", DType::boolean, {1});
    const Value state = builder.variable("state", DType::fp32, {1});
    builder.cond_if(choice, {x}, arm, arm);
    builder.output(builder.read(state), "y");
    const ModelRun run{builder};
    EXPECT_EQ(run.status(), Status::invalid_argument);
    ASSERT_EQ(run.refusals().size(), 1U);
    EXPECT_EQ(run.refusals().front(),
              "Two variables with the name (state) differ in type or shape: rename one of them.");
}

TEST(Variable, counts_as_resident) {
    Builder builder;
    builder.output(builder.read(builder.variable("state", DType::fp32, {1000})), "y");
    EXPECT_EQ(ModelRun(builder, {.threads = 1, .resident_bytes_max = 3999}).status(),
              Status::resource_limit);
    ModelRun run{builder, {.threads = 1, .resident_bytes_max = 16000}};
    EXPECT_EQ(run.output<float>(), Floats(1000));
    EXPECT_GE(run.program().resident_bytes, 4000U);
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

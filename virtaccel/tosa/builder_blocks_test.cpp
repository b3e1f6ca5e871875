#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::tosa {
namespace {

// The bytes of a constant of whole numbers, in hexadecimal; "refused" if there is none.
std::string bytes_of(DType dtype, const std::vector<std::int64_t>& numbers) {
    Builder builder;
    const std::vector<std::int32_t> shape = {static_cast<std::int32_t>(numbers.size())};
    const Value value = builder.integers(dtype, shape, numbers);
    builder.output(value, "y");
    if (!builder.finish()) {
        return "refused";
    }
    std::string text;
    for (const std::byte byte : builder.tensor(value).data) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[std::to_integer<std::size_t>(byte >> 4)];
        text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return text;
}

TEST(Integers, are_stored_as_their_type_says) {
    EXPECT_EQ(bytes_of(DType::boolean, {0, 1}), "0001");
    EXPECT_EQ(bytes_of(DType::int4, {1, -2, 7, -8, 3}), "e18703");
    EXPECT_EQ(bytes_of(DType::int8, {-1, 127}), "ff7f");
    EXPECT_EQ(bytes_of(DType::int16, {-2, 258}), "feff0201");
    EXPECT_EQ(bytes_of(DType::int32, {-1, 16909060}), "ffffffff04030201");
    EXPECT_EQ(bytes_of(DType::int48, {-2, (std::int64_t{1} << 47U) - 1}),
              "feffffffffffffffffffff7f");
}

TEST(Integers, must_be_numbers_that_the_type_has) {
    EXPECT_EQ(bytes_of(DType::boolean, {2}), "refused");
    EXPECT_EQ(bytes_of(DType::int4, {8}), "refused");
    EXPECT_EQ(bytes_of(DType::int8, {-129}), "refused");
    EXPECT_EQ(bytes_of(DType::int48, {std::int64_t{1} << 47U}), "refused");
    EXPECT_EQ(bytes_of(DType::int48, {std::numeric_limits<std::int64_t>::min()}), "refused");
    EXPECT_EQ(bytes_of(DType::fp32, {1}), "refused");
    Builder builder;
    builder.output(builder.integers(DType::int8, {3}, {1, 2}), "y");
    EXPECT_FALSE(builder.finish());
}

// b if decided else a, in a block that decides once more.
Builder chooser(bool nested) {
    Builder first;
    first.output(first.input("a", DType::fp32, {2}), "chosen");
    first.input("b", DType::fp32, {2});
    first.input("decided", DType::boolean, {1});
    Builder second;
    const Value a = second.input("a", DType::fp32, {2});
    const Value b = second.input("b", DType::fp32, {2});
    const Value decided = second.input("decided", DType::boolean, {1});
    second.output(
        nested ? second.cond_if(decided, {a, b, decided}, chooser(false), chooser(false)) : b,
        "chosen");
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value y = builder.input("y", DType::fp32, {2});
    const Value c = builder.input("c", DType::boolean, {1});
    builder.output(builder.cond_if(c, {x, y, c}, first, second), "z");
    return builder;
}

TEST(BuilderBlocks, stand_in_regions_of_their_own_however_deep) {
    const auto bytes = chooser(true).finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    // main, then, else; in else: the two of chooser(false), each with its own two.
    ASSERT_EQ(graph.blocks().size(), 9U);
    const auto& outer = graph.operators(graph.main()).front().as<BranchAttribute>();
    EXPECT_EQ(graph.blocks()[outer.first].nesting, 1U);
    EXPECT_EQ(graph.blocks()[outer.first].outputs[0], graph.blocks()[outer.first].inputs[0]);
    const Block& second = graph.blocks()[outer.second];
    const auto& inner = graph.operators(second).front().as<BranchAttribute>();
    EXPECT_NE(inner.first, inner.second);
    EXPECT_EQ(graph.blocks()[inner.first].nesting, 2U);
    EXPECT_EQ(std::ranges::max(graph.blocks(), {}, &Block::nesting).nesting, 3U);
}

TEST(BuilderBlocks, have_all_their_outputs) {
    Builder swap;
    const Value a = swap.input("a", DType::fp32, {2});
    const Value b = swap.input("b", DType::int8, {3});
    swap.output(b, "first");
    swap.output(a, "second");
    Builder builder;
    const Value c = builder.input("c", DType::boolean, {1});
    const Value x = builder.input("x", DType::fp32, {2});
    const Value y = builder.input("y", DType::int8, {3});
    const Value first = builder.cond_if(c, {x, y}, swap, swap);
    EXPECT_EQ(builder.tensor(first).dtype, DType::int8);
    EXPECT_EQ(builder.tensor(Builder::output_of(first, 1)).dtype, DType::fp32);
    builder.output(Builder::output_of(first, 1), "z");
    EXPECT_TRUE(builder.finish());
}

TEST(BuilderBlocks, keep_what_their_attributes_point_to) {
    const auto made = [] {
        Builder block;
        block.output(block.clamp(block.input("a", DType::fp32, {2}), 1, 2), "b");
        Builder builder;
        const Value x = builder.input("x", DType::fp32, {2});
        const Value c = builder.input("c", DType::boolean, {1});
        builder.output(builder.cond_if(c, {x}, block, block), "y");
        return builder;
    }();
    const auto bytes = made.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    EXPECT_EQ(verify(*bytes).value().operators().back().op, Op::clamp);
}

TEST(BuilderBlocks, must_fit_the_operator_that_runs_them) {
    Builder block;
    block.output(block.input("a", DType::fp32, {3}), "b");
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value c = builder.input("c", DType::boolean, {1});
    builder.output(builder.cond_if(c, {x}, block, block), "y");
    EXPECT_FALSE(builder.finish());
}

TEST(BuilderBlocks, pass_their_mistakes_on) {
    Builder block;
    const Value a = block.input("a", DType::fp32, {3});
    block.output(block.matmul(a, a), "b");
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {3});
    const Value c = builder.input("c", DType::boolean, {1});
    builder.output(builder.cond_if(c, {x}, block, block), "y");
    const auto bytes = builder.finish();
    ASSERT_FALSE(bytes);
    EXPECT_NE(bytes.error().sentence.view().find("(MATMUL)"), std::string_view::npos);
}

TEST(BuilderVariables, are_seen_in_blocks_by_their_names) {
    const std::vector<float> zeros(2);
    Builder count;
    const Value state = count.variable("state", DType::fp32, {2});
    const Value next = count.add(count.read(state), count.constant({2}, {1, 1}));
    count.write(state, next);
    count.output(next, "next");
    Builder keep;
    keep.output(keep.read(keep.variable("state", DType::fp32, {2})), "same");
    Builder builder;
    builder.declare(builder.variable("state", DType::fp32, {2}, std::as_bytes(std::span{zeros})));
    const Value c = builder.input("c", DType::boolean, {1});
    builder.output(builder.cond_if(c, {}, count, keep), "y");
    const auto bytes = builder.finish();
    ASSERT_TRUE(bytes) << bytes.error().sentence.view();
    const Graph graph = verify(*bytes).value();
    const auto named = [](const Tensor& tensor) { return tensor.name == "state"; };
    EXPECT_EQ(std::ranges::count_if(graph.tensors(), named), 3);
    EXPECT_TRUE(std::ranges::all_of(graph.tensors(), [&](const Tensor& tensor) {
        return tensor.is_variable == named(tensor);
    }));
    EXPECT_EQ(std::ranges::find_if(graph.tensors(), named)->data.size(), 8U);
}

TEST(BuilderVariables, are_no_other_values) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    builder.write(x, x);
    builder.output(x, "y");
    EXPECT_FALSE(builder.finish());
    Builder other;
    other.output(other.read(other.input("x", DType::fp32, {2})), "y");
    EXPECT_FALSE(other.finish());
    Builder third;
    third.declare(third.input("x", DType::fp32, {2}));
    EXPECT_FALSE(third.finish());
    Builder wrong;
    const std::vector<std::byte> seven(7);
    wrong.output(wrong.read(wrong.variable("v", DType::fp32, {2}, seven)), "y");
    EXPECT_FALSE(wrong.finish());
}

}  // namespace
}  // namespace virtaccel::tosa

#include "virtaccel/tosa/analyze_for.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/conditions.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/hints.h"
#include "virtaccel/tosa/refusal.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

// A model with its analysis, and operators found by their kind.
class Analysed {
  public:
    explicit Analysed(const Builder& builder) : bytes_(builder.finish().value()) {
        graph_ = verify(bytes_).value();
        analysis_ = analyze_for(graph_, target_of(graph_)).value();
    }

    [[nodiscard]] const Graph& graph() const { return graph_; }

    [[nodiscard]] const TargetAnalysis& analysis() const { return analysis_; }

    // The operator of a kind, counted from 0 among its like.
    [[nodiscard]] OperatorIndex find(Op op, std::uint32_t number = 0) const {
        for (OperatorIndex i = 0; i < graph_.operators().size(); ++i) {
            if (graph_.operators()[i].op == op && number-- == 0) {
                return i;
            }
        }
        return nowhere;
    }

    [[nodiscard]] const OperatorHints& hints(Op op, std::uint32_t number = 0) const {
        return analysis_.hints.at(find(op, number));
    }

    [[nodiscard]] std::uint64_t macs(Op op) const { return analysis_.macs.at(find(op)); }

    // The demands on the operators of a kind.
    [[nodiscard]] std::vector<RuntimeCondition> conditions(Op op) const {
        std::vector<RuntimeCondition> found;
        std::ranges::copy_if(
            analysis_.conditions, std::back_inserter(found),
            [&](const RuntimeCondition& one) { return graph_.operators()[one.op].op == op; });
        return found;
    }

  private:
    std::vector<std::byte> bytes_;
    Graph graph_;
    TargetAnalysis analysis_;
};

constexpr Conv2dAttribute plain_window = {.pad = {},
                                          .stride = {1, 1},
                                          .dilation = {1, 1},
                                          .local_bound = false,
                                          .accumulator = DType::fp32};

TEST(AnalyzeFor, refuses_what_the_target_does_not_offer) {
    const auto bytes = testing::two_additions().finish().value();
    const Graph graph = verify(bytes).value();
    Target integers = target_of(graph);
    integers.profiles = ProfileBit::integer;
    EXPECT_EQ(testing::verdict_of(analyze_for(graph, integers)).status, Status::incompatible);
    EXPECT_TRUE(analyze_for(graph, target_of(graph)));
}

TEST(Macs, are_those_of_convolutions_and_products) {
    Builder builder;
    const Value image = builder.input("image", DType::fp32, {2, 5, 6, 3});
    builder.output(builder.conv2d(image, builder.zeros(DType::fp32, {4, 2, 3, 3}),
                                  builder.zeros(DType::fp32, {4}), plain_window),
                   "conv");
    builder.output(builder.depthwise_conv2d(image, builder.zeros(DType::fp32, {2, 3, 3, 2}),
                                            builder.zeros(DType::fp32, {6}), plain_window),
                   "depthwise");
    const Value zero = builder.zeros(DType::fp32, {1});
    builder.output(
        builder.op(
            Op::transpose_conv2d,
            {image, builder.zeros(DType::fp32, {4, 2, 3, 3}), builder.zeros(DType::fp32, {4}), zero,
             zero},
            TransposeConv2dAttribute{
                .out_pad = {}, .stride = {1, 1}, .local_bound = false, .accumulator = DType::fp32}),
        "transposed");
    const Value volume = builder.input("volume", DType::fp32, {1, 3, 4, 5, 2});
    builder.output(builder.op(Op::conv3d,
                              {volume, builder.zeros(DType::fp32, {3, 2, 2, 2, 2}),
                               builder.zeros(DType::fp32, {3}), zero, zero},
                              Conv3dAttribute{.pad = {},
                                              .stride = {1, 1, 1},
                                              .dilation = {1, 1, 1},
                                              .local_bound = false,
                                              .accumulator = DType::fp32}),
                   "conv3d");
    const Value matrix = builder.input("matrix", DType::fp32, {2, 3, 4});
    builder.output(builder.matmul(matrix, builder.zeros(DType::fp32, {2, 4, 5})), "product");
    builder.output(builder.mul(matrix, matrix), "square");
    const Analysed analysed{builder};
    EXPECT_EQ(analysed.macs(Op::conv2d), 2U * 4 * 4 * 4 * (2 * 3 * 3));
    EXPECT_EQ(analysed.macs(Op::depthwise_conv2d), 2U * 4 * 4 * 6 * (2 * 3));
    EXPECT_EQ(analysed.macs(Op::transpose_conv2d), 2U * 5 * 6 * 3 * (4 * 2 * 3));
    EXPECT_EQ(analysed.macs(Op::conv3d), 2U * 3 * 4 * 3 * (2 * 2 * 2 * 2));
    EXPECT_EQ(analysed.macs(Op::matmul), 2U * 3 * 5 * 4);
    EXPECT_EQ(analysed.macs(Op::mul), 0U);
    EXPECT_EQ(analysed.analysis().macs_total, 2304U + 1152 + 4320 + 1152 + 120);
}

// Four tensors of 64 bytes between operators, of which two live at a time; the RESHAPE has none of
// its own.
TEST(PeakArena, counts_what_lives_at_one_time_and_aliases_once) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {16});
    Value at = builder.op(Op::exp, {x});
    at = builder.reshape(at, {4, 4});
    at = builder.op(Op::abs, {at});
    at = builder.op(Op::floor, {at});
    builder.output(builder.op(Op::ceil, {at}), "y");
    const Analysed analysed{builder};
    EXPECT_EQ(analysed.analysis().peak_arena_bytes, 128U);
    EXPECT_EQ(analysed.analysis().graph.activation_bytes, 256U);
}

TEST(PeakArena, keeps_what_an_alias_is_read_from) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {16});
    const Value first = builder.op(Op::exp, {x});
    const Value flat = builder.reshape(first, {4, 4});
    const Value third = builder.op(Op::floor, {builder.op(Op::abs, {first})});
    builder.output(builder.op(Op::add, {builder.reshape(third, {4, 4}), flat}), "y");
    EXPECT_EQ(Analysed{builder}.analysis().peak_arena_bytes, 192U);
}

TEST(Hints, call_reshapes_aliases) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    const Value y = builder.reshape(builder.op(Op::exp, {x}), {2, 2});
    builder.output(builder.op(Op::abs, {y}), "y");
    const Analysed analysed{builder};
    const Operator& exp = analysed.graph().operators()[analysed.find(Op::exp)];
    EXPECT_EQ(analysed.hints(Op::reshape).alias_of, exp.outputs[0]);
    EXPECT_EQ(analysed.hints(Op::abs).in_place, 1U) << "over the alias, whose owner ends here";
    EXPECT_EQ(analysed.hints(Op::exp).in_place, 0U) << "a slot belongs to the caller";
}

TEST(Hints, leave_alone_what_is_needed_afterwards) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4});
    const Value e = builder.op(Op::exp, {x});
    const Value a = builder.op(Op::abs, {e});
    const Value flat = builder.reshape(e, {2, 2});
    builder.output(builder.op(Op::add, {a, e}), "y");
    builder.output(builder.op(Op::floor, {flat}), "z");
    const Analysed analysed{builder};
    EXPECT_EQ(analysed.hints(Op::abs).in_place, 0U);
    EXPECT_EQ(analysed.hints(Op::add).in_place, 1U) << "not over e, which z is made of";
}

TEST(Hints, do_not_overwrite_what_is_broadcast_or_of_another_width) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {4, 1});
    const Value row = builder.op(Op::exp, {x});
    const Value whole = builder.op(Op::abs, {builder.input("w", DType::fp32, {4, 3})});
    const Value sum = builder.op(Op::add, {row, whole});
    const Value compared = builder.op(Op::greater, {builder.op(Op::floor, {sum}), whole});
    builder.output(compared, "y");
    const Analysed analysed{builder};
    EXPECT_EQ(analysed.hints(Op::add).in_place, 0U) << "one is narrow, the other is read again";
    EXPECT_EQ(analysed.hints(Op::floor).in_place, 1U);
    EXPECT_EQ(analysed.hints(Op::greater).in_place, 0U) << "BOOL over FP32";
}

TEST(Hints, find_pairs_that_are_computed_in_one_pass) {
    Builder builder;
    const Value image = builder.input("image", DType::fp32, {1, 4, 4, 2});
    const Value padded = builder.pad(image, {0, 0, 1, 1, 1, 1, 0, 0});
    const Value conv = builder.conv2d(padded, builder.zeros(DType::fp32, {2, 3, 3, 2}),
                                      builder.zeros(DType::fp32, {2}), plain_window);
    const Value bounded = builder.clamp(conv, 0, 6);
    const Value turned = builder.op(Op::transpose, {builder.op(Op::abs, {bounded})},
                                    TransposeAttribute{.perms = {0, 3, 1, 2}, .rank = 4});
    const Value back =
        builder.op(Op::transpose, {turned}, TransposeAttribute{.perms = {0, 2, 3, 1}, .rank = 4});
    builder.output(back, "y");
    const Analysed analysed{builder};
    const auto fusion = [&](Op op) { return std::string{name_of(analysed.hints(op).fusion)}; };
    EXPECT_EQ(fusion(Op::pad), "padding");
    EXPECT_EQ(analysed.hints(Op::pad).fuses_into, analysed.find(Op::conv2d));
    EXPECT_EQ(fusion(Op::conv2d), "epilogue");
    EXPECT_EQ(fusion(Op::clamp), "chain");
    EXPECT_EQ(fusion(Op::abs), "");
    EXPECT_EQ(fusion(Op::transpose), "composition");
    EXPECT_EQ(analysed.hints(Op::transpose, 1).fusion, Fusion::none) << "a slot is in between";
}

TEST(Hints, do_not_fuse_what_two_read) {
    Builder builder;
    const Value x = builder.op(Op::exp, {builder.input("x", DType::fp32, {4})});
    builder.output(builder.op(Op::abs, {x}), "y");
    builder.output(builder.op(Op::floor, {x}), "z");
    EXPECT_EQ(Analysed{builder}.hints(Op::exp).fusion, Fusion::none);
}

TEST(Foldable, are_operators_whose_results_are_known_at_load) {
    const Analysed analysed{testing::small_network()};
    EXPECT_TRUE(std::ranges::count(analysed.analysis().foldable, analysed.find(Op::cast)) == 1);
    EXPECT_EQ(analysed.analysis().foldable.size(), 2U) << "the CAST and the RESHAPE of weights";
}

Builder gather(const std::vector<std::int64_t>& indices) {
    Builder builder;
    const Value values = builder.input("values", DType::fp32, {1, 3, 2});
    const std::vector<std::int32_t> shape = {1, static_cast<std::int32_t>(indices.size())};
    const Value at = indices.empty() ? builder.input("at", DType::int32, {1, 2})
                                     : builder.integers(DType::int32, shape, indices);
    builder.output(builder.op(Op::gather, {values, at}), "y");
    return builder;
}

TEST(Conditions, say_what_indices_must_be) {
    const auto unknown = Analysed{gather({})}.conditions(Op::gather);
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].demand, Demand::index_range);
    EXPECT_EQ(unknown[0].operand, 1U);
    EXPECT_FALSE(is_error_if(unknown[0].demand));
    EXPECT_FALSE(unknown[0].is_broken);
    EXPECT_TRUE(Analysed{gather({0, 2})}.conditions(Op::gather).empty());
    for (const std::int64_t bad : {-1, 3}) {
        const auto broken = Analysed{gather({0, bad})}.conditions(Op::gather);
        ASSERT_EQ(broken.size(), 1U);
        EXPECT_TRUE(broken[0].is_broken);
    }
}

TEST(Conditions, look_for_rows_that_are_written_twice) {
    const auto conditions = [](const std::vector<std::int64_t>& indices) {
        Builder builder;
        const Value values = builder.input("values", DType::fp32, {2, 3, 1});
        builder.output(
            builder.op(Op::scatter, {values, builder.integers(DType::int32, {2, 2}, indices),
                                     builder.input("in", DType::fp32, {2, 2, 1})}),
            "y");
        return Analysed{builder}.conditions(Op::scatter);
    };
    EXPECT_TRUE(conditions({0, 1, 1, 0}).empty());
    const auto twice = conditions({0, 1, 2, 2});
    ASSERT_EQ(twice.size(), 1U);
    EXPECT_EQ(twice[0].demand, Demand::distinct_indices);
    EXPECT_TRUE(twice[0].is_broken);
}

TEST(Conditions, know_shifts_and_divisors_that_are_constant) {
    const auto conditions = [](Op op, std::int64_t value, const Attribute& attribute = {}) {
        Builder builder;
        const Value x = builder.input("x", DType::int32, {2});
        builder.output(
            builder.op(op, {x, builder.integers(DType::int32, {2}, {1, value})}, attribute), "y");
        return Analysed{builder}.conditions(op);
    };
    EXPECT_TRUE(conditions(Op::logical_left_shift, 31).empty());
    EXPECT_TRUE(conditions(Op::logical_left_shift, 32).at(0).is_broken);
    EXPECT_TRUE(conditions(Op::arithmetic_right_shift, -1, ShiftAttribute{}).at(0).is_broken);
    EXPECT_TRUE(conditions(Op::intdiv, 7).empty());
    EXPECT_TRUE(conditions(Op::intdiv, 0).at(0).is_broken);
    EXPECT_FALSE(conditions(Op::intdiv, -1).at(0).is_broken) << "the dividend decides";
}

TEST(Conditions, leave_arithmetic_to_the_caller) {
    Builder builder;
    const Value x = builder.input("x", DType::int32, {2});
    const Value f = builder.input("f", DType::fp32, {2});
    builder.output(builder.add(x, x), "y");
    builder.output(builder.add(f, f), "g");
    const auto conditions = Analysed{builder}.conditions(Op::add);
    ASSERT_EQ(conditions.size(), 1U) << "floats have no overflow to speak of";
    EXPECT_EQ(conditions[0].demand, Demand::no_overflow);
    EXPECT_TRUE(is_arithmetic(conditions[0].demand));
}

TEST(Specialisation, goes_back_to_the_slots_that_decide) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2, 3});
    const Value sizes = builder.input("sizes", DType::shape, {2});
    const Value multiples = builder.op(Op::identity, {x});
    builder.output(builder.op(Op::tile, {multiples, sizes}, {},
                              {.dtype = {}, .shape = std::vector<std::int32_t>{4, 3}}),
                   "y");
    const Analysed analysed{builder};
    const Specialisation& wanted = analysed.analysis().specialisation;
    EXPECT_TRUE(wanted.is_possible);
    EXPECT_EQ(wanted.slots, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(wanted.operands, (std::vector<TensorIndex>{analysed.graph().main().inputs[1]}));
    const auto conditions = analysed.conditions(Op::tile);
    ASSERT_EQ(conditions.size(), 1U);
    EXPECT_TRUE(is_error_if(conditions[0].demand));
}

TEST(Specialisation, is_impossible_where_state_decides) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {2});
    const Value state = builder.variable("zero", DType::fp32, {1});
    builder.output(
        builder.op(Op::negate, {x, builder.read(state), builder.zeros(DType::fp32, {1})}), "y");
    EXPECT_FALSE(Analysed{builder}.analysis().specialisation.is_possible);
}

}  // namespace
}  // namespace virtaccel::tosa

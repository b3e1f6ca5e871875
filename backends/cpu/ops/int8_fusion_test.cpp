// Sums and PRELU of INT8 as graphs have them: which operators become one step and which must not,
// and that both compute the same.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/instruction_sets.h"
#include "backends/cpu/testing/model_run.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelRun;
using testing::on_each_instruction_set;
using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::RoundingMode;
using tosa::Value;

constexpr std::int32_t channels = 21;
const std::vector<std::int32_t> image_shape{1, 3, 5, channels};
constexpr std::size_t image_size = std::size_t{15} * channels;
const std::vector<std::int32_t> channel_shape{1, 1, 1, channels};

// Every INT8, in an order that depends on `factor`, which is odd.
std::vector<std::int8_t> numbers(std::size_t count, std::size_t factor) {
    std::vector<std::int8_t> found;
    for (std::size_t i = 0; i < count; ++i) {
        found.push_back(static_cast<std::int8_t>((i * factor) & 0xffU));
    }
    return found;
}

// A RESCALE with signs, by one factor or, a little different for each, by one for each channel.
struct Factor {
    std::int32_t multiplier = 1 << 30;
    std::int8_t shift = 30;
    RoundingMode rounding = RoundingMode::double_round;
    std::int32_t input_zero = 0;
    std::int32_t output_zero = 0;
    bool is_per_channel = false;
    bool output_unsigned = false;

    Value apply(Builder& builder, Value x, DType from, DType to) const {
        const std::int32_t count = is_per_channel ? channels : 1;
        std::vector<std::int32_t> multipliers;
        for (std::int32_t c = 0; c < count; ++c) {
            multipliers.push_back(multiplier - (c << 20));
        }
        const std::vector<std::int8_t> shifts(multipliers.size(), shift);
        return builder.op(
            Op::rescale,
            {x, builder.constant(DType::int32, {count}, multipliers),
             builder.constant(DType::int8, {count}, shifts),
             builder.integers(from, {1}, {input_zero}), builder.integers(to, {1}, {output_zero})},
            tosa::RescaleAttribute{.scale32 = true,
                                   .rounding = rounding,
                                   .per_channel = is_per_channel,
                                   .input_unsigned = false,
                                   .output_unsigned = output_unsigned},
            {.dtype = to, .shape = {}});
    }
};

// What a graph came to.
struct Outcome {
    std::vector<std::int8_t> output;
    std::size_t steps = 0;
};

// Builds a graph whose inner tensors are numbered. One of them, or every one, is an output too, or
// read by another operator whose result is one, so that nothing can be fused over it.
class Graph {
  public:
    enum class Reader : std::uint8_t { caller, another_operator };

    static constexpr std::size_t every_one = std::numeric_limits<std::size_t>::max();

    explicit Graph(std::optional<std::size_t> seen, Reader reader = Reader::caller)
        : seen_(seen), reader_(reader) {}

    Builder& builder() { return builder_; }

    Value inner(Value value) {
        if (seen_ == inner_count_ || seen_ == every_one) {
            const Value shown =
                reader_ == Reader::another_operator
                    ? builder_.op(Op::reverse, {value}, tosa::AxisAttribute{.axis = 1})
                    : value;
            builder_.output(shown, "inner" + std::to_string(inner_count_));
        }
        ++inner_count_;
        return value;
    }

    Outcome run(Value output, std::span<const std::vector<std::int8_t>> inputs) {
        builder_.output(output, "y");
        ModelRun run{builder_};
        for (const auto& input : inputs) {
            run.input(input);
        }
        return {.output = run.output<std::int8_t>(), .steps = run.steps()};
    }

  private:
    Builder builder_;
    std::optional<std::size_t> seen_;
    Reader reader_;
    std::size_t inner_count_ = 0;
};

struct Addend {
    Factor first{.multiplier = 1 << 30, .shift = 10, .input_zero = -7};
    std::optional<Factor> second = Factor{.multiplier = 1'632'935'131, .shift = 33};
};

Value clamped(Builder& builder, Value x, std::int8_t low, std::int8_t high) {
    const std::int8_t bounds[] = {low, high};
    return builder.op(Op::clamp, {x},
                      tosa::ClampAttribute{.min = std::as_bytes(std::span{bounds}.first(1)),
                                           .max = std::as_bytes(std::span{bounds}.last(1)),
                                           .nan_mode = tosa::NanMode::unknown});
}

// `Tested` is a graph that is one step as it stands. It is more, with the same result, after each
// of the changes.
template <class Tested>
void expect_not_fused_after(const std::vector<std::function<void(Tested&)>>& changes) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
        Tested tested;
        changes[i](tested);
        const Outcome got = tested.computed(Graph{{}});
        EXPECT_EQ(got.output, tested.computed(Graph{Graph::every_one}).output) << "change " << i;
        EXPECT_GT(got.steps, 1U) << "change " << i;
    }
}

// It is more than `steps` if somebody else reads one of its inner tensors.
template <class Tested>
void expect_not_fused_over_inner(std::size_t inner_count, std::size_t steps) {
    const Tested tested;
    const Outcome wanted = tested.computed(Graph{Graph::every_one});
    for (std::size_t seen = 0; seen < inner_count; ++seen) {
        for (const auto reader : {Graph::Reader::caller, Graph::Reader::another_operator}) {
            const Outcome got = tested.computed(Graph{seen, reader});
            EXPECT_EQ(got.output, wanted.output) << seen;
            EXPECT_GT(got.steps, steps) << seen;
        }
    }
}

struct Sum {
    Addend left;
    Addend right{.first = {.multiplier = 1 << 30, .shift = 11, .input_zero = 26}};
    Factor last{.multiplier = 1'359'686'661, .shift = 49, .output_zero = -20};
    bool is_clamped = true;
    bool is_broadcast = false;  // the right image is one pixel

    // Of `x` and `y`, with up to six inner tensors.
    Value build(Graph& graph, Value x, Value y) const {
        Builder& builder = graph.builder();
        const auto term = [&](const Addend& addend, Value value) {
            const Value first =
                graph.inner(addend.first.apply(builder, value, DType::int8, DType::int32));
            return addend.second ? graph.inner(addend.second->apply(builder, first, DType::int32,
                                                                    DType::int32))
                                 : first;
        };
        const Value a = term(left, x);
        const Value b = term(right, y);
        const Value sum = graph.inner(builder.add(a, b));
        const Value rescaled = last.apply(builder, sum, DType::int32, DType::int8);
        return is_clamped ? clamped(builder, graph.inner(rescaled), -100, 90) : rescaled;
    }

    [[nodiscard]] Outcome computed(Graph graph) const {
        const Value x = graph.builder().input("left", DType::int8, image_shape);
        const Value y =
            graph.builder().input("right", DType::int8, is_broadcast ? channel_shape : image_shape);
        const std::vector<std::int8_t> inputs[] = {
            numbers(image_size, 37), numbers(is_broadcast ? channels : image_size, 101)};
        return graph.run(build(graph, x, y), inputs);
    }
};

TEST(Int8Sum, is_one_step_and_the_same_as_many) {
    on_each_instruction_set([] {
        for (const RoundingMode rounding :
             {RoundingMode::single_round, RoundingMode::double_round}) {
            for (unsigned which = 0; which < 8; ++which) {
                Sum sum;
                sum.is_clamped = (which & 1U) != 0;
                for (Addend* addend : {&sum.left, &sum.right}) {
                    addend->second->rounding = rounding;
                }
                sum.last.rounding = rounding;
                if ((which & 2U) != 0) {
                    sum.left.second.reset();
                }
                if ((which & 4U) != 0) {
                    sum.right.second.reset();
                }
                const Outcome got = sum.computed(Graph{{}});
                const Outcome wanted = sum.computed(Graph{Graph::every_one});
                EXPECT_EQ(got.output, wanted.output) << which;
                EXPECT_EQ(got.steps, 1U) << which;
                EXPECT_GT(wanted.steps, 1U) << which;
            }
        }
    });
}

TEST(Int8Sum, is_not_fused_over_a_tensor_that_somebody_else_reads) {
    // The last inner tensor stands between the step and the CLAMP.
    expect_not_fused_over_inner<Sum>(6, 1);
}

TEST(Int8Sum, is_not_fused_where_the_step_could_not_compute_it) {
    expect_not_fused_after<Sum>({
        [](Sum& sum) { sum.is_broadcast = true; },
        [](Sum& sum) { sum.left.first.multiplier = 3 << 20; },
        [](Sum& sum) { sum.left.first = {.multiplier = 1 << 28, .shift = 30, .input_zero = 3}; },
        [](Sum& sum) { sum.left.second->shift = 31; },
        [](Sum& sum) { sum.right.second->rounding = RoundingMode::single_round; },
        [](Sum& sum) { sum.left.first.is_per_channel = true; },
        [](Sum& sum) { sum.right.second->is_per_channel = true; },
        [](Sum& sum) { sum.last.is_per_channel = true; },
        [](Sum& sum) {
            sum.left.first = {.multiplier = 1 << 30, .shift = 30, .input_zero = 3};
            sum.right.first = sum.left.first;
            sum.last.shift = 31;
        },
    });
}

TEST(Int8Sum, may_write_over_what_it_reads) {
    const Sum sum;
    const std::vector<std::int8_t> inputs[] = {numbers(image_size, 37), numbers(image_size, 101)};
    const auto compute = [&](Graph graph) {
        const Value x = graph.builder().input("left", DType::int8, image_shape);
        const Value y = graph.builder().input("right", DType::int8, image_shape);
        const Value first = sum.build(graph, x, y);
        const Value second = sum.build(graph, first, first);
        const Value third = sum.build(graph, second, x);
        return graph.run(sum.build(graph, third, second), inputs);
    };
    const Outcome wanted = compute(Graph{Graph::every_one});
    const Outcome got = compute(Graph{{}});
    EXPECT_EQ(got.output, wanted.output);
    EXPECT_EQ(got.steps, 4U);
}

struct Prelu {
    Factor zero_point{.input_zero = -19};
    Factor positive{
        .multiplier = 2'002'862'395, .shift = 31, .input_zero = -19, .output_zero = -10};
    Factor negative{.multiplier = 1'430'193'545, .shift = 37, .output_zero = -10};
    std::vector<std::int32_t> slopes_shape = channel_shape;
    std::int32_t least = 0;  // that is not negative
    bool are_slopes_late = false;
    bool is_select_turned = false;

    // With five inner tensors.
    [[nodiscard]] Outcome computed(Graph graph) const {
        Builder& builder = graph.builder();
        const Value x = builder.input("x", DType::int8, image_shape);
        std::size_t count = 1;
        for (const std::int32_t dim : slopes_shape) {
            count *= static_cast<std::size_t>(dim);
        }
        const auto few = numbers(count, 29);
        std::vector<std::vector<std::int8_t>> inputs{numbers(image_size, 37)};
        Value slopes;
        if (are_slopes_late) {
            slopes = builder.cast(builder.input("slopes", DType::int8, slopes_shape), DType::int32);
            inputs.push_back(few);
        } else {
            slopes = builder.constant(DType::int32, slopes_shape,
                                      std::vector<std::int32_t>(few.begin(), few.end()));
        }
        const Value image = graph.inner(zero_point.apply(builder, x, DType::int8, DType::int32));
        const Value test = graph.inner(builder.op(
            Op::greater_equal, {image, builder.integers(DType::int32, {1, 1, 1, 1}, {least})}));
        const Value product = graph.inner(builder.mul(image, slopes));
        const Value below =
            graph.inner(negative.apply(builder, product, DType::int32, DType::int8));
        const Value above = graph.inner(positive.apply(builder, x, DType::int8, DType::int8));
        const Value result = is_select_turned ? builder.op(Op::select, {test, below, above})
                                              : builder.op(Op::select, {test, above, below});
        return graph.run(result, inputs);
    }
};

TEST(Int8Prelu, is_one_step_and_the_same_as_many) {
    const std::vector<std::vector<std::int32_t>> slopes_shapes{channel_shape, {1, 1, 1, 1}};
    on_each_instruction_set([&] {
        for (const RoundingMode rounding :
             {RoundingMode::single_round, RoundingMode::double_round}) {
            for (const std::int8_t shift : {std::int8_t{31}, std::int8_t{34}}) {
                for (const auto& shape : slopes_shapes) {
                    Prelu prelu;
                    prelu.positive.rounding = rounding;
                    prelu.negative.rounding = rounding;
                    prelu.positive.shift = shift;
                    prelu.slopes_shape = shape;
                    const Outcome got = prelu.computed(Graph{{}});
                    const Outcome wanted = prelu.computed(Graph{Graph::every_one});
                    EXPECT_EQ(got.output, wanted.output);
                    EXPECT_EQ(got.steps, 1U);
                    EXPECT_GT(wanted.steps, 1U);
                }
            }
        }
    });
}

TEST(Int8Prelu, is_not_fused_over_a_tensor_that_somebody_else_reads) {
    expect_not_fused_over_inner<Prelu>(5, 2);
}

TEST(Int8Prelu, is_not_fused_where_the_step_could_not_compute_it) {
    expect_not_fused_after<Prelu>({
        [](Prelu& prelu) { prelu.are_slopes_late = true; },
        [](Prelu& prelu) { prelu.slopes_shape = image_shape; },
        [](Prelu& prelu) { prelu.least = 5; },
        [](Prelu& prelu) { prelu.is_select_turned = true; },
        [](Prelu& prelu) { prelu.zero_point.shift = 29; },
        [](Prelu& prelu) { prelu.zero_point.is_per_channel = true; },
        [](Prelu& prelu) { prelu.positive.input_zero = -18; },
        [](Prelu& prelu) { prelu.positive.shift = 32; },
        [](Prelu& prelu) { prelu.positive.is_per_channel = true; },
        [](Prelu& prelu) { prelu.negative.shift = 32; },
        [](Prelu& prelu) { prelu.negative.output_zero = -11; },
        [](Prelu& prelu) { prelu.negative.is_per_channel = true; },
        [](Prelu& prelu) {
            prelu.positive.output_unsigned = true;
            prelu.positive.output_zero = 100;
            prelu.negative.output_zero = 100;
        },
    });
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

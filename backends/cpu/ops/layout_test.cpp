// REVERSE, SLICE, TILE, GATHER and SCATTER; all that moves elements, for every type; and operands
// that arrive at run time.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/testing/model_run.h"
#include "virtaccel/base/status.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::backends::cpu::ops {

namespace {

using testing::ModelOptions;
using testing::ModelRun;
using tosa::AxisAttribute;
using tosa::Builder;
using tosa::DeclaredOutput;
using tosa::DType;
using tosa::Op;
using tosa::Value;

using Bytes = std::vector<std::uint8_t>;
using Elements = std::vector<std::uint8_t>;
using Lengths = std::vector<std::int64_t>;
using Shape = std::vector<std::int32_t>;

// Elements of `dtype` of which all bytes are the same.
Bytes bytes_of(DType dtype, const Elements& elements) {
    Bytes bytes;
    for (const std::uint8_t element : elements) {
        bytes.insert(bytes.end(), static_cast<std::size_t>(*tosa::byte_count(dtype, 1)), element);
    }
    return bytes;
}

Value indices(Builder& builder, const Shape& shape, const std::vector<std::int32_t>& values) {
    return builder.constant(DType::int32, shape, values);
}

// What an operator makes of the elements 0 to 5 of shape {2, 3}.
struct Move {
    std::string_view name;
    std::function<Value(Builder&, Value)> make;
    Elements wanted;
};

const std::vector<Move>& moves() {
    static const std::vector<Move> all{
        {"concat",
         [](Builder& b, Value x) { return b.concat({x, x}, 1); },
         {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
        {"pad",
         [](Builder& b, Value x) {
             const DType dtype = b.tensor(x).dtype;
             return b.op(Op::pad,
                         {x, b.shape({0, 1, 1, 0}), b.constant(dtype, {1}, bytes_of(dtype, {9}))});
         },
         {9, 0, 1, 2, 9, 3, 4, 5, 9, 9, 9, 9}},
        {"reshape", [](Builder& b, Value x) { return b.reshape(x, {3, 2}); }, {0, 1, 2, 3, 4, 5}},
        {"reverse rows",
         [](Builder& b, Value x) { return b.op(Op::reverse, {x}, AxisAttribute{.axis = 0}); },
         {3, 4, 5, 0, 1, 2}},
        {"reverse columns",
         [](Builder& b, Value x) { return b.op(Op::reverse, {x}, AxisAttribute{.axis = 1}); },
         {2, 1, 0, 5, 4, 3}},
        {"slice",
         [](Builder& b, Value x) { return b.op(Op::slice, {x, b.shape({0, 1}), b.shape({2, 2})}); },
         {1, 2, 4, 5}},
        {"tile rows",
         [](Builder& b, Value x) { return b.op(Op::tile, {x, b.shape({2, 1})}); },
         {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}},
        {"tile both",
         [](Builder& b, Value x) { return b.op(Op::tile, {x, b.shape({2, 2})}); },
         {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
        {"transpose",
         [](Builder& b, Value x) {
             return b.op(Op::transpose, {x}, tosa::TransposeAttribute{.perms = {1, 0}, .rank = 2});
         },
         {0, 3, 1, 4, 2, 5}},
        {"gather elements",
         [](Builder& b, Value x) {
             return b.op(Op::gather, {b.reshape(x, {1, 6, 1}), indices(b, {1, 4}, {5, 0, 0, 2})});
         },
         {5, 0, 0, 2}},
        {"gather rows of batches",
         [](Builder& b, Value x) {
             return b.op(Op::gather, {b.reshape(x, {2, 1, 3}), indices(b, {2, 2}, {0, 0, 0, 0})});
         },
         {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}},
        {"scatter",
         [](Builder& b, Value x) {
             return b.op(Op::scatter, {b.reshape(x, {1, 3, 2}), indices(b, {1, 2}, {2, 0}),
                                       b.op(Op::slice, {b.reshape(x, {1, 3, 2}), b.shape({0, 1, 0}),
                                                        b.shape({1, 2, 2})})});
         },
         {4, 5, 2, 3, 2, 3}},
    };
    return all;
}

TEST(Layout, moves_elements_of_every_type) {
    for (const Move& move : moves()) {
        for (const DType dtype :
             {DType::boolean, DType::int8, DType::int16, DType::int32, DType::fp32, DType::fp16,
              DType::bf16, DType::fp8e4m3, DType::fp8e5m2}) {
            Builder builder;
            builder.output(move.make(builder, builder.input("x", dtype, {2, 3})), "y");
            ModelRun run{builder};
            run.input(bytes_of(dtype, {0, 1, 2, 3, 4, 5}));
            EXPECT_EQ(run.output<std::uint8_t>(), bytes_of(dtype, move.wanted))
                << move.name << " of " << tosa::name_of(dtype);
        }
    }
}

TEST(Layout, folds_what_is_made_of_constants) {
    for (const Move& move : moves()) {
        Builder builder;
        builder.output(
            move.make(builder, builder.constant(DType::int8, {2, 3}, Bytes{0, 1, 2, 3, 4, 5})),
            "y");
        ModelRun run{builder};
        EXPECT_EQ(run.output<std::uint8_t>(), move.wanted) << move.name;
        EXPECT_EQ(run.steps(), 1U) << move.name;
    }
}

TEST(Layout, keeps_elements_that_take_half_a_byte_or_six) {
    const std::pair<DType, Bytes> all[] = {{DType::int4, {0x21, 0x0f}},
                                           {DType::int48, bytes_of(DType::int48, {1, 2, 3})}};
    for (const auto& [dtype, bytes] : all) {
        Builder builder;
        const Value x = builder.input("x", dtype, {3});
        builder.output(builder.op(Op::identity, {x}), "same");
        builder.output(builder.op(Op::identity, {builder.constant(dtype, {3}, bytes)}), "constant");
        ModelRun run{builder};
        run.input(bytes).run();
        EXPECT_EQ(run.slot<std::uint8_t>(1), bytes);
        EXPECT_EQ(run.slot<std::uint8_t>(2), bytes);
    }
}

TEST(Tile, repeats_axes_of_every_kind) {
    Builder builder;
    const Value x = builder.input("x", DType::int8, {2, 1, 2});
    builder.output(builder.op(Op::tile, {x, builder.shape({1, 3, 2})}), "y");
    EXPECT_EQ(ModelRun{builder}.input(Bytes{1, 2, 3, 4}).output<std::uint8_t>(),
              (Bytes{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 4}));
}

TEST(Gather, in_parts_finds_every_row) {
    Builder builder;
    const Value values = builder.input("values", DType::int32, {2, 300, 100});
    const Value rows = builder.input("rows", DType::int32, {2, 200});
    builder.output(builder.op(Op::gather, {values, rows}), "y");
    std::vector<std::int32_t> x(60000);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> which(400);
    std::vector<std::int32_t> wanted;
    for (std::size_t i = 0; i < which.size(); ++i) {
        which[i] = static_cast<std::int32_t>(i * 7 % 300);
        const std::size_t row = (i / 200 * 300) + (i * 7 % 300);
        for (std::size_t k = 0; k < 100; ++k) {
            wanted.push_back(static_cast<std::int32_t>((row * 100) + k));
        }
    }
    ModelRun run{builder, ModelOptions{.threads = 2}};
    EXPECT_EQ(run.input(x).input(which).output<std::int32_t>(), wanted);
    EXPECT_GT(run.program().steps.front()->parts(), 1U);
}

TEST(Gather, and_scatter_survive_indices_that_point_elsewhere) {
    Builder builder;
    const Value values = builder.input("values", DType::int8, {1, 3, 1});
    const Value rows = builder.input("rows", DType::int32, {1, 3});
    builder.output(builder.op(Op::gather, {values, rows}), "gathered");
    builder.output(builder.op(Op::scatter, {values, rows, values}), "scattered");
    ModelRun run{builder};
    run.input(Bytes{1, 2, 3}).input(std::vector<std::int32_t>{-7, 2147483647, 0}).run();
    EXPECT_EQ(run.slot<std::uint8_t>(2), (Bytes{1, 3, 1}));
    EXPECT_EQ(run.slot<std::uint8_t>(3), (Bytes{3, 2, 3}));
}

TEST(Scatter, writes_over_values_that_nobody_else_needs) {
    using Numbers = std::vector<std::int32_t>;
    for (const bool is_needed : {false, true}) {
        Builder builder;
        const Value x = builder.input("x", DType::int32, {1, 3, 1});
        const Value values = builder.add(x, x);
        const Value y = builder.op(
            Op::scatter, {values, indices(builder, {1, 3}, {2, 0, 1}), is_needed ? values : x});
        builder.output(builder.op(Op::reverse, {y}, AxisAttribute{.axis = 1}), "y");
        ModelRun run{builder};
        EXPECT_EQ(run.input(Numbers{1, 2, 3}).output<std::int32_t>(),
                  is_needed ? (Numbers{2, 6, 4}) : (Numbers{1, 3, 2}));
        EXPECT_EQ(run.program().arena.size(), is_needed ? 128U : 64U);
    }
}

// A model whose operand for a shape is its second input.
struct Dynamic {
    Op op = Op::unknown;
    Lengths numbers;  // of that operand
    Shape shape;      // of the output
    Elements wanted;  // of the elements 0 to 5 of shape {2, 3}
    Lengths wrong;    // numbers that do not give that shape, or lie outside
};

TEST(Layout, takes_operands_at_run_time_and_fails_where_they_disagree_with_the_file) {
    const Dynamic all[] = {
        {Op::pad, {0, 1, 1, 0}, {3, 4}, {7, 0, 1, 2, 7, 3, 4, 5, 7, 7, 7, 7}, {0, 1, 0, 0}},
        {Op::pad, {1, 0, 0, 0}, {3, 3}, {7, 7, 7, 0, 1, 2, 3, 4, 5}, {-1, 2, 0, 0}},
        {Op::slice, {1, 1}, {1, 2}, {4, 5}, {1, 2}},
        {Op::slice, {0, 0}, {2, 1}, {0, 3}, {0, -1}},
        {Op::tile, {1, 2}, {2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {2, 1}},
        {Op::reshape, {3, 2}, {3, 2}, {0, 1, 2, 3, 4, 5}, {2, 3}},
    };
    for (const Dynamic& model : all) {
        Builder builder;
        const Value x = builder.input("x", DType::int8, {2, 3});
        const auto length = static_cast<std::int32_t>(model.numbers.size());
        std::vector<Value> operands{x, builder.input("numbers", DType::shape, {length})};
        if (model.op == Op::pad) {
            operands.push_back(builder.input("value", DType::int8, {1}));
        } else if (model.op == Op::slice) {
            operands.push_back(builder.shape(Lengths{model.shape[0], model.shape[1]}));
        }
        const DeclaredOutput declared{.dtype = DType::unknown, .shape = model.shape};
        builder.output(builder.op(model.op, operands, {}, declared), "y");
        for (const bool is_wrong : {false, true}) {
            ModelRun run{builder};
            run.input(Bytes{0, 1, 2, 3, 4, 5}).input(is_wrong ? model.wrong : model.numbers);
            if (model.op == Op::pad) {
                run.input(Bytes{7});
            }
            if (is_wrong) {
                EXPECT_EQ(run.try_run(), Status::invalid_argument) << tosa::name_of(model.op);
            } else {
                EXPECT_EQ(run.output<std::uint8_t>(), model.wanted) << tosa::name_of(model.op);
            }
        }
    }
}

TEST(Slice, fails_where_its_size_arrives_and_is_not_the_files) {
    Builder builder;
    const Value x = builder.input("x", DType::int8, {3});
    const Value size = builder.input("size", DType::shape, {1});
    builder.output(builder.op(Op::slice, {x, builder.shape({2}), size}, {},
                              {.dtype = DType::unknown, .shape = Shape{1}}),
                   "y");
    ModelRun good{builder};
    EXPECT_EQ(good.input(Bytes{1, 2, 3}).input(Lengths{1}).output<std::uint8_t>(), Bytes{3});
    ModelRun bad{builder};
    EXPECT_EQ(bad.input(Bytes{1, 2, 3}).input(Lengths{2}).try_run(), Status::invalid_argument);
}

TEST(Pad, takes_a_value_that_is_computed) {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {1, 1, 2, 1});
    const Value value = builder.input("value", DType::fp32, {1});
    builder.output(builder.op(Op::pad, {x, builder.shape({0, 0, 0, 0, 1, 1, 0, 0}),
                                        builder.add(value, value)}),
                   "y");
    EXPECT_EQ(ModelRun{builder}.input({1.0F, 2.0F}).input({4.0F}).output<float>(),
              (std::vector<float>{8, 1, 2, 8}));
}

}  // namespace

}  // namespace virtaccel::backends::cpu::ops

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/tosa/attributes.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/model_file.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"

namespace virtaccel::fuzz {

namespace {

using tosa::Builder;
using tosa::DType;
using tosa::Op;
using tosa::Value;

void add_model(Seeds& seeds, std::string_view name, std::span<const std::byte> model) {
    Bytes bytes;
    std::ranges::transform(model, std::back_inserter(bytes),
                           [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
    // The first byte says that a model's bytes follow.
    bytes.insert(bytes.begin(), 0);
    seeds.add("tosa", name, bytes);
    seeds.add("backends_cpu_prepare", name, bytes);
}

void add_model(Seeds& seeds, std::string_view name, const Builder& builder) {
    const auto model = builder.finish();
    VIRTACCEL_CHECK(model.has_value());
    add_model(seeds, name, *model);
}

// One operator on one input of each type that it may have.
void add_unary(Seeds& seeds, Op op, DType dtype) {
    Builder builder;
    const Value x = builder.input("x", dtype, {1, 2, 3});
    builder.output(builder.op(op, {x}), "y");
    if (const auto model = builder.finish()) {
        add_model(seeds, std::string{tosa::name_of(op)} + "_" + std::string{tosa::name_of(dtype)},
                  *model);
    }
}

void add_elementwise(Seeds& seeds) {
    for (const Op op :
         {Op::abs, Op::exp, Op::sigmoid, Op::bitwise_not, Op::logical_not, Op::clz, Op::identity}) {
        for (const DType dtype : {DType::fp32, DType::int32, DType::int8, DType::boolean}) {
            add_unary(seeds, op, dtype);
        }
    }
}

Builder small_matmul() {
    Builder builder;
    const Value a = builder.input("a", DType::fp32, {2, 3, 4});
    const Value b = builder.input("b", DType::fp32, {2, 4, 5});
    const Value product = builder.matmul(a, b);
    const Value sum = builder.op(Op::reduce_sum, {product}, tosa::AxisAttribute{.axis = 2});
    builder.output(sum, "sums");
    return builder;
}

Builder small_casts() {
    Builder builder;
    const Value x = builder.input("x", DType::fp32, {3});
    for (const DType dtype : {DType::fp16, DType::int8, DType::int32}) {
        builder.output(builder.cast(x, dtype), tosa::name_of(dtype));
    }
    return builder;
}

// Operators that a file may have in another order than they run in, a name twice, no name.
void add_spoilt(Seeds& seeds) {
    tosa::FileModel model = tosa::testing::two_additions().file();
    auto& block = tosa::testing::main_of(model);
    std::ranges::reverse(block.operators);
    add_model(seeds, "out_of_order", tosa::write_file(model));
    block.tensors.front().name.reset();
    add_model(seeds, "no_name", tosa::write_file(model));
    block.tensors.front().name = block.tensors.back().name;
    add_model(seeds, "same_name", tosa::write_file(model));
}

}  // namespace

void add_models(Seeds& seeds) {
    add_model(seeds, "two_additions", tosa::testing::two_additions());
    add_model(seeds, "small_network", tosa::testing::small_network());
    add_model(seeds, "small_matmul", small_matmul());
    add_model(seeds, "small_casts", small_casts());
    add_elementwise(seeds);
    add_spoilt(seeds);
}

}  // namespace virtaccel::fuzz

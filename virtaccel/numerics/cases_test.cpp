#include "virtaccel/numerics/cases.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/accuracy.h"
#include "virtaccel/numerics/formats.h"
#include "virtaccel/numerics/oracle.h"
#include "virtaccel/numerics/run_case.h"
#include "virtaccel/numerics/tensor.h"
#include "virtaccel/numerics/testing/oracle_backend.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::numerics {

namespace {

using conformance::CaseResult;
using conformance::Outcome;

const Case* find_case(std::string_view name) {
    const auto found = std::ranges::find(cases(), name, &Case::name);
    return found == cases().end() ? nullptr : &*found;
}

template <class Maker>
CaseResult run_on(Maker& maker, const Case& row) {
    conformance::BackendSubject subject;
    subject.memory = host::heap();
    subject.factory = backend::factory_from(maker);
    return run_case(subject, row);
}

TEST(Cases, have_names_that_say_what_they_judge) {
    std::set<std::string_view> names;
    for (const Case& row : cases()) {
        EXPECT_TRUE(row.name.starts_with("numerics.")) << row.name;
        EXPECT_EQ(std::ranges::count(row.name, '.'), 3) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.title.empty()) << row.name;
    }
}

// What the project has promised to judge.
TEST(Cases, cover_every_type_and_operator_that_is_promised) {
    for (const char* const name : {"numerics.identity.fp32.edge_values",
                                   "numerics.identity.fp8e5m2.every_value",
                                   "numerics.identity.int4.every_value",
                                   "numerics.matmul.fp32.non_square_batched",
                                   "numerics.matmul.fp16.non_square_batched",
                                   "numerics.matmul.bf16.non_square_batched",
                                   "numerics.matmul.fp8e4m3.non_square_batched",
                                   "numerics.matmul.fp8e5m2.non_square_batched",
                                   "numerics.matmul.int8.non_square_batched",
                                   "numerics.matmul.int8.accumulates_in_int32",
                                   "numerics.max_pool2d.fp32.nhwc",
                                   "numerics.max_pool2d.bf16.nhwc",
                                   "numerics.max_pool2d.fp8e4m3.ignores_nan",
                                   "numerics.cast.fp8e4m3_to_bf16.every_value",
                                   "numerics.cast.fp8e5m2_to_bf16.every_value",
                                   "numerics.rescale.int32_to_int8.halves",
                                   "numerics.rescale.int32_to_int8.double_round",
                                   "numerics.conv2d.fp32.strided_dilated_padded",
                                   "numerics.conv2d.int8_by_int4.strided_dilated_padded",
                                   "numerics.depthwise_conv2d.int8.zero_points",
                                   "numerics.resize.fp32.bilinear_doubles_width",
                                   "numerics.resize.int8.nearest_doubles_height"}) {
        EXPECT_NE(find_case(name), nullptr) << name;
    }
}

TEST(Cases, are_the_same_to_the_last_bit_whenever_they_are_made) {
    for (const Case& row : cases()) {
        const Problem first = row.make();
        const Problem second = row.make();
        ASSERT_EQ(first.model, second.model) << row.name;
        ASSERT_EQ(first.inputs.size(), second.inputs.size()) << row.name;
        for (std::size_t i = 0; i < first.inputs.size(); ++i) {
            ASSERT_EQ(pack(first.inputs[i]), pack(second.inputs[i])) << row.name;
        }
    }
}

TEST(Cases, are_valid_models_that_do_what_their_rows_say) {
    for (const Case& row : cases()) {
        const Problem problem = row.make();
        const auto graph = tosa::verify(problem.model);
        ASSERT_TRUE(graph) << row.name;
        ASSERT_TRUE(tosa::validate_for(*graph, tosa::target_of(*graph))) << row.name;
        const tosa::Operator& op = graph->operators().back();
        EXPECT_EQ(op.op, row.op) << row.name;
        EXPECT_EQ(graph->tensors()[op.inputs[0]].dtype, row.input) << row.name;
        EXPECT_EQ(graph->tensors()[op.outputs[0]].dtype, row.output) << row.name;
        EXPECT_EQ(graph->main().outputs.size(), 1U) << row.name;
    }
}

TEST(Cases, know_how_exact_every_result_has_to_be) {
    for (const Case& row : cases()) {
        const auto rows = accuracy_rows();
        const bool is_float = float_format(row.output).has_value();
        EXPECT_EQ(is_float,
                  is_float && std::ranges::find(rows, row.op, &AccuracyRow::op) != rows.end())
            << row.name;
    }
}

TEST(Cases, all_pass_on_a_backend_that_is_right) {
    const Interference none;
    auto make = [&]() -> Result<backend::AnyBackend> {
        return backend::make_owned<testing::OracleBackend>(host::heap(), host::heap(), none);
    };
    for (const Case& row : cases()) {
        const CaseResult result = run_on(make, row);
        EXPECT_EQ(result.outcome, Outcome::passed) << row.name << ": " << result.reason;
        EXPECT_TRUE(result.ulp.has_value()) << row.name;
    }
}

}  // namespace

}  // namespace virtaccel::numerics

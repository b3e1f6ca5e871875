#include "backends/cpu/capabilities.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/operators.h"
#include "backends/cpu/testing/model_run.h"
#include "virtaccel/lowering/capabilities.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/every_operator.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::backends::cpu {
namespace {

// What the descriptor has against a model; empty if it takes it.
std::string against(const std::vector<std::byte>& model) {
    const tosa::Graph graph = tosa::verify(model).value();
    const auto analysis = tosa::analyze_for(graph, tosa::target_of(graph));
    if (!analysis) {
        return std::string{analysis.error().sentence.view()};
    }
    const auto reasons = lowering::reasons_against(capabilities().front(), graph, *analysis);
    return reasons.empty() ? std::string{} : std::string{reasons.front().sentence.view()};
}

// The descriptor may be narrower than the backend by its nature; here it is derived, so that it can
// be exact.
TEST(CpuCapabilities, take_exactly_what_the_backend_loads) {
    for (const tosa::testing::OperatorModel& model : tosa::testing::every_operator()) {
        const std::vector<std::byte> bytes = model.builder.finish().value();
        const std::string reason = against(bytes);
        const testing::Prepared prepared = testing::prepare(bytes, testing::target_of(bytes));
        EXPECT_EQ(prepared.program != nullptr, reason.empty())
            << model.name << ": " << reason
            << (prepared.refusals.empty() ? "" : prepared.refusals.front());
    }
}

TEST(CpuCapabilities, have_a_row_for_each_operator_of_the_backend) {
    const auto descriptors = capabilities();
    ASSERT_EQ(descriptors.size(), 1U);
    EXPECT_EQ(descriptors[0].operators.size(), supported_operators().size());
    EXPECT_EQ(descriptors[0].target.profiles, tosa::profiles_known);
}

}  // namespace
}  // namespace virtaccel::backends::cpu

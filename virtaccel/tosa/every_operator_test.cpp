// What holds for every operator and every combination of types that it takes.

#include "virtaccel/tosa/testing/every_operator.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/operators.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::tosa {
namespace {

TEST(EveryOperator, can_be_built_in_all_its_types) {
    std::vector<bool> is_built(op_end);
    for (const testing::OperatorModel& model : testing::every_operator()) {
        const auto bytes = model.builder.finish();
        ASSERT_TRUE(bytes) << model.name << ": " << bytes.error().sentence.view();
        const Graph graph = verify(*bytes).value();
        for (const Operator& op : graph.operators()) {
            const OperatorRow& row = *row_of(op.op);
            is_built[static_cast<std::size_t>(op.op)] = true;
            if (op.op == model.op && row.kind != OperatorClass::control) {
                const Signature* const matched = match(row, op, graph.tensors());
                EXPECT_TRUE(matched != nullptr && matched->types == model.signature->types)
                    << model.name;
            }
        }
    }
    for (const OperatorRow& row : operator_rows()) {
        EXPECT_TRUE(is_built[static_cast<std::size_t>(row.op)]) << row.name;
    }
}

TEST(EveryOperator, is_analysed_for_the_target_it_needs) {
    for (const testing::OperatorModel& model : testing::every_operator()) {
        const auto bytes = model.builder.finish().value();
        const Graph graph = verify(bytes).value();
        if (graph.blocks().size() > 1) {
            continue;
        }
        const auto analysis = analyze_for(graph, target_of(graph));
        ASSERT_TRUE(analysis) << model.name << ": " << analysis.error().sentence.view();
        EXPECT_TRUE(analysis->graph.dead.empty()) << model.name;
        EXPECT_TRUE(analysis->specialisation.operands.empty()) << model.name;
    }
}

}  // namespace
}  // namespace virtaccel::tosa

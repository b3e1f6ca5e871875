#include "tools/operators/page.h"

#include <set>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "tools/operators/cells.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/testing/models.h"

namespace virtaccel::operators {
namespace {

TEST(Cells, have_each_a_name_of_its_own) {
    std::set<std::string> names;
    for (const Cell& cell : all_cells()) {
        EXPECT_TRUE(names.insert(name_of(cell)).second) << name_of(cell);
    }
    EXPECT_TRUE(names.contains("CONV2D INT8,INT4,INT32,INT32"));
    EXPECT_TRUE(names.contains("COND_IF any"));
}

TEST(Cells, are_read_out_of_a_model) {
    const auto model = tosa::testing::two_additions().finish();
    ASSERT_TRUE(model.has_value());
    EXPECT_EQ(cell_of(*model, "ADD").value(), "ADD FP32");
    EXPECT_EQ(cell_of(*model, "SUB").error().message, "The model does not use the operator (SUB).");
    EXPECT_FALSE(cell_of(std::span{*model}.first(16), "ADD").has_value());
}

TEST(Evidence, is_about_cells_that_there_are) {
    const auto evidence = read_evidence("# words\nADD FP32 12\n", "VARIABLE INT8 x_test.cpp, y\n");
    ASSERT_TRUE(evidence.has_value()) << evidence.error().message;
    EXPECT_EQ(evidence->passed.at("ADD FP32"), 12);
    EXPECT_EQ(evidence->covered.at("VARIABLE INT8"), "x_test.cpp, y");
    for (const std::string wrong : {"ADD BOOL 1", "ADD FP32", "ADD FP32 x", "ADD FP32 1x", "ADD"}) {
        EXPECT_FALSE(read_evidence(wrong, "").has_value()) << wrong;
    }
    EXPECT_FALSE(read_evidence("", "ADD BOOL x_test.cpp").has_value());
}

TEST(Page, says_what_passed_and_what_is_taken) {
    const auto evidence = read_evidence("ADD FP32 12\nCAST FP16,FP32 3\n", "");
    ASSERT_TRUE(evidence.has_value());
    const std::string page = operators_page(*evidence);
    EXPECT_NE(page.find("| CAST | FP16,FP32 | PRO-FP | 3 |\n"), std::string::npos);
    const auto line = page.find("\n| ADD |");
    ASSERT_NE(line, std::string::npos);
    EXPECT_NE(page.substr(line, page.find('\n', line + 1) - line).find("| 12 |"),
              std::string::npos);
}

TEST(Page, misses_what_is_taken_without_a_test) {
    const auto nothing = read_evidence("", "");
    const auto something = read_evidence("ADD FP32 12\n", "ADD INT32 ops/elementwise_test.cpp\n");
    ASSERT_TRUE(nothing.has_value() && something.has_value());
    const auto missing = without_evidence(*nothing);
    const auto fewer = without_evidence(*something);
    EXPECT_EQ(missing.size(), fewer.size() + 2);
}

}  // namespace
}  // namespace virtaccel::operators

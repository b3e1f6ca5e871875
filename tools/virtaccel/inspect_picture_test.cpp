#include "tools/virtaccel/inspect_picture.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tools/virtaccel/inspect_report.h"
#include "tools/virtaccel/model.h"
#include "virtaccel/tosa/analyze_for.h"
#include "virtaccel/tosa/builder.h"
#include "virtaccel/tosa/graph.h"
#include "virtaccel/tosa/target.h"
#include "virtaccel/tosa/testing/models.h"
#include "virtaccel/tosa/types.h"
#include "virtaccel/tosa/validate.h"

namespace virtaccel::cli {
namespace {

std::string picture(const tosa::Builder& builder) {
    GraphFile file{.path = "m.tosa", .bytes = builder.finish().value(), .graph = {}};
    file.graph = tosa::verify(file.bytes).value();
    const tosa::Target target = tosa::target_of(file.graph);
    const auto analysis = tosa::analyze_for(file.graph, target).value();
    InspectReport report = report_on(file, target, analysis);
    report.verdict = BackendVerdict{};
    for (const tosa::OperatorIndex index : analysis.graph.order) {
        const bool is_add = file.graph.operators()[index].op == tosa::Op::add;
        report.verdict->operators.push_back({.index = index, .reason = is_add ? "no ADD" : ""});
    }
    return picture_of(report);
}

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) {
        ++found;
    }
    return found;
}

TEST(DotText, lets_nothing_of_a_name_through_that_the_language_reads) {
    EXPECT_EQ(dot_text("input_0:x/y"), "input_0:x/y");
    EXPECT_EQ(dot_text(R"(a"b\n)"), R"(a\"b\\n)");
    EXPECT_EQ(dot_text("a&lt;"), "a&amp;lt;");
    EXPECT_EQ(dot_text("a\n\x7f\xc3\xa4"), "a????");
    EXPECT_EQ(dot_text(std::string(65, 'a')), std::string(64, 'a') + "...");
}

TEST(Picture, draws_operators_and_what_flows_between_them) {
    const std::string text = picture(tosa::testing::two_additions());
    EXPECT_TRUE(text.starts_with("digraph model {\n")) << text;
    EXPECT_TRUE(text.ends_with("}\n"));
    EXPECT_EQ(count(text, "[fillcolor="), 2U) << "the constant has no box";
    EXPECT_NE(text.find(R"(label="1 ADD\nwith FP32 1x4\nFP32 1x4")"), std::string::npos) << text;
    EXPECT_NE(text.find(R"(label="x\nFP32 1x4")"), std::string::npos);
    for (const std::string_view edge :
         {"slot0 -> box0;", "box0 -> box1;", "slot0 -> box1;", "box1 -> slot1;"}) {
        EXPECT_EQ(count(text, edge), 1U) << edge << " in " << text;
    }
    EXPECT_EQ(count(text, "#f8b4b4"), 2U) << "what is refused is red";
}

TEST(Picture, escapes_the_names_of_slots) {
    tosa::Builder builder;
    const tosa::Value x = builder.input("x\"];evil[\"", tosa::DType::fp32, {4});
    builder.output(builder.add(x, x), "y");
    const std::string text = picture(builder);
    EXPECT_NE(text.find(R"(label="x\"];evil[\"\nFP32 4")"), std::string::npos) << text;
}

TEST(Picture, joins_chains_where_there_are_many_operators) {
    tosa::Builder builder;
    tosa::Value at = builder.input("x", tosa::DType::fp32, {4});
    const auto operators = static_cast<std::uint32_t>(picture_boxes_max) + 1;
    for (std::uint32_t i = 0; i < operators; ++i) {
        at = builder.op(tosa::Op::abs, {at});
    }
    builder.output(at, "y");
    const std::string text = picture(builder);
    EXPECT_EQ(count(text, "[fillcolor="), 1U);
    EXPECT_NE(text.find("more lines"), std::string::npos);
    EXPECT_EQ(count(text, "->"), 2U);
}

}  // namespace
}  // namespace virtaccel::cli

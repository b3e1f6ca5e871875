#include "virtaccel/conformance/reports.h"

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

Report mixed() {
    return {.subject = "device stdio:\"a & b\"",
            .results = {{.name = "VQ-001", .title = "one <piece>"},
                        {.name = "VQ-002",
                         .title = "cuts",
                         .outcome = Outcome::skipped,
                         .reason = "There is nothing to cut."},
                        {.name = "VQ-010.long",
                         .title = "flags & fields",
                         .outcome = Outcome::failed,
                         .reason = "A \"flag\" < 3\nis taken."}}};
}

Report passing(std::size_t passed, std::size_t skipped) {
    Report report{.subject = "backend x", .results = {}};
    report.results.assign(passed, {.name = "p"});
    report.results.resize(passed + skipped,
                          {.name = "s", .outcome = Outcome::skipped, .reason = "Why."});
    return report;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

TEST(Reports, count_each_outcome) {
    const Counts counts = count(mixed());
    EXPECT_EQ(counts.passed, 1U);
    EXPECT_EQ(counts.skipped, 1U);
    EXPECT_EQ(counts.failed, 1U);
    EXPECT_EQ(counts.total(), 3U);
    EXPECT_EQ(count({}).total(), 0U);
}

TEST(Reports, are_an_aligned_table_with_a_summary) {
    EXPECT_EQ(to_text(mixed()),
              "case         outcome  reason\n"
              "VQ-001       passed\n"
              "VQ-002       skipped  There is nothing to cut.\n"
              "VQ-010.long  failed   A \"flag\" < 3\nis taken.\n"
              "device stdio:\"a & b\": 1 passed, 1 skipped, 1 failed.\n");
}

TEST(Reports, say_which_part_of_a_suite_a_case_belongs_to) {
    const Report parts{.subject = "backend x",
                       .results = {{.name = "a", .title = "one", .group = "standard"},
                                   {.name = "b", .title = "two", .group = "further"},
                                   {.name = "c", .title = "three", .group = "further"}}};
    EXPECT_EQ(to_text(parts),
              "case  outcome  reason\n"
              "standard cases:\n"
              "a  passed\n"
              "further cases:\n"
              "b  passed\n"
              "c  passed\n"
              "backend x: 3 passed, 0 skipped, 0 failed.\n");
    EXPECT_TRUE(has(to_json(parts), R"("title":"two","group":"further","outcome":"passed")"));
}

TEST(Reports, are_one_json_object) {
    EXPECT_EQ(to_json(mixed()),
              R"({"subject":"device stdio:\"a & b\"","protocol":"1.0","version":")" +
                  std::string{suite_version()} +
                  R"(","counts":{"passed":1,"skipped":1,"failed":1},"cases":[)"
                  R"({"name":"VQ-001","title":"one <piece>","outcome":"passed","reason":""},)"
                  R"({"name":"VQ-002","title":"cuts","outcome":"skipped",)"
                  R"("reason":"There is nothing to cut."},)"
                  R"({"name":"VQ-010.long","title":"flags & fields","outcome":"failed",)"
                  R"("reason":"A \"flag\" < 3\nis taken."}]})");
}

TEST(Reports, say_in_json_how_far_off_numbers_are) {
    const auto json_of = [](double ulp) {
        return to_json({.subject = "x", .results = {{.name = "n", .title = "t", .ulp = ulp}}});
    };
    EXPECT_TRUE(json_of(0.5).ends_with(R"("outcome":"passed","reason":"","ulp":0.5}]})"));
    EXPECT_TRUE(json_of(std::numeric_limits<double>::infinity()).ends_with(R"("ulp":null}]})"));
}

TEST(Reports, are_a_junit_test_suite) {
    const std::string suite =
        R"( name="virtaccel conform device stdio:&quot;a &amp; b&quot;" tests="3" failures="1" )"
        R"(errors="0")";
    const std::string names = R"(classname="device stdio:&quot;a &amp; b&quot;" name=)";
    EXPECT_EQ(to_junit(mixed()),
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<testsuites" +
                  suite +
                  ">\n"
                  "  <testsuite" +
                  suite +
                  " skipped=\"1\">\n"
                  "    <properties>\n"
                  "      <property name=\"virtaccel.version\" value=\"" +
                  std::string{suite_version()} +
                  "\"/>\n"
                  "    </properties>\n"
                  "    <testcase " +
                  names +
                  "\"VQ-001\"/>\n"
                  "    <testcase " +
                  names +
                  "\"VQ-002\">\n"
                  "      <skipped message=\"There is nothing to cut.\"/>\n"
                  "    </testcase>\n"
                  "    <testcase " +
                  names +
                  "\"VQ-010.long\">\n"
                  "      <failure message=\"A &quot;flag&quot; &lt; 3&#10;is taken.\" "
                  "type=\"conformance\">flags &amp; fields</failure>\n"
                  "    </testcase>\n"
                  "  </testsuite>\n"
                  "</testsuites>\n");
}

TEST(Reports, of_nothing_are_whole_all_the_same) {
    const Report nothing{.subject = "nothing", .results = {}};
    EXPECT_EQ(to_text(nothing), "case  outcome  reason\nnothing: 0 passed, 0 skipped, 0 failed.\n");
    EXPECT_TRUE(
        to_json(nothing).ends_with(R"("counts":{"passed":0,"skipped":0,"failed":0},"cases":[]})"));
    EXPECT_TRUE(has(to_junit(nothing), R"(tests="0" failures="0")"));
    EXPECT_TRUE(has(to_badge(nothing), "0 of 0</text>"));
    EXPECT_TRUE(has(to_badge(nothing), "#6b6b6b"));
}

TEST(Reports, are_a_green_badge_when_nothing_fails) {
    const std::string badge = to_badge(passing(33, 1));
    EXPECT_TRUE(has(badge, "aria-label=\"virtio-accel 1.0: 33 of 34\""));
    EXPECT_TRUE(has(badge, ">virtio-accel 1.0</text>"));
    EXPECT_TRUE(has(badge, ">33 of 34</text>"));
    EXPECT_TRUE(has(badge, "#2e7d32"));
}

TEST(Reports, are_a_grey_badge_when_nothing_passes) {
    const std::string badge = to_badge(passing(0, 2));
    EXPECT_TRUE(has(badge, ">0 of 2</text>"));
    EXPECT_TRUE(has(badge, "#6b6b6b"));
}

TEST(Reports, are_a_red_badge_when_something_fails) {
    const std::string badge = to_badge(mixed());
    EXPECT_TRUE(has(badge, ">1 fail</text>"));
    EXPECT_TRUE(has(badge, "#b3261e"));
    EXPECT_FALSE(has(badge, "#2e7d32"));
}

// The boxes lie side by side and the picture is as wide as both.
TEST(Reports, are_a_badge_as_wide_as_its_words) {
    const std::string badge = to_badge(passing(1, 0));
    EXPECT_TRUE(has(badge, R"(width="178" height="20" role="img")"));
    EXPECT_TRUE(has(badge, R"(<rect x="0" width="124")"));
    EXPECT_TRUE(has(badge, R"(<rect x="124" width="54")"));
}

}  // namespace

}  // namespace virtaccel::conformance

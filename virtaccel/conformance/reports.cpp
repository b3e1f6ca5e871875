#include "virtaccel/conformance/reports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "virtaccel/conformance/characters.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

namespace {

constexpr std::size_t outcome_columns = 7;

std::string padded(std::string_view text, std::size_t columns) {
    std::string result{text};
    result.resize(std::max(columns, text.size()), ' ');
    return result;
}

// One line of the table; nothing follows its last word.
std::string table_line(std::string_view name, std::string_view outcome, std::string_view reason,
                       std::size_t name_columns) {
    std::string line =
        say(padded(name, name_columns), "  ", padded(outcome, outcome_columns), "  ", reason);
    line.resize(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

std::string json_pair(std::string_view name, std::string_view text) {
    return say("\"", name, "\":\"", json_escaped(text), "\"");
}

// JSON has no infinity: an error without an end is null.
std::string json_ulp(const CaseResult& result) {
    if (!result.ulp) {
        return {};
    }
    std::array<char, 32> number{};
    const auto end = std::to_chars(number.data(), number.data() + number.size(), *result.ulp).ptr;
    const std::string_view text{number.data(), end};
    return say(R"(,"ulp":)", std::isfinite(*result.ulp) ? text : "null");
}

std::string xml_pair(std::string_view name, std::string_view text) {
    return say(" ", name, "=\"", xml_escaped(text), "\"");
}

// What a test suite and the list of all suites both say of themselves.
std::string suite_attributes(const Report& report, const Counts& counts) {
    return say(xml_pair("name", "virtaccel conform " + report.subject), R"( tests=")",
               counts.total(), R"(" failures=")", counts.failed, R"(" errors="0")");
}

std::string junit_case(const Report& report, const CaseResult& result) {
    const std::string opening =
        say("    <testcase", xml_pair("classname", report.subject), xml_pair("name", result.name));
    const std::string message = xml_pair("message", result.reason);
    switch (result.outcome) {
        case Outcome::passed:
            break;
        case Outcome::skipped:
            return say(opening, ">\n      <skipped", message, "/>\n    </testcase>\n");
        case Outcome::failed:
            return say(opening, ">\n      <failure", message, " type=\"conformance\">",
                       xml_escaped(result.title), "</failure>\n    </testcase>\n");
    }
    return say(opening, "/>\n");
}

}  // namespace

Counts count(const Report& report) {
    Counts counts;
    for (const CaseResult& result : report.results) {
        switch (result.outcome) {
            case Outcome::passed:
                ++counts.passed;
                break;
            case Outcome::skipped:
                ++counts.skipped;
                break;
            case Outcome::failed:
                ++counts.failed;
                break;
        }
    }
    return counts;
}

std::string_view suite_version() {
    return VIRTACCEL_SUITE_VERSION;
}

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return "passed";
        case Outcome::skipped:
            return "skipped";
        case Outcome::failed:
            break;
    }
    return "failed";
}

std::string to_text(const Report& report) {
    std::size_t name_columns = 0;
    for (const CaseResult& result : report.results) {
        name_columns = std::max(name_columns, result.name.size());
    }
    std::string text = text_head(name_columns);
    std::string_view group;
    for (const CaseResult& result : report.results) {
        if (result.group != group) {
            group = result.group;
            text += group.empty() ? "" : text_group(group);
        }
        text += text_row(result, name_columns);
    }
    return text + text_summary(report);
}

std::string text_head(std::size_t name_columns) {
    return table_line("case", "outcome", "reason", name_columns);
}

std::string text_group(std::string_view group) {
    return say(group, " cases:\n");
}

std::string text_row(const CaseResult& result, std::size_t name_columns) {
    return table_line(result.name, name_of(result.outcome), result.reason, name_columns);
}

std::string text_summary(const Report& report) {
    const Counts counts = count(report);
    return say(report.subject, ": ", counts.passed, " passed, ", counts.skipped, " skipped, ",
               counts.failed, " failed.\n");
}

std::string to_json(const Report& report) {
    const Counts counts = count(report);
    std::string json =
        say("{", json_pair("subject", report.subject), ",", json_pair("protocol", "1.0"), ",",
            json_pair("version", suite_version()), R"(,"counts":{"passed":)", counts.passed,
            R"(,"skipped":)", counts.skipped, R"(,"failed":)", counts.failed, R"(},"cases":[)");
    std::string_view separator;
    for (const CaseResult& result : report.results) {
        json += say(separator, "{", json_pair("name", result.name), ",",
                    json_pair("title", result.title), ",",
                    result.group.empty() ? "" : json_pair("group", result.group) + ",",
                    json_pair("outcome", name_of(result.outcome)), ",",
                    json_pair("reason", result.reason), json_ulp(result), "}");
        separator = ",";
    }
    return json + "]}";
}

std::string to_junit(const Report& report) {
    const Counts counts = count(report);
    const std::string attributes = suite_attributes(report, counts);
    std::string xml = say("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", attributes,
                          ">\n  <testsuite", attributes, " skipped=\"", counts.skipped,
                          "\">\n    <properties>\n      <property name=\"virtaccel.version\"",
                          xml_pair("value", suite_version()), "/>\n    </properties>\n");
    for (const CaseResult& result : report.results) {
        xml += junit_case(report, result);
    }
    return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace virtaccel::conformance

// Further cases can fail: each twin of the reference backend breaks one rule, and exactly the cases
// that docs/mutants.md names for it fail on it.

#include "virtaccel/conformance/testing/further_twins.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/conformance/backend_cases.h"
#include "virtaccel/conformance/testing/backend_twins.h"
#include "virtaccel/conformance/testing/run_further.h"

namespace virtaccel::conformance::testing {

namespace {

constexpr std::string_view table_head = "| twin | further cases that fail on it |";

Names split(std::string_view text, std::string_view separator) {
    Names parts;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? 0 : end + separator.size());
    }
    return parts;
}

std::ifstream open_document(const std::string& name) {
    return std::ifstream{std::string{VIRTACCEL_DOCS} + "/" + name};
}

// What the document says of each twin.
std::map<std::string, Names> documented() {
    std::ifstream document = open_document("mutants.md");
    std::map<std::string, Names> twins;
    bool is_inside = false;
    for (std::string line; std::getline(document, line);) {
        is_inside = line == table_head || (is_inside && line.starts_with('|'));
        const Names cells = split(line, " | ");
        if (is_inside && line != table_head && cells.size() == 2) {
            const std::string_view names =
                std::string_view{cells[1]}.substr(0, cells[1].size() - 2);
            twins[cells[0].substr(2)] = split(names, "; ");
        }
    }
    return twins;
}

void expect_documented(const std::vector<FurtherTwin>& twins) {
    auto wanted = documented();
    for (const FurtherTwin& twin : twins) {
        EXPECT_EQ(twin.failing(), wanted[std::string{twin.words}]) << "A twin " << twin.words;
    }
}

TEST(FurtherTwins, pass_every_case_when_they_differ_in_nothing) {
    EXPECT_EQ(failing_on<Forwarding>(), Names{});
}

TEST(FurtherTwins, whose_objects_are_broken_are_named_by_exactly_these_cases) {
    expect_documented(object_twins());
}

TEST(FurtherTwins, whose_buffers_are_broken_are_named_by_exactly_these_cases) {
    expect_documented(buffer_twins());
}

TEST(FurtherTwins, whose_work_is_broken_are_named_by_exactly_these_cases) {
    expect_documented(work_twins());
}

TEST(FurtherTwins, that_break_in_the_course_of_work_are_named_by_exactly_these_cases) {
    expect_documented(course_twins());
}

TEST(FurtherTwins, are_those_of_the_document) {
    std::set<std::string> words;
    for (const auto part : {object_twins, buffer_twins, work_twins, course_twins}) {
        for (const FurtherTwin& twin : part()) {
            EXPECT_TRUE(words.emplace(twin.words).second) << twin.words;
        }
    }
    std::set<std::string> listed;
    for (const auto& [twin, cases] : documented()) {
        listed.insert(twin);
    }
    EXPECT_EQ(listed, words);
    EXPECT_GE(words.size(), 20U);
}

TEST(FurtherTwins, break_every_area) {
    const auto area_of = [](std::string_view name) {
        return std::string{name.substr(0, name.find('.'))};
    };
    std::set<std::string> areas;
    for (const BackendCase& row : further_backend_cases()) {
        areas.insert(area_of(row.name));
    }
    std::set<std::string> broken;
    for (const auto& [twin, cases] : documented()) {
        std::ranges::transform(cases, std::inserter(broken, broken.end()), area_of);
    }
    EXPECT_EQ(broken, areas);
}

TEST(FurtherCases, are_counted_in_the_document) {
    const std::string count = std::to_string(standard_backend_cases().size()) + " standard and " +
                              std::to_string(further_backend_cases().size()) + " further cases";
    std::ifstream document = open_document("conformance.md");
    bool is_found = false;
    for (std::string line; std::getline(document, line);) {
        is_found = is_found || line.find(count) != std::string::npos;
    }
    EXPECT_TRUE(is_found) << count;
}

}  // namespace

}  // namespace virtaccel::conformance::testing

// Every further case can fail: each twin of the reference backend breaks one rule, and exactly the
// cases that are about it fail on it, by name. docs/mutants.md lists them.

#include "virtaccel/conformance/testing/further_twins.h"

#include <algorithm>
#include <fstream>
#include <iterator>
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

std::vector<FurtherTwin> all_twins() {
    auto twins = object_twins();
    std::ranges::move(work_twins(), std::back_inserter(twins));
    return twins;
}

std::string area_of(std::string_view name) {
    return std::string{name.substr(0, name.find('.'))};
}

std::string read_document(const std::string& name) {
    std::ifstream file{std::string{VIRTACCEL_DOCS} + "/" + name};
    return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(FurtherTwins, pass_every_case_when_they_differ_in_nothing) {
    EXPECT_EQ(failing_on<Forwarding>(), Names{});
}

void expect_wanted(const std::vector<FurtherTwin>& twins) {
    for (const FurtherTwin& twin : twins) {
        EXPECT_EQ(twin.failing(), twin.wanted) << "The twin that " << twin.words;
        EXPECT_FALSE(twin.wanted.empty()) << twin.words;
    }
}

TEST(FurtherTwins, whose_objects_are_broken_are_named_by_exactly_these_cases) {
    expect_wanted(object_twins());
}

TEST(FurtherTwins, whose_work_is_broken_are_named_by_exactly_these_cases) {
    expect_wanted(work_twins());
}

TEST(FurtherTwins, break_every_area) {
    std::set<std::string> areas;
    for (const BackendCase& row : further_backend_cases()) {
        areas.insert(area_of(row.name));
    }
    std::set<std::string> broken;
    for (const FurtherTwin& twin : all_twins()) {
        for (const std::string& name : twin.wanted) {
            broken.insert(area_of(name));
        }
    }
    EXPECT_EQ(broken, areas);
}

TEST(FurtherTwins, are_listed_in_the_document) {
    const std::string document = read_document("mutants.md");
    for (const FurtherTwin& twin : all_twins()) {
        std::string row = "| " + std::string{twin.words} + " | ";
        for (const std::string& name : twin.wanted) {
            row += name + (name == twin.wanted.back() ? " |\n" : "; ");
        }
        EXPECT_NE(document.find(row), std::string::npos) << row;
    }
}

TEST(FurtherCases, are_counted_in_the_document) {
    const std::string document = read_document("conformance.md");
    const std::string count = std::to_string(standard_backend_cases().size()) + " standard and " +
                              std::to_string(further_backend_cases().size()) + " further cases";
    EXPECT_NE(document.find(count), std::string::npos) << count;
}

}  // namespace

}  // namespace virtaccel::conformance::testing

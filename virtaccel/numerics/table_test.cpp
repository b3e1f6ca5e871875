#include "virtaccel/numerics/table.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/cases.h"

namespace virtaccel::numerics {

namespace {

// The lines of a Markdown table, without the column of what was measured.
std::vector<std::string> rows_of(const std::string& text) {
    constexpr int measured = 5;
    std::vector<std::string> rows;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") && !line.starts_with("|-")) {
            continue;
        }
        std::string row;
        int column = 0;
        for (const char c : line) {
            column += c == '|' ? 1 : 0;
            if (column != measured) {
                row += c;
            }
        }
        rows.push_back(row);
    }
    return rows;
}

std::string page() {
    const std::ifstream file{VIRTACCEL_NUMERICS_PAGE};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(Table, is_the_one_that_is_published) {
    const auto published = rows_of(page());
    const auto printed = rows_of(to_table({}));
    ASSERT_FALSE(published.empty());
    EXPECT_EQ(published, printed)
        << "docs/numerics.md is old: print it with `virtaccel conform --backend cpu --ulp FILE`.";
}

TEST(Table, shows_the_greatest_error_of_an_operator_and_type) {
    const Case& row = cases().front();
    conformance::Results results{{.name = row.name, .ulp = 0.25}, {.name = "other", .ulp = 99}};
    EXPECT_NE(to_table(results).find(" | 0.25 | "), std::string::npos);
    EXPECT_EQ(to_table(results).find("99"), std::string::npos);
    results[0].ulp = 1.0 / 3;
    EXPECT_NE(to_table(results).find(" | 0.333 | "), std::string::npos);
    EXPECT_EQ(rows_of(to_table(results)), rows_of(to_table({})));
}

}  // namespace

}  // namespace virtaccel::numerics

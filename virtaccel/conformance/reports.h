#pragma once
// What a conformance run found, for people and for machines: a table, one JSON object, JUnit XML, a
// badge. The one thing to know: each is a pure function of the report; where it goes is up to the
// caller.

#include <cstddef>
#include <string>
#include <string_view>

#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

struct Report {
    // What was judged, in words: "backend cpu".
    std::string subject;
    Results results;
};

struct Counts {
    std::size_t passed = 0;
    std::size_t skipped = 0;
    std::size_t failed = 0;

    [[nodiscard]] std::size_t total() const { return passed + skipped + failed; }
};

[[nodiscard]] Counts count(const Report& report);

// The release of these cases: "0.1.0".
[[nodiscard]] std::string_view suite_version();

// "passed", "skipped", "failed".
[[nodiscard]] std::string_view name_of(Outcome outcome);

// A table of case, outcome and reason, and the summary below it.
[[nodiscard]] std::string to_text(const Report& report);

// Its parts, for who shows a row as soon as there is one; each ends its line. `name_columns` is the
// width of the longest name.
[[nodiscard]] std::string text_head(std::size_t name_columns);
// The line before the first case of another part than the one before: "further cases:".
[[nodiscard]] std::string text_group(std::string_view group);
[[nodiscard]] std::string text_row(const CaseResult& result, std::size_t name_columns);
// "backend cpu: 13 passed, 1 skipped, 0 failed."
[[nodiscard]] std::string text_summary(const Report& report);

// One object, without a line end: subject, protocol, version, counts, cases; a case has a group if
// the suite has parts, and its `ulp` if it has one.
[[nodiscard]] std::string to_json(const Report& report);

// One test suite; a skipped or failed case carries its reason.
[[nodiscard]] std::string to_junit(const Report& report);

// An SVG picture: "virtio-accel 1.0 | 305 of 306", green; red with failures, grey if nothing
// passed.
[[nodiscard]] std::string to_badge(const Report& report);

}  // namespace virtaccel::conformance

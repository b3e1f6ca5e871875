#pragma once
// What `conform` runs: a subject, and cases that are ready to run on it.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/virtaccel/conform.h"
#include "tools/virtaccel/failure.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::cli {

// `run` keeps what it needs alive; it is null in a list. `group` is the part of all cases that this
// one belongs to: "standard", "further", "device".
struct SuiteCase {
    std::string_view name;
    std::string_view title;
    std::string_view group;
    std::function<conformance::CaseResult()> run;
};

struct Suite {
    std::string subject;  // in words: "backend cpu"
    std::vector<SuiteCase> cases;
};

// The cases for what the options name, or all there are if they name nothing; nothing is started.
[[nodiscard]] std::vector<SuiteCase> list_cases(const ConformOptions& options);

// The suite of the subject that the options name, with all its cases.
[[nodiscard]] OrFailure<Suite> make_suite(const ConformOptions& options);

}  // namespace virtaccel::cli

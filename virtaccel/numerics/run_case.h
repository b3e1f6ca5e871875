#pragma once
// One case on one backend: the model is loaded, run once, and what comes out is compared with the
// oracle's result. The one thing to know: a backend advertises what it runs by loading it. A load
// that is refused for what the model asks, with a sentence, skips the case; whoever loads a model
// has to be right.

#include <string_view>

#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/numerics/accuracy.h"
#include "virtaccel/numerics/cases.h"

namespace virtaccel::numerics {

// What has to come out of a problem.
[[nodiscard]] Expectation expectation_of(const Problem& problem);

// The part of a report that the results belong to.
inline constexpr std::string_view group = "numeric";

// Runs `row` on a backend of its own. The result's `ulp` is the greatest error where something was
// compared. `row` outlives the result.
[[nodiscard]] conformance::CaseResult run_case(const conformance::BackendSubject& subject,
                                               const Case& row);

}  // namespace virtaccel::numerics

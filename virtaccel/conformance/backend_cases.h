#pragma once
// The standard cases for backends: what every backend owes a device, under names that stay. The one
// thing to know: a case about a capability the backend does not have is skipped and says so; every
// other case passes or fails.

#include <span>
#include <string_view>

#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

struct BackendCase {
    std::string_view name;
    std::string_view title;
    Check (*run)(const BackendSubject& subject) = nullptr;
    // The case may be skipped for want of a capability.
    bool needs_capability = false;
};

// All fourteen, in the order in which they are run and reported.
[[nodiscard]] std::span<const BackendCase> backend_cases();

// Runs one of them, on instances of its own.
[[nodiscard]] CaseResult run_backend_case(const BackendSubject& subject, const BackendCase& row);

// Runs every case.
[[nodiscard]] Results run_backend_cases(const BackendSubject& subject);

}  // namespace virtaccel::conformance

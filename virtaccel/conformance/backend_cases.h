#pragma once
// The cases for backends: what every backend owes a device, under names that stay. Fourteen of them
// are standard, the others ask further. The one thing to know: a case about a capability the
// backend does not have is skipped and says so; every other case passes or fails.

#include <span>
#include <string_view>

#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

class Bench;

struct BackendCase {
    std::string_view name;
    std::string_view title;
    // A standard case, which makes its own instances. The others have a judge.
    Check (*run)(const BackendSubject& subject) = nullptr;
    // The case may be skipped for want of a capability.
    bool needs_capability = false;
    // A further case, on a fresh instance whose books are counted before and after it.
    Check (*judge)(Bench& bench) = nullptr;
    // "standard" or "further".
    std::string_view group = "standard";
};

// All of them, in the order in which they are run and reported: the standard ones first.
[[nodiscard]] std::span<const BackendCase> backend_cases();

// The fourteen, and the others.
[[nodiscard]] std::span<const BackendCase> standard_backend_cases();
[[nodiscard]] std::span<const BackendCase> further_backend_cases();

// Runs one of them, on instances of its own.
[[nodiscard]] CaseResult run_backend_case(const BackendSubject& subject, const BackendCase& row);

// Runs every case.
[[nodiscard]] Results run_backend_cases(const BackendSubject& subject);

}  // namespace virtaccel::conformance

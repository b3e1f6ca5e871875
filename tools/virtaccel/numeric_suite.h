#pragma once
// The cases about numbers in a suite of `conform`: for subjects that take TOSA models.

#include <memory>
#include <vector>

#include "tools/virtaccel/conform_suite.h"
#include "virtaccel/conformance/subject.h"

namespace virtaccel::cli {

// Adds them all. Without a subject they are for a list only.
void append_numeric_cases(std::vector<SuiteCase>& cases,
                          const std::shared_ptr<const conformance::BackendSubject>& subject);

}  // namespace virtaccel::cli

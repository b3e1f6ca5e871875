#pragma once
// The table of docs/numerics.md: for each operator and type how near a result has to be, who says
// so, and how near one backend's results were.

#include <span>
#include <string>

#include "virtaccel/conformance/verdict.h"

namespace virtaccel::numerics {

// Markdown, one row for each operator and type that has cases. `results` are those of a run, of
// which other cases are left out; what was not run or was skipped shows as "-".
[[nodiscard]] std::string to_table(std::span<const conformance::CaseResult> results);

}  // namespace virtaccel::numerics

#pragma once
// The broken twins that the further cases are tried on: each breaks one rule of the contract, and
// is known by the words under which docs/mutants.md lists the cases that have to fail on it.

#include <string>
#include <string_view>
#include <vector>

namespace virtaccel::conformance::testing {

using Names = std::vector<std::string>;

struct FurtherTwin {
    // What it does wrong: "forgets its limits".
    std::string_view words;
    // The further cases that fail on it, in their order.
    Names (*failing)() = nullptr;
};

// Twins whose objects or buffers are broken, and twins whose work or its course is.
[[nodiscard]] std::vector<FurtherTwin> object_twins();
[[nodiscard]] std::vector<FurtherTwin> buffer_twins();
[[nodiscard]] std::vector<FurtherTwin> work_twins();
[[nodiscard]] std::vector<FurtherTwin> course_twins();

}  // namespace virtaccel::conformance::testing

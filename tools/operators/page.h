#pragma once
// docs/operators.md: which operators and element types there are, what the CPU backend takes of
// them, and what shows that it computes them right.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"

namespace virtaccel::operators {

// What shows that a cell is right, by the cell's name.
struct Evidence {
    std::map<std::string, std::uint64_t, std::less<>> passed;  // official tests
    std::map<std::string, std::string, std::less<>> covered;   // a test of ours, in words
};

// Reads both lists: lines of a cell's name and a number, or a test of ours; # begins a comment.
// Refuses the name of a cell that there is not.
[[nodiscard]] host::OrError<Evidence> read_evidence(std::string_view passed,
                                                    std::string_view covered);

// The whole page (Markdown).
[[nodiscard]] std::string operators_page(const Evidence& evidence);

// The names of cells that the CPU backend takes with nothing to show that it is right.
[[nodiscard]] std::vector<std::string> without_evidence(const Evidence& evidence);

}  // namespace virtaccel::operators

#pragma once
// A model as a drawing: operators and what flows between them, for Graphviz. The one thing to know:
// names come from a stranger's file, so nothing of them reaches the DOT language as it is.

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/virtaccel/inspect_report.h"

namespace virtaccel::cli {

// Above so many operators, those that only follow one another share a box.
inline constexpr std::size_t picture_boxes_max = 300;

// Live operators of the main block in the DOT language. Constants, and operators that are folded,
// stand as lines in the boxes of those that read them. What the backend refuses is red.
[[nodiscard]] std::string picture_of(const InspectReport& report);

// `name` inside a quoted string of the DOT language that is a label: printable ASCII stays, at most
// 64 characters of it.
[[nodiscard]] std::string dot_text(std::string_view name);

}  // namespace virtaccel::cli

#pragma once
// Graphviz's program `dot`, which lays graphs out. The one thing to know: it is another program,
// which need not be there, and which is ended when it takes too long.

#include <cstddef>
#include <string_view>
#include <vector>

#include "tools/virtaccel/failure.h"

namespace virtaccel::cli {

// The picture of a graph in the DOT language, as SVG.
[[nodiscard]] OrFailure<std::vector<std::byte>> render_svg(std::string_view dot);

}  // namespace virtaccel::cli

#pragma once
// The figures that another implementation of the protocol measured, and how this run compares with
// them.

#include <span>

#include "bench/protocol/report.h"

namespace virtaccel::bench {

// Prints a table on stderr: each control row's median, the figure to beat scaled by this run's
// memcpy_1MiB, and the ratio of the two. Prints nothing if memcpy_1MiB was not run.
void print_comparison(std::span<const Row> rows);

}  // namespace virtaccel::bench

#include "bench/protocol/compare.h"

#include <cstdio>
#include <span>
#include <string_view>

#include <fmt/core.h>

#include "bench/protocol/report.h"

namespace virtaccel::bench {
namespace {

// Nanoseconds of the other implementation on a machine whose memcpy of 1 MiB ran at 59 GB/s. One
// row is one pass of the case, so the batch is 2,048 commands of 1,770 ns each.
struct Figure {
    std::string_view layer;
    std::string_view name;
    double ns = 0;
};

constexpr double reference_gb_per_s = 59.0;
constexpr Figure figures[] = {
    {"full+plain", "get_device_info", 149},
    {"full+plain", "get_device_info_batch_2048", 1770.0 * 2048},
    {"full+plain", "create_destroy_context", 341},
    {"full+plain", "write_64B", 140},
    {"full+plain", "read_64B", 138},
    {"full+plain", "submit_poll_destroy_1", 522},
    {"full+plain", "submit_poll_destroy_3", 585},
    {"full+plain", "submit_poll_destroy_64", 2726},
    {"full+plain", "submit_poll_destroy_256", 9515},
    {"full+plain", "submit_poll_destroy_256_reversed", 19666},
    {"device+plain", "get_device_info", 34},
    {"device+plain", "write_64B", 40},
    {"device+plain", "submit_poll_destroy_1", 183},
};

const Row* find(std::span<const Row> rows, std::string_view layer, std::string_view name) {
    for (const Row& row : rows) {
        if (row.layer == layer && row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

}  // namespace

void print_comparison(std::span<const Row> rows) {
    const Row* limit = find(rows, "limit", "memcpy_1MiB");
    if (limit == nullptr) {
        return;
    }
    const double scale = reference_gb_per_s / limit->gb_per_s;
    fmt::print(stderr,
               "\nmemcpy of 1 MiB: {:.1f} GB/s, so the other implementation's figures count times "
               "{:.2f}.\n{:<46}{:>12}{:>12}{:>9}\n",
               limit->gb_per_s, scale, "case", "this, ns", "other, ns", "faster");
    for (const Figure& figure : figures) {
        if (const Row* row = find(rows, figure.layer, figure.name); row != nullptr) {
            fmt::print(stderr, "{:<46}{:>12.1f}{:>12.1f}{:>8.1f}x\n",
                       fmt::format("{}/{}", figure.layer, figure.name), row->ns_median,
                       figure.ns * scale, figure.ns * scale / row->ns_median);
        }
    }
}

}  // namespace virtaccel::bench

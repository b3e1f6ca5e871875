#include "bench/protocol/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "bench/cases/heap_count.h"
#include "host/clock.h"

namespace virtaccel::bench {
namespace {

// Passes of `op` that fill about one sample, found by doubling (which also warms up).
std::uint64_t calibrate(std::uint64_t sample_ns, const std::function<void()>& op) {
    for (std::uint64_t passes = 1;; passes *= 2) {
        const std::uint64_t begin = host::now_ns();
        for (std::uint64_t i = 0; i < passes; ++i) {
            op();
        }
        if (const std::uint64_t took = host::now_ns() - begin; took * 2 >= sample_ns) {
            return std::max<std::uint64_t>(1,
                                           passes * sample_ns / std::max<std::uint64_t>(took, 1));
        }
    }
}

}  // namespace

bool Report::wants(std::string_view layer, std::string_view name) const {
    return (std::string(layer) + "/" + std::string(name)).find(settings_.filter) !=
           std::string::npos;
}

void Report::measure(std::string_view layer, const std::string& name, std::uint64_t bytes,
                     const std::function<void()>& op) {
    if (!wants(layer, name)) {
        return;
    }
    Case& measured = find(layer, name, bytes);
    const std::uint64_t passes = calibrate(settings_.sample_ns, op);
    const std::size_t earlier = measured.samples_ns.size();
    measured.samples_ns.resize(earlier + settings_.samples);
    const std::uint64_t allocations = heap_allocations();
    for (double& sample : std::span{measured.samples_ns}.subspan(earlier)) {
        const std::uint64_t begin = host::now_ns();
        for (std::uint64_t i = 0; i < passes; ++i) {
            op();
        }
        sample = static_cast<double>(host::now_ns() - begin) / static_cast<double>(passes);
    }
    measured.allocations += heap_allocations() - allocations;
    measured.passes += passes * settings_.samples;
}

void Report::measure_after(std::string_view layer, const std::string& name,
                           const std::function<void()>& prepare, const std::function<void()>& op) {
    if (!wants(layer, name)) {
        return;
    }
    constexpr std::uint32_t passes_per_sample = 4;
    Case& measured = find(layer, name, 0);
    const std::uint32_t passes = settings_.samples * passes_per_sample;
    measured.samples_ns.reserve(measured.samples_ns.size() + passes);
    for (std::uint32_t i = 0; i < passes; ++i) {
        prepare();
        const std::uint64_t made = heap_allocations();
        const std::uint64_t begin = host::now_ns();
        op();
        measured.samples_ns.push_back(static_cast<double>(host::now_ns() - begin));
        measured.allocations += heap_allocations() - made;
    }
    measured.passes += passes;
}

Report::Case& Report::find(std::string_view layer, const std::string& name, std::uint64_t bytes) {
    for (Case& known : cases_) {
        if (known.row.layer == layer && known.row.name == name) {
            return known;
        }
    }
    return cases_.emplace_back(
        Case{.row = {.layer = std::string(layer), .name = name}, .bytes = bytes, .samples_ns = {}});
}

std::vector<Row> Report::finish() {
    std::vector<Row> rows;
    rows.reserve(cases_.size());
    for (auto& [row, bytes, passes, allocations, samples_ns] : cases_) {
        std::ranges::sort(samples_ns);
        row.ns_min = samples_ns.front();
        row.ns_median = samples_ns[samples_ns.size() / 2];
        row.gb_per_s = static_cast<double>(bytes) / row.ns_median;
        row.allocations = static_cast<double>(allocations) / static_cast<double>(passes);
        fmt::print(R"({{"layer": "{}", "case": "{}", "ns_per_op_median": {:.1f}, )"
                   R"("ns_per_op_min": {:.1f}, "gb_per_s": {:.2f}, "allocs_per_op": {:.3f}}})"
                   "\n",
                   row.layer, row.name, row.ns_median, row.ns_min, row.gb_per_s, row.allocations);
        rows.push_back(row);
    }
    return rows;
}

}  // namespace virtaccel::bench

#include "bench/protocol/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bench/protocol/heap_count.h"
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
    const std::uint64_t passes = calibrate(settings_.sample_ns, op);
    std::vector<double> samples(settings_.samples);
    const std::uint64_t allocations = heap_allocations();
    for (double& sample : samples) {
        const std::uint64_t begin = host::now_ns();
        for (std::uint64_t i = 0; i < passes; ++i) {
            op();
        }
        sample = static_cast<double>(host::now_ns() - begin) / static_cast<double>(passes);
    }
    const auto made = static_cast<double>(heap_allocations() - allocations);
    const auto all = static_cast<double>(passes) * static_cast<double>(settings_.samples);
    add({.layer = std::string(layer), .name = name, .allocations = made / all}, std::move(samples),
        bytes);
}

void Report::measure_after(std::string_view layer, const std::string& name,
                           const std::function<void()>& prepare, const std::function<void()>& op) {
    if (!wants(layer, name)) {
        return;
    }
    constexpr int passes_per_sample = 4;
    std::vector<double> samples;
    samples.reserve(std::size_t{settings_.samples} * passes_per_sample);
    std::uint64_t allocations = 0;
    for (std::uint32_t i = 0; i < settings_.samples * passes_per_sample; ++i) {
        prepare();
        const std::uint64_t made = heap_allocations();
        const std::uint64_t begin = host::now_ns();
        op();
        samples.push_back(static_cast<double>(host::now_ns() - begin));
        allocations += heap_allocations() - made;
    }
    const auto per_op = static_cast<double>(allocations) / static_cast<double>(samples.size());
    add({.layer = std::string(layer), .name = name, .allocations = per_op}, std::move(samples), 0);
}

void Report::add(Row row, std::vector<double> samples_ns, std::uint64_t bytes) {
    std::ranges::sort(samples_ns);
    row.ns_min = samples_ns.front();
    row.ns_median = samples_ns[samples_ns.size() / 2];
    row.gb_per_s = static_cast<double>(bytes) / row.ns_median;
    fmt::print(R"({{"layer": "{}", "case": "{}", "ns_per_op_median": {:.1f}, )"
               R"("ns_per_op_min": {:.1f}, "gb_per_s": {:.2f}, "allocs_per_op": {:.3f}}})"
               "\n",
               row.layer, row.name, row.ns_median, row.ns_min, row.gb_per_s, row.allocations);
    (void)std::fflush(stdout);
    rows_.push_back(std::move(row));
}

}  // namespace virtaccel::bench

// ./run bench protocol: one line of JSON per case on stdout, and on stderr how the control rows
// compare with the figures to beat.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

#include "bench/cases/cases.h"
#include "bench/protocol/compare.h"
#include "bench/protocol/limit_cases.h"
#include "bench/protocol/report.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/result.h"
#include "virtaccel/mock/reference.h"

namespace {

constexpr int rounds = 5;
constexpr std::uint64_t mock_buffer_bytes_max = 2U << 20U;

virtaccel::Result<virtaccel::backend::AnyBackend> make_mock(void* /*state*/) {
    virtaccel::mock::ReferenceOptions options;
    options.identity.limits.buffer_bytes = mock_buffer_bytes_max;
    return virtaccel::backend::make_owned<virtaccel::mock::Reference>(
        virtaccel::host::heap(), virtaccel::host::heap(), options);
}

}  // namespace

// virtaccel_protocol_bench [FILTER]: only the cases whose "layer/case" contains FILTER.
int main(int argc, char** argv) {
    using virtaccel::bench::Layer;
    virtaccel::bench::Report report({.filter = argc > 1 ? argv[1] : ""});
    // The mock's barrier takes one binding and no more.
    const Layer mock{.full_name = "full+mock",
                     .device_name = "device+mock",
                     .factory = {.make = make_mock},
                     .buffer_bytes_max = mock_buffer_bytes_max,
                     .bindings_max = 1};
    for (int round = 1; round <= rounds; ++round) {
        fmt::print(stderr, "round {} of {}\n", round, rounds);
        virtaccel::bench::run_limit_cases(report);
        for (const Layer& layer : {virtaccel::bench::plain_layer(), mock}) {
            virtaccel::bench::run_full_cases(report, layer);
            virtaccel::bench::run_device_cases(report, layer);
        }
    }
    virtaccel::bench::print_comparison(report.finish());
    return EXIT_SUCCESS;
}

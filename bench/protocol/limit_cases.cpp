#include "bench/protocol/limit_cases.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "bench/cases/fixture.h"
#include "bench/cases/meter.h"

namespace virtaccel::bench {

void run_limit_cases(Meter& meter) {
    for (const Size& size : transfer_sizes) {
        const std::vector<std::byte> source(size.bytes, std::byte{1});
        std::vector<std::byte> target(size.bytes);
        meter.measure("limit", fmt::format("memcpy_{}", size.name), size.bytes, [&] {
            std::memcpy(target.data(), source.data(), size.bytes);
            benchmark::ClobberMemory();
        });
    }
}

}  // namespace virtaccel::bench

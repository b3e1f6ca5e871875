#include "backends/cpu/instruction_set.h"

#include <cstdint>

#include <hwy/targets.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_types.h>

namespace virtaccel::backends::cpu {

namespace {

struct Step {
    dnnl_cpu_isa_t isa;    // a set of bits
    std::int64_t targets;  // what needs it
};

constexpr Step steps[] = {
    {dnnl_cpu_isa_avx512_core, HWY_AVX3 | HWY_AVX3_DL},
    {dnnl_cpu_isa_avx2, HWY_AVX2},
    {dnnl_cpu_isa_sse41, HWY_SSE4},
};

}  // namespace

void keep_kernels_to_effective_isa() {
    const auto effective = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    std::int64_t disabled = 0;
    for (const Step& step : steps) {
        const auto needed = static_cast<unsigned>(step.isa);
        disabled |= (effective & needed) == needed ? 0 : step.targets;
    }
    if (disabled != 0) {
        hwy::DisableTargets(disabled);
    }
}

}  // namespace virtaccel::backends::cpu

#include "backends/cpu/describe.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_types.h>

namespace virtaccel::backends::cpu {

namespace {

struct Isa {
    dnnl::cpu_isa isa;
    std::string_view name;
};

// Nested sets, the largest first.
constexpr Isa isas[] = {
    {dnnl::cpu_isa::avx512_core_amx, "AVX512_CORE_AMX"},
    {dnnl::cpu_isa::avx512_core_bf16, "AVX512_CORE_BF16"},
    {dnnl::cpu_isa::avx512_core_vnni, "AVX512_CORE_VNNI"},
    {dnnl::cpu_isa::avx512_core, "AVX512_CORE"},
    {dnnl::cpu_isa::avx2_vnni, "AVX2_VNNI"},
    {dnnl::cpu_isa::avx2, "AVX2"},
    {dnnl::cpu_isa::avx, "AVX"},
    {dnnl::cpu_isa::sse41, "SSE41"},
};

std::string_view isa_name() {
    const dnnl::cpu_isa effective = dnnl::get_effective_cpu_isa();
    for (const Isa& isa : isas) {
        if (isa.isa == effective) {
            return isa.name;
        }
    }
    return "generic";
}

}  // namespace

std::string describe(std::uint32_t threads) {
    const dnnl_version_t& version = *dnnl::version();
    std::string text = "TOSA on oneDNN ";
    text += std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
            std::to_string(version.patch) + ", ";
    text += isa_name();
    text += ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    return text;
}

}  // namespace virtaccel::backends::cpu

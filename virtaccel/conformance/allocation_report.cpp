#include "virtaccel/conformance/allocation_report.h"

#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/checked.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance {

using backend::Allocation;
using backend::BufferRequest;

std::string_view name_of(MemoryDomain domain) {
    switch (domain) {
        case MemoryDomain::host:
            return "host-visible";
        case MemoryDomain::device:
            return "device-local";
        case MemoryDomain::shared:
            return "shared";
    }
    return "unknown";
}

Check check_report(const BufferRequest& request, const Allocation& made) {
    VIRTACCEL_TRY(expect(made.descriptor == request,
                         "An allocation's descriptor differs from the request for (", request.bytes,
                         ") bytes."));
    VIRTACCEL_TRY(expect(made.backing_bytes >= request.bytes, "An allocation of (", request.bytes,
                         ") bytes reports (", made.backing_bytes, ") backing bytes."));
    VIRTACCEL_TRY(expect(is_power_of_two(made.alignment) && made.alignment >= request.alignment,
                         "An allocation aligned to (", request.alignment,
                         ") reports an alignment of (", made.alignment, ")."));
    const backend::MemoryProperties& is = made.properties;
    const bool program_usable = request.usage.has_any(usage_program);
    VIRTACCEL_TRY(expect(is.direct_binding || !program_usable,
                         "A buffer usable by programs is not directly bound."));
    switch (request.domain) {
        case MemoryDomain::host:
            return expect(is.host_visible, "A buffer in host memory is not host-visible.");
        case MemoryDomain::device:
            return expect(is.device_local, "A buffer in device memory is not device-local.");
        case MemoryDomain::shared:
            break;
    }
    return expect(is.host_visible && is.direct_binding,
                  "A buffer in shared memory is not host-visible and directly bound.");
}

}  // namespace virtaccel::conformance

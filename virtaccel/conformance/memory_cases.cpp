#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/allocation_report.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::cases {

using backend::Allocation;
using backend::AnyBackend;
using backend::BufferRequest;
using backend::Certainty;
using backend::ContextHandle;

namespace {

constexpr Usage transfer = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;

Check expect_contents(AnyBackend& backend, const Allocation& made, const Bytes& wanted) {
    Bytes found(wanted.size(), canary);
    const auto pieces = cut(found);
    Writer target{PieceList::of(pieces)};
    VIRTACCEL_TRY(expect_status("A read of a whole buffer", backend.read(made.buffer, 0, target),
                                Status::ok));
    return expect(found == wanted, "A buffer of (", wanted.size(),
                  ") bytes does not hold what it has to hold.");
}

// Two buffers, one after the other, of the same request: the second may get the memory of the
// first.
Check check_buffer(AnyBackend& backend, ContextHandle context, const BufferRequest& request) {
    const auto size = static_cast<std::size_t>(request.bytes);
    for (int round = 0; round < 2; ++round) {
        const auto made = backend.allocate(context, request);
        VIRTACCEL_TRY(expect(made.has_value(), "An allocation of (", request.bytes,
                             ") bytes is refused with (", made ? Status::ok : made.error(), ")."));
        VIRTACCEL_TRY(check_report(request, *made));
        VIRTACCEL_TRY(expect_contents(backend, *made, Bytes(size)));
        Bytes pattern(size);
        for (std::size_t i = 0; i < size; ++i) {
            pattern[i] = static_cast<std::byte>((i * 31) + 0x5a);
        }
        const auto pieces = cut(pattern);
        Reader source{PieceList::of(pieces)};
        VIRTACCEL_TRY(expect_status("A write of a whole buffer",
                                    backend.write(made->buffer, 0, source), Status::ok));
        VIRTACCEL_TRY(expect_contents(backend, *made, pattern));
        VIRTACCEL_TRY(expect(backend.free(made->buffer).certainty == Certainty::done,
                             "An unused buffer is not freed."));
    }
    return {};
}

Check check_usages(AnyBackend& backend, ContextHandle context, BufferRequest request) {
    for (const Usage usage : {transfer, usage_known}) {
        request.usage = usage;
        VIRTACCEL_TRY(check_buffer(backend, context, request));
    }
    return {};
}

Check check_domain(const BackendSubject& subject, MemoryDomain domain) {
    auto backend = subject.factory.make(subject.factory.state);
    VIRTACCEL_TRY(expect(backend.has_value(), "The factory makes no backend."));
    const DeviceIdentity identity = backend->identity();
    if (!identity.capabilities.has_all(capability_of(domain))) {
        return skipped("The backend does not advertise ", name_of(domain), " memory.");
    }
    const auto context = backend->create_context();
    VIRTACCEL_TRY(expect(context.has_value(), "A fresh backend creates no context."));
    for (const std::uint64_t bytes : {1U, 63U, 64U, 4096U, 65539U}) {
        for (const std::uint64_t alignment : {1U, 64U, 4096U}) {
            VIRTACCEL_TRY(check_usages(*backend, *context,
                                       {.bytes = std::min(bytes, identity.limits.buffer_bytes),
                                        .alignment = alignment,
                                        .domain = domain,
                                        .usage = {}}));
        }
    }
    return expect(backend->destroy_context(*context).certainty == Certainty::done,
                  "An empty context is not destroyed.");
}

}  // namespace

Check memory_host(const BackendSubject& subject) {
    return check_domain(subject, MemoryDomain::host);
}

Check memory_device(const BackendSubject& subject) {
    return check_domain(subject, MemoryDomain::device);
}

Check memory_shared(const BackendSubject& subject) {
    return check_domain(subject, MemoryDomain::shared);
}

}  // namespace virtaccel::conformance::cases

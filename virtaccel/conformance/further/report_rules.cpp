#include <array>
#include <cstddef>
#include <cstdint>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/allocation_report.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::Allocation;
using backend::BufferRequest;

namespace {

// A buffer in `domain` for `usage` and nothing else: what is said of it is true of the request, and
// the books hold what it is said to cost, until it is freed.
template <MemoryDomain domain, UsageBit usage>
Check is_honest(Bench& bench) {
    if (!bench.identity().capabilities.has_all(capability_of(domain))) {
        return skipped("The backend does not advertise ", name_of(domain), " memory.");
    }
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto before = bench.books();
    BufferRequest wanted = bench.request(1000, usage);
    wanted.domain = domain;
    VIRTACCEL_TRY_ASSIGN(const Allocation made, bench.allocate(context, wanted));
    VIRTACCEL_TRY(check_report(wanted, made));
    const auto with = bench.books();
    VIRTACCEL_TRY(expect_equal("The number of live resources with a buffer", with.live_resources,
                               before.live_resources + 1));
    VIRTACCEL_TRY(expect(with.retained_bytes - before.retained_bytes >= made.backing_bytes,
                         "A buffer is said to cost (", made.backing_bytes,
                         ") bytes, and the books of retained bytes grow by (",
                         with.retained_bytes - before.retained_bytes, ")."));
    VIRTACCEL_TRY(bench.release(made.buffer));
    VIRTACCEL_TRY(bench.expect_books(before, "after a buffer"));
    return bench.release(context);
}

Check is_the_same_for_the_same_request(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto wanted = bench.request(1000);
    VIRTACCEL_TRY_ASSIGN(const Allocation first, bench.allocate(context, wanted));
    VIRTACCEL_TRY_ASSIGN(const Allocation second, bench.allocate(context, wanted));
    VIRTACCEL_TRY(expect(first.properties == second.properties,
                         "Two buffers of one request are said to have other properties."));
    VIRTACCEL_TRY(bench.release(first.buffer));
    VIRTACCEL_TRY(bench.release(second.buffer));
    return bench.release(context);
}

// Live buffers cost what they were said to cost, all together.
Check costs_add_up(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto before = bench.books();
    std::array<backend::BufferHandle, 16> buffers{};
    std::uint64_t cost = 0;
    for (std::uint64_t i = 0; i < buffers.size(); ++i) {
        VIRTACCEL_TRY_ASSIGN(const Allocation made,
                             bench.allocate(context, bench.request(1 + (i * 97))));
        buffers[i] = made.buffer;
        cost += made.backing_bytes;
    }
    VIRTACCEL_TRY(expect(bench.books().retained_bytes - before.retained_bytes >= cost,
                         "Live buffers are said to cost (", cost,
                         ") bytes, and the books of retained bytes grow by (",
                         bench.books().retained_bytes - before.retained_bytes, ")."));
    for (const auto buffer : buffers) {
        VIRTACCEL_TRY(bench.release(buffer));
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after all buffers"));
    return bench.release(context);
}

// An alignment that every backend keeps.
template <std::uint64_t alignment>
Check is_kept(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    for (const std::uint64_t bytes : {1U, 64U, 100U, 4096U}) {
        BufferRequest wanted = bench.request(bytes);
        wanted.alignment = alignment;
        VIRTACCEL_TRY_ASSIGN(const Allocation made, bench.allocate(context, wanted));
        VIRTACCEL_TRY(check_report(wanted, made));
        VIRTACCEL_TRY(bench.expect_contents(
            made.buffer, Bytes(static_cast<std::size_t>(wanted.bytes)), "A new buffer"));
        VIRTACCEL_TRY(bench.release(made.buffer));
    }
    return bench.release(context);
}

// An alignment that no backend has to keep: it is kept or it is refused, and a refusal costs
// nothing.
template <std::uint64_t alignment>
Check is_kept_or_refused(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto before = bench.books();
    BufferRequest wanted = bench.request(1);
    wanted.alignment = alignment;
    for (int round = 0; round < 4; ++round) {
        const auto made = bench.backend().allocate(context, wanted);
        if (made) {
            VIRTACCEL_TRY(check_report(wanted, *made));
            VIRTACCEL_TRY(bench.release(made->buffer));
        } else {
            VIRTACCEL_TRY(expect(
                made.error() == Status::resource_limit || made.error() == Status::out_of_memory ||
                    made.error() == Status::unsupported,
                "An alignment of (", alignment, ") is refused with (", made.error(),
                "); the reasons are RESOURCE_LIMIT, OUT_OF_MEMORY and UNSUPPORTED."));
        }
        VIRTACCEL_TRY(bench.expect_books(before, "after an unusual alignment"));
    }
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 100));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

constexpr auto host = MemoryDomain::host;
constexpr auto device = MemoryDomain::device;
constexpr auto shared = MemoryDomain::shared;

constexpr std::array rules{
    Rule{"report.host-transfer-source", "host memory to read from is what its report says",
         is_honest<host, UsageBit::transfer_source>, true},
    Rule{"report.host-transfer-destination", "host memory to write to is what its report says",
         is_honest<host, UsageBit::transfer_destination>, true},
    Rule{"report.host-program-input", "host memory for inputs is what its report says",
         is_honest<host, UsageBit::program_input>, true},
    Rule{"report.host-program-output", "host memory for outputs is what its report says",
         is_honest<host, UsageBit::program_output>, true},
    Rule{"report.host-mutable-state", "host memory for state is what its report says",
         is_honest<host, UsageBit::mutable_state>, true},
    Rule{"report.device-transfer-source", "device memory to read from is what its report says",
         is_honest<device, UsageBit::transfer_source>, true},
    Rule{"report.device-transfer-destination", "device memory to write to is what its report says",
         is_honest<device, UsageBit::transfer_destination>, true},
    Rule{"report.device-program-input", "device memory for inputs is what its report says",
         is_honest<device, UsageBit::program_input>, true},
    Rule{"report.device-program-output", "device memory for outputs is what its report says",
         is_honest<device, UsageBit::program_output>, true},
    Rule{"report.device-mutable-state", "device memory for state is what its report says",
         is_honest<device, UsageBit::mutable_state>, true},
    Rule{"report.shared-transfer-source", "shared memory to read from is what its report says",
         is_honest<shared, UsageBit::transfer_source>, true},
    Rule{"report.shared-transfer-destination", "shared memory to write to is what its report says",
         is_honest<shared, UsageBit::transfer_destination>, true},
    Rule{"report.shared-program-input", "shared memory for inputs is what its report says",
         is_honest<shared, UsageBit::program_input>, true},
    Rule{"report.shared-program-output", "shared memory for outputs is what its report says",
         is_honest<shared, UsageBit::program_output>, true},
    Rule{"report.shared-mutable-state", "shared memory for state is what its report says",
         is_honest<shared, UsageBit::mutable_state>, true},
    Rule{"report.same-for-the-same-request", "one request gets one kind of memory",
         is_the_same_for_the_same_request},
    Rule{"report.costs-add-up", "live buffers cost what they were said to cost", costs_add_up},
    Rule{"alignment.of-1-is-kept", "no alignment at all is enough", is_kept<1>},
    Rule{"alignment.of-2-is-kept", "an alignment of 2 is kept", is_kept<2>},
    Rule{"alignment.of-16-is-kept", "an alignment of 16 is kept", is_kept<16>},
    Rule{"alignment.of-256-is-kept", "an alignment of 256 is kept", is_kept<256>},
    Rule{"alignment.of-4096-is-kept", "an alignment of a page is kept", is_kept<4096>},
    Rule{"alignment.of-64-kib-is-kept-or-refused", "an alignment of 64 KiB is kept or refused",
         is_kept_or_refused<(1ULL << 16U)>},
    Rule{"alignment.of-2-mib-is-kept-or-refused", "an alignment of a huge page is kept or refused",
         is_kept_or_refused<(1ULL << 21U)>},
    Rule{"alignment.of-4-gib-is-kept-or-refused", "an alignment of 2^32 is kept or refused",
         is_kept_or_refused<(1ULL << 32U)>},
    Rule{"alignment.of-the-top-bit-is-kept-or-refused", "an alignment of 2^63 is kept or refused",
         is_kept_or_refused<(1ULL << 63U)>},
};

}  // namespace

Rules report_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

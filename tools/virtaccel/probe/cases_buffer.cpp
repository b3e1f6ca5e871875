// Buffers: allocation, and moving bytes.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/probe.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli::probe {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t unknown_usage = 1U << 5U;

Request allocate(const wire::AllocateBuffer& record) {
    return Request{wire::Opcode::allocate_buffer, bytes_of(record)};
}

// Bends a right allocation by one or two members.
template <class Bend>
Request bent(const wire::AllocateBuffer& good, Bend bend) {
    wire::AllocateBuffer record = good;
    bend(record);
    return allocate(record);
}

using Allocate = wire::AllocateBuffer;

void check_domains(World& world, const Allocate& good) {
    Probe& probe = world.probe();
    for (const auto domain : {MemoryDomain::host, MemoryDomain::device, MemoryDomain::shared}) {
        const auto request =
            bent(good, [&](Allocate& r) { r.memory_domain = static_cast<std::uint8_t>(domain); });
        if (probe.identity().capabilities.has_all(capability_of(domain))) {
            probe.creates<BufferKind>("in a domain that is offered", request);
            continue;
        }
        probe.refuses("in a domain that is not offered", request, Status::unsupported);
        probe.refuses("in a domain that is not offered, after its size",
                      bent(good,
                           [&](Allocate& r) {
                               r.memory_domain = static_cast<std::uint8_t>(domain);
                               r.bytes = most;
                           }),
                      Status::resource_limit);
    }
}

}  // namespace

void check_allocations(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto good = world.allocation(context, usage_transfer);
    const auto refuses = [&](std::string_view what, Status wanted, auto bend) {
        probe.refuses(what, bent(good, bend), wanted);
    };
    refuses("in context zero", Status::invalid_argument, [](Allocate& r) { r.context_id = {}; });
    refuses("in an unknown context", Status::stale_object,
            [](Allocate& r) { r.context_id = unknown_id<ContextKind>; });
    refuses("with a reserved byte", Status::invalid_argument,
            [](Allocate& r) { r.reserved0.bytes[0] = 1; });
    refuses("with the last reserved byte", Status::invalid_argument,
            [](Allocate& r) { r.reserved0.bytes[6] = 1; });
    refuses("with reserved bits at its end", Status::invalid_argument,
            [](Allocate& r) { r.reserved1 = 1U << 31U; });
    refuses("in domain 0", Status::invalid_argument, [](Allocate& r) { r.memory_domain = 0; });
    refuses("in domain 4", Status::invalid_argument, [](Allocate& r) { r.memory_domain = 4; });
    refuses("with usage bit 5", Status::unsupported,
            [](Allocate& r) { r.usage = unknown_usage | 1; });
    refuses("with usage bit 31", Status::unsupported, [](Allocate& r) { r.usage = 1U << 31U; });
    refuses("without usage", Status::invalid_argument, [](Allocate& r) { r.usage = 0; });
    refuses("of no bytes", Status::invalid_argument, [](Allocate& r) { r.bytes = 0; });
    refuses("with alignment 0", Status::invalid_argument, [](Allocate& r) { r.alignment = 0; });
    refuses("with alignment 3", Status::invalid_argument, [](Allocate& r) { r.alignment = 3; });
    refuses("of 2^64 - 1 bytes", Status::resource_limit, [](Allocate& r) { r.bytes = most; });
    if (const auto limit = probe.identity().limits.buffer_bytes; limit != most) {
        refuses("of one byte more than the limit", Status::resource_limit,
                [&](Allocate& r) { r.bytes = limit + 1; });
    }
    probe.refuses("of 39 bytes", allocate(good).plus(-1), Status::invalid_argument);
    probe.refuses("of 41 bytes", allocate(good).plus(1), Status::invalid_argument);
    probe.ignores("with one byte of room too few", allocate(good).with_capacity(23));
    check_domains(world, good);
    const auto buffer =
        probe.creates<BufferKind>("with room for its ID exactly", allocate(good).with_capacity(24));
    const auto fresh =
        probe.accepts("of a fresh buffer", World::read(buffer, 0, buffer_bytes), buffer_bytes);
    probe.judge(fresh == Bytes(buffer_bytes), "READ_BUFFER of a fresh buffer", "all zero");
    probe.accepts("filled with a pattern", World::write(buffer, 0, pattern(buffer_bytes)));
    probe.accepts("of nobody", {wire::Opcode::free_buffer, buffer});
    probe.refuses("a second time", {wire::Opcode::free_buffer, buffer}, Status::stale_object);
    const auto next = world.buffer(context, usage_transfer);
    const auto again = probe.accepts("of a fresh buffer in the place of a freed one",
                                     World::read(next, 0, buffer_bytes), buffer_bytes);
    probe.judge(again == Bytes(buffer_bytes), "READ_BUFFER of a fresh buffer", "all zero");
}

void check_allocation_order(World& world) {
    Probe& probe = world.probe();
    const auto good = world.allocation(world.context(), usage_transfer);
    const auto refuses = [&](std::string_view what, Status wanted, auto bend) {
        probe.refuses(what, bent(good, bend), wanted);
    };
    probe.refuses("with an unknown usage bit, after its length",
                  bent(good, [](Allocate& r) { r.usage = unknown_usage; }).plus(1),
                  Status::invalid_argument);
    refuses("with an unknown usage bit, after context zero", Status::invalid_argument,
            [](Allocate& r) {
                r.usage = unknown_usage;
                r.context_id = {};
            });
    refuses("with an unknown usage bit, after a reserved byte", Status::invalid_argument,
            [](Allocate& r) {
                r.usage = unknown_usage;
                r.reserved0.bytes[3] = 1;
            });
    refuses("with an unknown usage bit, after reserved bits", Status::invalid_argument,
            [](Allocate& r) {
                r.usage = unknown_usage;
                r.reserved1 = 1;
            });
    refuses("with an unknown usage bit, after its domain", Status::invalid_argument,
            [](Allocate& r) {
                r.usage = unknown_usage;
                r.memory_domain = 4;
            });
    refuses("with an unknown usage bit, before its size", Status::unsupported, [](Allocate& r) {
        r.usage = unknown_usage;
        r.bytes = 0;
    });
    refuses("with an unknown usage bit, before its alignment", Status::unsupported,
            [](Allocate& r) {
                r.usage = unknown_usage;
                r.alignment = 3;
            });
    refuses("too large, after no usage", Status::invalid_argument, [](Allocate& r) {
        r.bytes = most;
        r.usage = 0;
    });
    refuses("too large, after its alignment", Status::invalid_argument, [](Allocate& r) {
        r.bytes = most;
        r.alignment = 3;
    });
    refuses("too large, before an unknown context", Status::resource_limit, [](Allocate& r) {
        r.bytes = most;
        r.context_id = unknown_id<ContextKind>;
    });
    probe.refuses("too large, before too little room",
                  bent(good, [](Allocate& r) { r.bytes = most; }).with_capacity(23),
                  Status::resource_limit);
    probe.ignores(
        "with too little room, before an unknown context",
        bent(good, [](Allocate& r) { r.context_id = unknown_id<ContextKind>; }).with_capacity(23));
}

void check_writes_and_reads(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto buffer = world.buffer(context, usage_transfer);
    const auto other = world.buffer(context, usage_transfer);
    auto expected = pattern(buffer_bytes);
    const auto expect_contents = [&](std::string_view what) {
        const auto data = probe.accepts(what, World::read(buffer, 0, buffer_bytes), buffer_bytes);
        probe.judge(data == expected, what, "the bytes last written");
    };
    probe.accepts("of the whole buffer", World::write(buffer, 0, expected));
    expect_contents("of the whole buffer");
    const auto part = pattern(8, 100);
    probe.accepts("of its last 8 bytes", World::write(buffer, 56, part));
    std::ranges::copy(part, expected.begin() + 56);
    probe.accepts("of one byte in the middle", World::write(buffer, 31, pattern(1, 200)));
    expected[31] = pattern(1, 200)[0];
    expect_contents("after writes of parts");
    const auto last = probe.accepts("of its last byte", World::read(buffer, 63, 1), 1);
    probe.judge(last == Bytes{expected[63]}, "READ_BUFFER of the last byte", "the byte written");
    probe.accepts("with room for the data exactly",
                  World::read(buffer, 0, buffer_bytes).with_capacity(16 + buffer_bytes),
                  buffer_bytes);
    probe.ignores("with one byte of room too few",
                  World::read(buffer, 0, buffer_bytes).with_capacity(15 + buffer_bytes));
    probe.refuses("past the end", World::write(buffer, 60, pattern(8, 7)), Status::out_of_bounds);
    expect_contents("after a refused write");
    const auto untouched =
        probe.accepts("of the other buffer", World::read(other, 0, buffer_bytes), buffer_bytes);
    probe.judge(untouched == Bytes(buffer_bytes), "READ_BUFFER of the other buffer", "all zero");
}

void check_transfer_refusals(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const auto both = world.buffer(context, usage_transfer);
    const auto source = world.buffer(context, UsageBit::transfer_source);
    const auto target = world.buffer(context, UsageBit::transfer_destination);
    const auto unknown = unknown_id<BufferKind>;
    const Bytes data = pattern(8);
    const auto read = [](BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
        return World::read(buffer, offset, bytes);
    };
    probe.refuses("of buffer zero", read({}, 0, 8), Status::invalid_argument);
    probe.refuses("of no bytes", read(both, 0, 0), Status::invalid_argument);
    probe.refuses("whose end overflows", read(both, most - 7, 16), Status::invalid_argument);
    probe.refuses("of 2^64 - 1 bytes at 1", read(both, 1, most), Status::invalid_argument);
    probe.refuses("of 2^64 - 1 bytes", read(both, 0, most), Status::resource_limit);
    probe.refuses("of 2^32 bytes", read(both, 0, 1ULL << 32U), Status::resource_limit);
    probe.refuses("of 16 MiB", read(both, 0, protocol::frame_bytes_max), Status::resource_limit);
    probe.refuses("of 2^64 - 1 bytes of buffer zero", read({}, 0, most), Status::invalid_argument);
    probe.refuses("too long for a response, before the unknown buffer", read(unknown, 0, most),
                  Status::resource_limit);
    probe.refuses("with a trailing byte", read(both, 0, 8).plus(1), Status::invalid_argument);
    probe.refuses("of 23 bytes", read(both, 0, 8).plus(-1), Status::invalid_argument);
    probe.refuses("of an unknown buffer", read(unknown, 0, 8), Status::stale_object);
    probe.refuses("past the end", read(both, 60, 8), Status::out_of_bounds);
    probe.refuses("at the end", read(both, buffer_bytes, 1), Status::out_of_bounds);
    probe.refuses("far past the end", read(both, 1ULL << 63U, 8), Status::out_of_bounds);
    probe.refuses("of a buffer that is no source", read(target, 0, 8), Status::permission_denied);
    probe.refuses("past the end, before usage", read(target, 60, 8), Status::out_of_bounds);
    probe.refuses("of an unknown buffer, before its end", read(unknown, 60, 8),
                  Status::stale_object);
    probe.ignores("with too little room, before the unknown buffer",
                  read(unknown, 0, 8).with_capacity(23));
    probe.ignores("with too little room, before its end", read(both, 60, 8).with_capacity(16));

    probe.refuses("of buffer zero", World::write({}, 0, data), Status::invalid_argument);
    probe.refuses("of no bytes", World::write(both, 0, {}), Status::invalid_argument);
    probe.refuses("whose end overflows", World::write(both, most - 3, data),
                  Status::invalid_argument);
    probe.refuses("with a byte missing", World::write(both, 0, data).plus(-1),
                  Status::invalid_argument);
    probe.refuses("with a trailing byte", World::write(both, 0, data).plus(1),
                  Status::invalid_argument);
    probe.refuses("without its record", World::write(both, 0, data).plus(-9),
                  Status::invalid_argument);
    probe.refuses("of an unknown buffer", World::write(unknown, 0, data), Status::stale_object);
    probe.refuses("past the end", World::write(both, 57, data), Status::out_of_bounds);
    probe.refuses("of a buffer that is no destination", World::write(source, 0, data),
                  Status::permission_denied);
    probe.refuses("past the end, before usage", World::write(source, 57, data),
                  Status::out_of_bounds);
}

}  // namespace virtaccel::cli::probe

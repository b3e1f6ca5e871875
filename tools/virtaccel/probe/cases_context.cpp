// Contexts and execution queues.

#include <cstdint>

#include <fmt/core.h>

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

// Quotas beyond this are not filled to look at their end.
constexpr std::uint32_t filled_quota_max = 4096;

// Sends `request` as often as `quota` allows, less `made`, and once more.
void check_quota(Probe& probe, const Request& request, std::uint32_t quota, std::uint32_t made) {
    if (quota > filled_quota_max) {
        return;
    }
    bool good = true;
    for (std::uint32_t i = made; i < quota && good; ++i) {
        const auto answer = probe.asks("within the quota", request);
        good = answer && answer->status == Status::ok;
    }
    probe.judge(good,
                fmt::format("{} up to the quota of {}", wire::opcode_name(request.opcode()), quota),
                "OK");
    probe.refuses("beyond the quota", request, Status::resource_limit);
}

Request create_context(std::uint32_t flags, std::uint32_t reserved) {
    wire::CreateContext record;
    record.flags = flags;
    record.reserved = reserved;
    return Request{wire::Opcode::create_context, bytes_of(record)};
}

Request create_queue(ContextId context, std::uint32_t flags, std::uint32_t reserved) {
    wire::CreateQueue record;
    record.context_id = context;
    record.flags = flags;
    record.reserved = reserved;
    return Request{wire::Opcode::create_queue, bytes_of(record)};
}

}  // namespace

void check_contexts(World& world) {
    Probe& probe = world.probe();
    const Request good = create_context(0, 0);
    probe.refuses("with a flag", create_context(1, 0), Status::unsupported);
    probe.refuses("with the last flag", create_context(1U << 31U, 0), Status::unsupported);
    probe.refuses("with reserved bits", create_context(0, 1), Status::invalid_argument);
    probe.refuses("with a flag, before reserved bits", create_context(1, 1), Status::unsupported);
    probe.refuses("with a flag, after its length", create_context(1, 0).plus(-1),
                  Status::invalid_argument);
    probe.refuses("of 9 bytes", good.plus(1), Status::invalid_argument);
    probe.refuses("without its record", good.plus(-8), Status::invalid_argument);
    probe.ignores("with one byte of room too few", good.with_capacity(23));
    probe.refuses("with a flag and one byte of room too few",
                  create_context(1, 0).with_capacity(23), Status::unsupported);
    const auto first =
        probe.creates<ContextKind>("with room for its ID exactly", good.with_capacity(24));
    const auto second = world.context();
    probe.judge(first != second, "CREATE_CONTEXT twice", "two IDs");
    probe.accepts("without children", {wire::Opcode::destroy_context, first});
    probe.refuses("a second time", {wire::Opcode::destroy_context, first}, Status::stale_object);
    const auto queue = world.queue(second);
    probe.refuses("with a child", {wire::Opcode::destroy_context, second}, Status::busy);
    probe.accepts("that is a child", {wire::Opcode::destroy_queue, queue});
    probe.accepts("whose child is gone", {wire::Opcode::destroy_context, second});
    check_quota(probe, good, probe.identity().limits.contexts, 0);
}

void check_queues(World& world) {
    Probe& probe = world.probe();
    const auto context = world.context();
    const Request good = create_queue(context, 0, 0);
    probe.refuses("with a flag", create_queue(context, 1, 0), Status::unsupported);
    probe.refuses("with reserved bits", create_queue(context, 0, 1), Status::invalid_argument);
    probe.refuses("in context zero", create_queue({}, 0, 0), Status::invalid_argument);
    probe.refuses("with a flag, before context zero", create_queue({}, 1, 0), Status::unsupported);
    probe.refuses("with a flag, before reserved bits", create_queue(context, 1, 1),
                  Status::unsupported);
    probe.refuses("with a flag, after its length", create_queue(context, 1, 0).plus(1),
                  Status::invalid_argument);
    probe.refuses("in an unknown context", create_queue(unknown_id<ContextKind>, 0, 0),
                  Status::stale_object);
    probe.ignores("with one byte of room too few", good.with_capacity(23));
    probe.ignores("with one byte of room too few, before the unknown context",
                  create_queue(unknown_id<ContextKind>, 0, 0).with_capacity(23));
    const auto queue =
        probe.creates<QueueKind>("with room for its ID exactly", good.with_capacity(24));
    probe.accepts("of nobody", {wire::Opcode::destroy_queue, queue});
    probe.refuses("a second time", {wire::Opcode::destroy_queue, queue}, Status::stale_object);
    check_quota(probe, good, probe.identity().limits.queues_per_context, 0);
    const auto other = world.context();
    probe.creates<QueueKind>("in another context, whose quota is its own",
                             create_queue(other, 0, 0));
}

}  // namespace virtaccel::cli::probe

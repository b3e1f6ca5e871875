// Events, what they retain, and resets.

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "adapters/stdio/framing.h"
#include "tools/virtaccel/probe/cases.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/probe/world.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::cli::probe {
namespace {

using adapters::stdio::ResetReply;

constexpr Usage usage_state = Usage{UsageBit::mutable_state} | usage_transfer;

// One context in which a barrier is submitted.
struct Scene {
    ContextId context;
    QueueId queue;
    ProgramId program;
    BufferId buffer;
    EventId event;

    explicit Scene(World& world)
        : context(world.context()),
          queue(world.queue(context)),
          program(world.program(context, {})),
          buffer(world.buffer(context, usage_state)),
          event(submit(world)) {}

    [[nodiscard]] EventId submit(World& world) const {
        const std::array bindings{binding(0, buffer, Access::read_write)};
        return world.probe().creates<EventKind>("of a barrier",
                                                submission(queue, program, bindings));
    }
};

void expect_retained(Probe& probe, const Scene& scene, std::string_view what) {
    const auto outside = World::read(scene.buffer, buffer_bytes, 8);
    probe.refuses(what, World::read(scene.buffer, 0, 8), Status::busy);
    probe.refuses(what, World::write(scene.buffer, 0, pattern(8)), Status::busy);
    probe.refuses("past the end of a retained buffer", outside, Status::busy);
    probe.refuses(what, {wire::Opcode::free_buffer, scene.buffer}, Status::busy);
    probe.refuses(what, {wire::Opcode::unload_program, scene.program}, Status::busy);
    probe.refuses(what, {wire::Opcode::destroy_queue, scene.queue}, Status::busy);
    probe.refuses(what, {wire::Opcode::destroy_context, scene.context}, Status::busy);
}

// CANCEL_EVENT of an event that nobody polled: the device decides who wins, once.
void check_cancellation(World& world, const Scene& scene) {
    Probe& probe = world.probe();
    const auto event = scene.submit(world);
    const auto answer = probe.asks("of an event", {wire::Opcode::cancel_event, event});
    const bool cancelled = answer && answer->status == Status::ok;
    probe.judge(cancelled || (answer && answer->status == Status::busy), "CANCEL_EVENT of an event",
                "OK or BUSY");
    const auto phase = world.wait(event);
    probe.judge(phase == (cancelled ? EventPhase::cancelled : EventPhase::complete),
                "POLL_EVENT after CANCEL_EVENT", "the outcome that the answer told");
    probe.refuses("of a terminal event", {wire::Opcode::cancel_event, event}, Status::busy);
    probe.judge(world.wait(event) == phase, "POLL_EVENT again", "the same outcome");
    probe.accepts("of a terminal event", {wire::Opcode::destroy_event, event});
    probe.refuses("of a destroyed event", {wire::Opcode::cancel_event, event},
                  Status::stale_object);
}

// Sends every one-object command for an object of an older namespace.
void expect_stale(Probe& probe, const Scene& old) {
    probe.refuses("of an older namespace", {wire::Opcode::poll_event, old.event},
                  Status::stale_object);
    probe.refuses("of an older namespace", {wire::Opcode::destroy_event, old.event},
                  Status::stale_object);
    probe.refuses("of an older namespace", {wire::Opcode::destroy_queue, old.queue},
                  Status::stale_object);
    probe.refuses("of an older namespace", {wire::Opcode::unload_program, old.program},
                  Status::stale_object);
    probe.refuses("of an older namespace", {wire::Opcode::free_buffer, old.buffer},
                  Status::stale_object);
    probe.refuses("of an older namespace", {wire::Opcode::destroy_context, old.context},
                  Status::stale_object);
    probe.refuses("of an older namespace", World::read(old.buffer, 0, 8), Status::stale_object);
}

}  // namespace

void check_retained_objects(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    expect_retained(probe, scene, "with an event");
    if (!world.wait(scene.event)) {
        return;
    }
    expect_retained(probe, scene, "with a terminal event");
    probe.accepts("of a terminal event", {wire::Opcode::destroy_event, scene.event});
    probe.accepts("after its event", World::read(scene.buffer, 0, 8), 8);
    probe.refuses("with children", {wire::Opcode::destroy_context, scene.context}, Status::busy);
    probe.accepts("after its event", {wire::Opcode::free_buffer, scene.buffer});
    probe.accepts("after its event", {wire::Opcode::unload_program, scene.program});
    probe.accepts("after its event", {wire::Opcode::destroy_queue, scene.queue});
    probe.accepts("after its children", {wire::Opcode::destroy_context, scene.context});
}

void check_events(World& world) {
    Probe& probe = world.probe();
    const Scene scene{world};
    const bool cancels = probe.identity().capabilities.has(CapabilityBit::event_cancellation);
    if (cancels) {
        check_cancellation(world, scene);
    } else {
        probe.refuses("without the capability", {wire::Opcode::cancel_event, scene.event},
                      Status::unsupported);
    }
    const auto first = probe.accepts_record<wire::EventState>(
        "of an event", {wire::Opcode::poll_event, scene.event});
    if (first && first->state == 0) {
        // A later poll may find it ended; only between two commands of ours nothing polls.
        const auto answer =
            probe.asks("of a pending event", {wire::Opcode::destroy_event, scene.event});
        probe.judge(answer && (answer->status == Status::busy || answer->status == Status::ok),
                    "DESTROY_EVENT of a pending event", "BUSY, or OK if it ended meanwhile");
        if (answer && answer->status == Status::ok) {
            return;
        }
    }
    if (!world.wait(scene.event)) {
        return;
    }
    const auto last = probe.accepts_record<wire::EventState>(
        "of a terminal event", {wire::Opcode::poll_event, scene.event});
    const auto again = probe.accepts_record<wire::EventState>(
        "of a terminal event again", {wire::Opcode::poll_event, scene.event});
    probe.judge(last && again && wire::encode(*last) == wire::encode(*again),
                "POLL_EVENT of a terminal event again", "the same answer");
    probe.ignores("with one byte of room too few",
                  Request{wire::Opcode::poll_event, scene.event}.with_capacity(23));
    probe.accepts("of a terminal event", {wire::Opcode::destroy_event, scene.event});
    probe.refuses("of a destroyed event", {wire::Opcode::poll_event, scene.event},
                  Status::stale_object);
    probe.refuses("a second time", {wire::Opcode::destroy_event, scene.event},
                  Status::stale_object);
}

void check_resets(World& world) {
    Probe& probe = world.probe();
    const Request info{wire::Opcode::get_device_info};
    const auto seed = world.new_seed();
    probe.resets("of an empty device", seed,
                 probe.strict()
                     ? std::initializer_list<ResetReply>{ResetReply::reused}
                     : std::initializer_list<ResetReply>{ResetReply::reused, ResetReply::rebuilt});
    const auto before = probe.accepts("before a refused reset", info, sizeof(wire::DeviceInfo));
    const Scene old{world};
    probe.resets("with seed zero", 0, {ResetReply::refused});
    probe.resets("with the current seed", seed, {ResetReply::refused});
    probe.accepts("after a refused reset", {wire::Opcode::poll_event, old.event},
                  sizeof(wire::EventState));
    probe.resets("with an event on its way", world.new_seed(),
                 {ResetReply::reused, ResetReply::rebuilt});
    const auto after = probe.accepts("after a reset", info, sizeof(wire::DeviceInfo));
    probe.judge(before == after, "GET_DEVICE_INFO after a reset", "the same answer");
    expect_stale(probe, old);
    const Scene next{world};
    expect_stale(probe, old);
    probe.accepts("with a request ID of its own", info.with_request_id(1),
                  sizeof(wire::DeviceInfo));
    probe.accepts("with the same request ID later", info.with_request_id(1),
                  sizeof(wire::DeviceInfo));
    probe.accepts("of the new namespace", {wire::Opcode::poll_event, next.event},
                  sizeof(wire::EventState));
    probe.resets("at the end", world.new_seed(), {ResetReply::reused, ResetReply::rebuilt});
    probe.accepts("on an empty device", info, sizeof(wire::DeviceInfo));
}

}  // namespace virtaccel::cli::probe

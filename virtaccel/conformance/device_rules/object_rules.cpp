// The life of objects and of their names (spec §1, §6).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/device_rules/draft.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

Check expect_distinct(std::vector<std::uint64_t> ids) {
    std::ranges::sort(ids);
    const auto twice = std::ranges::adjacent_find(ids);
    return expect(twice == ids.end(), "Two objects have the ID (", twice == ids.end() ? 0 : *twice,
                  ").");
}

// ---- names

// Two of each kind, all live at once.
Check live_names_differ(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    std::vector<std::uint64_t> ids{cast.scene.context.raw, cast.scene.queue.raw, cast.buffer.raw,
                                   cast.source_only.raw, cast.destination_only.raw};
    if (cast.has_program()) {
        ids.push_back(cast.scene.program.raw);
        ids.push_back(cast.event.raw);
    }
    for (const BufferId buffer : cast.scene.buffers) {
        ids.push_back(buffer.raw);
    }
    VIRTACCEL_TRY(expect(std::ranges::find(ids, std::uint64_t{0}) == ids.end(),
                         "An object has the ID zero."));
    VIRTACCEL_TRY(expect_distinct(ids));
    return take_down(stage, cast);
}

// A name that was given up is not given out again: an old copy of it would name something new.
Check names_come_once(const DeviceCaseInput& input) {
    constexpr int rounds = 100;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < rounds; ++i) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
        VIRTACCEL_TRY_ASSIGN(const QueueId queue, caller.create_queue(context));
        VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                             caller.allocate(stage.buffer_request(context, 1, usage_known)));
        ids.insert(ids.end(), {context.raw, queue.raw, buffer.raw});
        VIRTACCEL_TRY(caller.destroy(buffer));
        VIRTACCEL_TRY(caller.destroy(queue));
        VIRTACCEL_TRY(caller.destroy(context));
    }
    return expect_distinct(ids);
}

// ---- children and users

template <Opcode op, class Kind>
Check expect_busy(Caller& caller, std::string_view what, Id<Kind> id) {
    return expect_refusal(what, caller.call<op>({.object_id = id}), Status::busy);
}

Check expect_busy_context(Caller& caller, std::string_view child, ContextId context) {
    return expect_busy<Opcode::destroy_context>(
        caller, say("DESTROY_CONTEXT of a context with ", child), context);
}

Check context_with_queue(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const QueueId queue, caller.create_queue(context));
    VIRTACCEL_TRY(expect_busy_context(caller, "a queue", context));
    VIRTACCEL_TRY(caller.destroy(queue));
    return caller.destroy(context);
}

Check context_with_buffer(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(input.stage.buffer_request(context, 1, usage_known)));
    VIRTACCEL_TRY(expect_busy_context(caller, "a buffer", context));
    VIRTACCEL_TRY(caller.destroy(buffer));
    return caller.destroy(context);
}

Check context_with_program(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const ProgramId program, load_sample(stage, context));
    VIRTACCEL_TRY(expect_busy_context(caller, "a program", context));
    VIRTACCEL_TRY(caller.destroy(program));
    return caller.destroy(context);
}

// What an event that is terminal and not destroyed keeps: `held` says what is tried of it.
Check event_keeps(const DeviceCaseInput& input, Check (*held)(Caller& caller, const Scene& scene)) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY(held(stage.caller(), cast.scene));
    return take_down(stage, cast);
}

Check event_keeps_queue(const DeviceCaseInput& input) {
    return event_keeps(input, [](Caller& caller, const Scene& scene) {
        return expect_busy<Opcode::destroy_queue>(
            caller, "DESTROY_QUEUE of a queue that an event keeps", scene.queue);
    });
}

Check event_keeps_program(const DeviceCaseInput& input) {
    return event_keeps(input, [](Caller& caller, const Scene& scene) {
        return expect_busy<Opcode::unload_program>(
            caller, "UNLOAD_PROGRAM of a program that an event keeps", scene.program);
    });
}

Check event_keeps_context(const DeviceCaseInput& input) {
    return event_keeps(input, [](Caller& caller, const Scene& scene) {
        return expect_busy_context(caller, "a terminal event", scene.context);
    });
}

Check event_keeps_buffers(const DeviceCaseInput& input) {
    return event_keeps(input, [](Caller& caller, const Scene& scene) -> Check {
        for (const BufferId buffer : scene.buffers) {
            VIRTACCEL_TRY(expect_busy<Opcode::free_buffer>(
                caller, "FREE_BUFFER of a buffer that an event keeps", buffer));
        }
        return {};
    });
}

// Two events over the same things: the first to go lets go of nothing that the second keeps.
Check two_events_keep_twice(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage, true));
    if (cast.info.events_per_context_max < 2) {
        return skipped("A context has no two events.");
    }
    const EventId first = cast.event;
    VIRTACCEL_TRY_ASSIGN(cast.event, stage.submit(cast.scene));
    VIRTACCEL_TRY(stage.wait(cast.event));
    VIRTACCEL_TRY(caller.destroy(first));
    VIRTACCEL_TRY(expect_busy<Opcode::destroy_queue>(
        caller, "DESTROY_QUEUE of a queue that a second event keeps", cast.scene.queue));
    VIRTACCEL_TRY(expect_busy<Opcode::unload_program>(
        caller, "UNLOAD_PROGRAM of a program that a second event keeps", cast.scene.program));
    VIRTACCEL_TRY(expect_busy<Opcode::free_buffer>(
        caller, "FREE_BUFFER of a buffer that a second event keeps", cast.scene.buffers.front()));
    return take_down(stage, cast);
}

// ---- the end of a name: every command that could use it

template <Opcode op>
Check expect_stale(Caller& caller, std::string_view what, const wire::RequestOf<op>& request,
                   std::span<const std::byte> tail = {}) {
    return expect_refusal(what, caller.call<op>(request, tail), Status::stale_object);
}

Check destroyed_context(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY(caller.destroy(context));
    VIRTACCEL_TRY(expect_stale<Opcode::destroy_context>(caller, "A second DESTROY_CONTEXT",
                                                        {.object_id = context}));
    VIRTACCEL_TRY(
        expect_stale<Opcode::allocate_buffer>(caller, "ALLOCATE_BUFFER in a destroyed context",
                                              stage.buffer_request(context, 1, usage_known)));
    wire::CreateQueue queue;
    queue.context_id = context;
    VIRTACCEL_TRY(
        expect_stale<Opcode::create_queue>(caller, "CREATE_QUEUE in a destroyed context", queue));
    if (!stage.has_sample()) {
        return {};
    }
    return expect_refusal("LOAD_PROGRAM in a destroyed context",
                          stage.load(context, stage.sample().artifact), Status::stale_object);
}

Check freed_buffer(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage));
    const BufferId gone = cast.buffer;
    VIRTACCEL_TRY(caller.destroy(gone));
    VIRTACCEL_TRY(
        expect_stale<Opcode::free_buffer>(caller, "A second FREE_BUFFER", {.object_id = gone}));
    wire::WriteBuffer write;
    write.buffer_id = gone;
    write.bytes = 1;
    VIRTACCEL_TRY(expect_stale<Opcode::write_buffer>(caller, "WRITE_BUFFER of a freed buffer",
                                                     write, Bytes(1)));
    wire::ReadBuffer read;
    read.buffer_id = gone;
    read.bytes = 1;
    VIRTACCEL_TRY(expect_stale<Opcode::read_buffer>(caller, "READ_BUFFER of a freed buffer", read));
    if (cast.has_program()) {
        auto bindings = stage.bindings_of(cast.scene);
        bindings.front().buffer_id = gone;
        VIRTACCEL_TRY(expect_refusal("SUBMIT with a freed buffer",
                                     stage.submit(cast.scene, bindings), Status::stale_object));
    }
    VIRTACCEL_TRY_ASSIGN(cast.buffer, caller.allocate(stage.buffer_request(
                                          cast.scene.context, cast_buffer_bytes, usage_known)));
    return take_down(stage, cast);
}

Check unloaded_program(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage));
    VIRTACCEL_TRY(caller.destroy(cast.scene.program));
    VIRTACCEL_TRY(expect_stale<Opcode::unload_program>(caller, "A second UNLOAD_PROGRAM",
                                                       {.object_id = cast.scene.program}));
    VIRTACCEL_TRY(expect_refusal("SUBMIT of an unloaded program",
                                 stage.submit(cast.scene, stage.bindings_of(cast.scene)),
                                 Status::stale_object));
    VIRTACCEL_TRY_ASSIGN(cast.scene.program, load_sample(stage, cast.scene.context));
    return take_down(stage, cast);
}

Check destroyed_queue(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage));
    VIRTACCEL_TRY(caller.destroy(cast.scene.queue));
    VIRTACCEL_TRY(expect_stale<Opcode::destroy_queue>(caller, "A second DESTROY_QUEUE",
                                                      {.object_id = cast.scene.queue}));
    if (cast.has_program()) {
        VIRTACCEL_TRY(expect_refusal("SUBMIT to a destroyed queue",
                                     stage.submit(cast.scene, stage.bindings_of(cast.scene)),
                                     Status::stale_object));
    }
    VIRTACCEL_TRY_ASSIGN(cast.scene.queue, caller.create_queue(cast.scene.context));
    return take_down(stage, cast);
}

Check destroyed_event(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(Cast cast, make_cast(stage, true));
    const EventId gone = std::exchange(cast.event, {});
    VIRTACCEL_TRY(caller.destroy(gone));
    VIRTACCEL_TRY(
        expect_stale<Opcode::destroy_event>(caller, "A second DESTROY_EVENT", {.object_id = gone}));
    VIRTACCEL_TRY(expect_stale<Opcode::poll_event>(caller, "POLL_EVENT of a destroyed event",
                                                   {.object_id = gone}));
    if (stage.capabilities().has(CapabilityBit::event_cancellation)) {
        VIRTACCEL_TRY(expect_stale<Opcode::cancel_event>(
            caller, "CANCEL_EVENT of a destroyed event", {.object_id = gone}));
    }
    return take_down(stage, cast);
}

// Contexts are a world each: what happens in one is not seen in another.
Check contexts_are_apart(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    if (cast.info.contexts_max < 2) {
        return skipped("The device has no two contexts.");
    }
    VIRTACCEL_TRY_ASSIGN(const ContextId other, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(stage.buffer_request(other, 8, usage_known)));
    VIRTACCEL_TRY(caller.write(buffer, 0, Bytes(8, std::byte{9})));
    VIRTACCEL_TRY(take_down(stage, cast));
    VIRTACCEL_TRY_ASSIGN(const Bytes kept, caller.read(buffer, 0, 8));
    VIRTACCEL_TRY(expect(kept == Bytes(8, std::byte{9}),
                         "A buffer changes when another context is destroyed."));
    VIRTACCEL_TRY(caller.destroy(buffer));
    return caller.destroy(other);
}

constexpr std::array cases{
    DeviceCase{"object.live-ids-differ", "no two live objects have one ID, whatever their kinds",
               live_names_differ},
    DeviceCase{"object.ids-come-once", "an ID that was given up is not given out again",
               names_come_once},
    DeviceCase{"object.contexts-are-apart", "the end of a context touches no other",
               contexts_are_apart},
    DeviceCase{"destroy-context.busy-with-queue", "a context with a queue is BUSY",
               context_with_queue},
    DeviceCase{"destroy-context.busy-with-buffer", "a context with a buffer is BUSY",
               context_with_buffer},
    DeviceCase{"destroy-context.busy-with-program", "a context with a program is BUSY",
               context_with_program},
    DeviceCase{"destroy-context.busy-with-event", "a context with a terminal event is BUSY",
               event_keeps_context},
    DeviceCase{"destroy-context.ends-its-id", "a destroyed context is STALE_OBJECT everywhere",
               destroyed_context},
    DeviceCase{"free-buffer.busy-with-event", "a buffer of a terminal event is BUSY",
               event_keeps_buffers},
    DeviceCase{"free-buffer.ends-its-id", "a freed buffer is STALE_OBJECT everywhere",
               freed_buffer},
    DeviceCase{"unload-program.busy-with-event", "a program of a terminal event is BUSY",
               event_keeps_program},
    DeviceCase{"unload-program.ends-its-id", "an unloaded program is STALE_OBJECT everywhere",
               unloaded_program},
    DeviceCase{"destroy-queue.busy-with-event", "a queue of a terminal event is BUSY",
               event_keeps_queue},
    DeviceCase{"destroy-queue.ends-its-id", "a destroyed queue is STALE_OBJECT everywhere",
               destroyed_queue},
    DeviceCase{"destroy-event.ends-its-id", "a destroyed event is STALE_OBJECT everywhere",
               destroyed_event},
    DeviceCase{"destroy-event.each-keeps-its-own", "what two events keep stays until both are gone",
               two_events_keep_twice},
};

}  // namespace

std::span<const DeviceCase> object_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

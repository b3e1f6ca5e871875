#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/device_case_list.h"
#include "virtaccel/conformance/device_cases.h"
#include "virtaccel/conformance/probes.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

constexpr std::uint64_t never_given = 0xfffffffffff00001;
constexpr std::size_t bare = sizeof(wire::ResponseHeader);
// Contexts that are created to see whether others were meanwhile.
constexpr std::uint32_t contexts_tried_max = 4096;

// Short capacity wins over what a lookup would say; what a payload says by itself wins over that.
Check check_precedence(Stage& stage) {
    Caller& caller = stage.caller();
    for (const Probe& probe : make_probes(stage.capabilities(), never_given)) {
        for (std::size_t capacity = bare; capacity < probe.capacity; ++capacity) {
            VIRTACCEL_TRY(
                expect_unanswered(say(probe.name, " with room for (", capacity, ") bytes"),
                                  caller.call_raw(probe.opcode, probe.payload, capacity)));
        }
        if (probe.capacity > bare && probe.fixed_bytes != 0) {
            const auto part = std::span{probe.payload}.first(probe.fixed_bytes - 1);
            VIRTACCEL_TRY(expect_refusal(
                say("A malformed ", probe.name, " with room for a refusal only"),
                caller.call_raw(probe.opcode, part, bare), Status::invalid_argument));
        }
    }
    return {};
}

// As many contexts fit after creations without room for their answers as before.
Check check_contexts(Caller& caller) {
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    const std::uint32_t contexts_max = info.contexts_max;
    if (contexts_max > contexts_tried_max) {
        return {};
    }
    for (std::size_t capacity = bare; capacity < bare + 8; ++capacity) {
        VIRTACCEL_TRY(expect_unanswered("CREATE_CONTEXT with too little room",
                                        caller.call<Opcode::create_context>({}, {}, capacity)));
    }
    std::vector<ContextId> contexts(contexts_max);
    for (ContextId& context : contexts) {
        VIRTACCEL_TRY_ASSIGN(context, caller.create_context());
    }
    for (const ContextId context : contexts) {
        VIRTACCEL_TRY(caller.destroy(context));
    }
    return {};
}

// A context is empty after creations in it without room for their answers.
Check check_children(Stage& stage) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const auto allocate = stage.buffer_request(context, 16, usage_known);
    VIRTACCEL_TRY(expect_unanswered("ALLOCATE_BUFFER with too little room",
                                    caller.call<Opcode::allocate_buffer>(allocate, {}, 23)));
    wire::CreateQueue queue;
    queue.context_id = context;
    VIRTACCEL_TRY(expect_unanswered("CREATE_QUEUE with too little room",
                                    caller.call<Opcode::create_queue>(queue, {}, 23)));
    if (stage.has_sample()) {
        VIRTACCEL_TRY(expect_unanswered(
            "LOAD_PROGRAM with too little room",
            caller.call_raw(Opcode::load_program,
                            stage.load_payload(context, stage.sample().artifact), 23)));
    }
    return caller.destroy(context);
}

// Nothing was submitted without room for the event's ID: nothing is referenced, nothing has run.
Check check_submission(Stage& stage) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    const auto bindings = stage.bindings_of(scene);
    wire::Submit submit;
    submit.queue_id = scene.queue;
    submit.program_id = scene.program;
    submit.binding_count = static_cast<std::uint32_t>(bindings.size());
    VIRTACCEL_TRY(expect_unanswered(
        "SUBMIT with too little room",
        stage.caller().call<Opcode::submit>(submit, std::as_bytes(std::span{bindings}), 23)));
    for (std::size_t i = 0; i < scene.buffers.size(); ++i) {
        const auto& before = stage.sample().slots[i].before;
        VIRTACCEL_TRY_ASSIGN(const Bytes bytes,
                             stage.caller().read(scene.buffers[i], 0, before.size()));
        VIRTACCEL_TRY(expect(bytes == before, "A SUBMIT with too little room has run."));
    }
    return stage.tear_down(scene);
}

// OK, in exactly `bytes` bytes, however much room there is.
Check expect_used(std::string_view what, const Reply& reply, std::size_t bytes) {
    VIRTACCEL_TRY(expect_ok(what, reply));
    return expect_equal(say("The used length of ", what), reply.used_bytes, bytes);
}

// A command without a payload in its answer, on `id`.
template <Opcode op, class Kind>
Check expect_bare(Caller& caller, std::string_view what, Id<Kind> id) {
    return expect_used(what, caller.call<op>({.object_id = id}), bare);
}

template <class Kind>
Checked<Id<Kind>> expect_exact_id(std::string_view what, const Reply& reply) {
    VIRTACCEL_TRY(expect_used(what, reply, bare + 8));
    return expect_id<Kind>(what, reply);
}

Check check_plain_lengths(Stage& stage) {
    constexpr std::uint64_t size = 33;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY(expect_used("GET_DEVICE_INFO", caller.call<Opcode::get_device_info>(),
                              bare + sizeof(wire::DeviceInfo)));
    VIRTACCEL_TRY_ASSIGN(
        const ContextId context,
        expect_exact_id<ContextKind>("CREATE_CONTEXT", caller.call<Opcode::create_context>()));
    VIRTACCEL_TRY_ASSIGN(
        const BufferId buffer,
        expect_exact_id<BufferKind>("ALLOCATE_BUFFER",
                                    caller.call<Opcode::allocate_buffer>(
                                        stage.buffer_request(context, size, usage_known))));
    wire::WriteBuffer write;
    write.buffer_id = buffer;
    write.bytes = size;
    VIRTACCEL_TRY(
        expect_used("WRITE_BUFFER", caller.call<Opcode::write_buffer>(write, Bytes(size)), bare));
    wire::ReadBuffer read;
    read.buffer_id = buffer;
    for (std::uint64_t bytes = 1; bytes <= size; ++bytes) {
        read.bytes = bytes;
        VIRTACCEL_TRY(expect_used("READ_BUFFER", caller.call<Opcode::read_buffer>(read),
                                  bare + static_cast<std::size_t>(bytes)));
    }
    wire::CreateQueue create;
    create.context_id = context;
    VIRTACCEL_TRY_ASSIGN(
        const QueueId queue,
        expect_exact_id<QueueKind>("CREATE_QUEUE", caller.call<Opcode::create_queue>(create)));
    VIRTACCEL_TRY(expect_bare<Opcode::destroy_queue>(caller, "DESTROY_QUEUE", queue));
    VIRTACCEL_TRY(expect_bare<Opcode::free_buffer>(caller, "FREE_BUFFER", buffer));
    return expect_bare<Opcode::destroy_context>(caller, "DESTROY_CONTEXT", context);
}

Check check_program_lengths(Stage& stage) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(Scene scene, stage.set_up());
    VIRTACCEL_TRY(expect_bare<Opcode::unload_program>(caller, "UNLOAD_PROGRAM", scene.program));
    VIRTACCEL_TRY_ASSIGN(scene.program,
                         expect_exact_id<ProgramKind>(
                             "LOAD_PROGRAM", stage.load(scene.context, stage.sample().artifact)));
    const Reply submitted = stage.submit(scene, stage.bindings_of(scene));
    VIRTACCEL_TRY_ASSIGN(const EventId event, expect_exact_id<EventKind>("SUBMIT", submitted));
    VIRTACCEL_TRY(expect_used("POLL_EVENT", caller.call<Opcode::poll_event>({.object_id = event}),
                              bare + sizeof(wire::EventState)));
    const Reply cancelled = caller.call<Opcode::cancel_event>({.object_id = event});
    VIRTACCEL_TRY(expect_equal("The used length of CANCEL_EVENT", cancelled.used_bytes, bare));
    VIRTACCEL_TRY(stage.wait(event));
    VIRTACCEL_TRY(expect_bare<Opcode::destroy_event>(caller, "DESTROY_EVENT", event));
    return stage.tear_down(scene);
}

}  // namespace

Check short_capacity(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(check_precedence(input.stage));
    VIRTACCEL_TRY(check_contexts(input.stage.caller()));
    VIRTACCEL_TRY(check_children(input.stage));
    return input.stage.has_sample() ? check_submission(input.stage) : Check{};
}

Check exact_used_length(const DeviceCaseInput& input) {
    VIRTACCEL_TRY(check_plain_lengths(input.stage));
    return input.stage.has_sample() ? check_program_lengths(input.stage) : Check{};
}

}  // namespace virtaccel::conformance::cases

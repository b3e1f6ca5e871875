// How many objects there may be (spec §2, §5): exactly as many as the device advertises, in each
// context by itself.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
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

// Quotas beyond this are not filled to look at their end.
constexpr std::uint32_t filled_max = 4096;

Check expect_fillable(std::uint32_t quota) {
    if (quota > filled_max) {
        return skipped("The quota (", quota, ") is more than a run fills (", filled_max, ").");
    }
    return {};
}

// Fills a quota by `make`, which answers like a creation, looks at its end, and empties it again.
// What it is about has `elsewhere` to show that a quota is a context's own.
template <class Kind, class Make, class Elsewhere>
Check check_quota(Caller& caller, std::string_view what, std::uint32_t quota, Make make,
                  Elsewhere elsewhere) {
    VIRTACCEL_TRY(expect_fillable(quota));
    std::vector<Id<Kind>> made(quota);
    for (Id<Kind>& id : made) {
        VIRTACCEL_TRY_ASSIGN(id, expect_id<Kind>(say(what, " within the quota"), make()));
    }
    VIRTACCEL_TRY(expect_refusal(say(what, " beyond the quota"), make(), Status::resource_limit));
    VIRTACCEL_TRY(elsewhere());
    VIRTACCEL_TRY(caller.destroy(made.back()));
    VIRTACCEL_TRY_ASSIGN(made.back(),
                         expect_id<Kind>(say(what, " in the place of one that is gone"), make()));
    VIRTACCEL_TRY(
        expect_refusal(say(what, " beyond the quota again"), make(), Status::resource_limit));
    for (const Id<Kind> id : made) {
        VIRTACCEL_TRY(caller.destroy(id));
    }
    return {};
}

Check contexts(const DeviceCaseInput& input) {
    Caller& caller = input.stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    return check_quota<ContextKind>(
        caller, "CREATE_CONTEXT", info.contexts_max,
        [&] { return caller.call<Opcode::create_context>(); }, [] { return Check{}; });
}

// The quota of a kind of child: `make_in` asks for one in a context.
template <class Kind, class MakeIn>
Check children(Stage& stage, std::string_view what, std::uint32_t quota, std::uint32_t contexts_max,
               MakeIn make_in) {
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    const auto elsewhere = [&]() -> Check {
        if (contexts_max < 2) {
            return {};
        }
        VIRTACCEL_TRY_ASSIGN(const ContextId other, caller.create_context());
        VIRTACCEL_TRY_ASSIGN(
            const Id<Kind> child,
            expect_id<Kind>(say(what, " in another context than the full one"), make_in(other)));
        VIRTACCEL_TRY(caller.destroy(child));
        return caller.destroy(other);
    };
    VIRTACCEL_TRY(
        check_quota<Kind>(caller, what, quota, [&] { return make_in(context); }, elsewhere));
    return caller.destroy(context);
}

Check buffers(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, stage.caller().device_info());
    return children<BufferKind>(stage, "ALLOCATE_BUFFER", info.buffers_per_context_max,
                                info.contexts_max, [&](ContextId context) {
                                    return stage.caller().call<Opcode::allocate_buffer>(
                                        stage.buffer_request(context, 1, usage_known));
                                });
}

Check queues(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, stage.caller().device_info());
    return children<QueueKind>(stage, "CREATE_QUEUE", info.queues_per_context_max,
                               info.contexts_max, [&](ContextId context) {
                                   wire::CreateQueue request;
                                   request.context_id = context;
                                   return stage.caller().call<Opcode::create_queue>(request);
                               });
}

Check programs(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, stage.caller().device_info());
    return children<ProgramKind>(
        stage, "LOAD_PROGRAM", info.programs_per_context_max, info.contexts_max,
        [&](ContextId context) { return stage.load(context, stage.sample().artifact); });
}

// A full event quota weighs less than an ID that is stale, and more than a range or a usage.
Check expect_between_buffers_and_ranges(Stage& stage, const Cast& cast) {
    auto bindings = stage.bindings_of(cast.scene);
    bindings.front().buffer_id = BufferId{never_given};
    VIRTACCEL_TRY(expect_refusal("SUBMIT with a stale buffer and a full quota",
                                 stage.submit(cast.scene, bindings), Status::stale_object));
    bindings = stage.bindings_of(cast.scene);
    bindings.front().offset = std::uint64_t{1} << 62U;
    VIRTACCEL_TRY(expect_refusal("SUBMIT with a range outside its buffer and a full quota",
                                 stage.submit(cast.scene, bindings), Status::resource_limit));
    bindings.front() = stage.bindings_of(cast.scene).front();
    bindings.front().buffer_id = cast.source_only;
    bindings.front().bytes = 1;
    return expect_refusal("SUBMIT with a buffer of no usage and a full quota",
                          stage.submit(cast.scene, bindings), Status::resource_limit);
}

Check expect_another_context_submits(Stage& stage) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY(submit_and_finish(stage, scene));
    return stage.tear_down(scene);
}

// Events count until they are destroyed, and so they are destroyed one by one here.
Check events(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage));
    const std::uint32_t quota = cast.info.events_per_context_max;
    VIRTACCEL_TRY(expect_fillable(quota));
    std::vector<EventId> made(quota);
    for (EventId& event : made) {
        VIRTACCEL_TRY_ASSIGN(event, stage.submit(cast.scene));
        VIRTACCEL_TRY(stage.wait(event));
    }
    VIRTACCEL_TRY(expect_refusal("SUBMIT beyond the event quota",
                                 stage.submit(cast.scene, stage.bindings_of(cast.scene)),
                                 Status::resource_limit));
    VIRTACCEL_TRY(expect_between_buffers_and_ranges(stage, cast));
    if (cast.info.contexts_max > 1) {
        VIRTACCEL_TRY(expect_another_context_submits(stage));
    }
    for (const EventId event : made) {
        VIRTACCEL_TRY(stage.caller().destroy(event));
    }
    VIRTACCEL_TRY(submit_and_finish(stage, cast.scene));
    return take_down(stage, cast);
}

constexpr std::array cases{
    DeviceCase{"create-context.quota", "max_contexts contexts, and then RESOURCE_LIMIT", contexts},
    DeviceCase{"allocate-buffer.quota", "max_buffers_per_context, in each context by itself",
               buffers},
    DeviceCase{"create-queue.quota", "max_queues_per_context, in each context by itself", queues},
    DeviceCase{"load-program.quota", "max_programs_per_context, in each context by itself",
               programs},
    DeviceCase{"submit.quota",
               "max_events_per_context; judged after the buffers and before their ranges", events},
};

}  // namespace

std::span<const DeviceCase> quota_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

// What a reset ends and what it does not (spec §7).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "virtaccel/conformance/device_rules/faults.h"
#include "virtaccel/conformance/device_rules/rule_list.h"
#include "virtaccel/conformance/device_rules/steps.h"
#include "virtaccel/conformance/device_under_test.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::rules {

using wire::Opcode;

namespace {

Check reset(Stage& stage) {
    if (!stage.device_under_test().reset()) {
        return skipped("The transport has no reset, or the device cannot be reset now.");
    }
    return {};
}

Check same_identity(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast cast, make_cast(stage, true));
    VIRTACCEL_TRY(reset(stage));
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo after, stage.caller().device_info());
    return expect(std::memcmp(&cast.info, &after, sizeof after) == 0,
                  "GET_DEVICE_INFO answers otherwise after a reset.");
}

// As many contexts as ever, with none of the old ones in the way.
Check quotas_are_back(const DeviceCaseInput& input) {
    constexpr std::uint32_t filled_max = 4096;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    VIRTACCEL_TRY_ASSIGN(const wire::DeviceInfo info, caller.device_info());
    if (info.contexts_max > filled_max) {
        return skipped("There are more contexts than a run fills.");
    }
    const auto fill = [&]() -> Check {
        for (std::uint32_t i = 0; i < info.contexts_max; ++i) {
            VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
            VIRTACCEL_TRY(caller.create_queue(context));
            VIRTACCEL_TRY(caller.allocate(stage.buffer_request(context, 1, usage_known)));
        }
        return {};
    };
    VIRTACCEL_TRY(fill());
    VIRTACCEL_TRY(reset(stage));
    VIRTACCEL_TRY(fill());
    return reset(stage);
}

// What a buffer held before is not seen after, whoever gets its memory.
Check old_bytes_are_gone(const DeviceCaseInput& input) {
    constexpr std::uint64_t size = cast_buffer_bytes;
    constexpr int buffers = 8;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    for (int round = 0; round < 2; ++round) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
        for (int i = 0; i < buffers; ++i) {
            VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                                 caller.allocate(stage.buffer_request(context, size, usage_known)));
            VIRTACCEL_TRY_ASSIGN(const Bytes found, caller.read(buffer, 0, size));
            VIRTACCEL_TRY(
                expect(found == Bytes(size), "A buffer shows what another held before the reset."));
            VIRTACCEL_TRY(caller.write(buffer, 0, Bytes(size, std::byte{0x77})));
        }
        VIRTACCEL_TRY(reset(stage));
    }
    return {};
}

// Every command, on the names of before, once there are as many new ones and more.
Check old_names_stay_stale(const DeviceCaseInput& input) {
    constexpr int generations = 4;
    Stage& stage = input.stage;
    VIRTACCEL_TRY_ASSIGN(const Cast old, make_cast(stage, true));
    for (int i = 0; i < generations; ++i) {
        VIRTACCEL_TRY(reset(stage));
        VIRTACCEL_TRY(make_cast(stage, true));
        for (const CommandRules& command : command_rules()) {
            const bool cancels = stage.capabilities().has(CapabilityBit::event_cancellation);
            if (command.ids.empty() || (command.prefix == "cancel-event" && !cancels)) {
                continue;
            }
            VIRTACCEL_TRY(expect_refusal(
                say("A ", command.prefix, " with the names of (", i + 1, ") resets before"),
                send(stage.caller(), command.good(stage, old)), Status::stale_object));
        }
    }
    return {};
}

// No name of before is given out again.
Check names_are_new(const DeviceCaseInput& input) {
    constexpr int generations = 8;
    Stage& stage = input.stage;
    Caller& caller = stage.caller();
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < generations; ++i) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
        VIRTACCEL_TRY_ASSIGN(const QueueId queue, caller.create_queue(context));
        ids.insert(ids.end(), {context.raw, queue.raw});
        VIRTACCEL_TRY(reset(stage));
    }
    std::ranges::sort(ids);
    return expect(std::ranges::adjacent_find(ids) == ids.end(),
                  "Two objects have one ID, with resets between them.");
}

// The device works as it did when it was new.
Check expect_a_whole_life(Stage& stage) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    VIRTACCEL_TRY(submit_and_finish(stage, scene));
    VIRTACCEL_TRY(stage.check_outputs(scene));
    return stage.tear_down(scene);
}

Check again_and_again(const DeviceCaseInput& input) {
    constexpr int resets = 5;
    Stage& stage = input.stage;
    for (int i = 0; i < resets; ++i) {
        VIRTACCEL_TRY(reset(stage));
    }
    if (!stage.has_sample()) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, stage.caller().create_context());
        return stage.caller().destroy(context);
    }
    return expect_a_whole_life(stage);
}

// A reset does not wait for work that is under way, and what comes after it does not see that work.
Check with_work_under_way(const DeviceCaseInput& input) {
    Stage& stage = input.stage;
    VIRTACCEL_TRY(need_program(stage));
    Control* const control = stage.device_under_test().control();
    VIRTACCEL_TRY_ASSIGN(const Scene scene, stage.set_up());
    if (control != nullptr) {
        (void)control->hold_events(true);
    }
    VIRTACCEL_TRY_ASSIGN(const EventId event, stage.submit(scene));
    VIRTACCEL_TRY(reset(stage));
    if (control != nullptr) {
        (void)control->hold_events(false);
    }
    VIRTACCEL_TRY(expect_refusal("POLL_EVENT of an event of before the reset",
                                 stage.caller().call<Opcode::poll_event>({.object_id = event}),
                                 Status::stale_object));
    return expect_a_whole_life(stage);
}

constexpr std::array cases{
    DeviceCase{"reset.same-identity", "the device is who it was", same_identity},
    DeviceCase{"reset.quotas-are-back", "everything was given up: the quotas are free",
               quotas_are_back},
    DeviceCase{"reset.old-bytes-are-gone", "fresh buffers are zero after a reset too",
               old_bytes_are_gone},
    DeviceCase{"reset.old-ids-stay-stale", "an old ID names nothing in any later namespace",
               old_names_stay_stale},
    DeviceCase{"reset.new-ids-are-new", "no ID comes back in a later namespace", names_are_new},
    DeviceCase{"reset.again-and-again", "resets in a row leave a working device", again_and_again},
    DeviceCase{"reset.with-work-under-way", "a reset neither waits for work nor is hurt by it",
               with_work_under_way},
};

}  // namespace

std::span<const DeviceCase> reset_rules() {
    return cases;
}

}  // namespace virtaccel::conformance::rules

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/options.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::conformance::further {

using wire::Opcode;

namespace {

// Sets up what is there when the reset comes; how many objects there are.
using Scenery = Checked<std::uint64_t> (*)(BackendRig& rig);

// A device that can be used gives a whole life.
Check live(BackendRig& rig) {
    if (!rig.has_sample()) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
        return rig.caller().destroy(context);
    }
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(rig.caller().destroy(event));
    VIRTACCEL_TRY(rig.check_outputs(scene));
    return rig.tear_down(scene);
}

// A reset of orderly objects releases them all, and the backend goes on as if it were new.
Check drains(Bench& bench, Scenery scenery) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    const auto before = bench.books();
    for (int round = 0; round < 3; ++round) {
        VIRTACCEL_TRY_ASSIGN(const std::uint64_t objects, scenery(*rig));
        const device::ResetReport report = rig->device().reset();
        VIRTACCEL_TRY(expect(!report.discard, "A reset of orderly objects discards the backend."));
        VIRTACCEL_TRY(expect_equal("The number of objects that a reset releases",
                                   report.released.objects, objects));
        VIRTACCEL_TRY(expect_equal("The number of objects that a reset cannot vouch for",
                                   report.quarantined.objects, 0));
        VIRTACCEL_TRY(bench.expect_books(before, "after a reset"));
    }
    return live(*rig);
}

template <Scenery scenery>
Check drains_scenery(Bench& bench) {
    return drains(bench, scenery);
}

// A reset with work in flight: it drains, or it says that the backend has to go. What it says is
// so: of a drained backend nothing is left, and one that has to go takes all with it.
Check settles(Bench& bench, Scenery scenery) {
    VIRTACCEL_TRY_ASSIGN(BackendRig * rig, bench.rig());
    const auto before = bench.books();
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const std::uint64_t objects, scenery(*rig));
        const device::ResetReport report = rig->device().reset();
        VIRTACCEL_TRY(expect_equal("The number of objects that a reset finds",
                                   report.released.objects + report.quarantined.objects, objects));
        VIRTACCEL_TRY(expect(report.discard == (report.quarantined.objects != 0),
                             "A reset that cannot vouch for (", report.quarantined.objects,
                             ") objects ", report.discard ? "discards" : "keeps", " the backend."));
        if (report.discard) {
            VIRTACCEL_TRY(bench.replace());
            VIRTACCEL_TRY_ASSIGN(rig, bench.rig());
        }
        VIRTACCEL_TRY(bench.expect_books(before, "after a reset with work in flight"));
        VIRTACCEL_TRY(live(*rig));
    }
    return {};
}

template <Scenery scenery>
Check settles_scenery(Bench& bench) {
    return settles(bench, scenery);
}

Checked<std::uint64_t> nothing(BackendRig& /*rig*/) {
    return 0;
}

Checked<std::uint64_t> a_context(BackendRig& rig) {
    VIRTACCEL_TRY(rig.caller().create_context());
    return 1;
}

Checked<std::uint64_t> queues(BackendRig& rig) {
    const std::uint64_t count = std::min(4U, rig.identity().limits.queues_per_context);
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(rig.caller().create_queue(context));
    }
    return count + 1;
}

Checked<std::uint64_t> buffers(BackendRig& rig) {
    const std::uint64_t count = std::min(16U, rig.identity().limits.buffers_per_context);
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(
            rig.caller().allocate(rig.buffer_request(context, 1 + (i * 50), usage_known)));
    }
    return count + 1;
}

Checked<std::uint64_t> programs(BackendRig& rig) {
    VIRTACCEL_TRY(rig.need_sample());
    const std::uint64_t count = std::min(3U, rig.identity().limits.programs_per_context);
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(expect_id<ProgramKind>("LOAD_PROGRAM of the sample",
                                             rig.load(context, rig.sample().artifact)));
    }
    return count + 1;
}

Checked<std::uint64_t> many_contexts(BackendRig& rig) {
    const std::uint64_t count = std::min(32U, rig.identity().limits.contexts);
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(rig.caller().create_context());
    }
    return count;
}

std::uint64_t objects_of(const Scene& scene) {
    return 3 + scene.buffers.size();
}

Checked<std::uint64_t> a_scene(BackendRig& rig) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    return objects_of(scene);
}

// A scene with so many submissions.
Checked<std::uint64_t> submit_some(BackendRig& rig, std::uint32_t wanted, bool ended) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    const std::uint64_t count = std::min(wanted, rig.identity().limits.events_per_context);
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
        if (ended) {
            VIRTACCEL_TRY(rig.wait(event));
        }
    }
    return objects_of(scene) + count;
}

Checked<std::uint64_t> ended_work(BackendRig& rig) {
    return submit_some(rig, 4, true);
}

Checked<std::uint64_t> one_in_flight(BackendRig& rig) {
    return submit_some(rig, 1, false);
}

Checked<std::uint64_t> many_in_flight(BackendRig& rig) {
    return submit_some(rig, 64, false);
}

Checked<std::uint64_t> ended_and_in_flight(BackendRig& rig) {
    if (rig.identity().limits.contexts < 2) {
        return submit_some(rig, 1, false);
    }
    VIRTACCEL_TRY_ASSIGN(const std::uint64_t ended, submit_some(rig, 2, true));
    VIRTACCEL_TRY_ASSIGN(const std::uint64_t pending, submit_some(rig, 2, false));
    return ended + pending;
}

Checked<std::uint64_t> contexts_in_flight(BackendRig& rig) {
    const std::uint32_t contexts = std::min(4U, rig.identity().limits.contexts);
    std::uint64_t objects = 0;
    for (std::uint32_t i = 0; i < contexts; ++i) {
        VIRTACCEL_TRY_ASSIGN(const std::uint64_t more, submit_some(rig, 2, false));
        objects += more;
    }
    return objects;
}

Checked<std::uint64_t> cancelled_and_in_flight(BackendRig& rig) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    const std::uint64_t count = std::min(8U, rig.identity().limits.events_per_context);
    for (std::uint64_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
        if (i % 2 == 0) {
            const Reply answer = rig.caller().call<Opcode::cancel_event>({.object_id = event});
            VIRTACCEL_TRY(expect(answer.ok() || answer.status == Status::busy ||
                                     answer.status == Status::unsupported,
                                 "A cancellation is answered with (", answer.status, ")."));
        }
    }
    return objects_of(scene) + count;
}

// After a reset the old IDs name nothing, and the backend is not asked.
Check old_names_are_gone(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    Caller& caller = rig->caller();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, caller.create_context());
    VIRTACCEL_TRY_ASSIGN(const BufferId buffer,
                         caller.allocate(rig->buffer_request(context, 100, usage_known)));
    VIRTACCEL_TRY(
        expect(!rig->device().reset().discard, "A reset of orderly objects discards the backend."));
    const auto before = bench.books();
    VIRTACCEL_TRY(expect_refusal("FREE_BUFFER of a buffer from before a reset",
                                 caller.call<Opcode::free_buffer>({.object_id = buffer}),
                                 Status::stale_object));
    VIRTACCEL_TRY(expect_refusal("DESTROY_CONTEXT of a context from before a reset",
                                 caller.call<Opcode::destroy_context>({.object_id = context}),
                                 Status::stale_object));
    return bench.expect_books(before, "after the use of old IDs");
}

Check device_after_device(Bench& bench) {
    const auto before = bench.books();
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
        VIRTACCEL_TRY(live(*rig));
        VIRTACCEL_TRY(expect(!rig->device().reset().discard,
                             "A reset of nothing discards the "
                             "backend."));
        bench.drop_rig();
        VIRTACCEL_TRY(bench.expect_books(before, "between two devices"));
    }
    return {};
}

// ---- the end of an instance, with all that it holds

// Ends instances that hold what `busy` gave them; the next one is as good as new.
Check ends(Bench& bench, Check (*busy)(const Direct& direct)) {
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
        const Direct direct{made, bench.subject()};
        VIRTACCEL_TRY(expect_equal("The number of live resources of an instance after another",
                                   direct.books().live_resources, 0));
        VIRTACCEL_TRY(busy(direct));
    }
    if (!bench.subject().program) {
        return {};
    }
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

template <Check (*busy)(const Direct& direct)>
Check ends_with(Bench& bench) {
    return ends(bench, busy);
}

Check nothing_held(const Direct& /*direct*/) {
    return {};
}

Check contexts_held(const Direct& direct) {
    VIRTACCEL_TRY(direct.context());
    return {};
}

Check buffers_held(const Direct& direct) {
    VIRTACCEL_TRY_ASSIGN(const auto context, direct.context());
    for (const std::size_t bytes : {1U, 100U, 4096U}) {
        VIRTACCEL_TRY(direct.buffer(context, bytes));
    }
    return {};
}

Check queues_held(const Direct& direct) {
    VIRTACCEL_TRY_ASSIGN(const auto context, direct.context());
    VIRTACCEL_TRY(direct.queue(context));
    return {};
}

Check programs_held(const Direct& direct) {
    VIRTACCEL_TRY(direct.need_sample());
    VIRTACCEL_TRY_ASSIGN(const auto context, direct.context());
    VIRTACCEL_TRY(direct.load(context));
    return {};
}

Check work_in_flight(const Direct& direct) {
    VIRTACCEL_TRY_ASSIGN(const Act act, direct.set_up());
    for (std::uint32_t i = 0; i < std::min(32U, direct.identity().limits.events_per_context); ++i) {
        VIRTACCEL_TRY(direct.submit(act));
    }
    return {};
}

Check ended_events_held(const Direct& direct) {
    VIRTACCEL_TRY_ASSIGN(const Act act, direct.set_up());
    VIRTACCEL_TRY_ASSIGN(const auto event, direct.submit(act));
    VIRTACCEL_TRY(direct.wait(event));
    return {};
}

constexpr std::array rules{
    Rule{"reset.of-nothing", "a reset of nothing changes nothing", drains_scenery<nothing>},
    Rule{"reset.of-a-context", "a reset gives a context back", drains_scenery<a_context>},
    Rule{"reset.of-many-contexts", "a reset gives many contexts back",
         drains_scenery<many_contexts>},
    Rule{"reset.of-queues", "a reset gives queues back", drains_scenery<queues>},
    Rule{"reset.of-buffers", "a reset gives buffers back", drains_scenery<buffers>},
    Rule{"reset.of-programs", "a reset gives programs back", drains_scenery<programs>},
    Rule{"reset.of-a-scene", "a reset gives all of a life back", drains_scenery<a_scene>},
    Rule{"reset.of-ended-work", "a reset gives ended events back", drains_scenery<ended_work>},
    Rule{"reset.with-one-in-flight", "a reset with one submission in flight drains or discards",
         settles_scenery<one_in_flight>},
    Rule{"reset.with-many-in-flight", "a reset with many submissions in flight drains or discards",
         settles_scenery<many_in_flight>},
    Rule{"reset.with-ended-and-in-flight",
         "a reset with ended and pending events drains or discards",
         settles_scenery<ended_and_in_flight>},
    Rule{"reset.with-contexts-in-flight", "a reset with work in many contexts drains or discards",
         settles_scenery<contexts_in_flight>},
    Rule{"reset.with-cancelled-and-in-flight",
         "a reset with cancelled and pending events drains or discards",
         settles_scenery<cancelled_and_in_flight>},
    Rule{"reset.old-names-are-gone", "what is named from before a reset costs nothing",
         old_names_are_gone},
    Rule{"reset.device-after-device", "one device after the other uses the same backend",
         device_after_device},
    Rule{"end.with-nothing", "an unused instance ends", ends_with<nothing_held>},
    Rule{"end.with-contexts", "an instance ends with its contexts", ends_with<contexts_held>},
    Rule{"end.with-buffers", "an instance ends with its buffers", ends_with<buffers_held>},
    Rule{"end.with-queues", "an instance ends with its queues", ends_with<queues_held>},
    Rule{"end.with-programs", "an instance ends with its programs", ends_with<programs_held>},
    Rule{"end.with-work-in-flight", "an instance ends with work in flight",
         ends_with<work_in_flight>},
    Rule{"end.with-ended-events", "an instance ends with events that nobody destroyed",
         ends_with<ended_events_held>},
};

}  // namespace

Rules reset_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

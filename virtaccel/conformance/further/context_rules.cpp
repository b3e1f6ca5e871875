#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::ContextHandle;
using backend::EventHandle;

namespace {

// As many contexts as are wanted, or may be.
std::size_t contexts_of(const Direct& direct, std::size_t wanted) {
    return std::min<std::size_t>(wanted, direct.identity().limits.contexts);
}

Checked<std::vector<Act>> acts_of(const Direct& direct, std::size_t count) {
    std::vector<Act> acts;
    while (acts.size() < count) {
        VIRTACCEL_TRY_ASSIGN(Act act, direct.set_up());
        acts.push_back(std::move(act));
    }
    return acts;
}

Check tear_down_all(const Direct& direct, const std::vector<Act>& acts) {
    for (const Act& act : acts) {
        VIRTACCEL_TRY(direct.tear_down(act));
    }
    return {};
}

// Work of every act at once, and each act's own outputs. Everything is written before any work
// begins: acts may share what they read.
Check run_together(const Direct& direct, const std::vector<Act>& acts) {
    std::vector<EventHandle> events;
    for (const Act& act : acts) {
        VIRTACCEL_TRY(direct.fill(act));
    }
    for (const Act& act : acts) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, direct.submit(act));
        events.push_back(event);
    }
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(direct.complete(event));
    }
    for (const Act& act : acts) {
        VIRTACCEL_TRY(direct.expect_outputs(act));
    }
    return {};
}

template <std::size_t wanted>
Check contexts_work_together(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto acts, acts_of(bench, contexts_of(bench, wanted)));
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY(run_together(bench, acts));
    }
    return tear_down_all(bench, acts);
}

// Acts of one context with everything of their own but the context.
Check queues_work_together(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    const DeviceLimits limits = bench.identity().limits;
    const auto count = std::min(
        {4U, limits.queues_per_context, limits.programs_per_context, limits.events_per_context});
    VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
    std::vector<Act> acts;
    while (acts.size() < count) {
        VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up(context));
        acts.push_back(std::move(act));
    }
    VIRTACCEL_TRY(run_together(bench, acts));
    for (const Act& act : acts) {
        VIRTACCEL_TRY(bench.tear_down_in(act));
    }
    return bench.release(context);
}

// One program, one queue, and buffers for each submission.
Check one_program_for_many_buffers(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    std::vector<Act> acts{act};
    for (int i = 0; i < 3; ++i) {
        Act next = act;
        next.buffers.clear();
        for (const SampleSlot& slot : bench.sample().slots) {
            VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(act.context, slot.before));
            next.buffers.push_back(buffer);
        }
        acts.push_back(next);
    }
    VIRTACCEL_TRY(run_together(bench, acts));
    for (std::size_t i = 1; i < acts.size(); ++i) {
        for (const auto buffer : acts[i].buffers) {
            VIRTACCEL_TRY(bench.release(buffer));
        }
    }
    return bench.tear_down(act);
}

// Two submissions that read the same buffers and write others.
Check inputs_may_be_shared(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    Act twin = act;
    std::vector<backend::BufferHandle> own;
    for (std::size_t i = 0; i < twin.buffers.size(); ++i) {
        const SampleSlot& slot = bench.sample().slots[i];
        if (slot.access != Access::read) {
            VIRTACCEL_TRY_ASSIGN(twin.buffers[i], bench.buffer(act.context, slot.before));
            own.push_back(twin.buffers[i]);
        }
    }
    VIRTACCEL_TRY(run_together(bench, {act, twin}));
    for (const auto buffer : own) {
        VIRTACCEL_TRY(bench.release(buffer));
    }
    return bench.tear_down(act);
}

Check bytes_are_each_contexts_own(Bench& bench) {
    const std::size_t count = contexts_of(bench, 8);
    std::vector<ContextHandle> contexts;
    std::vector<backend::BufferHandle> buffers;
    for (std::size_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, pattern_of(150, i)));
        contexts.push_back(context);
        buffers.push_back(buffer);
    }
    for (std::size_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(bench.expect_contents(buffers[i], pattern_of(150, i),
                                            say("A buffer of the context (", i, ")")));
    }
    for (std::size_t i = 0; i < count; ++i) {
        VIRTACCEL_TRY(bench.release(buffers[i]));
        VIRTACCEL_TRY(bench.release(contexts[i]));
    }
    return {};
}

// The end of one context in the middle of the work of another.
Check end_of_one_leaves_others(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act stays, bench.set_up());
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY_ASSIGN(const Act goes, bench.set_up());
        VIRTACCEL_TRY(bench.fill(stays));
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(stays));
        VIRTACCEL_TRY(bench.tear_down(goes));
        VIRTACCEL_TRY(bench.complete(event));
        VIRTACCEL_TRY(bench.expect_outputs(stays));
    }
    return bench.tear_down(stays);
}

// What may be done beside running work, in its own context and with other things.
Check with_work_under_way(Bench& bench, Check (*body)(Bench& bench, const Act& act)) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(bench.fill(act));
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(body(bench, act));
        VIRTACCEL_TRY(bench.complete(event));
        VIRTACCEL_TRY(bench.expect_outputs(act));
    }
    return bench.tear_down(act);
}

template <Check (*body)(Bench& bench, const Act& act)>
Check beside_work(Bench& bench) {
    return with_work_under_way(bench, body);
}

Check allocates(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(act.context, 300));
    VIRTACCEL_TRY(bench.expect_contents(buffer, Bytes(bench.request(300).bytes), "A new buffer"));
    return bench.release(buffer);
}

Check transfers(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(act.context, pattern_of(300, 6)));
    VIRTACCEL_TRY(bench.expect_contents(buffer, pattern_of(300, 6), "A buffer beside work"));
    return bench.release(buffer);
}

Check loads(Bench& bench, const Act& act) {
    if (bench.identity().limits.programs_per_context < 2) {
        return {};
    }
    VIRTACCEL_TRY_ASSIGN(const auto loaded, bench.load(act.context));
    return bench.release(loaded.program);
}

Check makes_queues(Bench& bench, const Act& act) {
    if (bench.identity().limits.queues_per_context < 2) {
        return {};
    }
    VIRTACCEL_TRY_ASSIGN(const auto queue, bench.queue(act.context));
    return bench.release(queue);
}

Check makes_contexts(Bench& bench, const Act& /*act*/) {
    if (bench.identity().limits.contexts < 2) {
        return {};
    }
    VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
    return bench.release(context);
}

Check refuses_artifacts(Bench& bench, const Act& /*act*/) {
    const auto& artifact = bench.sample().artifact;
    const auto prepared = bench.try_prepare(std::span{artifact}.first(artifact.size() / 2));
    if (prepared) {
        bench.backend().abandon(*prepared);
        return failed("The first half of an artifact is taken.");
    }
    return {};
}

// ---- instances side by side

Check instances_keep_their_own_books(Bench& bench) {
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
    const Direct other{made, bench.subject()};
    VIRTACCEL_TRY_ASSIGN(const ContextHandle context, other.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, other.buffer(context, pattern_of(100, 1)));
    VIRTACCEL_TRY(bench.expect_books(before, "with objects of another instance"));
    VIRTACCEL_TRY(expect_equal("The number of bytes transferred by another instance",
                               bench.books().explicit_transfer_bytes,
                               before.explicit_transfer_bytes));
    VIRTACCEL_TRY(other.release(buffer));
    return other.release(context);
}

Check instances_work_together(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
    const Direct other{made, bench.subject()};
    VIRTACCEL_TRY_ASSIGN(const Act ours, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const Act theirs, other.set_up());
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle our_event, bench.submit(ours));
        VIRTACCEL_TRY_ASSIGN(const EventHandle their_event, other.submit(theirs));
        VIRTACCEL_TRY(other.complete(their_event));
        VIRTACCEL_TRY(bench.complete(our_event));
        VIRTACCEL_TRY(bench.expect_outputs(ours));
        VIRTACCEL_TRY(other.expect_outputs(theirs));
    }
    VIRTACCEL_TRY(other.tear_down(theirs));
    return bench.tear_down(ours);
}

Check instance_ends_beside_work(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    {
        VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
        const Direct other{made, bench.subject()};
        VIRTACCEL_TRY_ASSIGN(const Act theirs, other.set_up());
        VIRTACCEL_TRY(other.submit(theirs));
    }
    VIRTACCEL_TRY_ASSIGN(auto next, make_backend(bench.subject()));
    VIRTACCEL_TRY(bench.complete(event));
    VIRTACCEL_TRY(bench.expect_outputs(act));
    VIRTACCEL_TRY(bench.tear_down(act));
    return expect_equal("The number of live resources of an instance after a busy one",
                        next.diagnostics().live_resources, 0);
}

constexpr std::array rules{
    Rule{"contexts.two-work-together", "two contexts get what is theirs",
         contexts_work_together<2>},
    Rule{"contexts.sixteen-work-together", "many contexts get what is theirs",
         contexts_work_together<16>},
    Rule{"contexts.queues-work-together", "queues of one context get what is theirs",
         queues_work_together},
    Rule{"contexts.one-program-for-many-buffers", "one program works on many buffers at once",
         one_program_for_many_buffers},
    Rule{"contexts.inputs-may-be-shared", "two submissions may read the same buffers",
         inputs_may_be_shared},
    Rule{"contexts.bytes-are-their-own", "buffers of different contexts are different",
         bytes_are_each_contexts_own},
    Rule{"contexts.end-of-one-leaves-others", "the end of a context leaves another's work alone",
         end_of_one_leaves_others},
    Rule{"contexts.allocate-beside-work", "a buffer can be made and freed while work runs",
         beside_work<allocates>},
    Rule{"contexts.transfer-beside-work", "other buffers can be written and read while work runs",
         beside_work<transfers>},
    Rule{"contexts.load-beside-work", "a program can be loaded and unloaded while work runs",
         beside_work<loads>},
    Rule{"contexts.queue-beside-work", "a queue can be made and destroyed while work runs",
         beside_work<makes_queues>},
    Rule{"contexts.context-beside-work", "a context can be made and destroyed while work runs",
         beside_work<makes_contexts>},
    Rule{"contexts.refusal-beside-work", "an artifact can be refused while work runs",
         beside_work<refuses_artifacts>},
    Rule{"instances.keep-their-own-books", "an instance's books are its own",
         instances_keep_their_own_books},
    Rule{"instances.work-together", "two instances work at once", instances_work_together},
    Rule{"instances.end-beside-work", "the end of a busy instance leaves another's work alone",
         instance_ends_beside_work},
};

}  // namespace

Rules context_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

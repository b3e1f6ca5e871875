#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::conformance::further {

using wire::Opcode;

namespace {

// A prepared artifact that is abandoned unless it is loaded.
class Draft {
  public:
    Draft(const Direct& direct, backend::PreparedHandle prepared)
        : direct_(&direct), prepared_(prepared) {}

    Draft(Draft&& other) noexcept
        : direct_(other.direct_), prepared_(std::exchange(other.prepared_, std::nullopt)) {}

    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    Draft& operator=(Draft&&) = delete;

    ~Draft() {
        if (prepared_) {
            direct_->backend().abandon(*prepared_);
        }
    }

    // Makes it resident; it is consumed, whatever comes of it.
    [[nodiscard]] Checked<backend::LoadedProgram> load(backend::ContextHandle context) {
        return must("A load",
                    direct_->backend().load(context, *std::exchange(prepared_, std::nullopt)));
    }

  private:
    const Direct* direct_;
    std::optional<backend::PreparedHandle> prepared_;
};

Checked<Draft> draft(const Direct& direct) {
    VIRTACCEL_TRY(direct.need_sample());
    VIRTACCEL_TRY_ASSIGN(const auto prepared, direct.prepare());
    return Draft{direct, prepared};
}

Check preparing_is_not_holding(Bench& bench) {
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const Draft one, draft(bench));
    return bench.expect_books(before, "with an artifact prepared");
}

Check abandoning_leaves_nothing(Bench& bench) {
    const auto before = bench.books();
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(draft(bench));
        VIRTACCEL_TRY(bench.expect_books(before, "after an abandoned artifact"));
    }
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

Check many_wait_at_once(Bench& bench) {
    std::vector<Draft> drafts;
    for (int i = 0; i < 8; ++i) {
        VIRTACCEL_TRY_ASSIGN(Draft one, draft(bench));
        drafts.push_back(std::move(one));
    }
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    // The last first, and the rest abandoned.
    VIRTACCEL_TRY_ASSIGN(const auto last, drafts.back().load(context));
    VIRTACCEL_TRY_ASSIGN(const auto first, drafts.front().load(context));
    drafts.clear();
    VIRTACCEL_TRY(bench.release(first.program));
    VIRTACCEL_TRY(bench.release(last.program));
    return bench.release(context);
}

// Loads the draft in the place of the act's program, and runs it.
Check run_draft(Bench& bench, Act& act, Draft& one) {
    VIRTACCEL_TRY(bench.release(act.program));
    VIRTACCEL_TRY_ASSIGN(const auto loaded, one.load(act.context));
    act.program = loaded.program;
    return bench.run(act);
}

Check may_come_before_its_context(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Draft one, draft(bench));
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY(run_draft(bench, act, one));
    return bench.tear_down(act);
}

Check outlives_the_context_it_was_meant_for(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    VIRTACCEL_TRY_ASSIGN(const auto gone, bench.context());
    VIRTACCEL_TRY_ASSIGN(Draft one, draft(bench));
    VIRTACCEL_TRY(bench.release(gone));
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY(run_draft(bench, act, one));
    return bench.tear_down(act);
}

Check waits_while_others_work(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(Draft one, draft(bench));
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(run_draft(bench, act, one));
    return bench.tear_down(act);
}

Check reports_what_it_keeps(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const auto loaded, bench.load(context));
    VIRTACCEL_TRY(expect(loaded.resident_bytes <= bench.sample().resident_bytes,
                         "A program keeps (", loaded.resident_bytes,
                         ") bytes; its artifact allows (", bench.sample().resident_bytes, ")."));
    VIRTACCEL_TRY(expect(loaded.resident_bytes != 0, "A program says that it keeps no byte."));
    VIRTACCEL_TRY(expect_equal("The number of live resources with a program",
                               bench.books().live_resources, before.live_resources + 1));
    VIRTACCEL_TRY(
        expect(bench.books().retained_bytes - before.retained_bytes >= loaded.resident_bytes,
               "A program says that it keeps (", loaded.resident_bytes,
               ") bytes, and the books of retained bytes grow by (",
               bench.books().retained_bytes - before.retained_bytes, ")."));
    VIRTACCEL_TRY(bench.release(loaded.program));
    VIRTACCEL_TRY(bench.expect_books(before, "after a program"));
    return bench.release(context);
}

Check keeps_the_same_each_time(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto first, bench.load(context));
    VIRTACCEL_TRY_ASSIGN(const auto second, bench.load(context));
    VIRTACCEL_TRY(expect_equal("What the same artifact keeps the second time",
                               second.resident_bytes, first.resident_bytes));
    VIRTACCEL_TRY(bench.release(first.program));
    VIRTACCEL_TRY(bench.release(second.program));
    return bench.release(context);
}

Check loads_are_independent(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const auto other, bench.load(act.context));
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(bench.release(act.program));
    act.program = other.program;
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

Check artifact_bytes_may_go(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    VIRTACCEL_TRY(bench.release(act.program));
    Bytes shared = bench.sample().artifact;
    const auto pieces = cut(shared, {.every = 11});
    const auto prepared =
        bench.backend().prepare({.format = bench.sample().format,
                                 .target = bench.sample().target,
                                 .resident_bytes_max = bench.sample().resident_bytes,
                                 .payload = Reader{PieceList::of(pieces)}});
    VIRTACCEL_TRY(expect(shared == bench.sample().artifact, "A preparation changes guest memory."));
    // The guest has its memory back as soon as the artifact is prepared.
    shared.assign(shared.size(), std::byte{0xee});
    VIRTACCEL_TRY_ASSIGN(const auto handle, must("A preparation", prepared));
    VIRTACCEL_TRY_ASSIGN(const auto loaded,
                         must("A load", bench.backend().load(act.context, handle)));
    act.program = loaded.program;
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

// ---- loads that a device puts off

// A LOAD_PROGRAM on its way: its frame, the room for its answer, and the load.
struct Deferred {
    Bytes frame;
    Bytes room;
    device::PendingLoad load;
};

Checked<Deferred> defer(BackendRig& rig, ContextId context) {
    Deferred deferred;
    deferred.frame = frame_of(Opcode::load_program, rig.caller().next_request_id(),
                              rig.load_payload(context, rig.sample().artifact));
    deferred.room.assign(Caller::room_default, canary);
    const auto served =
        rig.device().serve(std::span<const std::byte>{deferred.frame}, std::span{deferred.room});
    VIRTACCEL_TRY(expect(served.deferred, "A device that may put loads off answers one at once."));
    deferred.load = rig.device().take_load();
    return deferred;
}

Checked<Reply> finish(BackendRig& rig, Deferred& deferred) {
    const auto served = rig.device().finish(std::move(deferred.load));
    VIRTACCEL_TRY(expect(served.has_value(), "A load that was put off is not answered."));
    return read_reply(deferred.room, served->used_bytes);
}

Check deferred_load_runs(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig(2));
    VIRTACCEL_TRY(rig->need_sample());
    Scene scene;
    VIRTACCEL_TRY_ASSIGN(scene.context, rig->caller().create_context());
    VIRTACCEL_TRY_ASSIGN(Deferred deferred, defer(*rig, scene.context));
    VIRTACCEL_TRY_ASSIGN(scene.queue, rig->caller().create_queue(scene.context));
    deferred.load.prepare();
    VIRTACCEL_TRY_ASSIGN(scene.buffers, rig->make_buffers(scene.context));
    VIRTACCEL_TRY_ASSIGN(const Reply reply, finish(*rig, deferred));
    VIRTACCEL_TRY_ASSIGN(scene.program, expect_id<ProgramKind>("A load that was put off", reply));
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig->submit(scene));
    VIRTACCEL_TRY(rig->wait_for_completion(event));
    VIRTACCEL_TRY(rig->caller().destroy(event));
    VIRTACCEL_TRY(rig->check_outputs(scene));
    return rig->tear_down(scene);
}

Check deferred_loads_end_in_any_order(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig(2));
    VIRTACCEL_TRY(rig->need_sample());
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig->caller().create_context());
    VIRTACCEL_TRY_ASSIGN(Deferred first, defer(*rig, context));
    VIRTACCEL_TRY_ASSIGN(Deferred second, defer(*rig, context));
    first.load.prepare();
    second.load.prepare();
    for (Deferred* const each : {&second, &first}) {
        VIRTACCEL_TRY_ASSIGN(const Reply reply, finish(*rig, *each));
        VIRTACCEL_TRY_ASSIGN(const ProgramId program,
                             expect_id<ProgramKind>("A load that was put off", reply));
        VIRTACCEL_TRY(rig->caller().destroy(program));
    }
    return rig->caller().destroy(context);
}

// The context goes before the load is finished: what was prepared is given up.
Check deferred_load_loses_its_context(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig(2));
    VIRTACCEL_TRY(rig->need_sample());
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig->caller().create_context());
    VIRTACCEL_TRY_ASSIGN(Deferred deferred, defer(*rig, context));
    deferred.load.prepare();
    VIRTACCEL_TRY(rig->caller().destroy(context));
    VIRTACCEL_TRY_ASSIGN(const Reply reply, finish(*rig, deferred));
    VIRTACCEL_TRY(
        expect_refusal("A load into a context that is gone", reply, Status::stale_object));
    return bench.expect_books(before, "after a load whose context went");
}

template <bool is_prepared>
Check deferred_load_is_dropped_by_a_reset(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig(2));
    VIRTACCEL_TRY(rig->need_sample());
    const auto before = bench.books();
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig->caller().create_context());
        VIRTACCEL_TRY_ASSIGN(Deferred deferred, defer(*rig, context));
        if (is_prepared) {
            deferred.load.prepare();
        }
        VIRTACCEL_TRY(expect(!rig->device().reset().discard,
                             "A reset of a context and a load discards the backend."));
        VIRTACCEL_TRY(expect(!rig->device().finish(std::move(deferred.load)).has_value(),
                             "A load is answered after a reset."));
        VIRTACCEL_TRY(bench.expect_books(before, "after a load that a reset dropped"));
    }
    return {};
}

// The device ends before the load does: the load lets go of the backend.
Check deferred_load_outlives_its_device(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig(2));
    VIRTACCEL_TRY(rig->need_sample());
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig->caller().create_context());
    VIRTACCEL_TRY_ASSIGN(Deferred deferred, defer(*rig, context));
    deferred.load.prepare();
    VIRTACCEL_TRY(rig->caller().destroy(context));
    bench.drop_rig();
    deferred.load = {};
    return bench.expect_books(before, "after a load that outlived its device");
}

constexpr std::array rules{
    Rule{"load.preparing-is-not-holding", "a prepared artifact is in nobody's books",
         preparing_is_not_holding},
    Rule{"load.abandoning-leaves-nothing", "an abandoned artifact leaves nothing",
         abandoning_leaves_nothing},
    Rule{"load.many-wait-at-once", "prepared artifacts are loaded and abandoned in any order",
         many_wait_at_once},
    Rule{"load.may-come-before-its-context",
         "an artifact may be prepared before there is a context", may_come_before_its_context},
    Rule{"load.outlives-the-context-it-was-meant-for", "a prepared artifact belongs to no context",
         outlives_the_context_it_was_meant_for},
    Rule{"load.waits-while-others-work", "a prepared artifact waits while work runs",
         waits_while_others_work},
    Rule{"load.reports-what-it-keeps", "a program keeps what it says, at most what it may",
         reports_what_it_keeps},
    Rule{"load.keeps-the-same-each-time", "the same artifact keeps as much again",
         keeps_the_same_each_time},
    Rule{"load.loads-are-independent", "a program lives when its twin is unloaded",
         loads_are_independent},
    Rule{"load.artifact-bytes-may-go", "the guest has its memory back after the preparation",
         artifact_bytes_may_go},
    Rule{"load.deferred-runs", "a load that is put off gives a program that runs",
         deferred_load_runs},
    Rule{"load.deferred-end-in-any-order", "loads that are put off overtake each other",
         deferred_loads_end_in_any_order},
    Rule{"load.deferred-loses-its-context", "a load whose context goes is abandoned half way",
         deferred_load_loses_its_context},
    Rule{"load.deferred-is-dropped-before-it-is-prepared", "a reset drops a load not yet prepared",
         deferred_load_is_dropped_by_a_reset<false>},
    Rule{"load.deferred-is-dropped-half-way", "a reset drops a load half way",
         deferred_load_is_dropped_by_a_reset<true>},
    Rule{"load.deferred-outlives-its-device", "a load half way ends after its device",
         deferred_load_outlives_its_device},
};

}  // namespace

Rules load_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

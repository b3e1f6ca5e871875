#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
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
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::further {

using wire::Opcode;

namespace {

// A limit above these is tried up to here.
constexpr std::uint32_t objects_max = 4096;
constexpr std::uint64_t buffer_bytes_max = std::uint64_t{16} << 20U;
constexpr std::uint64_t artifact_bytes_max = std::uint64_t{1} << 20U;

// How one kind of object is asked for in a scene, which holds what the kind needs and no object of
// the kind itself.
struct Contexts {
    using Id = ContextId;
    static constexpr std::string_view name = "contexts";
    static constexpr auto limit = &DeviceLimits::contexts;

    static Checked<Scene> scene(BackendRig& /*rig*/) { return Scene{}; }

    static Reply ask(BackendRig& rig, const Scene& /*scene*/) {
        return rig.caller().call<Opcode::create_context>();
    }

    static Check use(BackendRig& rig, const Scene& /*scene*/, Id id) {
        VIRTACCEL_TRY_ASSIGN(const QueueId queue, rig.caller().create_queue(id));
        return rig.caller().destroy(queue);
    }
};

// What is made in a context that holds nothing else.
struct InContext {
    static Checked<Scene> scene(BackendRig& rig) {
        Scene scene;
        VIRTACCEL_TRY_ASSIGN(scene.context, rig.caller().create_context());
        return scene;
    }
};

struct Queues : InContext {
    using Id = QueueId;
    static constexpr std::string_view name = "queues";
    static constexpr auto limit = &DeviceLimits::queues_per_context;

    static Reply ask(BackendRig& rig, const Scene& scene) {
        wire::CreateQueue request;
        request.context_id = scene.context;
        return rig.caller().call<Opcode::create_queue>(request);
    }

    static Check use(BackendRig& /*rig*/, const Scene& /*scene*/, Id /*id*/) { return {}; }
};

struct Buffers : InContext {
    using Id = BufferId;
    static constexpr std::string_view name = "buffers";
    static constexpr auto limit = &DeviceLimits::buffers_per_context;

    static Reply ask(BackendRig& rig, const Scene& scene) {
        return rig.caller().call<Opcode::allocate_buffer>(
            rig.buffer_request(scene.context, 8, usage_known));
    }

    // The bytes are those of the ID, so that two buffers that are one show.
    static Check use(BackendRig& rig, const Scene& /*scene*/, Id id) {
        VIRTACCEL_TRY_ASSIGN(const Bytes fresh, rig.caller().read(id, 0, 8));
        VIRTACCEL_TRY(expect(fresh == Bytes(8), "A buffer at the limit is not zeroed."));
        return rig.caller().write(id, 0, pattern_of(8, static_cast<std::size_t>(id.raw)));
    }
};

struct Programs : InContext {
    using Id = ProgramId;
    static constexpr std::string_view name = "programs";
    static constexpr auto limit = &DeviceLimits::programs_per_context;

    static Checked<Scene> scene(BackendRig& rig) {
        VIRTACCEL_TRY(rig.need_sample());
        return InContext::scene(rig);
    }

    static Reply ask(BackendRig& rig, const Scene& scene) {
        return rig.load(scene.context, rig.sample().artifact);
    }

    static Check use(BackendRig& /*rig*/, const Scene& /*scene*/, Id /*id*/) { return {}; }
};

struct Events {
    using Id = EventId;
    static constexpr std::string_view name = "events";
    static constexpr auto limit = &DeviceLimits::events_per_context;

    static Checked<Scene> scene(BackendRig& rig) { return rig.set_up(); }

    static Reply ask(BackendRig& rig, const Scene& scene) {
        return rig.submit(scene, rig.bindings_of(scene));
    }

    static Check use(BackendRig& rig, const Scene& /*scene*/, Id id) {
        return rig.wait_for_completion(id);
    }
};

template <class Kind>
Checked<typename Kind::Id> make_one(BackendRig& rig, const Scene& scene, std::size_t made) {
    return expect_id<typename Kind::Id::Kind>(
        say("The creation of one more when (", made, ") ", Kind::name, " are held"),
        Kind::ask(rig, scene));
}

// As many as are advertised, each booked by the backend.
template <class Kind>
Checked<std::vector<typename Kind::Id>> fill(BackendRig& rig, const Scene& scene) {
    const std::uint64_t live = rig.diagnostics().live_resources;
    const std::uint32_t count = std::min(rig.identity().limits.*Kind::limit, objects_max);
    std::vector<typename Kind::Id> ids;
    while (ids.size() < count) {
        VIRTACCEL_TRY_ASSIGN(const auto id, make_one<Kind>(rig, scene, ids.size()));
        ids.push_back(id);
    }
    VIRTACCEL_TRY(expect_equal(say("The number of live resources with all ", Kind::name),
                               rig.diagnostics().live_resources, live + count));
    return ids;
}

template <class Kind>
Check empty(BackendRig& rig, const Scene& scene, const std::vector<typename Kind::Id>& ids) {
    for (const auto id : ids) {
        VIRTACCEL_TRY(rig.caller().destroy(id));
    }
    if constexpr (std::is_same_v<Kind, Events>) {
        return rig.tear_down(scene);
    } else if constexpr (!std::is_same_v<Kind, Contexts>) {
        return rig.caller().destroy(scene.context);
    } else {
        return {};
    }
}

template <class Kind>
Check all_fit(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    VIRTACCEL_TRY_ASSIGN(const Scene scene, Kind::scene(*rig));
    VIRTACCEL_TRY_ASSIGN(const auto ids, fill<Kind>(*rig, scene));
    for (const auto id : ids) {
        VIRTACCEL_TRY(Kind::use(*rig, scene, id));
    }
    return empty<Kind>(*rig, scene, ids);
}

// One more than are advertised is refused, and takes nothing from those that are there.
template <class Kind>
Check one_over_is_refused(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    VIRTACCEL_TRY_ASSIGN(const Scene scene, Kind::scene(*rig));
    VIRTACCEL_TRY_ASSIGN(auto ids, fill<Kind>(*rig, scene));
    const auto before = bench.books();
    if (ids.size() == rig->identity().limits.*Kind::limit) {
        VIRTACCEL_TRY(expect_refusal(say("The creation of one more than all ", Kind::name),
                                     Kind::ask(*rig, scene), Status::resource_limit));
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after one too many"));
    std::ranges::reverse(ids);
    for (const auto id : ids) {
        VIRTACCEL_TRY(Kind::use(*rig, scene, id));
    }
    return empty<Kind>(*rig, scene, ids);
}

// What is given up at the limit makes room again, as often as one likes.
template <class Kind>
Check room_comes_back(Bench& bench) {
    constexpr std::size_t rounds = 32;
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    VIRTACCEL_TRY_ASSIGN(const Scene scene, Kind::scene(*rig));
    VIRTACCEL_TRY_ASSIGN(auto ids, fill<Kind>(*rig, scene));
    for (std::size_t round = 0; round < rounds; ++round) {
        auto& id = ids[(round * 7) % ids.size()];
        VIRTACCEL_TRY(Kind::use(*rig, scene, id));
        VIRTACCEL_TRY(rig->caller().destroy(id));
        VIRTACCEL_TRY_ASSIGN(id, make_one<Kind>(*rig, scene, ids.size() - 1));
    }
    for (const auto id : ids) {
        if constexpr (std::is_same_v<Kind, Events>) {
            VIRTACCEL_TRY(Kind::use(*rig, scene, id));
        }
    }
    return empty<Kind>(*rig, scene, ids);
}

Check largest_buffer_works(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto wanted = bench.request(buffer_bytes_max);
    VIRTACCEL_TRY_ASSIGN(const auto made, bench.allocate(context, wanted));
    const auto last = pattern_of(1, 7);
    const auto first = pattern_of(1, 8);
    VIRTACCEL_TRY(bench.write(made.buffer, wanted.bytes - 1, last));
    VIRTACCEL_TRY(bench.write(made.buffer, 0, first));
    VIRTACCEL_TRY_ASSIGN(const Bytes found_last, bench.read(made.buffer, wanted.bytes - 1, 1));
    VIRTACCEL_TRY_ASSIGN(const Bytes found_first, bench.read(made.buffer, 0, 1));
    VIRTACCEL_TRY(expect(found_first == (wanted.bytes == 1 ? last : first),
                         "The first byte of the largest buffer is not what was written."));
    VIRTACCEL_TRY(expect(found_last == last || wanted.bytes == 1,
                         "The last byte of the largest buffer is not what was written."));
    VIRTACCEL_TRY(bench.release(made.buffer));
    return bench.release(context);
}

Check largest_buffer_comes_back(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto before = bench.books();
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, buffer_bytes_max));
        VIRTACCEL_TRY(bench.release(buffer));
        VIRTACCEL_TRY(bench.expect_books(before, "after the largest buffer"));
    }
    return bench.release(context);
}

Check smallest_buffer_works(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 1));
    const auto byte = pattern_of(1, 3);
    VIRTACCEL_TRY(bench.write(buffer, 0, byte));
    VIRTACCEL_TRY(bench.expect_contents(buffer, byte, "A buffer of one byte"));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

// Noise of the largest size an artifact may have: judged, refused, and nothing kept.
Check largest_artifact_is_judged(Bench& bench) {
    const auto before = bench.books();
    const auto bytes = std::min(bench.identity().limits.artifact_bytes, artifact_bytes_max);
    Bytes noise = pattern_of(static_cast<std::size_t>(bytes), 5);
    const auto pieces = cut(noise, {.every = 4096});
    const bool has_sample = bench.subject().program.has_value();
    const auto prepared = bench.backend().prepare(
        {.format = has_sample ? bench.sample().format : 1,
         .target = has_sample ? bench.sample().target : TargetWords{},
         .resident_bytes_max = has_sample ? bench.sample().resident_bytes : 1,
         .payload = Reader{PieceList::of(pieces)}});
    if (prepared) {
        bench.backend().abandon(*prepared);
        return failed("An artifact of (", bytes, ") bytes of noise is taken.");
    }
    return bench.expect_books(before, "after a large artifact of noise");
}

// As many bindings as one submission may have reach the backend, which knows that they are not the
// program's.
Check all_bindings_are_judged(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    auto bindings = bench.bindings_of(act);
    const std::size_t own = bindings.size();
    const std::uint32_t count = bench.identity().limits.bindings_per_submission;
    while (bindings.size() < count) {
        auto more = bindings[0];
        more.slot = bindings.back().slot + 1;
        bindings.push_back(more);
    }
    if (own < count) {
        const auto outcome = bench.try_submit(act, bindings);
        VIRTACCEL_TRY(expect(outcome.certainty == backend::Certainty::rejected, "A submission of (",
                             count, ") bindings to a program of (", own, ") slots is taken."));
        VIRTACCEL_TRY(expect_status("A submission of as many bindings as may be", outcome.status,
                                    Status::incompatible));
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after a submission of as many bindings as may be"));
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

constexpr std::array rules{
    Rule{"limits.contexts-all-fit", "as many contexts as advertised can be made and used",
         all_fit<Contexts>},
    Rule{"limits.queues-all-fit", "as many queues as advertised can be made", all_fit<Queues>},
    Rule{"limits.buffers-all-fit", "as many buffers as advertised can be made and used",
         all_fit<Buffers>},
    Rule{"limits.programs-all-fit", "as many programs as advertised can be loaded",
         all_fit<Programs>},
    Rule{"limits.events-all-fit", "as many events as advertised can be under way", all_fit<Events>},
    Rule{"limits.contexts-one-over-is-refused", "one context too many costs nothing",
         one_over_is_refused<Contexts>},
    Rule{"limits.queues-one-over-is-refused", "one queue too many costs nothing",
         one_over_is_refused<Queues>},
    Rule{"limits.buffers-one-over-is-refused", "one buffer too many costs nothing",
         one_over_is_refused<Buffers>},
    Rule{"limits.programs-one-over-is-refused", "one program too many costs nothing",
         one_over_is_refused<Programs>},
    Rule{"limits.events-one-over-is-refused", "one submission too many costs nothing",
         one_over_is_refused<Events>},
    Rule{"limits.contexts-room-comes-back", "a destroyed context makes room at the limit",
         room_comes_back<Contexts>},
    Rule{"limits.queues-room-comes-back", "a destroyed queue makes room at the limit",
         room_comes_back<Queues>},
    Rule{"limits.buffers-room-comes-back", "a freed buffer makes room at the limit",
         room_comes_back<Buffers>},
    Rule{"limits.programs-room-comes-back", "an unloaded program makes room at the limit",
         room_comes_back<Programs>},
    Rule{"limits.events-room-comes-back", "a destroyed event makes room at the limit",
         room_comes_back<Events>},
    Rule{"limits.largest-buffer-works", "the largest buffer holds its first and its last byte",
         largest_buffer_works},
    Rule{"limits.largest-buffer-comes-back", "the largest buffer can be had again and again",
         largest_buffer_comes_back},
    Rule{"limits.smallest-buffer-works", "a buffer of one byte holds it", smallest_buffer_works},
    Rule{"limits.largest-artifact-is-judged", "an artifact of the largest size is judged whole",
         largest_artifact_is_judged},
    Rule{"limits.all-bindings-are-judged", "a submission of as many bindings as may be is judged",
         all_bindings_are_judged},
};

}  // namespace

Rules limit_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

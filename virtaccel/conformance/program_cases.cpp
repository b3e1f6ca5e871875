#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_case_list.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/stage.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::conformance::cases {

using wire::Opcode;

namespace {

// The most pieces that an artifact is cut into.
constexpr std::size_t pieces_max = 16384;

// What the program keeps is at most what its artifact allows, as the backend itself reports it.
Check check_resident_bytes(const BackendSubject& subject) {
    const SampleProgram& sample = *subject.program;
    auto backend = subject.factory.make(subject.factory.state);
    VIRTACCEL_TRY(expect(backend.has_value(), "The factory makes no backend."));
    const auto context = backend->create_context();
    VIRTACCEL_TRY(expect(context.has_value(), "A fresh backend creates no context."));
    Bytes bytes = sample.artifact;
    const auto pieces = cut(bytes);
    const auto prepared = backend->prepare({.format = sample.format,
                                            .target = sample.target,
                                            .resident_bytes_max = sample.resident_bytes,
                                            .payload = Reader{PieceList::of(pieces)}});
    VIRTACCEL_TRY(expect(prepared.has_value(), "The sample's artifact is not prepared."));
    const auto loaded = backend->load(*context, *prepared);
    VIRTACCEL_TRY(expect(loaded.has_value(), "The sample's artifact is not loaded."));
    VIRTACCEL_TRY(
        expect(loaded->resident_bytes != 0 && loaded->resident_bytes <= sample.resident_bytes,
               "The program keeps (", loaded->resident_bytes, ") bytes; its artifact allows 1 to (",
               sample.resident_bytes, ")."));
    VIRTACCEL_TRY(expect(backend->unload(loaded->program).certainty == backend::Certainty::done,
                         "An unused program is not unloaded."));
    return expect(backend->destroy_context(*context).certainty == backend::Certainty::done,
                  "An empty context is not destroyed.");
}

// The artifact in pieces of `piece_bytes` is the same program.
Check check_segmented(BackendRig& rig, std::size_t piece_bytes) {
    VIRTACCEL_TRY_ASSIGN(Scene scene, rig.set_up());
    VIRTACCEL_TRY(rig.caller().destroy(scene.program));
    VIRTACCEL_TRY_ASSIGN(
        scene.program,
        expect_id<ProgramKind>(say("LOAD_PROGRAM in pieces of (", piece_bytes, ") bytes"),
                               rig.load(scene.context, rig.sample().artifact, piece_bytes)));
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(scene));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(rig.caller().destroy(event));
    VIRTACCEL_TRY(rig.check_outputs(scene));
    return rig.tear_down(scene);
}

// What is cut short is refused and leaves nothing behind; so is what no backend has ever heard of.
Check check_refused_artifacts(BackendRig& rig) {
    const SampleProgram& sample = rig.sample();
    VIRTACCEL_TRY_ASSIGN(const ContextId context, rig.caller().create_context());
    const auto before = rig.diagnostics();
    const auto half = std::span{sample.artifact}.first(sample.artifact.size() / 2);
    VIRTACCEL_TRY(expect(rig.load(context, half).status != Status::ok,
                         "LOAD_PROGRAM takes the first half of an artifact."));
    wire::LoadProgram request;
    request.context_id = context;
    request.format = std::uint32_t{0x7fffffff};
    request.payload_bytes = std::uint64_t{1};
    request.resident_bytes = std::uint64_t{1};
    VIRTACCEL_TRY(expect_refusal("LOAD_PROGRAM of an unknown format",
                                 rig.caller().call<Opcode::load_program>(request, Bytes(1)),
                                 Status::unsupported));
    VIRTACCEL_TRY(expect_equal("The number of live resources after refused artifacts",
                               rig.diagnostics().live_resources, before.live_resources));
    return rig.caller().destroy(context);
}

// A submission that must be refused, and what it is.
Check expect_refused(BackendRig& rig, const Scene& scene, std::string_view what, Status wanted,
                     const std::vector<wire::Binding>& bindings) {
    return expect_refusal(say("SUBMIT with ", what), rig.submit(scene, bindings), wanted);
}

// What the device refuses by itself.
Check check_malformed_bindings(BackendRig& rig, const Scene& scene) {
    const auto good = rig.bindings_of(scene);
    const auto refused = [&](std::string_view what, Status wanted, auto change) {
        auto bindings = good;
        change(bindings);
        return expect_refused(rig, scene, what, wanted, bindings);
    };
    using Bindings = std::vector<wire::Binding>;
    VIRTACCEL_TRY(refused("no binding", Status::invalid_argument, [](Bindings& b) { b.clear(); }));
    VIRTACCEL_TRY(refused("a slot bound twice", Status::invalid_argument,
                          [](Bindings& b) { b.push_back(b[0]); }));
    VIRTACCEL_TRY(refused("an empty range", Status::invalid_argument,
                          [](Bindings& b) { b[0].bytes = std::uint64_t{0}; }));
    VIRTACCEL_TRY(refused("a range that overflows", Status::invalid_argument,
                          [](Bindings& b) { b[0].offset = ~std::uint64_t{0}; }));
    VIRTACCEL_TRY(refused("an access of no meaning", Status::invalid_argument,
                          [](Bindings& b) { b[0].access = std::uint8_t{4}; }));
    VIRTACCEL_TRY(refused("a reserved byte", Status::invalid_argument,
                          [](Bindings& b) { b[0].reserved.bytes[2] = 1; }));
    VIRTACCEL_TRY(refused("a range outside its buffer", Status::out_of_bounds,
                          [](Bindings& b) { b[0].offset = std::uint64_t{1}; }));
    VIRTACCEL_TRY(refused("a buffer that is none", Status::stale_object,
                          [](Bindings& b) { b[0].buffer_id = BufferId{~std::uint64_t{0}}; }));
    const std::uint32_t bindings_max = rig.identity().limits.bindings_per_submission;
    return refused("one binding too many", Status::resource_limit, [&](Bindings& b) {
        while (b.size() <= bindings_max) {
            b.push_back(b[0]);
            b.back().slot = static_cast<std::uint32_t>(b.size());
        }
    });
}

// Each slot bound with the access that its buffer's usage does not allow.
Check check_access(BackendRig& rig, const Scene& scene) {
    const auto good = rig.bindings_of(scene);
    for (std::size_t i = 0; i < good.size(); ++i) {
        const Access access = rig.sample().slots[i].access;
        if (access == Access::read_write) {
            continue;  // mutable state allows every access
        }
        auto bindings = good;
        bindings[i].access =
            static_cast<std::uint8_t>(access == Access::read ? Access::write : Access::read);
        VIRTACCEL_TRY(expect_refused(rig, scene, "an access against its buffer's usage",
                                     Status::permission_denied, bindings));
    }
    return {};
}

Check check_all_segmentations(BackendRig& rig) {
    for (const std::size_t piece_bytes : {1U, 3U, 7U, 64U, 4096U}) {
        if (rig.sample().artifact.size() / piece_bytes <= pieces_max) {
            VIRTACCEL_TRY(check_segmented(rig, piece_bytes));
        }
    }
    return {};
}

// What only the backend can know: that the bindings are not those of the program.
Check check_foreign_bindings(BackendRig& rig, const Scene& scene) {
    const auto good = rig.bindings_of(scene);
    auto bindings = good;
    bindings.back().slot = std::uint32_t{bindings.back().slot} + 1000;
    VIRTACCEL_TRY(expect_refused(rig, scene, "a slot the program does not have",
                                 Status::incompatible, bindings));
    bindings = good;
    bindings.push_back(good[0]);
    bindings.back().slot = std::uint32_t{good.back().slot} + 1;
    VIRTACCEL_TRY(expect_refused(rig, scene, "a binding more than the program has slots",
                                 Status::incompatible, bindings));
    if (good.size() < 2) {
        return {};
    }
    bindings = good;
    bindings.pop_back();
    return expect_refused(rig, scene, "a slot left unbound", Status::incompatible, bindings);
}

// The ranges that are bound are those that are used, and nothing is copied on the way.
Check check_bound_ranges(BackendRig& rig, const Scene& scene) {
    constexpr std::uint64_t margin = 256;
    Caller& caller = rig.caller();
    const Usage transfer = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination;
    std::vector<BufferId> wide;
    auto bindings = rig.bindings_of(scene);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const SampleSlot& slot = rig.sample().slots[i];
        Bytes contents(margin, canary);
        contents.insert(contents.end(), slot.before.begin(), slot.before.end());
        contents.resize(contents.size() + margin, canary);
        VIRTACCEL_TRY_ASSIGN(wide.emplace_back(), caller.allocate(rig.buffer_request(
                                                      scene.context, contents.size(),
                                                      transfer | usage_for(slot.access))));
        VIRTACCEL_TRY(caller.write(wide.back(), 0, contents));
        bindings[i].buffer_id = wide.back();
        bindings[i].offset = margin;
    }
    VIRTACCEL_TRY_ASSIGN(
        const EventId event,
        expect_id<EventKind>("SUBMIT of ranges inside their buffers", rig.submit(scene, bindings)));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(caller.destroy(event));
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const SampleSlot& slot = rig.sample().slots[i];
        Bytes wanted(margin, canary);
        wanted.insert(wanted.end(), slot.after.begin(), slot.after.end());
        wanted.resize(wanted.size() + margin, canary);
        VIRTACCEL_TRY_ASSIGN(const Bytes found, caller.read(wide[i], 0, wanted.size()));
        VIRTACCEL_TRY(expect(found == wanted, "Slot (", slot.slot,
                             ") does not hold what it has to hold, inside or beside its range."));
        VIRTACCEL_TRY(caller.destroy(wide[i]));
    }
    return {};
}

Check check_bindings(BackendRig& rig) {
    VIRTACCEL_TRY_ASSIGN(const Scene scene, rig.set_up());
    const auto before = rig.diagnostics();
    VIRTACCEL_TRY(check_malformed_bindings(rig, scene));
    VIRTACCEL_TRY(check_access(rig, scene));
    VIRTACCEL_TRY(check_foreign_bindings(rig, scene));
    VIRTACCEL_TRY(expect_equal("The number of live resources after refused submissions",
                               rig.diagnostics().live_resources, before.live_resources));
    VIRTACCEL_TRY(check_bound_ranges(rig, scene));
    const auto after = rig.diagnostics();
    VIRTACCEL_TRY(expect_equal("The number of direct bindings of one submission",
                               after.direct_bindings - before.direct_bindings,
                               scene.buffers.size()));
    VIRTACCEL_TRY(expect(after.staged_bytes == 0 && after.staged_count == 0, "The backend copied (",
                         after.staged_bytes,
                         ") bytes of bound ranges through another allocation."));
    return rig.tear_down(scene);
}

// Two contexts of one device with the same objects in them.
Check check_isolation(BackendRig& rig) {
    VIRTACCEL_TRY_ASSIGN(const Scene ours, rig.set_up());
    VIRTACCEL_TRY_ASSIGN(const Scene theirs, rig.set_up());
    const auto refused = [&](std::string_view what, const Scene& scene,
                             const std::vector<wire::Binding>& bindings) {
        return expect_refused(rig, scene, what, Status::stale_object, bindings);
    };
    Scene mixed = ours;
    mixed.queue = theirs.queue;
    VIRTACCEL_TRY(refused("a queue of another context", mixed, rig.bindings_of(ours)));
    mixed = ours;
    mixed.program = theirs.program;
    VIRTACCEL_TRY(refused("a program of another context", mixed, rig.bindings_of(ours)));
    for (std::size_t i = 0; i < ours.buffers.size(); ++i) {
        auto bindings = rig.bindings_of(ours);
        bindings[i].buffer_id = theirs.buffers[i];
        VIRTACCEL_TRY(refused("a buffer of another context", ours, bindings));
    }
    VIRTACCEL_TRY_ASSIGN(const EventId event, rig.submit(theirs));
    VIRTACCEL_TRY(rig.wait_for_completion(event));
    VIRTACCEL_TRY(rig.caller().destroy(event));
    VIRTACCEL_TRY(rig.check_outputs(theirs));
    for (std::size_t i = 0; i < ours.buffers.size(); ++i) {
        const SampleSlot& slot = rig.sample().slots[i];
        VIRTACCEL_TRY_ASSIGN(const Bytes bytes,
                             rig.caller().read(ours.buffers[i], 0, slot.before.size()));
        VIRTACCEL_TRY(expect(bytes == slot.before, "Work in one context changes slot (", slot.slot,
                             ") of another."));
    }
    VIRTACCEL_TRY(rig.tear_down(theirs));
    VIRTACCEL_TRY_ASSIGN(const EventId last, rig.submit(ours));
    VIRTACCEL_TRY(rig.wait_for_completion(last));
    VIRTACCEL_TRY(rig.caller().destroy(last));
    VIRTACCEL_TRY(rig.check_outputs(ours));
    return rig.tear_down(ours);
}

}  // namespace

Check program_segmented_artifact_bounds(const BackendSubject& subject) {
    return on_rig(subject, [&](BackendRig& rig) -> Check {
        VIRTACCEL_TRY(rig.need_sample());
        VIRTACCEL_TRY(check_resident_bytes(subject));
        VIRTACCEL_TRY(check_refused_artifacts(rig));
        return check_all_segmentations(rig);
    });
}

Check submission_binding_validation(const BackendSubject& subject) {
    return on_rig(subject, check_bindings);
}

Check submission_context_isolation(const BackendSubject& subject) {
    return on_rig(subject, check_isolation);
}

}  // namespace virtaccel::conformance::cases

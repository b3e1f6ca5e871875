#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

namespace {

template <auto limit>
Check is_not_zero(Bench& bench) {
    return expect(bench.identity().limits.*limit != 0,
                  "The backend advertises a limit of (0): a driver refuses such a device.");
}

Check binds_at_most_the_hard_limit(Bench& bench) {
    const std::uint32_t bindings = bench.identity().limits.bindings_per_submission;
    return expect(bindings <= protocol::bindings_max, "The backend advertises (", bindings,
                  ") bindings; the protocol allows (", protocol::bindings_max, ").");
}

Check reserves_nothing(Bench& bench) {
    const Capabilities advertised = bench.identity().capabilities;
    return expect(!advertised.has_any(capabilities_reserved), "The backend advertises the bits (",
                  advertised.bits, "), among them one that 1.0 reserves.");
}

Check has_memory(Bench& bench) {
    return expect(bench.identity().capabilities.has_any(capabilities_memory),
                  "The backend advertises no memory domain: no buffer can be made.");
}

bool is_printable(char character) {
    return static_cast<unsigned char>(character) >= 0x20 && character != 0x7f;
}

Check has_a_name_of_one_word(Bench& bench) {
    const std::string_view name = bench.backend().name();
    return expect(!name.empty() && std::ranges::all_of(name, is_printable) &&
                      name.find(' ') == std::string_view::npos,
                  "The name (", name, ") is not one word that a user can pick it by.");
}

Check has_a_description_of_one_line(Bench& bench) {
    const std::string_view description = bench.backend().description();
    return expect(!description.empty() && std::ranges::all_of(description, is_printable),
                  "The description (", description, ") is not one line for a person.");
}

// Who a backend is, in copies of its own.
struct Self {
    DeviceIdentity identity;
    std::string name;
    std::string description;
};

Self self_of(const Direct& backend) {
    return {.identity = backend.identity(),
            .name = std::string{backend.backend().name()},
            .description = std::string{backend.backend().description()}};
}

Check expect_same_words(const Self& before, const Self& now, std::string_view when) {
    VIRTACCEL_TRY(expect(now.name == before.name, "The name is (", now.name, ") ", when,
                         " and was (", before.name, ")."));
    return expect(now.description == before.description, "The description is (", now.description,
                  ") ", when, " and was (", before.description, ").");
}

Check expect_same_identity(const Self& before, const Self& now, std::string_view when) {
    const bool same_limits = now.identity.limits == before.identity.limits;
    return expect(now.identity == before.identity, "The identity has other ",
                  same_limits ? "words" : "limits", " ", when, ".");
}

Check instances_share_one_identity(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(auto other, make_backend(bench.subject()));
    return expect_same_identity(self_of(bench), self_of(Direct{other, bench.subject()}),
                                "in a second instance");
}

Check instances_share_one_name(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(auto other, make_backend(bench.subject()));
    return expect_same_words(self_of(bench), self_of(Direct{other, bench.subject()}),
                             "in a second instance");
}

Check words_stay_with_objects(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 100));
    VIRTACCEL_TRY(expect_same_words(before, self_of(bench), "with objects"));
    VIRTACCEL_TRY(bench.release(buffer));
    VIRTACCEL_TRY(bench.release(context));
    return expect_same_words(before, self_of(bench), "after objects");
}

Check identity_stays_with_objects(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto queue, bench.queue(context));
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 100));
    VIRTACCEL_TRY(expect_same_identity(before, self_of(bench), "with objects"));
    VIRTACCEL_TRY(bench.release(buffer));
    VIRTACCEL_TRY(bench.release(queue));
    return bench.release(context);
}

Check identity_stays_with_a_program(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(expect_same_identity(before, self_of(bench), "with a program loaded"));
    return bench.tear_down(act);
}

Check identity_stays_under_work(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const auto event, bench.submit(act));
    VIRTACCEL_TRY(expect_same_identity(before, self_of(bench), "while work runs"));
    VIRTACCEL_TRY(bench.complete(event));
    return bench.tear_down(act);
}

Check identity_stays_after_a_life(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(bench.tear_down(act));
    return expect_same_identity(before, self_of(bench), "after a whole life");
}

Check identity_stays_after_a_refusal(Bench& bench) {
    const Self before = self_of(bench);
    if (const auto prepared = bench.backend().prepare({.format = 0x7fffffff})) {
        bench.backend().abandon(*prepared);
        return failed("An artifact of an unknown format and no bytes is taken.");
    }
    return expect_same_identity(before, self_of(bench), "after a refused artifact");
}

Check identity_stays_after_a_reset(Bench& bench) {
    const Self before = self_of(bench);
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    VIRTACCEL_TRY(rig->caller().create_context());
    VIRTACCEL_TRY(expect(!rig->device().reset().discard,
                         "A reset of an empty context discards the backend."));
    return expect_same_identity(before, self_of(bench), "after a reset");
}

constexpr std::array rules{
    Rule{"metadata.contexts-limit-is-not-zero", "at least one context is advertised",
         is_not_zero<&DeviceLimits::contexts>},
    Rule{"metadata.buffers-limit-is-not-zero", "at least one buffer for each context is advertised",
         is_not_zero<&DeviceLimits::buffers_per_context>},
    Rule{"metadata.programs-limit-is-not-zero",
         "at least one program for each context is advertised",
         is_not_zero<&DeviceLimits::programs_per_context>},
    Rule{"metadata.queues-limit-is-not-zero", "at least one queue for each context is advertised",
         is_not_zero<&DeviceLimits::queues_per_context>},
    Rule{"metadata.events-limit-is-not-zero", "at least one event for each context is advertised",
         is_not_zero<&DeviceLimits::events_per_context>},
    Rule{"metadata.bindings-limit-is-not-zero",
         "at least one binding for each submission is advertised",
         is_not_zero<&DeviceLimits::bindings_per_submission>},
    Rule{"metadata.bindings-limit-is-within-the-protocol", "at most 4096 bindings are advertised",
         binds_at_most_the_hard_limit},
    Rule{"metadata.buffer-bytes-limit-is-not-zero", "buffers of at least one byte are advertised",
         is_not_zero<&DeviceLimits::buffer_bytes>},
    Rule{"metadata.artifact-bytes-limit-is-not-zero",
         "artifacts of at least one byte are advertised",
         is_not_zero<&DeviceLimits::artifact_bytes>},
    Rule{"metadata.reserved-capabilities-are-clear",
         "no capability that 1.0 reserves is advertised", reserves_nothing},
    Rule{"metadata.some-memory-domain", "at least one memory domain is advertised", has_memory},
    Rule{"metadata.name-is-one-word", "the name is one printable word", has_a_name_of_one_word},
    Rule{"metadata.description-is-one-line", "the description is one printable line",
         has_a_description_of_one_line},
    Rule{"metadata.words-stay-with-objects", "name and description do not change with objects",
         words_stay_with_objects},
    Rule{"metadata.instances-share-one-identity",
         "every instance of a factory says who it is alike", instances_share_one_identity},
    Rule{"metadata.instances-share-one-name", "every instance of a factory has the same words",
         instances_share_one_name},
    Rule{"metadata.identity-stays-with-objects", "the identity does not change with objects",
         identity_stays_with_objects},
    Rule{"metadata.identity-stays-with-a-program", "the identity does not change with a program",
         identity_stays_with_a_program},
    Rule{"metadata.identity-stays-under-work", "the identity does not change while work runs",
         identity_stays_under_work},
    Rule{"metadata.identity-stays-after-a-life", "the identity does not change over a whole life",
         identity_stays_after_a_life},
    Rule{"metadata.identity-stays-after-a-refusal", "the identity does not change by a refusal",
         identity_stays_after_a_refusal},
    Rule{"metadata.identity-stays-after-a-reset", "the identity does not change by a reset",
         identity_stays_after_a_reset},
};

}  // namespace

Rules metadata_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

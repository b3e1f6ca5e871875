#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/backend_rig.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::Certainty;
using backend::EventHandle;
using backend::EventStatus;

namespace {

constexpr std::uint64_t ten_minutes_ns = 600'000'000'000;

// A case about one act that is set up before and torn down after it.
Check with_act(Bench& bench, Check (*body)(Bench& bench, const Act& act)) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(body(bench, act));
    return bench.tear_down(act);
}

template <Check (*body)(Bench& bench, const Act& act)>
Check on_act(Bench& bench) {
    return with_act(bench, body);
}

Checked<std::vector<EventHandle>> submit_many(Bench& bench, const Act& act, std::size_t count) {
    std::vector<EventHandle> events;
    while (events.size() < count) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        events.push_back(event);
    }
    return events;
}

// How many events one context may have, at most `wanted`; a limit of zero is another case's to
// judge.
std::size_t events_of(const Direct& direct, std::size_t wanted) {
    return std::clamp<std::size_t>(direct.identity().limits.events_per_context, 1, wanted);
}

Check good_work_completes(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY_ASSIGN(const EventStatus status, bench.wait(event));
    VIRTACCEL_TRY(expect(status.phase == EventPhase::complete,
                         "Work that has nothing wrong ends with the error (", status.error,
                         ") or cancelled."));
    return bench.release(event);
}

Check first_poll_is_no_failure(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY_ASSIGN(const EventStatus status, bench.poll(event));
    VIRTACCEL_TRY(
        expect(status.phase == EventPhase::pending || status.phase == EventPhase::complete,
               "The first poll of a new event finds it failed or cancelled."));
    return bench.complete(event);
}

Check ended_stays_ended(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY_ASSIGN(const EventStatus first, bench.wait(event));
    for (int round = 0; round < 32; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventStatus again, bench.poll(event));
        VIRTACCEL_TRY(expect(again == first, "The poll (", round, ") after the end of an event ",
                             "finds another end."));
    }
    return bench.release(event);
}

// An end is stable while other work comes and goes.
Check ended_stays_ended_beside_others(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY_ASSIGN(const EventStatus first, bench.wait(event));
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle other, bench.submit(act));
        VIRTACCEL_TRY(bench.complete(other));
        VIRTACCEL_TRY_ASSIGN(const EventStatus again, bench.poll(event));
        VIRTACCEL_TRY(expect(again == first,
                             "An event that has ended has another end after more "
                             "work."));
    }
    return bench.release(event);
}

// Destroys an event that may not have ended: it is gone, or BUSY and as it was.
Check destroy_early(Bench& bench, EventHandle event) {
    const auto before = bench.books();
    const backend::ReleaseOutcome early = bench.backend().destroy_event(event);
    if (early.certainty == Certainty::done) {
        return expect_equal("The number of live resources after a destroyed event",
                            bench.books().live_resources, before.live_resources - 1);
    }
    VIRTACCEL_TRY(expect(early.certainty == Certainty::rejected,
                         "The release of a pending event is in doubt."));
    VIRTACCEL_TRY(expect_status("The release of a pending event", early.status, Status::busy));
    VIRTACCEL_TRY(bench.expect_books(before, "after a release that was refused"));
    return bench.complete(event);
}

Check pending_is_busy_to_destroy(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(destroy_early(bench, event));
    }
    return {};
}

// A refused release takes nothing from the work: it ends as it would have.
Check refused_release_takes_nothing(Bench& bench, const Act& act) {
    VIRTACCEL_TRY(bench.fill(act));
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY(destroy_early(bench, event));
    return bench.run(act);
}

Check work_needs_no_poll(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto events, submit_many(bench, act, events_of(bench, 32)));
    // Only the last is asked for; those before it are found ended or end when they are asked.
    for (const EventHandle event : std::views::reverse(events)) {
        VIRTACCEL_TRY(bench.complete(event));
    }
    return bench.expect_outputs(act);
}

Check polling_changes_nothing(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    const auto live = bench.books().live_resources;
    for (int round = 0; round < 32; ++round) {
        VIRTACCEL_TRY(bench.poll(event));
        VIRTACCEL_TRY(expect_equal("The number of live resources after a poll",
                                   bench.books().live_resources, live));
    }
    return bench.complete(event);
}

Check events_are_their_own(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto events, submit_many(bench, act, events_of(bench, 16)));
    const auto live = bench.books().live_resources;
    for (std::size_t i = 0; i < events.size(); ++i) {
        VIRTACCEL_TRY(bench.complete(events[i]));
        VIRTACCEL_TRY(expect_equal("The number of live resources after some events are destroyed",
                                   bench.books().live_resources, live - i - 1));
    }
    return {};
}

Check destroyed_in_reverse(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(auto events, submit_many(bench, act, events_of(bench, 16)));
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(bench.wait(event));
    }
    std::ranges::reverse(events);
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(bench.release(event));
    }
    return bench.run(act);
}

Check outputs_are_there_at_the_end(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY(bench.fill(act));
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY_ASSIGN(const EventStatus status, bench.wait(event));
        VIRTACCEL_TRY(
            expect(status.phase == EventPhase::complete, "The sample does not complete."));
        // The device holds a guest off until the event is destroyed; the bytes are there before.
        VIRTACCEL_TRY(bench.expect_outputs(act));
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

Check outputs_stay_after_it(Bench& bench, const Act& act) {
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY_ASSIGN(const Act other, bench.set_up());
    VIRTACCEL_TRY(bench.run(other));
    VIRTACCEL_TRY(bench.tear_down(other));
    return bench.expect_outputs(act);
}

Check events_run_again(Bench& bench, const Act& act) {
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(bench.run(act));
    }
    return {};
}

// ---- the notifier

struct Bell {
    std::atomic<std::uint64_t> rings = 0;

    [[nodiscard]] backend::Notifier notifier() {
        return {.state = this, .notify = [](void* state) { ++static_cast<Bell*>(state)->rings; }};
    }
};

// A second instance with a bell, which outlives it: a thread of the instance may ring late.
Check with_bell(Bench& bench, Check (*body)(const Direct& direct, Bell& bell)) {
    Bell bell;
    VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
    made.set_notifier(bell.notifier());
    return body(Direct{made, bench.subject()}, bell);
}

template <Check (*body)(const Direct& direct, Bell& bell)>
Check on_bell(Bench& bench) {
    return with_bell(bench, body);
}

Check no_event_no_bell(const Direct& direct, Bell& bell) {
    VIRTACCEL_TRY_ASSIGN(const auto context, direct.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, direct.buffer(context, pattern_of(100, 1)));
    VIRTACCEL_TRY(direct.read(buffer, 0, 100));
    VIRTACCEL_TRY(direct.release(buffer));
    VIRTACCEL_TRY(direct.release(context));
    return expect_equal("The number of notifications without an event", bell.rings.load(), 0);
}

Check no_bell_before_work(const Direct& direct, Bell& bell) {
    VIRTACCEL_TRY_ASSIGN(const Act act, direct.set_up());
    VIRTACCEL_TRY(
        expect_equal("The number of notifications before a submission", bell.rings.load(), 0));
    VIRTACCEL_TRY(direct.run(act));
    return direct.tear_down(act);
}

Check bell_taken_back_is_silent(const Direct& direct, Bell& bell) {
    direct.backend().set_notifier({});
    VIRTACCEL_TRY_ASSIGN(const Act act, direct.set_up());
    VIRTACCEL_TRY(direct.run(act));
    VIRTACCEL_TRY(direct.tear_down(act));
    return expect_equal("The number of notifications to who is told no more", bell.rings.load(), 0);
}

// ---- timeouts

template <std::uint64_t timeout_ns>
Check does_not_expire(Bench& bench, const Act& act) {
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY(bench.fill(act));
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act, timeout_ns));
        VIRTACCEL_TRY(bench.complete(event));
        VIRTACCEL_TRY(bench.expect_outputs(act));
    }
    return {};
}

// A timeout that is over at once, or nearly: it is refused, or it ends, complete or expired; and
// what was refused or expired takes nothing with it.
template <std::uint64_t timeout_ns>
Check ends_or_is_refused(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        const auto before = bench.books();
        const auto outcome = bench.try_submit(act, bench.bindings_of(act), timeout_ns);
        if (outcome.certainty == Certainty::rejected) {
            VIRTACCEL_TRY(expect_status("A submission whose time is over", outcome.status,
                                        Status::deadline_expired));
            VIRTACCEL_TRY(bench.expect_books(before, "after a submission whose time is over"));
            continue;
        }
        VIRTACCEL_TRY(expect_status("A submission with little time", outcome.status, Status::ok));
        VIRTACCEL_TRY_ASSIGN(const EventStatus status, bench.wait(outcome.event));
        VIRTACCEL_TRY(
            expect(status.phase == EventPhase::complete || status.error == Status::deadline_expired,
                   "An event with little time ends with the error (", status.error,
                   ") or cancelled; it completes or expires."));
        VIRTACCEL_TRY_ASSIGN(const EventStatus again, bench.poll(outcome.event));
        VIRTACCEL_TRY(expect(again == status, "An event with little time has two ends."));
        VIRTACCEL_TRY(bench.release(outcome.event));
    }
    return bench.run(act);
}

Check hasty_leaves_patient_alone(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle patient, bench.submit(act));
    const auto hasty = bench.try_submit(act, bench.bindings_of(act), 1);
    if (hasty.certainty != Certainty::rejected) {
        VIRTACCEL_TRY(bench.wait(hasty.event));
        VIRTACCEL_TRY(bench.release(hasty.event));
    }
    return bench.complete(patient);
}

Check timeouts_mix(Bench& bench, const Act& act) {
    std::vector<EventHandle> events;
    for (std::uint64_t i = 0; i < events_of(bench, 16); ++i) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event,
                             bench.submit(act, i % 2 == 0 ? 0 : ten_minutes_ns + i));
        events.push_back(event);
    }
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(bench.complete(event));
    }
    return {};
}

constexpr std::uint64_t half = std::uint64_t{1} << 63U;

constexpr std::array rules{
    Rule{"event.good-work-completes", "the sample ends complete", on_act<good_work_completes>},
    Rule{"event.first-poll-is-no-failure", "a new event is pending or complete",
         on_act<first_poll_is_no_failure>},
    Rule{"event.ended-stays-ended", "an end does not change however often it is asked for",
         on_act<ended_stays_ended>},
    Rule{"event.ended-stays-ended-beside-others", "an end does not change by other work",
         on_act<ended_stays_ended_beside_others>},
    Rule{"event.pending-is-busy-to-destroy", "a pending event is BUSY and stays in the books",
         on_act<pending_is_busy_to_destroy>},
    Rule{"event.refused-release-takes-nothing", "work goes on after a release that was refused",
         on_act<refused_release_takes_nothing>},
    Rule{"event.work-needs-no-poll", "events end when they are asked for last first",
         on_act<work_needs_no_poll>},
    Rule{"event.polling-changes-nothing", "a poll changes no book",
         on_act<polling_changes_nothing>},
    Rule{"event.are-their-own", "each of many events ends and goes by itself",
         on_act<events_are_their_own>},
    Rule{"event.destroyed-in-reverse", "events go in another order than they came",
         on_act<destroyed_in_reverse>},
    Rule{"event.outputs-are-there-at-the-end", "a complete event means that its output is there",
         on_act<outputs_are_there_at_the_end>},
    Rule{"event.outputs-stay-after-it", "outputs stay when the event is gone and others work",
         on_act<outputs_stay_after_it>},
    Rule{"event.run-again", "a program runs again on the same buffers", on_act<events_run_again>},
    Rule{"event.no-bell-without-an-event", "nobody is told of an event that there is not",
         on_bell<no_event_no_bell>},
    Rule{"event.no-bell-before-work", "nobody is told of work before there is any",
         on_bell<no_bell_before_work>},
    Rule{"event.bell-taken-back-is-silent", "who is to be told no more is told no more",
         on_bell<bell_taken_back_is_silent>},
};

constexpr std::array timeouts{
    Rule{"timeout.of-zero-is-none", "a timeout of zero does not expire",
         on_act<does_not_expire<0>>},
    Rule{"timeout.of-ten-minutes", "a timeout of ten minutes does not expire",
         on_act<does_not_expire<ten_minutes_ns>>},
    Rule{"timeout.of-half-of-all-time", "a timeout of 2^63 ns does not expire",
         on_act<does_not_expire<half>>},
    Rule{"timeout.of-nearly-all-time", "a timeout of 2^64 - 2 ns does not wrap around",
         on_act<does_not_expire<~std::uint64_t{1}>>},
    Rule{"timeout.of-all-time", "a timeout of 2^64 - 1 ns does not wrap around",
         on_act<does_not_expire<~std::uint64_t{0}>>},
    Rule{"timeout.of-one-nanosecond", "a timeout of 1 ns is refused, kept or expires",
         on_act<ends_or_is_refused<1>>},
    Rule{"timeout.of-a-thousand-nanoseconds", "a timeout of 1 us is refused, kept or expires",
         on_act<ends_or_is_refused<1000>>},
    Rule{"timeout.hasty-leaves-patient-alone", "work without a timeout does not expire by others",
         on_act<hasty_leaves_patient_alone>},
    Rule{"timeout.mixed", "submissions with and without a timeout all complete",
         on_act<timeouts_mix>},
};

}  // namespace

Rules event_rules() {
    return rules;
}

Rules timeout_rules() {
    return timeouts;
}

}  // namespace virtaccel::conformance::further

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::EventHandle;
using backend::EventStatus;

namespace {

// A case about one act, for backends that can cancel.
template <Check (*body)(Bench& bench, const Act& act)>
Check cancelling(Bench& bench) {
    if (!bench.can(CapabilityBit::event_cancellation)) {
        return skipped("The backend does not advertise the cancellation of events.");
    }
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(body(bench, act));
    return bench.tear_down(act);
}

// Asks for a cancellation; true if it came in time. The event has ended in the end, as it was said.
Checked<bool> cancel(const Direct& direct, EventHandle event) {
    const Status answer = direct.backend().cancel(event);
    VIRTACCEL_TRY(expect(answer == Status::ok || answer == Status::busy,
                         "A cancellation is answered with (", answer,
                         "); the answers are OK and "
                         "BUSY."));
    VIRTACCEL_TRY_ASSIGN(const EventStatus status,
                         answer == Status::ok ? direct.poll(event) : direct.wait(event));
    VIRTACCEL_TRY(expect((answer == Status::ok) == (status.phase == EventPhase::cancelled),
                         "A cancellation is answered with (", answer, "), and the event is ",
                         status.phase == EventPhase::cancelled ? "" : "not ", "cancelled."));
    return answer == Status::ok;
}

Checked<EventHandle> polled(const Direct& direct, const Act& act, int polls) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, direct.submit(act));
    for (int i = 0; i < polls; ++i) {
        VIRTACCEL_TRY(direct.poll(event));
    }
    return event;
}

// A cancellation after so many polls has one result.
template <int polls>
Check has_one_result(Bench& bench, const Act& act) {
    for (int round = 0; round < 32; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, polled(bench, act, polls));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

Check ended_is_busy(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY_ASSIGN(const EventStatus status, bench.wait(event));
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(expect_status("The cancellation of an event that has ended",
                                    bench.backend().cancel(event), Status::busy));
        VIRTACCEL_TRY_ASSIGN(const EventStatus again, bench.poll(event));
        VIRTACCEL_TRY(expect(again == status, "A cancellation that came late changes the end."));
    }
    VIRTACCEL_TRY(bench.release(event));
    return bench.expect_outputs(act);
}

Check twice_is_busy(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY(
            expect_status("A second cancellation", bench.backend().cancel(event), Status::busy));
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

Check result_is_stable(Bench& bench, const Act& act) {
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY_ASSIGN(const EventStatus first, bench.poll(event));
        for (int poll = 0; poll < 16; ++poll) {
            VIRTACCEL_TRY_ASSIGN(const EventStatus again, bench.poll(event));
            VIRTACCEL_TRY(expect(again == first, "What became of a cancellation changes."));
        }
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

Check event_stays_in_the_books(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    const auto before = bench.books();
    VIRTACCEL_TRY(cancel(bench, event));
    VIRTACCEL_TRY(
        bench.expect_books(before, "after a cancellation, before the event is destroyed"));
    return bench.release(event);
}

// The submissions of one act, some of which are cancelled.
Checked<std::vector<EventHandle>> submissions(Bench& bench, const Act& act) {
    const auto count = std::min<std::size_t>(16, bench.identity().limits.events_per_context);
    std::vector<EventHandle> events;
    while (events.size() < count) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        events.push_back(event);
    }
    return events;
}

Check others_go_on(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto events, submissions(bench, act));
    for (std::size_t i = 0; i < events.size(); i += 2) {
        VIRTACCEL_TRY(cancel(bench, events[i]));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        VIRTACCEL_TRY(i % 2 == 0 ? bench.release(events[i]) : bench.complete(events[i]));
    }
    return {};
}

Check all_in_reverse(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(auto events, submissions(bench, act));
    std::ranges::reverse(events);
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(cancel(bench, event));
    }
    for (const EventHandle event : events) {
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

Check queue_goes_on(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY(bench.release(event));
        VIRTACCEL_TRY(bench.run(act));
    }
    return {};
}

// A cancelled submission lets go of all that it was given.
Check parts_can_go(Bench& bench, const Act& /*act*/) {
    VIRTACCEL_TRY_ASSIGN(const Act other, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(other));
    VIRTACCEL_TRY(cancel(bench, event));
    VIRTACCEL_TRY(bench.release(event));
    return bench.tear_down(other);
}

// Work that was cancelled writes nothing any more.
Check cancelled_work_is_over(Bench& bench, const Act& act) {
    for (int round = 0; round < 16; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY_ASSIGN(const bool in_time, cancel(bench, event));
        VIRTACCEL_TRY(bench.fill(act));
        VIRTACCEL_TRY(bench.release(event));
        for (std::size_t i = 0; in_time && i < act.buffers.size(); ++i) {
            VIRTACCEL_TRY(bench.expect_contents(act.buffers[i], bench.sample().slots[i].before,
                                                "A buffer of cancelled work, written since,"));
        }
    }
    return {};
}

Check expect_inputs(const Direct& direct, const Act& act) {
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = direct.sample().slots[i];
        if (slot.access == Access::read) {
            VIRTACCEL_TRY(
                direct.expect_contents(act.buffers[i], slot.before, "An input of cancelled work"));
        }
    }
    return {};
}

Check inputs_stay(Bench& bench, const Act& act) {
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY(bench.release(event));
        VIRTACCEL_TRY(expect_inputs(bench, act));
    }
    return {};
}

Check with_a_timeout(Bench& bench, const Act& act) {
    constexpr std::uint64_t ten_minutes_ns = 600'000'000'000;
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act, ten_minutes_ns));
        VIRTACCEL_TRY(cancel(bench, event));
        VIRTACCEL_TRY(bench.release(event));
    }
    return {};
}

// The other context's work is not touched.
Check other_context_goes_on(Bench& bench, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const Act other, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventHandle theirs, bench.submit(other));
    VIRTACCEL_TRY_ASSIGN(const EventHandle ours, bench.submit(act));
    VIRTACCEL_TRY(cancel(bench, ours));
    VIRTACCEL_TRY(bench.complete(theirs));
    VIRTACCEL_TRY(bench.expect_outputs(other));
    VIRTACCEL_TRY(bench.release(ours));
    return bench.tear_down(other);
}

// What cannot be done is said, and the work goes on.
Check unadvertised_is_unsupported(Bench& bench) {
    if (bench.can(CapabilityBit::event_cancellation)) {
        return skipped("The backend advertises the cancellation of events.");
    }
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
    VIRTACCEL_TRY(expect_status("The cancellation on a backend that cannot cancel",
                                bench.backend().cancel(event), Status::unsupported));
    VIRTACCEL_TRY(bench.complete(event));
    VIRTACCEL_TRY(bench.expect_outputs(act));
    return bench.tear_down(act);
}

constexpr std::array rules{
    Rule{"cancel.at-once", "a cancellation right after a submission has one result",
         cancelling<has_one_result<0>>, true},
    Rule{"cancel.after-one-poll", "a cancellation after a poll has one result",
         cancelling<has_one_result<1>>, true},
    Rule{"cancel.after-two-polls", "a cancellation after two polls has one result",
         cancelling<has_one_result<2>>, true},
    Rule{"cancel.ended-is-busy", "the cancellation of an ended event is BUSY and changes nothing",
         cancelling<ended_is_busy>, true},
    Rule{"cancel.twice-is-busy", "a second cancellation is BUSY", cancelling<twice_is_busy>, true},
    Rule{"cancel.result-is-stable", "what became of a cancellation does not change",
         cancelling<result_is_stable>, true},
    Rule{"cancel.event-stays-in-the-books", "a cancelled event is held until it is destroyed",
         cancelling<event_stays_in_the_books>, true},
    Rule{"cancel.others-go-on", "the cancellation of some events leaves the others",
         cancelling<others_go_on>, true},
    Rule{"cancel.all-in-reverse", "the last submission can be cancelled first",
         cancelling<all_in_reverse>, true},
    Rule{"cancel.queue-goes-on", "a queue works after a cancellation", cancelling<queue_goes_on>,
         true},
    Rule{"cancel.parts-can-go", "cancelled work lets go of what it was given",
         cancelling<parts_can_go>, true},
    Rule{"cancel.cancelled-work-is-over", "cancelled work writes nothing any more",
         cancelling<cancelled_work_is_over>, true},
    Rule{"cancel.inputs-stay", "cancelled work leaves its inputs", cancelling<inputs_stay>, true},
    Rule{"cancel.with-a-timeout", "work with a timeout can be cancelled",
         cancelling<with_a_timeout>, true},
    Rule{"cancel.other-context-goes-on", "a cancellation stays in its context",
         cancelling<other_context_goes_on>, true},
    Rule{"cancel.unadvertised-is-unsupported", "who cannot cancel says so",
         unadvertised_is_unsupported, true},
};

}  // namespace

Rules cancel_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::Certainty;

namespace {

// Bends the sample's bindings into others. False if the sample has none that can be bent so.
using Bend = bool (*)(Bindings& bindings);

// The backend refuses the bindings that `bend` makes, as often as they come. It retains nothing,
// and everything that was named can still be used.
Check refuses(Bench& bench, Bend bend) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    auto bindings = bench.bindings_of(act);
    if (bend(bindings)) {
        for (int round = 0; round < 8; ++round) {
            const auto outcome = bench.try_submit(act, bindings);
            VIRTACCEL_TRY(expect(outcome.certainty == Certainty::rejected,
                                 "A submission whose bindings are not the program's is taken."));
            VIRTACCEL_TRY(expect_status("A submission whose bindings are not the program's",
                                        outcome.status, Status::incompatible));
        }
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after refused submissions"));
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        VIRTACCEL_TRY(bench.expect_contents(act.buffers[i], bench.sample().slots[i].before,
                                            "A buffer that a refused submission named"));
    }
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

template <Bend bend>
Check refuses_bent(Bench& bench) {
    return refuses(bench, bend);
}

bool no_bindings(Bindings& bindings) {
    bindings.clear();
    return true;
}

bool without_the_first(Bindings& bindings) {
    bindings.erase(bindings.begin());
    return true;
}

bool without_the_last(Bindings& bindings) {
    bindings.pop_back();
    return true;
}

bool one_more_at_the_end(Bindings& bindings) {
    bindings.push_back(bindings.front());
    bindings.back().slot = bindings[bindings.size() - 2].slot + 1;
    return true;
}

bool twice_as_many(Bindings& bindings) {
    const std::size_t own = bindings.size();
    for (std::size_t i = 0; i < own; ++i) {
        bindings.push_back(bindings[i]);
        bindings.back().slot = bindings[bindings.size() - 2].slot + 1;
    }
    return true;
}

bool the_last_slot_moved_by_one(Bindings& bindings) {
    ++bindings.back().slot;
    return true;
}

bool all_slots_moved(Bindings& bindings) {
    for (backend::Binding& binding : bindings) {
        binding.slot += 1000;
    }
    return true;
}

bool the_last_slot_there_is(Bindings& bindings) {
    bindings.back().slot = 0xffffffff;
    return true;
}

// The first slot of one access, bound with another.
template <Access from, Access to>
bool with_access(Bindings& bindings) {
    for (backend::Binding& binding : bindings) {
        if (binding.access == from) {
            binding.access = to;
            return true;
        }
    }
    return false;
}

bool one_byte_short(Bindings& bindings) {
    --bindings.back().range.bytes;
    return bindings.back().range.bytes != 0;
}

bool first_one_byte_short(Bindings& bindings) {
    --bindings.front().range.bytes;
    return bindings.front().range.bytes != 0;
}

bool one_byte_only(Bindings& bindings) {
    const bool has_more = bindings.front().range.bytes != 1;
    bindings.front().range.bytes = 1;
    return has_more;
}

// Slots of the same size and access, of which there are none in most programs, could be exchanged;
// an input and an output cannot.
bool accesses_exchanged(Bindings& bindings) {
    if (bindings.size() < 2 || bindings.front().access == bindings.back().access) {
        return false;
    }
    std::swap(bindings.front().access, bindings.back().access);
    return true;
}

// A range that is one byte longer than the slot, in a buffer that has it.
Check refuses_one_byte_too_many(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    auto bindings = bench.bindings_of(act);
    backend::Binding& bent = bindings.back();
    VIRTACCEL_TRY_ASSIGN(bent.buffer, bench.buffer(act.context, bent.range.bytes + 1));
    ++bent.range.bytes;
    const auto before = bench.books();
    const auto outcome = bench.try_submit(act, bindings);
    VIRTACCEL_TRY(expect(outcome.certainty == Certainty::rejected,
                         "A submission with a range that is longer than its slot is taken."));
    VIRTACCEL_TRY(expect_status("A submission with a range that is longer than its slot",
                                outcome.status, Status::incompatible));
    VIRTACCEL_TRY(bench.expect_books(before, "after a refused submission"));
    VIRTACCEL_TRY(bench.release(bent.buffer));
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

// What a refused submission named is not kept: each part can go at once.
Check refused_parts_can_go(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    auto bindings = bench.bindings_of(act);
    bindings.back().slot += 1000;
    const auto outcome = bench.try_submit(act, bindings);
    VIRTACCEL_TRY(expect(outcome.certainty == Certainty::rejected,
                         "A submission to a slot that the program does not have is taken."));
    return bench.tear_down(act);
}

// A refusal in the middle of work leaves the work alone.
Check refusals_leave_work_alone(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY_ASSIGN(const auto event, bench.submit(act));
    auto bindings = bench.bindings_of(act);
    bindings.pop_back();
    for (int round = 0; round < 8; ++round) {
        VIRTACCEL_TRY(expect(bench.try_submit(act, bindings).certainty == Certainty::rejected,
                             "A submission with a slot left unbound is taken."));
    }
    VIRTACCEL_TRY(bench.complete(event));
    VIRTACCEL_TRY(bench.expect_outputs(act));
    return bench.tear_down(act);
}

Check bindings_are_borrowed(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    auto bindings = bench.bindings_of(act);
    const auto outcome = bench.try_submit(act, bindings);
    VIRTACCEL_TRY(expect_status("A submission of the sample", outcome.status, Status::ok));
    // The device uses its list of bindings again as soon as the call is over.
    for (backend::Binding& binding : bindings) {
        binding = {};
    }
    VIRTACCEL_TRY(bench.complete(outcome.event));
    VIRTACCEL_TRY(bench.expect_outputs(act));
    return bench.tear_down(act);
}

Check accepted_is_ok_with_an_event(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    const auto outcome = bench.try_submit(act, bench.bindings_of(act));
    VIRTACCEL_TRY(expect(outcome.certainty == Certainty::done && outcome.status == Status::ok,
                         "An accepted submission is answered with (", outcome.status, ")."));
    VIRTACCEL_TRY(expect_equal("The number of live resources with an event",
                               bench.books().live_resources, before.live_resources + 1));
    VIRTACCEL_TRY(bench.complete(outcome.event));
    VIRTACCEL_TRY(bench.expect_books(before, "after an event"));
    return bench.tear_down(act);
}

constexpr std::array rules{
    Rule{"binding.none", "a submission without bindings is refused", refuses_bent<no_bindings>},
    Rule{"binding.without-the-first", "a submission without its first binding is refused",
         refuses_bent<without_the_first>},
    Rule{"binding.without-the-last", "a submission without its last binding is refused",
         refuses_bent<without_the_last>},
    Rule{"binding.one-more-at-the-end", "a submission with a binding too many is refused",
         refuses_bent<one_more_at_the_end>},
    Rule{"binding.twice-as-many", "a submission with twice its bindings is refused",
         refuses_bent<twice_as_many>},
    Rule{"binding.last-slot-moved-by-one", "a slot that is off by one is refused",
         refuses_bent<the_last_slot_moved_by_one>},
    Rule{"binding.all-slots-moved", "slots that are all off are refused",
         refuses_bent<all_slots_moved>},
    Rule{"binding.largest-slot", "the slot 0xffffffff is refused",
         refuses_bent<the_last_slot_there_is>},
    Rule{"binding.input-bound-for-writing", "an input that is bound for writing is refused",
         refuses_bent<with_access<Access::read, Access::write>>},
    Rule{"binding.input-bound-for-both", "an input that is bound for both is refused",
         refuses_bent<with_access<Access::read, Access::read_write>>},
    Rule{"binding.output-bound-for-reading", "an output that is bound for reading is refused",
         refuses_bent<with_access<Access::write, Access::read>>},
    Rule{"binding.output-bound-for-both", "an output that is bound for both is refused",
         refuses_bent<with_access<Access::write, Access::read_write>>},
    Rule{"binding.accesses-exchanged", "an input and an output with their accesses exchanged",
         refuses_bent<accesses_exchanged>},
    Rule{"binding.last-one-byte-short", "a last range that is a byte short is refused",
         refuses_bent<one_byte_short>},
    Rule{"binding.first-one-byte-short", "a first range that is a byte short is refused",
         refuses_bent<first_one_byte_short>},
    Rule{"binding.one-byte-only", "a range of one byte for a larger slot is refused",
         refuses_bent<one_byte_only>},
    Rule{"binding.one-byte-too-many", "a range that is a byte longer is refused",
         refuses_one_byte_too_many},
    Rule{"binding.refused-parts-can-go", "what a refused submission named can be given up",
         refused_parts_can_go},
    Rule{"binding.refusals-leave-work-alone", "a refused submission leaves running work alone",
         refusals_leave_work_alone},
    Rule{"binding.list-is-borrowed", "the list of bindings is the device's again after the call",
         bindings_are_borrowed},
    Rule{"binding.accepted-is-booked-once", "an accepted submission is one event in the books",
         accepted_is_ok_with_an_event},
};

}  // namespace

Rules submission_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/conformance/bench.h"
#include "virtaccel/conformance/caller.h"
#include "virtaccel/conformance/direct.h"
#include "virtaccel/conformance/further/rules.h"
#include "virtaccel/conformance/subject.h"
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::BufferHandle;
using backend::Diagnostics;

namespace {

Check expect_moved(const Direct& direct, const Diagnostics& before, std::uint64_t bytes,
                   std::string_view what) {
    return expect_equal(say("The number of explicitly transferred bytes of ", what),
                        direct.books().explicit_transfer_bytes - before.explicit_transfer_bytes,
                        bytes);
}

Check expect_bound(const Direct& direct, const Diagnostics& before, std::uint64_t count,
                   std::string_view what) {
    return expect_equal(say("The number of direct bindings of ", what),
                        direct.books().direct_bindings - before.direct_bindings, count);
}

Check expect_unstaged(const Direct& direct) {
    const Diagnostics books = direct.books();
    return expect(books.staged_bytes == 0 && books.staged_count == 0, "The backend copied (",
                  books.staged_bytes, ") bytes in (", books.staged_count,
                  ") steps through an allocation that is not the guest's.");
}

// Every transfer is counted by its bytes, and by nothing else; `move` makes one of a whole buffer.
Check counts_a_transfer(Bench& bench, std::uint64_t wanted, std::string_view what,
                        Check (*move)(Bench& bench, BufferHandle buffer, std::size_t bytes)) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    const auto bytes = static_cast<std::size_t>(bench.request(wanted).bytes);
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, bytes));
    const auto before = bench.books();
    VIRTACCEL_TRY(move(bench, buffer, bytes));
    VIRTACCEL_TRY(expect_moved(bench, before, bytes, what));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

template <std::uint64_t wanted>
Check counts_a_write(Bench& bench) {
    return counts_a_transfer(bench, wanted, "a write",
                             [](Bench& by, BufferHandle buffer, std::size_t bytes) -> Check {
                                 return by.write(buffer, 0, pattern_of(bytes, 1), {.every = 1000});
                             });
}

template <std::uint64_t wanted>
Check counts_a_read(Bench& bench) {
    return counts_a_transfer(bench, wanted, "a read",
                             [](Bench& by, BufferHandle buffer, std::size_t bytes) -> Check {
                                 VIRTACCEL_TRY(by.read(buffer, 0, bytes, {.every = 1000}));
                                 return {};
                             });
}

Check counts_parts(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 200));
    const auto before = bench.books();
    std::uint64_t moved = 0;
    for (std::size_t bytes = 1; bytes <= 100; bytes += 9) {
        VIRTACCEL_TRY(bench.write(buffer, 200 - bytes, pattern_of(bytes, bytes)));
        VIRTACCEL_TRY(bench.read(buffer, bytes, bytes));
        moved += 2 * bytes;
    }
    VIRTACCEL_TRY(expect_moved(bench, before, moved, "parts of a buffer"));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

Check making_moves_nothing(Bench& bench) {
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 4096));
    VIRTACCEL_TRY(expect_moved(bench, before, 0, "a new buffer"));
    VIRTACCEL_TRY(bench.release(buffer));
    VIRTACCEL_TRY(expect_moved(bench, before, 0, "a freed buffer"));
    VIRTACCEL_TRY(expect_unstaged(bench));
    return bench.release(context);
}

Check transfers_stage_nothing(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, pattern_of(300, 1)));
    VIRTACCEL_TRY(bench.read(buffer, 0, 300, {.every = 9}));
    VIRTACCEL_TRY(expect_unstaged(bench));
    VIRTACCEL_TRY(expect_bound(bench, {}, 0, "transfers"));
    VIRTACCEL_TRY(bench.release(buffer));
    return bench.release(context);
}

Check loading_moves_nothing(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    const auto before = bench.books();
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    VIRTACCEL_TRY_ASSIGN(const auto loaded, bench.load(context));
    VIRTACCEL_TRY(expect_moved(bench, before, 0, "a load"));
    VIRTACCEL_TRY(expect_unstaged(bench));
    VIRTACCEL_TRY(bench.release(loaded.program));
    return bench.release(context);
}

Check submissions_move_nothing(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY_ASSIGN(const auto event, bench.submit(act));
        VIRTACCEL_TRY(bench.complete(event));
    }
    VIRTACCEL_TRY(expect_moved(bench, before, 0, "submissions"));
    return bench.tear_down(act);
}

Check submissions_stage_nothing(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(expect_unstaged(bench));
    return bench.tear_down(act);
}

Check bindings_are_counted(Bench& bench) {
    constexpr std::uint64_t rounds = 5;
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        VIRTACCEL_TRY_ASSIGN(const auto event, bench.submit(act));
        VIRTACCEL_TRY(bench.complete(event));
        VIRTACCEL_TRY(
            expect_bound(bench, before, round * act.buffers.size(), say(round, " submissions")));
    }
    return bench.tear_down(act);
}

Check refused_bindings_are_not_counted(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto before = bench.books();
    auto bindings = bench.bindings_of(act);
    bindings.back().slot += 1000;
    const auto outcome = bench.try_submit(act, bindings);
    VIRTACCEL_TRY(expect(outcome.certainty == backend::Certainty::rejected,
                         "A submission to a slot that the program does not have is taken."));
    VIRTACCEL_TRY(expect_bound(bench, before, 0, "a refused submission"));
    VIRTACCEL_TRY(expect_moved(bench, before, 0, "a refused submission"));
    return bench.tear_down(act);
}

// What a program reads is what was written, to the last write before its submission.
Check programs_see_the_last_write(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const auto bytes = bench.sample().slots[i].before.size();
        VIRTACCEL_TRY(bench.write(act.buffers[i], 0, pattern_of(bytes, i + 77), {.every = 3}));
    }
    VIRTACCEL_TRY(bench.run(act));
    return bench.tear_down(act);
}

// The same in buffers that are larger than what is bound: the range is used where it lies, and what
// is beside it stays.
Check ranges_are_bound_in_place(Bench& bench) {
    constexpr std::size_t margin = 128;
    VIRTACCEL_TRY_ASSIGN(Act act, bench.set_up());
    const auto before = bench.books();
    const Act narrow = act;
    auto bindings = bench.bindings_of(act);
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = bench.sample().slots[i];
        Bytes contents(margin, canary);
        contents.insert(contents.end(), slot.before.begin(), slot.before.end());
        contents.resize(contents.size() + margin, canary);
        VIRTACCEL_TRY_ASSIGN(act.buffers[i], bench.buffer(act.context, contents));
        bindings[i].buffer = act.buffers[i];
        bindings[i].range.offset = margin;
    }
    const auto filled = bench.books();
    const auto outcome = bench.try_submit(act, bindings);
    VIRTACCEL_TRY(
        expect_status("A submission of ranges inside their buffers", outcome.status, Status::ok));
    VIRTACCEL_TRY(bench.complete(outcome.event));
    VIRTACCEL_TRY(expect_moved(bench, filled, 0, "a submission of ranges"));
    VIRTACCEL_TRY(expect_unstaged(bench));
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = bench.sample().slots[i];
        Bytes wanted(margin, canary);
        wanted.insert(wanted.end(), slot.after.begin(), slot.after.end());
        wanted.resize(wanted.size() + margin, canary);
        VIRTACCEL_TRY(bench.expect_contents(act.buffers[i], wanted,
                                            say("Around the range of slot (", slot.slot, ")")));
        VIRTACCEL_TRY(bench.release(act.buffers[i]));
    }
    VIRTACCEL_TRY(bench.expect_books(before, "after ranges in larger buffers"));
    return bench.tear_down(narrow);
}

// Puts something else where the program will write.
Check dirty_outputs(const Direct& direct, const Act& act, std::size_t seed) {
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = direct.sample().slots[i];
        if (slot.access == Access::write) {
            VIRTACCEL_TRY(direct.write(act.buffers[i], 0, pattern_of(slot.before.size(), seed)));
        }
    }
    return {};
}

Check submit_and_complete(const Direct& direct, const Act& act) {
    VIRTACCEL_TRY_ASSIGN(const auto event, direct.submit(act));
    return direct.complete(event);
}

// A program's output in a buffer is what a read gives, whatever was there before.
Check outputs_replace_what_was_there(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    for (const std::size_t seed : {1U, 2U, 3U}) {
        VIRTACCEL_TRY(bench.fill(act));
        VIRTACCEL_TRY(dirty_outputs(bench, act, seed));
        VIRTACCEL_TRY(submit_and_complete(bench, act));
        VIRTACCEL_TRY(bench.expect_outputs(act));
    }
    return bench.tear_down(act);
}

Check expect_inputs(const Direct& direct, const Act& act) {
    for (std::size_t i = 0; i < act.buffers.size(); ++i) {
        const SampleSlot& slot = direct.sample().slots[i];
        if (slot.access == Access::read) {
            VIRTACCEL_TRY(direct.expect_contents(act.buffers[i], slot.before,
                                                 say("The input in slot (", slot.slot, ")")));
        }
    }
    return {};
}

Check inputs_stay(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    for (int round = 0; round < 4; ++round) {
        VIRTACCEL_TRY(submit_and_complete(bench, act));
        VIRTACCEL_TRY(expect_inputs(bench, act));
    }
    return bench.tear_down(act);
}

Check memory_for_programs_is_directly_bound(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const auto context, bench.context());
    for (const UsageBit usage :
         {UsageBit::program_input, UsageBit::program_output, UsageBit::mutable_state}) {
        VIRTACCEL_TRY_ASSIGN(const auto made, bench.allocate(context, bench.request(100, usage)));
        VIRTACCEL_TRY(expect(made.properties.direct_binding,
                             "A buffer that a program may use is not directly bound."));
        VIRTACCEL_TRY(bench.release(made.buffer));
    }
    return bench.release(context);
}

// The counters only grow.
Check counters_never_go_back(Bench& bench) {
    auto step = [last = bench.books(), &bench]() mutable {
        const Diagnostics now = bench.books();
        const bool grows = now.explicit_transfer_bytes >= last.explicit_transfer_bytes &&
                           now.direct_bindings >= last.direct_bindings &&
                           now.host_preparation_ns >= last.host_preparation_ns &&
                           now.device_execution_ns >= last.device_execution_ns;
        last = now;
        return expect(grows, "A counter of the backend goes back.");
    };
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(step());
    VIRTACCEL_TRY(bench.run(act));
    VIRTACCEL_TRY(step());
    VIRTACCEL_TRY(bench.tear_down(act));
    VIRTACCEL_TRY(step());
    VIRTACCEL_TRY_ASSIGN(const Act again, bench.set_up());
    VIRTACCEL_TRY(bench.run(again));
    VIRTACCEL_TRY(step());
    return bench.tear_down(again);
}

constexpr std::array rules{
    Rule{"copy.counts-a-write-of-1-byte", "a write of a byte is counted as one", counts_a_write<1>},
    Rule{"copy.counts-a-write-of-4096-bytes", "a write of a page is counted as a page",
         counts_a_write<4096>},
    Rule{"copy.counts-a-write-of-100000-bytes", "a long write is counted by its bytes",
         counts_a_write<100000>},
    Rule{"copy.counts-a-read-of-1-byte", "a read of a byte is counted as one", counts_a_read<1>},
    Rule{"copy.counts-a-read-of-4096-bytes", "a read of a page is counted as a page",
         counts_a_read<4096>},
    Rule{"copy.counts-a-read-of-100000-bytes", "a long read is counted by its bytes",
         counts_a_read<100000>},
    Rule{"copy.counts-parts", "transfers of parts are counted by their bytes", counts_parts},
    Rule{"copy.making-moves-nothing", "zeroing and freeing are no transfers", making_moves_nothing},
    Rule{"copy.transfers-stage-nothing", "a transfer copies once and binds nothing",
         transfers_stage_nothing},
    Rule{"copy.loading-moves-nothing", "a load is no transfer", loading_moves_nothing},
    Rule{"copy.submissions-move-nothing", "a submission is no transfer", submissions_move_nothing},
    Rule{"copy.submissions-stage-nothing", "a submission copies no bound byte",
         submissions_stage_nothing},
    Rule{"copy.bindings-are-counted", "each binding of a submission is counted once",
         bindings_are_counted},
    Rule{"copy.refused-bindings-are-not-counted", "a refused submission binds nothing",
         refused_bindings_are_not_counted},
    Rule{"copy.programs-see-the-last-write", "a program reads what was written last",
         programs_see_the_last_write},
    Rule{"copy.ranges-are-bound-in-place", "a bound range is used where it lies",
         ranges_are_bound_in_place},
    Rule{"copy.outputs-replace-what-was-there", "a read gives what the program wrote",
         outputs_replace_what_was_there},
    Rule{"copy.inputs-stay", "a program leaves its inputs as they are", inputs_stay},
    Rule{"copy.memory-for-programs-is-directly-bound",
         "what a program may use is said to be directly bound",
         memory_for_programs_is_directly_bound},
    Rule{"copy.counters-never-go-back", "the counters of copies and times only grow",
         counters_never_go_back},
};

}  // namespace

Rules copy_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "virtaccel/backend/any_backend.h"
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
#include "virtaccel/conformance/verdict.h"

namespace virtaccel::conformance::further {

using backend::ContextHandle;
using backend::EventHandle;

namespace {

constexpr std::size_t many = 2000;
// For what compiles something, or starts threads.
constexpr std::size_t some = 100;

// `step`, so often; the books are as before each time.
Check repeat(const Direct& direct, std::size_t times, auto step) {
    const auto before = direct.books();
    for (std::size_t round = 0; round < times; ++round) {
        VIRTACCEL_TRY(step(round));
        VIRTACCEL_TRY(direct.expect_books(before, "after a round"));
    }
    return {};
}

Check contexts(Bench& bench) {
    return repeat(bench, many, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
        return bench.release(context);
    });
}

// A case in a context of its own.
Check in_context(Bench& bench, Check (*body)(Bench& bench, ContextHandle context)) {
    VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
    VIRTACCEL_TRY(body(bench, context));
    return bench.release(context);
}

template <Check (*body)(Bench& bench, ContextHandle context)>
Check on_context(Bench& bench) {
    return in_context(bench, body);
}

Check queues(Bench& bench, ContextHandle context) {
    return repeat(bench, many, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const auto queue, bench.queue(context));
        return bench.release(queue);
    });
}

Check buffers(Bench& bench, ContextHandle context) {
    return repeat(bench, many, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 256));
        return bench.release(buffer);
    });
}

Check buffers_of_all_sizes(Bench& bench, ContextHandle context) {
    return repeat(bench, many, [&](std::size_t round) -> Check {
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 1 + ((round * 37) % 4096)));
        return bench.release(buffer);
    });
}

// Buffers that come and go in another order, a few of them at once.
Check buffers_in_other_orders(Bench& bench, ContextHandle context) {
    constexpr std::size_t held = 8;
    const auto before = bench.books();
    std::vector<backend::BufferHandle> buffers;
    for (std::size_t round = 0; round < many; ++round) {
        if (buffers.size() == held) {
            const auto leaving = buffers.begin() + static_cast<std::ptrdiff_t>((round * 5) % held);
            VIRTACCEL_TRY(bench.release(*leaving));
            buffers.erase(leaving);
        }
        VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 1 + ((round * 91) % 2000)));
        buffers.push_back(buffer);
    }
    for (const auto buffer : buffers) {
        VIRTACCEL_TRY(bench.release(buffer));
    }
    return bench.expect_books(before, "after buffers in many orders");
}

Check transfers(Bench& bench, ContextHandle context) {
    VIRTACCEL_TRY_ASSIGN(const auto buffer, bench.buffer(context, 64));
    const auto step = [&](std::size_t round) -> Check {
        const Bytes bytes = pattern_of(32, round);
        VIRTACCEL_TRY(bench.write(buffer, round % 32, bytes));
        VIRTACCEL_TRY_ASSIGN(const Bytes found, bench.read(buffer, round % 32, 32));
        return expect(found == bytes, "The write (", round, ") does not read back.");
    };
    VIRTACCEL_TRY(repeat(bench, many, step));
    return bench.release(buffer);
}

Check refused_alignments(Bench& bench, ContextHandle context) {
    auto wanted = bench.request(1);
    wanted.alignment = std::uint64_t{1} << 63U;
    return repeat(bench, many, [&](std::size_t) -> Check {
        const auto made = bench.backend().allocate(context, wanted);
        return made ? bench.release(made->buffer) : Check{};
    });
}

Check prepared_artifacts(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    return repeat(bench, some, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const auto prepared, bench.prepare());
        bench.backend().abandon(prepared);
        return {};
    });
}

Check refused_artifacts(Bench& bench) {
    return repeat(bench, many, [&](std::size_t) -> Check {
        if (const auto prepared = bench.backend().prepare({.format = 0x7fffffff})) {
            bench.backend().abandon(*prepared);
            return failed("An artifact of an unknown format and no bytes is taken.");
        }
        return {};
    });
}

Check programs(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    VIRTACCEL_TRY_ASSIGN(const ContextHandle context, bench.context());
    const auto step = [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const auto loaded, bench.load(context));
        return bench.release(loaded.program);
    };
    VIRTACCEL_TRY(repeat(bench, some, step));
    return bench.release(context);
}

// A case about one act.
template <Check (*body)(Bench& bench, const Act& act)>
Check on_act(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    VIRTACCEL_TRY(body(bench, act));
    return bench.tear_down(act);
}

Check submissions(Bench& bench, const Act& act) {
    return repeat(bench, many / 2, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        return bench.complete(event);
    });
}

Check submissions_in_bursts(Bench& bench, const Act& act) {
    const std::size_t burst = std::min<std::size_t>(40, bench.identity().limits.events_per_context);
    return repeat(bench, many / 40, [&](std::size_t) -> Check {
        std::vector<EventHandle> events;
        while (events.size() < burst) {
            VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
            events.push_back(event);
        }
        for (const EventHandle event : events) {
            VIRTACCEL_TRY(bench.complete(event));
        }
        return {};
    });
}

Check refused_submissions(Bench& bench, const Act& act) {
    auto bindings = bench.bindings_of(act);
    bindings.back().slot += 1000;
    const auto step = [&](std::size_t) {
        return expect(bench.try_submit(act, bindings).certainty == backend::Certainty::rejected,
                      "A submission to a slot that the program does not have is taken.");
    };
    VIRTACCEL_TRY(repeat(bench, many, step));
    return bench.run(act);
}

Check cancellations(Bench& bench) {
    if (!bench.can(CapabilityBit::event_cancellation)) {
        return skipped("The backend does not advertise the cancellation of events.");
    }
    VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
    const auto step = [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const EventHandle event, bench.submit(act));
        if (bench.backend().cancel(event) == Status::busy) {
            VIRTACCEL_TRY(bench.wait(event));
        }
        return bench.release(event);
    };
    VIRTACCEL_TRY(repeat(bench, many / 2, step));
    return bench.tear_down(act);
}

Check lives(Bench& bench) {
    VIRTACCEL_TRY(bench.need_sample());
    return repeat(bench, some / 2, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const Act act, bench.set_up());
        VIRTACCEL_TRY(bench.run(act));
        return bench.tear_down(act);
    });
}

Check resets(Bench& bench) {
    VIRTACCEL_TRY_ASSIGN(BackendRig* const rig, bench.rig());
    return repeat(bench, many / 10, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(const ContextId context, rig->caller().create_context());
        VIRTACCEL_TRY(rig->caller().create_queue(context));
        VIRTACCEL_TRY(rig->caller().allocate(rig->buffer_request(context, 100, usage_known)));
        return expect(!rig->device().reset().discard,
                      "A reset of orderly objects discards the backend.");
    });
}

Check instances(Bench& bench) {
    return repeat(bench, some / 4, [&](std::size_t) -> Check {
        VIRTACCEL_TRY_ASSIGN(auto made, make_backend(bench.subject()));
        const Direct direct{made, bench.subject()};
        VIRTACCEL_TRY_ASSIGN(const ContextHandle context, direct.context());
        VIRTACCEL_TRY_ASSIGN(const auto buffer, direct.buffer(context, 100));
        VIRTACCEL_TRY(direct.release(buffer));
        return direct.release(context);
    });
}

constexpr std::array rules{
    Rule{"wear.contexts", "contexts come and go 2000 times", contexts},
    Rule{"wear.queues", "queues come and go 2000 times", on_context<queues>},
    Rule{"wear.buffers", "buffers come and go 2000 times", on_context<buffers>},
    Rule{"wear.buffers-of-all-sizes", "buffers of all sizes come and go",
         on_context<buffers_of_all_sizes>},
    Rule{"wear.buffers-in-other-orders", "buffers go in another order than they came",
         on_context<buffers_in_other_orders>},
    Rule{"wear.transfers", "bytes go in and out 2000 times", on_context<transfers>},
    Rule{"wear.refused-alignments", "an unusual alignment is asked for 2000 times",
         on_context<refused_alignments>},
    Rule{"wear.prepared-artifacts", "an artifact is prepared and abandoned 100 times",
         prepared_artifacts},
    Rule{"wear.refused-artifacts", "an artifact is refused 2000 times", refused_artifacts},
    Rule{"wear.programs", "a program is loaded and unloaded 100 times", programs},
    Rule{"wear.submissions", "a program runs 1000 times", on_act<submissions>},
    Rule{"wear.submissions-in-bursts", "a program runs in bursts", on_act<submissions_in_bursts>},
    Rule{"wear.refused-submissions", "a submission is refused 2000 times",
         on_act<refused_submissions>},
    Rule{"wear.cancellations", "a submission is cancelled 1000 times", cancellations, true},
    Rule{"wear.lives", "a whole life, 50 times", lives},
    Rule{"wear.resets", "a device is reset 200 times", resets},
    Rule{"wear.instances", "instances come and go 25 times", instances},
};

}  // namespace

Rules wear_rules() {
    return rules;
}

}  // namespace virtaccel::conformance::further

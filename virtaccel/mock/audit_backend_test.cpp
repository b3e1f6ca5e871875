#include "virtaccel/mock/audit_backend.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/audit.h"
#include "virtaccel/mock/fault.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/mock/script.h"

namespace virtaccel::mock {

namespace {

using backend::Certainty;

// An audited fault backend over a reference backend, with one object of each kind.
struct Bench {
    explicit Bench(const AuditOptions& options = {}) : audit(memory.memory(), options) {
        start();
        context = *backend->create_context();
        queue = *backend->create_queue(context);
        buffer = allocate();
        program = load(context);
    }

    // An instance in the place of the last.
    void start() {
        backend.reset();
        auto reference =
            *backend::make_owned<Reference>(memory.memory(), memory.memory(), ReferenceOptions{});
        auto fault =
            *backend::make_owned<FaultBackend>(memory.memory(), script, std::move(reference));
        backend.emplace(audit, std::move(fault));
    }

    Result<backend::PreparedHandle> prepare() {
        auto bytes = encode({.operation = Operation::barrier});
        const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
        return backend->prepare({.format = reference_format,
                                 .target = reference_target,
                                 .resident_bytes_max = reference_resident_bytes,
                                 .payload = Reader{PieceList::of(pieces)}});
    }

    backend::BufferHandle allocate() {
        return backend->allocate(context, {.bytes = 8, .usage = usage_known})->buffer;
    }

    backend::ProgramHandle load(backend::ContextHandle into) {
        return backend->load(into, *prepare())->program;
    }

    backend::SubmitOutcome submit(backend::BufferHandle bound) {
        const std::array bindings{backend::Binding{.buffer = bound, .range = {0, 8}}};
        return backend->submit({.queue = queue, .program = program, .bindings = bindings});
    }

    Status write(backend::BufferHandle target) {
        Reader nothing;
        return backend->write(target, 0, nothing);
    }

    void release_all() {
        EXPECT_EQ(backend->unload(program).certainty, Certainty::done);
        EXPECT_EQ(backend->free(buffer).certainty, Certainty::done);
        EXPECT_EQ(backend->destroy_queue(queue).certainty, Certainty::done);
        EXPECT_EQ(backend->destroy_context(context).certainty, Certainty::done);
    }

    void script_next(Call call, Action action, Status status) {
        ASSERT_TRUE(script.add({.call = call,
                                .occurrence = script.calls(call) + 1,
                                .action = action,
                                .status = status}));
    }

    virtaccel::testing::CountingMemory memory{host::heap()};
    Audit audit;
    Script script;
    std::optional<AuditBackend> backend;
    backend::ContextHandle context;
    backend::QueueHandle queue;
    backend::BufferHandle buffer;
    backend::ProgramHandle program;
};

TEST(Audit, knows_what_is_held) {
    Bench bench;
    EXPECT_EQ(bench.audit.live(), 4U);
    const auto event = bench.submit(bench.buffer).event;
    EXPECT_EQ(bench.audit.live(Holding::event), 1U);
    const auto prepared = bench.prepare();
    EXPECT_EQ(bench.audit.live(Holding::prepared), 1U);
    EXPECT_EQ(bench.audit.live(), 6U);
    bench.backend->abandon(*prepared);
    EXPECT_EQ(bench.backend->poll(event)->phase, EventPhase::complete);
    EXPECT_EQ(bench.backend->destroy_event(event).certainty, Certainty::done);
    EXPECT_FALSE(bench.audit.is_clean());
    bench.release_all();
    EXPECT_TRUE(bench.audit.is_clean());
    EXPECT_EQ(bench.audit.violation(), Violation::none);
    EXPECT_EQ(bench.audit.sentence(), "");
}

TEST(Audit, passes_on_what_a_caller_does_right) {
    Bench bench;
    std::array bytes{std::byte{'a'}, std::byte{'b'}};
    const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
    Reader source{PieceList::of(pieces)};
    EXPECT_EQ(bench.backend->write(bench.buffer, 1, source), Status::ok);
    bytes.fill(std::byte{0});
    Writer target{PieceList::of(pieces)};
    EXPECT_EQ(bench.backend->read(bench.buffer, 1, target), Status::ok);
    EXPECT_EQ(bytes[1], std::byte{'b'});
    const auto event = bench.submit(bench.buffer).event;
    EXPECT_EQ(bench.backend->cancel(event), Status::ok);
    EXPECT_EQ(bench.backend->cancel(event), Status::busy);
    EXPECT_EQ(bench.backend->poll(event)->phase, EventPhase::cancelled);
    EXPECT_EQ(bench.backend->destroy_event(event).certainty, Certainty::done);
    EXPECT_EQ(bench.backend->name(), "mock");
    EXPECT_EQ(bench.backend->diagnostics().live_resources, 4U);
    EXPECT_EQ(bench.audit.violation(), Violation::none);
}

TEST(Audit, refuses_to_release_twice) {
    Bench bench;
    const auto second = bench.allocate();
    EXPECT_EQ(bench.backend->free(second).certainty, Certainty::done);
    const auto again = bench.backend->free(second);
    EXPECT_EQ(again.certainty, Certainty::rejected);
    EXPECT_EQ(again.status, Status::stale_object);
    EXPECT_EQ(bench.audit.violation(), Violation::released_twice);
    EXPECT_EQ(bench.audit.sentence(),
              "The call (free 2) releases (a buffer) that was released: do that once.");
    EXPECT_EQ(bench.audit.live(Holding::buffer), 1U);
    bench.release_all();
}

TEST(Audit, refuses_to_release_twice_what_was_prepared) {
    Bench bench;
    const auto prepared = *bench.prepare();
    ASSERT_TRUE(bench.backend->load(bench.context, prepared));
    bench.backend->abandon(prepared);
    EXPECT_EQ(bench.audit.violation(), Violation::released_twice);
    EXPECT_EQ(bench.audit.sentence(),
              "The call (abandon 1) releases (a prepared artifact) that was released: do that "
              "once.");
}

TEST(Audit, refuses_the_use_of_what_was_released) {
    const auto violation_of = [](auto use) {
        Bench bench;
        const auto buffer = bench.allocate();
        const auto event = bench.submit(bench.buffer).event;
        const auto context = *bench.backend->create_context();
        EXPECT_EQ(bench.backend->free(buffer).certainty, Certainty::done);
        EXPECT_EQ(bench.backend->cancel(event), Status::ok);
        EXPECT_EQ(bench.backend->destroy_event(event).certainty, Certainty::done);
        EXPECT_EQ(bench.backend->destroy_context(context).certainty, Certainty::done);
        const auto live = bench.audit.live();
        use(bench, buffer, event, context);
        EXPECT_EQ(bench.audit.live(), live);
        return bench.audit.violation();
    };
    EXPECT_EQ(violation_of([](Bench& bench, auto buffer, auto, auto) {
                  EXPECT_EQ(bench.write(buffer), Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto buffer, auto, auto) {
                  Writer nothing;
                  EXPECT_EQ(bench.backend->read(buffer, 0, nothing), Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto buffer, auto, auto) {
                  EXPECT_EQ(bench.submit(buffer).status, Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto, auto event, auto) {
                  EXPECT_EQ(bench.backend->poll(event).error(), Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto, auto event, auto) {
                  EXPECT_EQ(bench.backend->cancel(event), Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto, auto, auto context) {
                  EXPECT_EQ(bench.backend->create_queue(context).error(), Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto, auto, auto context) {
                  EXPECT_EQ(bench.backend->allocate(context, {.bytes = 8}).error(),
                            Status::stale_object);
              }),
              Violation::used_after_release);
    EXPECT_EQ(violation_of([](Bench& bench, auto, auto, auto context) {
                  const auto prepared = *bench.prepare();
                  EXPECT_EQ(bench.backend->load(context, prepared).error(), Status::stale_object);
                  bench.backend->abandon(prepared);
              }),
              Violation::used_after_release);
}

TEST(Audit, refuses_to_release_a_parent_before_its_child) {
    Bench bench;
    const auto outcome = bench.backend->destroy_context(bench.context);
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::busy);
    EXPECT_EQ(bench.audit.violation(), Violation::parent_before_child);
    EXPECT_EQ(bench.audit.sentence(),
              "The call (destroy_context 1) releases (a context) that has children: release those "
              "first.");
    EXPECT_EQ(bench.audit.live(), 4U);
    bench.release_all();
}

TEST(Audit, refuses_to_release_what_a_live_event_retains) {
    const auto violation_of = [](auto release) {
        Bench bench;
        const auto event = bench.submit(bench.buffer).event;
        EXPECT_EQ(bench.backend->poll(event)->phase, EventPhase::complete);
        EXPECT_EQ(release(bench).status, Status::busy);
        EXPECT_EQ(bench.backend->destroy_event(event).certainty, Certainty::done);
        bench.release_all();
        EXPECT_TRUE(bench.audit.is_clean());
        return std::string{bench.audit.sentence()};
    };
    EXPECT_EQ(violation_of([](Bench& bench) { return bench.backend->free(bench.buffer); }),
              "The call (free 1) releases (a buffer) that a live event retains: destroy the event "
              "first.");
    EXPECT_EQ(violation_of([](Bench& bench) { return bench.backend->unload(bench.program); }),
              "The call (unload 1) releases (a program) that a live event retains: destroy the "
              "event first.");
    EXPECT_EQ(violation_of([](Bench& bench) { return bench.backend->destroy_queue(bench.queue); }),
              "The call (destroy_queue 1) releases (a queue) that a live event retains: destroy "
              "the event first.");
}

TEST(Audit, refuses_a_handle_that_was_never_given_out) {
    const std::vector<backend::BufferHandle> unknown{
        {},
        {.object = nullptr, .word = 1},
        {.object = nullptr, .word = ~std::uint64_t{0}},
    };
    for (const backend::BufferHandle handle : unknown) {
        Bench bench;
        EXPECT_EQ(bench.write(handle), Status::stale_object);
        EXPECT_EQ(bench.audit.violation(), Violation::unknown_handle);
        EXPECT_EQ(bench.audit.sentence(),
                  "The call (write 1) names (a buffer) that this backend has never given out: "
                  "name only what it has.");
    }
    // The right object and a wrong word: of the future, of no slot, of another kind.
    const auto next = std::uint64_t{1} << 24U;
    for (const std::uint64_t word : {(9 * next) + 1, next, std::uint64_t{1}, next + 100'000}) {
        Bench bench;
        auto handle = bench.buffer;
        handle.word = word;
        EXPECT_EQ(bench.write(handle), Status::stale_object) << word;
        EXPECT_EQ(bench.audit.violation(), Violation::unknown_handle) << word;
    }
    Bench bench;
    EXPECT_EQ(bench.write({.object = bench.queue.object, .word = bench.queue.word}),
              Status::stale_object);
    EXPECT_EQ(bench.audit.violation(), Violation::unknown_handle);
}

TEST(Audit, refuses_a_handle_of_another_instance) {
    Bench bench;
    const auto old = bench.buffer;
    bench.start();
    EXPECT_EQ(bench.write(old), Status::stale_object);
    EXPECT_EQ(bench.audit.violation(), Violation::unknown_handle);
}

TEST(Audit, refuses_a_submission_over_two_contexts) {
    Bench bench;
    const auto other = *bench.backend->create_context();
    const auto foreign = bench.backend->allocate(other, {.bytes = 8, .usage = usage_known})->buffer;
    EXPECT_EQ(bench.submit(foreign).certainty, Certainty::rejected);
    EXPECT_EQ(bench.audit.violation(), Violation::other_context);
    Bench again;
    const auto elsewhere = *again.backend->create_context();
    again.program = again.load(elsewhere);
    EXPECT_EQ(again.submit(again.buffer).certainty, Certainty::rejected);
    EXPECT_EQ(again.audit.sentence(),
              "The call (submit 1) names (a program) of another context than the queue's: submit "
              "what is of one context.");
    EXPECT_EQ(again.audit.live(Holding::event), 0U);
}

TEST(Audit, keeps_the_first_thing_that_went_wrong) {
    Bench bench;
    EXPECT_EQ(bench.backend->destroy_context(bench.context).status, Status::busy);
    EXPECT_EQ(bench.write({}), Status::stale_object);
    EXPECT_EQ(bench.audit.violation(), Violation::parent_before_child);
}

TEST(Audit, sees_no_wrong_in_what_a_backend_rejects) {
    Bench bench;
    const auto event = bench.submit(bench.buffer).event;
    EXPECT_EQ(bench.backend->destroy_event(event).status, Status::busy);
    bench.script_next(Call::create_queue, Action::error_after, Status::busy);
    EXPECT_EQ(bench.backend->create_queue(bench.context).error(), Status::busy);
    bench.script_next(Call::submit, Action::rejected, Status::busy);
    EXPECT_EQ(bench.submit(bench.buffer).certainty, Certainty::rejected);
    EXPECT_EQ(bench.audit.live(), 5U);
    EXPECT_EQ(bench.audit.violation(), Violation::none);
    EXPECT_FALSE(bench.audit.is_lost());
}

TEST(Audit, is_not_clean_while_something_is_in_doubt) {
    Bench bench;
    const auto second = bench.allocate();
    bench.script_next(Call::free, Action::indeterminate, Status::internal_error);
    EXPECT_EQ(bench.backend->free(second).certainty, Certainty::indeterminate);
    EXPECT_EQ(bench.audit.live(Holding::buffer), 1U);
    EXPECT_EQ(bench.audit.indeterminate(), 1U);
    EXPECT_TRUE(bench.audit.is_lost());
    EXPECT_EQ(bench.audit.acknowledge_discard(), 5U);
    EXPECT_TRUE(bench.audit.is_clean());
    EXPECT_EQ(bench.audit.violation(), Violation::none);
}

TEST(Audit, holds_an_event_whose_submission_nobody_vouches_for) {
    Bench bench;
    bench.script_next(Call::submit, Action::indeterminate, Status::internal_error);
    const auto outcome = bench.submit(bench.buffer);
    EXPECT_EQ(outcome.certainty, Certainty::indeterminate);
    EXPECT_EQ(bench.audit.live(Holding::event), 1U);
    EXPECT_FALSE(bench.audit.is_lost());
    EXPECT_EQ(bench.backend->free(bench.buffer).status, Status::busy);
    EXPECT_EQ(bench.audit.violation(), Violation::retained_by_event);
    EXPECT_EQ(bench.backend->poll(outcome.event)->phase, EventPhase::complete);
    EXPECT_EQ(bench.backend->destroy_event(outcome.event).certainty, Certainty::done);
}

TEST(Audit, refuses_every_call_to_an_instance_that_is_lost) {
    Bench bench;
    const auto prepared = *bench.prepare();
    bench.script_next(Call::write, Action::error_before, Status::device_lost);
    EXPECT_EQ(bench.write(bench.buffer), Status::device_lost);
    EXPECT_TRUE(bench.audit.is_lost());
    // What was prepared belongs to the caller, and is given up all the same.
    bench.backend->abandon(prepared);
    bench.backend->abandon(*bench.prepare());
    EXPECT_EQ(bench.audit.violation(), Violation::none);
    EXPECT_EQ(bench.backend->create_context().error(), Status::device_lost);
    EXPECT_EQ(bench.audit.violation(), Violation::called_after_loss);
    EXPECT_EQ(bench.audit.sentence(),
              "The call (create_context 2) comes to (an instance) that is lost: discard it, and "
              "call nothing but abandon.");
    const auto calls = bench.script.calls(Call::destroy_context);
    EXPECT_EQ(bench.backend->destroy_context(bench.context).status, Status::device_lost);
    EXPECT_EQ(bench.backend->free(bench.buffer).status, Status::device_lost);
    EXPECT_EQ(bench.submit(bench.buffer).status, Status::device_lost);
    EXPECT_EQ(bench.backend->poll({}).error(), Status::device_lost);
    EXPECT_EQ(bench.backend->cancel({}), Status::device_lost);
    EXPECT_EQ(bench.backend->create_queue(bench.context).error(), Status::device_lost);
    EXPECT_EQ(bench.script.calls(Call::destroy_context), calls);
}

TEST(Audit, counts_an_event_that_fails_with_a_lost_device_as_a_loss) {
    Bench bench;
    bench.script_next(Call::submit, Action::event_fails, Status::device_lost);
    const auto event = bench.submit(bench.buffer).event;
    EXPECT_FALSE(bench.audit.is_lost());
    EXPECT_EQ(bench.backend->poll(event)->error, Status::device_lost);
    EXPECT_TRUE(bench.audit.is_lost());
}

TEST(Audit, wants_the_discard_of_an_instance_acknowledged) {
    Bench bench;
    EXPECT_EQ(bench.audit.acknowledge_discard(), 0U) << "the instance is there and not lost";
    EXPECT_EQ(bench.audit.live(), 4U);
    bench.start();
    EXPECT_EQ(bench.audit.live(), 4U) << "the end of an instance is no acknowledgement";
    EXPECT_EQ(bench.audit.acknowledge_discard(), 4U);
    EXPECT_TRUE(bench.audit.is_clean());
}

TEST(Audit, does_not_let_a_discard_cover_what_was_prepared) {
    Bench bench;
    const auto prepared = *bench.prepare();
    bench.script_next(Call::write, Action::error_before, Status::device_lost);
    EXPECT_EQ(bench.write(bench.buffer), Status::device_lost);
    EXPECT_EQ(bench.audit.acknowledge_discard(), 4U);
    EXPECT_EQ(bench.audit.live(Holding::prepared), 1U);
    EXPECT_FALSE(bench.audit.is_clean());
    bench.backend->abandon(prepared);
    EXPECT_TRUE(bench.audit.is_clean());
}

TEST(Audit, reads_an_outcome_that_contradicts_itself_as_a_device_does) {
    struct Contradicts : Forwarding {
        using Forwarding::Forwarding;

        [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle /*context*/) {
            return {Certainty::done, Status::busy};
        }
    };

    Audit audit{host::heap()};
    Reference reference{host::heap()};
    AuditBackend backend{audit, *backend::make_owned<Contradicts>(
                                    host::heap(), backend::AnyBackend::borrow(reference))};
    const auto context = *backend.create_context();
    EXPECT_EQ(backend.destroy_context(context).status, Status::busy);
    EXPECT_EQ(audit.indeterminate(), 1U);
    EXPECT_TRUE(audit.is_lost());
}

TEST(Audit, keeps_the_last_calls) {
    Bench bench{{.calls_kept = 3}};
    bench.script_next(Call::free, Action::indeterminate, Status::device_lost);
    (void)bench.backend->free(bench.buffer);
    std::vector<std::string> lines;
    bench.audit.each_call([&lines](const AuditedCall& call) {
        std::array<char, audited_call_bytes_max> room{};
        lines.emplace_back(print(call, room));
    });
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].substr(0, 10), "prepare 1 ");
    EXPECT_EQ(lines[1].substr(0, 7), "load 1 ");
    EXPECT_EQ(lines[2], "free 1 of the object " + std::to_string(bench.buffer.word) +
                            ": indeterminate DEVICE_LOST");
    EXPECT_EQ(bench.audit.calls(), 6U);
    EXPECT_EQ(bench.audit.calls(Call::free), 1U);
}

TEST(Audit, answers_out_of_memory_beyond_what_it_may_keep) {
    Bench bench{{.objects_max = 64, .calls_kept = 0}};
    std::vector<backend::QueueHandle> queues;
    while (const auto queue = bench.backend->create_queue(bench.context)) {
        queues.push_back(*queue);
        ASSERT_LE(queues.size(), 64U);
    }
    EXPECT_EQ(queues.size(), 60U);
    EXPECT_EQ(bench.prepare().error(), Status::out_of_memory);
    EXPECT_EQ(bench.submit(bench.buffer).status, Status::out_of_memory);
    EXPECT_EQ(bench.backend->destroy_queue(queues.back()).certainty, Certainty::done);
    EXPECT_TRUE(bench.backend->create_queue(bench.context));
    EXPECT_EQ(bench.audit.violation(), Violation::none);
}

TEST(Audit, answers_out_of_memory_if_the_memory_refuses) {
    Bench bench;
    const auto calls = bench.script.calls(Call::submit);
    bench.memory.refuse_after(0);
    EXPECT_EQ(bench.submit(bench.buffer).status, Status::out_of_memory);
    EXPECT_EQ(bench.script.calls(Call::submit), calls);
    bench.memory.refuse_after(1);
    EXPECT_EQ(bench.submit(bench.buffer).status, Status::out_of_memory);
    bench.memory.refuse_nothing();
    virtaccel::testing::CountingMemory nothing{host::heap()};
    nothing.refuse_after(0);
    Audit audit{nothing.memory()};
    Reference reference{host::heap()};
    AuditBackend backend{audit, backend::AnyBackend::borrow(reference)};
    EXPECT_EQ(backend.create_context().error(), Status::out_of_memory);
    EXPECT_EQ(reference.diagnostics().live_resources, 0U);
}

TEST(Audit, gives_back_what_it_allocated) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    {
        Audit audit{memory.memory()};
        Reference reference{host::heap()};
        AuditBackend backend{audit, backend::AnyBackend::borrow(reference)};
        const auto context = *backend.create_context();
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE(backend.create_queue(context));
        }
        EXPECT_EQ(audit.live(), 201U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
    {
        // An event's record has memory of its own, also when it is live to the end.
        Bench bench;
        ASSERT_EQ(bench.submit(bench.buffer).certainty, Certainty::done);
        ASSERT_EQ(bench.submit(bench.buffer).certainty, Certainty::done);
    }
}

}  // namespace

}  // namespace virtaccel::mock

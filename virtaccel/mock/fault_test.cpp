#include "virtaccel/mock/fault.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/forwarding.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::mock {

namespace {

using backend::Certainty;
using backend::EventStatus;

// A fault backend over a reference backend, with one object of each kind.
struct Bench {
    explicit Bench(CompleteAt complete_at = CompleteAt::submit, std::uint32_t pending_polls = 0)
        : backend(script, *backend::make_owned<Reference>(
                              host::heap(), host::heap(),
                              ReferenceOptions{.complete_at = complete_at,
                                               .pending_polls = pending_polls})) {
        context = *backend.create_context();
        queue = *backend.create_queue(context);
        buffer = backend.allocate(context, {.bytes = 8, .usage = usage_known})->buffer;
        program = backend.load(context, *prepare())->program;
        event = submit().event;
    }

    Result<backend::PreparedHandle> prepare() {
        auto bytes = encode({.operation = Operation::barrier});
        const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
        return backend.prepare({.format = reference_format,
                                .target = reference_target,
                                .resident_bytes_max = reference_resident_bytes,
                                .payload = Reader{PieceList::of(pieces)}});
    }

    backend::SubmitOutcome submit() {
        const std::array bindings{backend::Binding{.buffer = buffer, .range = {0, 8}}};
        return backend.submit({.queue = queue, .program = program, .bindings = bindings});
    }

    [[nodiscard]] std::uint64_t live() const { return backend.diagnostics().live_resources; }

    Script script;
    FaultBackend backend;
    backend::ContextHandle context;
    backend::QueueHandle queue;
    backend::BufferHandle buffer;
    backend::ProgramHandle program;
    backend::EventHandle event;
};

TEST(FaultBackend, does_nothing_of_its_own_without_a_script) {
    Bench bench;
    EXPECT_EQ(bench.live(), 5U);
    EXPECT_EQ(bench.script.calls(Call::submit), 1U);
    EXPECT_EQ(bench.backend.destroy_event(bench.event).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.unload(bench.program).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.free(bench.buffer).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.destroy_queue(bench.queue).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.destroy_context(bench.context).certainty, Certainty::done);
    EXPECT_EQ(bench.live(), 0U);
}

TEST(FaultBackend, fails_each_creation_and_question_once) {
    Bench bench;
    const Failure failure{.status = Status::out_of_memory};
    Reader source;
    Writer target;
    for (const Call call : {Call::create_context, Call::allocate, Call::write, Call::read,
                            Call::prepare, Call::create_queue, Call::poll, Call::cancel}) {
        bench.script.fail_next(call, failure);
    }
    EXPECT_EQ(bench.backend.create_context().error(), Status::out_of_memory);
    EXPECT_EQ(bench.backend.allocate(bench.context, {.bytes = 8}).error(), Status::out_of_memory);
    EXPECT_EQ(bench.backend.write(bench.buffer, 0, source), Status::out_of_memory);
    EXPECT_EQ(bench.backend.read(bench.buffer, 0, target), Status::out_of_memory);
    EXPECT_EQ(bench.prepare().error(), Status::out_of_memory);
    EXPECT_EQ(bench.backend.create_queue(bench.context).error(), Status::out_of_memory);
    EXPECT_EQ(bench.backend.poll(bench.event).error(), Status::out_of_memory);
    EXPECT_EQ(bench.backend.cancel(bench.event), Status::out_of_memory);
    EXPECT_EQ(bench.live(), 5U);
    EXPECT_TRUE(bench.backend.create_context());
    EXPECT_TRUE(bench.backend.allocate(bench.context, {.bytes = 8}));
    EXPECT_EQ(bench.backend.write(bench.buffer, 0, source), Status::ok);
    EXPECT_EQ(bench.backend.read(bench.buffer, 0, target), Status::ok);
    EXPECT_TRUE(bench.backend.create_queue(bench.context));
    EXPECT_TRUE(bench.backend.poll(bench.event));
    EXPECT_EQ(bench.backend.cancel(bench.event), Status::busy);
}

TEST(FaultBackend, consumes_what_was_prepared_when_a_load_fails) {
    Bench bench;
    const auto prepared = bench.prepare();
    ASSERT_TRUE(prepared);
    bench.script.fail_next(Call::load, {.status = Status::resource_limit});
    EXPECT_EQ(bench.backend.load(bench.context, *prepared).error(), Status::resource_limit);
    EXPECT_EQ(bench.live(), 5U);
}

TEST(FaultBackend, keeps_what_it_rejects_to_release) {
    Bench bench;
    for (const Call call : {Call::destroy_event, Call::unload, Call::free, Call::destroy_queue,
                            Call::destroy_context}) {
        bench.script.fail_next(call, {.status = Status::busy});
    }
    EXPECT_EQ(bench.backend.destroy_event(bench.event).status, Status::busy);
    EXPECT_EQ(bench.backend.unload(bench.program).status, Status::busy);
    EXPECT_EQ(bench.backend.free(bench.buffer).status, Status::busy);
    EXPECT_EQ(bench.backend.destroy_queue(bench.queue).status, Status::busy);
    EXPECT_EQ(bench.backend.destroy_context(bench.context).status, Status::busy);
    EXPECT_EQ(bench.live(), 5U);
}

TEST(FaultBackend, does_not_say_whether_it_released_what_is_indeterminate) {
    Bench bench;
    bench.script.fail_next(Call::free,
                           {.status = Status::device_lost, .certainty = Certainty::indeterminate});
    const auto outcome = bench.backend.free(bench.buffer);
    EXPECT_EQ(outcome.certainty, Certainty::indeterminate);
    EXPECT_EQ(outcome.status, Status::device_lost);
    EXPECT_EQ(bench.live(), 4U);
}

TEST(FaultBackend, gives_an_event_with_an_indeterminate_submission_only) {
    Bench bench;
    bench.script.fail_next(Call::submit, {.status = Status::internal_error});
    auto outcome = bench.submit();
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(bench.live(), 5U);
    bench.script.fail_next(
        Call::submit, {.status = Status::internal_error, .certainty = Certainty::indeterminate});
    outcome = bench.submit();
    EXPECT_EQ(outcome.certainty, Certainty::indeterminate);
    EXPECT_EQ(outcome.status, Status::internal_error);
    EXPECT_EQ(bench.live(), 6U);
    EXPECT_EQ(bench.backend.destroy_event(outcome.event).certainty, Certainty::done);
}

TEST(FaultBackend, shows_every_event_as_pending_while_they_are_held) {
    Bench bench;
    bench.script.hold_events(true);
    EXPECT_EQ(bench.backend.poll(bench.event)->phase, EventPhase::pending);
    bench.script.hold_events(false);
    EXPECT_EQ(bench.backend.poll(bench.event)->phase, EventPhase::complete);
}

TEST(FaultBackend, lets_something_happen_before_a_call_that_succeeds) {
    Bench bench;
    int happened = 0;
    bench.script.fail_next(Call::create_context,
                           {.status = Status::ok, .state = &happened, .before = [](void* state) {
                                ++*static_cast<int*>(state);
                            }});
    EXPECT_TRUE(bench.backend.create_context());
    EXPECT_TRUE(bench.backend.create_context());
    EXPECT_EQ(happened, 1);
}

// Lets the next call of `call` go wrong like that.
void script_next(Bench& bench, Call call, Action action, Status status) {
    ASSERT_TRUE(bench.script.add({.call = call,
                                  .occurrence = bench.script.calls(call) + 1,
                                  .action = action,
                                  .status = status}));
}

TEST(FaultBackend, undoes_a_creation_that_fails_afterwards) {
    Bench bench;
    for (const Call call :
         {Call::create_context, Call::allocate, Call::prepare, Call::create_queue}) {
        script_next(bench, call, Action::error_after, Status::resource_limit);
    }
    EXPECT_EQ(bench.backend.create_context().error(), Status::resource_limit);
    EXPECT_EQ(bench.backend.allocate(bench.context, {.bytes = 8}).error(), Status::resource_limit);
    EXPECT_EQ(bench.prepare().error(), Status::resource_limit);
    EXPECT_EQ(bench.backend.create_queue(bench.context).error(), Status::resource_limit);
    script_next(bench, Call::load, Action::error_after, Status::resource_limit);
    EXPECT_EQ(bench.backend.load(bench.context, *bench.prepare()).error(), Status::resource_limit);
    EXPECT_EQ(bench.live(), 5U);
    EXPECT_EQ(bench.script.left(), 0U);
}

TEST(FaultBackend, moves_bytes_before_a_transfer_fails_afterwards) {
    Bench bench;
    std::array bytes{std::byte{1}, std::byte{2}};
    const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
    Reader source{PieceList::of(pieces)};
    script_next(bench, Call::write, Action::error_after, Status::busy);
    EXPECT_EQ(bench.backend.write(bench.buffer, 0, source), Status::busy);
    EXPECT_EQ(source.remaining(), 0U);
    Writer target{PieceList::of(pieces)};
    script_next(bench, Call::read, Action::error_after, Status::busy);
    EXPECT_EQ(bench.backend.read(bench.buffer, 0, target), Status::busy);
    EXPECT_EQ(target.remaining(), 0U);
    EXPECT_EQ(bench.backend.diagnostics().explicit_transfer_bytes, 4U);
}

TEST(FaultBackend, takes_a_submission_back_that_can_still_be_cancelled) {
    Bench bench{CompleteAt::poll};
    script_next(bench, Call::submit, Action::error_after, Status::busy);
    const auto outcome = bench.submit();
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::busy);
    EXPECT_EQ(bench.live(), 5U);
}

TEST(FaultBackend, does_not_say_that_a_submission_that_ran_was_rejected) {
    Bench bench{CompleteAt::submit};
    script_next(bench, Call::submit, Action::error_after, Status::busy);
    const auto outcome = bench.submit();
    EXPECT_EQ(outcome.certainty, Certainty::indeterminate);
    EXPECT_EQ(outcome.status, Status::busy);
    EXPECT_EQ(bench.live(), 6U);
    EXPECT_EQ(bench.backend.destroy_event(outcome.event).certainty, Certainty::done);
}

TEST(FaultBackend, lets_an_accepted_event_fail_where_it_would_complete) {
    Bench bench{CompleteAt::poll, 1};
    script_next(bench, Call::submit, Action::event_fails, Status::deadline_expired);
    const auto outcome = bench.submit();
    ASSERT_EQ(outcome.certainty, Certainty::done);
    EXPECT_EQ(bench.backend.poll(outcome.event), EventStatus{});
    EXPECT_EQ(bench.backend.destroy_event(outcome.event).status, Status::busy);
    constexpr EventStatus failed{EventPhase::failed, Status::deadline_expired};
    EXPECT_EQ(bench.backend.poll(outcome.event), failed);
    EXPECT_EQ(bench.backend.poll(outcome.event), failed);
    EXPECT_EQ(bench.backend.cancel(outcome.event), Status::busy);
    EXPECT_EQ(bench.backend.destroy_event(outcome.event).certainty, Certainty::done);
    // The next event takes its place and is its own.
    const auto next = bench.submit();
    (void)bench.backend.poll(next.event);
    EXPECT_EQ(bench.backend.poll(next.event)->phase, EventPhase::complete);
}

TEST(FaultBackend, lets_a_cancellation_win_over_the_failure_of_an_event) {
    Bench bench{CompleteAt::poll};
    script_next(bench, Call::submit, Action::event_fails, Status::device_lost);
    const auto outcome = bench.submit();
    EXPECT_EQ(bench.backend.cancel(outcome.event), Status::ok);
    EXPECT_EQ(bench.backend.poll(outcome.event)->phase, EventPhase::cancelled);
    EXPECT_EQ(bench.backend.destroy_event(outcome.event).certainty, Certainty::done);
}

TEST(FaultBackend, does_not_destroy_an_event_that_fails_with_a_lost_device) {
    for (const CompleteAt complete_at : {CompleteAt::submit, CompleteAt::poll}) {
        Bench bench{complete_at};
        script_next(bench, Call::submit, Action::event_fails, Status::device_lost);
        const auto outcome = bench.submit();
        const auto destroyed = bench.backend.destroy_event(outcome.event);
        EXPECT_EQ(destroyed.certainty, Certainty::rejected);
        EXPECT_EQ(destroyed.status, Status::device_lost);
        EXPECT_EQ(bench.backend.poll(outcome.event),
                  (EventStatus{EventPhase::failed, Status::device_lost}));
        EXPECT_EQ(bench.live(), 6U);
    }
}

TEST(FaultBackend, asks_first_when_a_poll_fails_afterwards) {
    Bench bench{CompleteAt::poll, 1};
    script_next(bench, Call::poll, Action::error_before, Status::busy);
    EXPECT_EQ(bench.backend.poll(bench.event).error(), Status::busy);
    script_next(bench, Call::poll, Action::error_after, Status::busy);
    EXPECT_EQ(bench.backend.poll(bench.event).error(), Status::busy);
    EXPECT_EQ(bench.backend.poll(bench.event)->phase, EventPhase::complete);
}

// A backend that cannot give up what it has just made.
struct Keeps : Forwarding {
    using Forwarding::Forwarding;

    [[nodiscard]] backend::ReleaseOutcome destroy_context(backend::ContextHandle /*context*/) {
        return backend::ReleaseOutcome::rejected(Status::busy);
    }
};

TEST(FaultBackend, is_lost_if_a_creation_cannot_be_undone) {
    Script script = *Script::parse("create_context 1 error_after RESOURCE_LIMIT");
    Reference reference{host::heap()};
    FaultBackend backend{
        script, *backend::make_owned<Keeps>(host::heap(), backend::AnyBackend::borrow(reference))};
    EXPECT_EQ(backend.create_context().error(), Status::device_lost);
    EXPECT_EQ(reference.diagnostics().live_resources, 1U);
}

TEST(FaultBackend, counts_what_is_abandoned) {
    Bench bench;
    bench.backend.abandon(*bench.prepare());
    EXPECT_EQ(bench.script.calls(Call::abandon), 1U);
}

}  // namespace

}  // namespace virtaccel::mock

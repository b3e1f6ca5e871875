#include "virtaccel/mock/reference.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/identity.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/mock/reference_artifact.h"

namespace virtaccel::mock {

namespace {

using backend::Binding;
using backend::BufferHandle;
using backend::Certainty;
using backend::EventHandle;
using backend::EventStatus;
using backend::ProgramHandle;

constexpr EventStatus pending{};
constexpr EventStatus complete{.phase = EventPhase::complete};
constexpr EventStatus cancelled{.phase = EventPhase::cancelled};

// A reference backend with one context and the steps that tests are made of.
struct Bench {
    explicit Bench(const ReferenceOptions& options = {}) : backend(memory.memory(), options) {}

    BufferHandle buffer(std::uint64_t bytes) {
        return backend.allocate({}, {.bytes = bytes, .usage = usage_known})->buffer;
    }

    void write(BufferHandle target, std::uint64_t offset, std::string_view text) {
        std::string copy{text};
        const std::array pieces{
            Piece{.data = reinterpret_cast<std::byte*>(copy.data()), .size = copy.size()}};
        Reader source{PieceList::of(pieces)};
        EXPECT_EQ(backend.write(target, offset, source), Status::ok);
    }

    std::string read(BufferHandle source, std::uint64_t offset, std::size_t bytes) {
        std::string text(bytes, '?');
        const std::array pieces{
            Piece{.data = reinterpret_cast<std::byte*>(text.data()), .size = bytes}};
        Writer target{PieceList::of(pieces)};
        EXPECT_EQ(backend.read(source, offset, target), Status::ok);
        return text;
    }

    Result<backend::PreparedHandle> prepare(std::span<const std::byte> bytes,
                                            backend::Artifact artifact = {
                                                .format = reference_format,
                                                .target = reference_target,
                                                .resident_bytes_max = reference_resident_bytes}) {
        std::vector<std::byte> copy(bytes.begin(), bytes.end());
        const std::array pieces{Piece{.data = copy.data(), .size = copy.size()}};
        artifact.payload = Reader{PieceList::of(pieces)};
        return backend.prepare(artifact);
    }

    ProgramHandle load(const ReferenceProgram& program) {
        return backend.load({}, *prepare(encode(program)))->program;
    }

    backend::SubmitOutcome submit(ProgramHandle program, std::initializer_list<Binding> bindings,
                                  std::uint64_t timeout_ns = 0) {
        return backend.submit({.program = program,
                               .bindings = {bindings.begin(), bindings.size()},
                               .timeout_ns = timeout_ns});
    }

    // Refuses nothing; a test that wants it otherwise asks `memory`.
    testing::CountingMemory memory{host::heap()};
    Reference backend;
};

Binding bind(BufferHandle buffer, std::uint32_t slot, Access access, ByteRange range) {
    return {.buffer = buffer, .range = range, .slot = slot, .access = access};
}

constexpr ReferenceProgram barrier{.operation = Operation::barrier, .first_slot = 0};
constexpr ReferenceProgram copy_program{
    .operation = Operation::copy, .first_slot = 0, .second_slot = 1};

TEST(Reference, is_who_the_fixture_says) {
    const Bench bench;
    const DeviceIdentity identity = bench.backend.identity();
    EXPECT_EQ(backend::validate(identity), Status::ok);
    EXPECT_EQ(std::string(identity.uuid.begin(), identity.uuid.end()), "virtio-accelmock");
    EXPECT_EQ(identity.capabilities.bits, 0x27U);
    EXPECT_EQ(identity.limits, (DeviceLimits{64, 1024, 256, 16, 4096, 256, 4096, 4000}));
}

TEST(Reference, copies_between_buffers) {
    Bench bench;
    const auto source = bench.buffer(100);
    const auto target = bench.buffer(100);
    bench.write(source, 3, "hello");
    const auto outcome = bench.submit(
        bench.load(copy_program),
        {bind(source, 0, Access::read, {3, 5}), bind(target, 1, Access::write, {90, 5})});
    ASSERT_EQ(outcome.certainty, Certainty::done);
    EXPECT_EQ(bench.read(target, 90, 5), std::string(5, '\0'));
    EXPECT_EQ(bench.backend.poll(outcome.event), complete);
    EXPECT_EQ(bench.read(target, 89, 7), std::string("\0hello\0", 7));
}

TEST(Reference, copies_from_a_higher_slot_to_a_lower_one) {
    Bench bench;
    const auto source = bench.buffer(4);
    const auto target = bench.buffer(4);
    bench.write(source, 0, "abcd");
    const auto program =
        bench.load({.operation = Operation::copy, .first_slot = 8, .second_slot = 2});
    const auto outcome = bench.submit(
        program, {bind(target, 2, Access::write, {0, 4}), bind(source, 8, Access::read, {0, 4})});
    EXPECT_EQ(bench.backend.poll(outcome.event), complete);
    EXPECT_EQ(bench.read(target, 0, 4), "abcd");
}

TEST(Reference, copies_overlapping_ranges_as_memmove_does) {
    Bench bench;
    const auto buffer = bench.buffer(10);
    const auto program = bench.load(copy_program);
    for (const auto& [from, to, after] :
         {std::tuple{0U, 2U, "0101234589"}, {4U, 2U, "0145678989"}}) {
        bench.write(buffer, 0, "0123456789");
        const auto outcome = bench.submit(program, {bind(buffer, 0, Access::read, {from, 6}),
                                                    bind(buffer, 1, Access::write, {to, 6})});
        EXPECT_EQ(bench.backend.poll(outcome.event), complete);
        EXPECT_EQ(bench.read(buffer, 0, 10), after);
    }
}

TEST(Reference, fills_and_combines_the_bound_range_only) {
    Bench bench;
    const auto buffer = bench.buffer(6);
    bench.write(buffer, 0, "aaaaaa");
    const auto fill = bench.load({.operation = Operation::fill, .operand = 'b'});
    const auto combine = bench.load({.operation = Operation::exclusive_or, .operand = 3});
    auto outcome = bench.submit(fill, {bind(buffer, 0, Access::write, {1, 4})});
    EXPECT_EQ(bench.backend.poll(outcome.event), complete);
    EXPECT_EQ(bench.read(buffer, 0, 6), "abbbba");
    outcome = bench.submit(combine, {bind(buffer, 0, Access::read_write, {2, 2})});
    EXPECT_EQ(bench.backend.poll(outcome.event), complete);
    EXPECT_EQ(bench.read(buffer, 0, 6), "abaaba");
}

TEST(Reference, changes_nothing_at_a_barrier_of_any_access) {
    Bench bench;
    const auto buffer = bench.buffer(3);
    bench.write(buffer, 0, "xyz");
    const auto program = bench.load(barrier);
    for (const auto access : {Access::read, Access::write, Access::read_write}) {
        const auto outcome = bench.submit(program, {bind(buffer, 0, access, {0, 3})});
        EXPECT_EQ(bench.backend.poll(outcome.event), complete);
        EXPECT_EQ(bench.read(buffer, 0, 3), "xyz");
    }
}

TEST(Reference, refuses_bindings_that_do_not_fit_the_program) {
    Bench bench;
    const auto b = bench.buffer(8);
    const auto expect_refused = [&](const ReferenceProgram& program,
                                    std::initializer_list<Binding> bindings) {
        const auto outcome = bench.submit(bench.load(program), bindings);
        EXPECT_EQ(outcome.certainty, Certainty::rejected);
        EXPECT_EQ(outcome.status, Status::incompatible);
    };
    const Binding read0 = bind(b, 0, Access::read, {0, 4});
    const Binding write1 = bind(b, 1, Access::write, {4, 4});
    expect_refused(barrier, {read0, write1});
    expect_refused(barrier, {write1});
    expect_refused(copy_program, {read0});
    expect_refused(copy_program, {read0, bind(b, 2, Access::write, {4, 4})});
    expect_refused(copy_program, {bind(b, 0, Access::read_write, {0, 4}), write1});
    expect_refused(copy_program, {read0, bind(b, 1, Access::read_write, {4, 4})});
    expect_refused(copy_program, {read0, bind(b, 1, Access::write, {4, 3})});
    expect_refused({.operation = Operation::fill}, {read0});
    expect_refused({.operation = Operation::fill}, {bind(b, 0, Access::read_write, {0, 4})});
    expect_refused({.operation = Operation::exclusive_or}, {bind(b, 0, Access::write, {0, 4})});
    expect_refused({.operation = Operation::exclusive_or},
                   {bind(b, 0, Access::read_write, {0, 4}), write1});
    EXPECT_EQ(bench.backend.diagnostics().direct_bindings, 0U);
}

TEST(Reference, refuses_artifacts_in_the_order_it_documents) {
    Bench bench;
    const auto good = encode(barrier);
    const auto refusal = [&](const backend::Artifact& artifact, std::span<const std::byte> bytes) {
        const auto prepared = bench.prepare(bytes, artifact);
        return prepared ? Status::ok : prepared.error();
    };
    backend::Artifact artifact{.format = reference_format,
                               .target = reference_target,
                               .resident_bytes_max = reference_resident_bytes};
    EXPECT_EQ(refusal(artifact, std::span{good}.first(23)), Status::invalid_argument);
    EXPECT_EQ(refusal(artifact, std::array<std::byte, 25>{}), Status::invalid_argument);
    artifact.resident_bytes_max = 65;
    EXPECT_EQ(refusal(artifact, {}), Status::incompatible);
    artifact.resident_bytes_max = 63;
    EXPECT_EQ(refusal(artifact, good), Status::incompatible);
    artifact.resident_bytes_max = reference_resident_bytes;
    artifact.target[11] = 1;
    EXPECT_EQ(refusal(artifact, good), Status::incompatible);
    artifact.format = 0x544f5341;
    EXPECT_EQ(refusal(artifact, {}), Status::unsupported);
}

TEST(Reference, gives_a_reason_for_every_refusal) {
    Bench bench;
    int reasons = 0;
    backend::Artifact artifact{
        .refusals = {.state = &reasons,
                     .say = [](void* state, std::string_view) { ++*static_cast<int*>(state); }}};
    const auto good = encode(barrier);
    EXPECT_FALSE(bench.prepare(good, artifact));
    artifact.format = reference_format;
    EXPECT_FALSE(bench.prepare(good, artifact));
    artifact.target = reference_target;
    artifact.resident_bytes_max = reference_resident_bytes;
    EXPECT_FALSE(bench.prepare(std::span{good}.first(3), artifact));
    EXPECT_FALSE(bench.prepare(std::array<std::byte, 24>{}, artifact));
    EXPECT_EQ(reasons, 4);
}

// Completes, polls and destroys one barrier per case.
TEST(Reference, completes_events_when_it_is_told_to) {
    const auto polls_until_complete = [](const ReferenceOptions& options) {
        Bench bench{options};
        const auto buffer = bench.buffer(1);
        const auto outcome =
            bench.submit(bench.load(barrier), {bind(buffer, 0, Access::read, {0, 1})});
        int polls = 1;
        while (polls < 10 && *bench.backend.poll(outcome.event) == pending) {
            ++polls;
        }
        return polls;
    };
    EXPECT_EQ(polls_until_complete({.complete_at = CompleteAt::submit}), 1);
    EXPECT_EQ(polls_until_complete({.complete_at = CompleteAt::poll}), 1);
    EXPECT_EQ(polls_until_complete({.complete_at = CompleteAt::poll, .pending_polls = 3}), 4);
    EXPECT_EQ(polls_until_complete({.complete_at = CompleteAt::never}), 10);
}

TEST(Reference, executes_before_the_submission_returns_if_asked) {
    Bench bench{{.complete_at = CompleteAt::submit}};
    const auto buffer = bench.buffer(1);
    const auto program = bench.load({.operation = Operation::fill, .operand = 'q'});
    const auto outcome = bench.submit(program, {bind(buffer, 0, Access::write, {0, 1})});
    EXPECT_EQ(outcome.certainty, Certainty::done);
    EXPECT_EQ(bench.read(buffer, 0, 1), "q");
}

TEST(Reference, lets_the_harness_complete_the_oldest_first) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(1);
    std::vector<EventHandle> events;
    for (const auto operand : std::to_array<std::uint8_t>({'1', '2', '3'})) {
        const auto program = bench.load({.operation = Operation::fill, .operand = operand});
        events.push_back(bench.submit(program, {bind(buffer, 0, Access::write, {0, 1})}).event);
    }
    EXPECT_EQ(bench.backend.oldest_pending(), events[0]);
    EXPECT_TRUE(bench.backend.complete(events[0]));
    EXPECT_FALSE(bench.backend.complete(events[0]));
    EXPECT_EQ(bench.read(buffer, 0, 1), "1");
    EXPECT_EQ(bench.backend.complete_all(), 2U);
    EXPECT_EQ(bench.read(buffer, 0, 1), "3");
    EXPECT_FALSE(bench.backend.oldest_pending());
    for (const EventHandle event : events) {
        EXPECT_EQ(bench.backend.poll(event), complete);
    }
}

TEST(Reference, cancels_a_pending_event_and_executes_nothing) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(1);
    const auto program = bench.load({.operation = Operation::fill, .operand = 'q'});
    const auto event = bench.submit(program, {bind(buffer, 0, Access::write, {0, 1})}).event;
    EXPECT_EQ(bench.backend.cancel(event), Status::ok);
    EXPECT_EQ(bench.backend.cancel(event), Status::busy);
    EXPECT_FALSE(bench.backend.complete(event));
    EXPECT_EQ(bench.backend.poll(event), cancelled);
    EXPECT_EQ(bench.read(buffer, 0, 1), std::string(1, '\0'));
    EXPECT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
}

TEST(Reference, cannot_cancel_without_the_capability) {
    ReferenceOptions options{.complete_at = CompleteAt::never};
    options.identity.capabilities = capabilities_memory;
    Bench bench{options};
    const auto buffer = bench.buffer(1);
    const auto event =
        bench.submit(bench.load(barrier), {bind(buffer, 0, Access::read, {0, 1})}).event;
    EXPECT_EQ(bench.backend.cancel(event), Status::unsupported);
    EXPECT_EQ(bench.backend.poll(event), pending);
}

TEST(Reference, fails_an_event_on_demand) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(1);
    const auto event =
        bench.submit(bench.load(barrier), {bind(buffer, 0, Access::read, {0, 1})}).event;
    EXPECT_TRUE(bench.backend.fail_event(event, Status::deadline_expired));
    EXPECT_FALSE(bench.backend.fail_event(event, Status::device_lost));
    EXPECT_EQ(bench.backend.cancel(event), Status::busy);
    EXPECT_EQ(bench.backend.poll(event),
              (EventStatus{EventPhase::failed, Status::deadline_expired}));
    EXPECT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
}

TEST(Reference, does_not_destroy_the_event_of_a_lost_device) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(1);
    const auto event =
        bench.submit(bench.load(barrier), {bind(buffer, 0, Access::read, {0, 1})}).event;
    EXPECT_TRUE(bench.backend.fail_event(event, Status::device_lost));
    EXPECT_EQ(bench.backend.poll(event), (EventStatus{EventPhase::failed, Status::device_lost}));
    const auto outcome = bench.backend.destroy_event(event);
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::device_lost);
    EXPECT_EQ(bench.backend.diagnostics().indeterminate_resources, 1U);
}

TEST(Reference, keeps_a_pending_event) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(1);
    const auto event =
        bench.submit(bench.load(barrier), {bind(buffer, 0, Access::read, {0, 1})}).event;
    const auto outcome = bench.backend.destroy_event(event);
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::busy);
    EXPECT_TRUE(bench.backend.complete(event));
    EXPECT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.poll(event).error(), Status::stale_object);
}

TEST(Reference, accepts_finite_timeouts) {
    Bench bench;
    const auto buffer = bench.buffer(1);
    const auto program = bench.load(barrier);
    for (const std::uint64_t timeout_ns : {std::uint64_t{1}, ~std::uint64_t{0}}) {
        const auto outcome =
            bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})}, timeout_ns);
        EXPECT_EQ(outcome.certainty, Certainty::done);
        EXPECT_EQ(bench.backend.poll(outcome.event), complete);
    }
}

TEST(Reference, tells_the_notifier_of_every_end) {
    Bench bench{{.complete_at = CompleteAt::never}};
    int told = 0;
    bench.backend.set_notifier(
        {.state = &told, .notify = [](void* state) { ++*static_cast<int*>(state); }});
    const auto buffer = bench.buffer(1);
    const auto program = bench.load(barrier);
    const auto submit = [&] {
        return bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})}).event;
    };
    EXPECT_TRUE(bench.backend.complete(submit()));
    EXPECT_EQ(told, 1);
    EXPECT_EQ(bench.backend.cancel(submit()), Status::ok);
    EXPECT_EQ(told, 2);
    EXPECT_TRUE(bench.backend.fail_event(submit(), Status::internal_error));
    EXPECT_EQ(told, 3);
}

TEST(Reference, keeps_exact_books) {
    Bench bench;
    const auto context = *bench.backend.create_context();
    const auto queue = *bench.backend.create_queue(context);
    const auto buffer = bench.buffer(64);
    const auto program = bench.load(barrier);
    bench.write(buffer, 0, "12345");
    EXPECT_EQ(bench.read(buffer, 0, 3), "123");
    const auto event = bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})}).event;
    auto books = bench.backend.diagnostics();
    EXPECT_EQ(books.explicit_transfer_bytes, 8U);
    EXPECT_EQ(books.direct_bindings, 1U);
    EXPECT_EQ(books.staged_bytes + books.staged_count, 0U);
    EXPECT_EQ(books.retained_bytes, 64U + reference_resident_bytes);
    EXPECT_EQ(books.live_resources, 5U);
    EXPECT_EQ(bench.backend.poll(event), complete);
    EXPECT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.unload(program).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.free(buffer).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.destroy_queue(queue).certainty, Certainty::done);
    EXPECT_EQ(bench.backend.destroy_context(context).certainty, Certainty::done);
    books = bench.backend.diagnostics();
    EXPECT_EQ(books.live_resources, 0U);
    EXPECT_EQ(books.retained_bytes, 0U);
}

TEST(Reference, allocates_nothing_per_submission_in_steady_state) {
    Bench bench;
    const auto buffer = bench.buffer(64);
    const auto program = bench.load(barrier);
    const auto once = [&] {
        const auto event = bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})}).event;
        EXPECT_EQ(bench.backend.poll(event), complete);
        EXPECT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
    };
    once();
    const auto granted = bench.memory.granted();
    for (int i = 0; i < 1000; ++i) {
        once();
    }
    EXPECT_EQ(bench.memory.granted(), granted);
}

TEST(Reference, answers_out_of_memory_wherever_the_memory_refuses) {
    Bench bench;
    bench.memory.refuse_after(0);
    EXPECT_EQ(bench.backend.allocate({}, {.bytes = 8, .usage = usage_known}).error(),
              Status::out_of_memory);
    EXPECT_EQ(bench.prepare(encode(barrier)).error(), Status::out_of_memory);
    bench.memory.refuse_nothing();
    const auto prepared = bench.prepare(encode(barrier));
    bench.memory.refuse_after(0);
    EXPECT_EQ(bench.backend.load({}, *prepared).error(), Status::out_of_memory);
    bench.memory.refuse_nothing();
    const auto buffer = bench.buffer(8);
    const auto program = bench.load(barrier);
    bench.memory.refuse_after(0);
    const auto outcome = bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})});
    EXPECT_EQ(outcome.certainty, Certainty::rejected);
    EXPECT_EQ(outcome.status, Status::out_of_memory);
    bench.memory.refuse_nothing();
    EXPECT_EQ(bench.submit(program, {bind(buffer, 0, Access::read, {0, 1})}).status, Status::ok);
}

TEST(Reference, gives_back_what_it_allocated) {
    testing::CountingMemory memory{host::heap()};
    {
        Reference backend{memory.memory()};
        auto bytes = encode(barrier);
        const std::array pieces{Piece{.data = bytes.data(), .size = bytes.size()}};
        const auto prepared = backend.prepare({.format = reference_format,
                                               .target = reference_target,
                                               .resident_bytes_max = reference_resident_bytes,
                                               .payload = Reader{PieceList::of(pieces)}});
        ASSERT_TRUE(prepared);
        EXPECT_EQ(memory.live_blocks(), 1U);
        backend.abandon(*prepared);
        EXPECT_EQ(memory.live_blocks(), 0U);
        // What is live when a backend is dropped goes with it.
        EXPECT_TRUE(backend.allocate({}, {.bytes = 8, .usage = usage_known}));
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

// The device's thread submits, cancels and destroys; a harness completes and another loses events.
// Each event has one end, and its bytes say which.
TEST(Reference, gives_each_event_one_end_whoever_races) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(256);
    const auto program = bench.load({.operation = Operation::exclusive_or, .operand = 1});
    std::atomic<bool> stop = false;
    std::uint64_t executed = 0;
    std::uint64_t completed = 0;
    {
        std::jthread completer{[&] {
            while (!stop.load()) {
                executed += bench.backend.complete_all();
            }
        }};
        std::jthread failer{[&] {
            while (!stop.load()) {
                if (const auto event = bench.backend.oldest_pending()) {
                    bench.backend.fail_event(*event, Status::internal_error);
                }
            }
        }};
        for (int i = 0; i < 3000; ++i) {
            const auto event =
                bench.submit(program, {bind(buffer, 0, Access::read_write, {1, 100})}).event;
            const bool won = i % 3 == 0 && bench.backend.cancel(event) == Status::ok;
            EventStatus status = *bench.backend.poll(event);
            while (status == pending) {
                status = *bench.backend.poll(event);
            }
            EXPECT_EQ(won, status == cancelled);
            completed += status == complete ? 1 : 0;
            ASSERT_EQ(bench.backend.destroy_event(event).certainty, Certainty::done);
        }
        stop.store(true);
    }
    EXPECT_EQ(executed, completed);
    EXPECT_EQ(bench.read(buffer, 1, 1)[0], static_cast<char>(completed % 2));
}

// Two events on the same bytes, executed by two threads: a race that ThreadSanitizer accepts.
TEST(Reference, executes_on_shared_bytes_without_a_data_race) {
    Bench bench{{.complete_at = CompleteAt::never}};
    const auto buffer = bench.buffer(4096);
    const auto one = bench.load({.operation = Operation::fill, .operand = 1});
    const auto two = bench.load({.operation = Operation::fill, .operand = 2});
    const auto first = bench.submit(one, {bind(buffer, 0, Access::write, {0, 4096})}).event;
    const auto second = bench.submit(two, {bind(buffer, 0, Access::write, {0, 4096})}).event;
    {
        const std::jthread a{[&] { bench.backend.complete(first); }};
        const std::jthread b{[&] { bench.backend.complete(second); }};
        const auto seen = bench.read(buffer, 0, 4096);
        EXPECT_TRUE(std::ranges::all_of(seen, [](char c) { return c >= 0 && c <= 2; }));
    }
    const auto seen = bench.read(buffer, 0, 4096);
    EXPECT_TRUE(std::ranges::all_of(seen, [](char c) { return c == 1 || c == 2; }));
}

}  // namespace

}  // namespace virtaccel::mock

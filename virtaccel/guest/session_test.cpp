#include "virtaccel/guest/session.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/fake_device.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::guest {
namespace {

using testing::Answer;
using testing::FakeDevice;
using wire::Opcode;

template <class T>
T must(Outcome<T> outcome) {
    VIRTACCEL_CHECK(outcome.has_value());
    return *std::move(outcome);
}

// A device, and a session with one object of each kind; the event comes from `submit`.
class Rig {
  public:
    virtaccel::testing::CountingMemory heap{host::heap()};
    FakeDevice device;
    Session session;
    Context context;
    Buffer buffer;
    Program program;
    Queue queue;
    std::array<std::byte, 24> artifact{};

    explicit Rig(const SessionOptions& options = {}, bool reaches_caller_memory = true)
        : session(open(options, reaches_caller_memory)), context(must(session.create_context())) {
        buffer = must(context.allocate({.bytes = 20'000, .usage = usage_known}));
        program = must(context.load({.format = 1, .target = {}, .artifact = artifact}));
        queue = must(context.create_queue());
    }

    [[nodiscard]] Event submit() {
        const auto binding = bind(0, buffer, Access::read_write);
        return must(queue.submit(program, {&binding, 1}));
    }

    [[nodiscard]] Outcome<void> run() {
        return queue.run(program, {bind(0, buffer, Access::read_write)});
    }

    [[nodiscard]] std::uint64_t served(Opcode opcode) { return device.served[opcode]; }

  private:
    [[nodiscard]] Session open(const SessionOptions& options, bool reaches_caller_memory) {
        auto transport = device.transport(heap.memory());
        transport.reaches_caller_memory = reaches_caller_memory;
        return must(Session::open(transport, heap.memory(), options));
    }
};

std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        data[i] = static_cast<std::byte>(i * 11 + i / 256);
    }
    return data;
}

template <class T>
void expect_failure(const Outcome<T>& outcome, Status status, FailureKind kind, Cause cause) {
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().status, status);
    EXPECT_EQ(outcome.error().kind, kind);
    EXPECT_EQ(outcome.error().cause, cause);
}

TEST(Session, cleans_up_everything_in_order) {
    FakeDevice device;
    const std::array<std::byte, 24> artifact{};
    {
        auto session = must(Session::open(device.transport(host::heap()), host::heap()));
        EXPECT_EQ(session.identity(), testing::rig_identity());
        auto context = must(session.create_context());
        const auto program = must(context.load({.format = 1, .target = {}, .artifact = artifact}));
        const auto buffer = must(context.allocate({.bytes = 64, .usage = usage_known}));
        auto queue = must(context.create_queue());
        const auto binding = bind(0, buffer, Access::read);
        const auto event = must(queue.submit(program, {&binding, 1}));
        EXPECT_EQ(device.objects.size(), 5U);
    }
    EXPECT_TRUE(device.objects.empty());
    for (const auto opcode : {Opcode::destroy_event, Opcode::destroy_queue, Opcode::free_buffer,
                              Opcode::unload_program, Opcode::destroy_context}) {
        EXPECT_EQ(device.served[opcode], 1U);
    }
}

TEST(Session, returns_all_its_memory) {
    virtaccel::testing::CountingMemory heap{host::heap()};
    FakeDevice device;
    {
        auto session = must(Session::open(device.transport(heap.memory()), heap.memory()));
        const auto context = must(session.create_context());
        EXPECT_GT(heap.live_blocks(), 0U);
    }
    EXPECT_EQ(heap.live_blocks(), 0U);
    EXPECT_TRUE(device.objects.empty());
}

TEST(Session, answers_out_of_memory_for_every_refused_allocation) {
    virtaccel::testing::CountingMemory heap{host::heap()};
    FakeDevice device;
    for (std::uint64_t allowed = 0;; ++allowed) {
        heap.refuse_after(allowed);
        const auto session = Session::open(device.transport(heap.memory()), heap.memory());
        if (session) {
            EXPECT_GE(allowed, 6U);
            break;
        }
        expect_failure(session, Status::out_of_memory, FailureKind::not_sent, Cause::memory);
        EXPECT_EQ(heap.live_blocks(), 0U);
    }
    EXPECT_EQ(heap.live_blocks(), 0U);
}

TEST(Session, does_not_open_with_a_device_of_another_protocol) {
    FakeDevice device;
    device.config.protocol_major = 2;
    const auto session = Session::open(device.transport(host::heap()), host::heap());
    expect_failure(session, Status::incompatible, FailureKind::not_sent, Cause::config);
}

TEST(Session, does_not_open_with_a_device_whose_identity_breaks_a_rule) {
    FakeDevice device;
    device.identity.limits.contexts = 0;
    const auto session = Session::open(device.transport(host::heap()), host::heap());
    expect_failure(session, Status::device_lost, FailureKind::recovery_required, Cause::reply);
}

TEST(Session, allocates_nothing_for_its_operations) {
    Rig rig;
    const auto data = pattern(64);
    std::vector<std::byte> target(64);
    const auto before = rig.heap.granted();
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(rig.buffer.write(0, data));
        EXPECT_TRUE(rig.buffer.read(0, target));
        EXPECT_TRUE(rig.run());
        const auto context = must(rig.session.create_context());
    }
    EXPECT_EQ(rig.heap.granted(), before);
}

TEST(Session, objects_that_end_too_early_are_released_when_that_is_possible) {
    Rig rig;
    {
        const Event event = rig.submit();
        rig.context = {};
        rig.buffer = {};
        rig.queue = {};
        rig.program = {};
        EXPECT_EQ(rig.session.parked(), 4U);
        EXPECT_EQ(rig.device.objects.size(), 5U);
    }
    EXPECT_EQ(rig.session.parked(), 0U);
    EXPECT_TRUE(rig.device.objects.empty());
    EXPECT_EQ(rig.session.abandoned(), 0U);
}

TEST(Session, more_parked_objects_than_there_is_room_for_are_abandoned) {
    Rig rig{{.parked_max = 2}};
    {
        const Event event = rig.submit();
        rig.buffer = {};
        rig.queue = {};
        rig.program = {};
        EXPECT_EQ(rig.session.parked(), 2U);
        EXPECT_EQ(rig.session.abandoned(), 1U);
    }
    EXPECT_EQ(rig.session.parked(), 0U);
    EXPECT_EQ(rig.device.objects.size(), 2U);
}

TEST(Session, its_objects_outlive_it) {
    FakeDevice device;
    virtaccel::testing::CountingMemory heap{host::heap()};
    {
        std::optional<Session> session =
            must(Session::open(device.transport(heap.memory()), heap.memory()));
        auto context = must(session->create_context());
        session.reset();
        auto buffer = must(context.allocate({.bytes = 8, .usage = usage_known}));
        EXPECT_TRUE(buffer.write(0, pattern(8)));
        EXPECT_EQ(device.objects.size(), 2U);
    }
    EXPECT_TRUE(device.objects.empty());
    EXPECT_EQ(heap.live_blocks(), 0U);
}

TEST(Session, tells_who_the_device_is_again_and_again) {
    Rig rig;
    rig.device.identity.vendor_id = 99;
    const auto info = rig.session.device_info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->vendor_id, 99U);
    EXPECT_EQ(rig.session.identity().vendor_id, 99U);
}

TEST(SessionBuffer, long_transfers_are_split_and_short_ones_are_not) {
    Rig rig;
    const auto data = pattern(15'000);
    std::vector<std::byte> target(15'000);
    ASSERT_TRUE(rig.buffer.write(100, data));
    EXPECT_EQ(rig.served(Opcode::write_buffer), 4U);  // of at most 4,032 bytes
    ASSERT_TRUE(rig.buffer.read(100, target));
    EXPECT_EQ(rig.served(Opcode::read_buffer), 4U);
    EXPECT_EQ(target, data);
    ASSERT_TRUE(rig.buffer.write(0, std::span{data}.first(4032)));
    EXPECT_EQ(rig.served(Opcode::write_buffer), 5U);
}

TEST(SessionBuffer, sizes_around_every_limit_arrive_whole) {
    for (const bool reaches : {true, false}) {
        Rig rig{{.copied_bytes_max = 256, .staging_bytes = 512}, reaches};
        for (const std::size_t bytes : {1U, 63U, 64U, 255U, 256U, 257U, 511U, 512U, 513U, 1024U,
                                        4031U, 4032U, 4033U, 4056U, 8064U, 8065U}) {
            const auto data = pattern(bytes);
            std::vector<std::byte> target(bytes);
            ASSERT_TRUE(rig.buffer.write(7, data));
            ASSERT_TRUE(rig.buffer.read(7, target));
            EXPECT_EQ(target, data) << bytes;
        }
    }
}

TEST(SessionBuffer, memory_out_of_the_devices_reach_is_never_posted) {
    Rig rig{{}, false};
    rig.device.serves = FakeDevice::Serves::at_wait;
    std::size_t pieces_most = 0;
    const std::uint64_t posts = rig.device.posts;
    const auto data = pattern(5000);
    const auto look = [&](const testing::Posted& request) {
        pieces_most = std::max({pieces_most, request.readable.size(), request.writable.size()});
    };
    rig.device.on_post = look;
    ASSERT_TRUE(rig.buffer.write(0, data));
    std::vector<std::byte> target(5000);
    ASSERT_TRUE(rig.buffer.read(0, target));
    EXPECT_EQ(target, data);
    rig.device.on_post = nullptr;  // what it looks at ends before the rig
    EXPECT_GT(rig.device.posts, posts);
    EXPECT_EQ(pieces_most, 1U);
}

TEST(SessionBuffer, ranges_outside_the_buffer_are_not_sent) {
    Rig rig;
    std::vector<std::byte> data(8);
    expect_failure(rig.buffer.write(19'993, data), Status::out_of_bounds, FailureKind::not_sent,
                   Cause::request);
    expect_failure(rig.buffer.read(~std::uint64_t{0}, data), Status::out_of_bounds,
                   FailureKind::not_sent, Cause::request);
    EXPECT_EQ(rig.served(Opcode::write_buffer) + rig.served(Opcode::read_buffer), 0U);
    EXPECT_TRUE(rig.buffer.write(19'992, data));
}

TEST(SessionBuffer, a_refusal_midway_ends_a_long_transfer) {
    Rig rig;
    rig.device.instead.emplace_back(Opcode::write_buffer, Answer{});
    rig.device.instead.emplace_back(Opcode::write_buffer,
                                    Answer::refusal(Status::permission_denied));
    expect_failure(rig.buffer.write(0, pattern(15'000)), Status::permission_denied,
                   FailureKind::retryable, Cause::answer);
    EXPECT_EQ(rig.served(Opcode::write_buffer), 2U);
    rig.device.instead.emplace_back(Opcode::read_buffer, Answer::refusal(Status::busy));
    std::vector<std::byte> target(15'000);
    expect_failure(rig.buffer.read(0, target), Status::busy, FailureKind::retryable, Cause::answer);
}

TEST(SessionProgram, loads_through_staged_memory_if_it_must) {
    Rig rig{{}, false};
    const auto artifact = pattern(1000);
    const auto program = must(rig.context.load({.format = 1, .target = {}, .artifact = artifact}));
    EXPECT_EQ(rig.device.objects.at(program.handle().id().raw).content, artifact);
    rig.heap.refuse_after(0);
    expect_failure(rig.context.load({.format = 1, .target = {}, .artifact = artifact}),
                   Status::out_of_memory, FailureKind::not_sent, Cause::memory);
    rig.heap.refuse_nothing();
}

TEST(SessionObjects, creations_pass_refusals_on) {
    Rig rig;
    const auto refuse = [&rig](Opcode opcode) {
        rig.device.instead.emplace_back(opcode, Answer::refusal(Status::resource_limit));
    };
    refuse(Opcode::create_context);
    expect_failure(rig.session.create_context(), Status::resource_limit, FailureKind::retryable,
                   Cause::answer);
    refuse(Opcode::allocate_buffer);
    expect_failure(rig.context.allocate({.bytes = 1, .usage = usage_known}), Status::resource_limit,
                   FailureKind::retryable, Cause::answer);
    refuse(Opcode::create_queue);
    expect_failure(rig.context.create_queue(), Status::resource_limit, FailureKind::retryable,
                   Cause::answer);
    refuse(Opcode::load_program);
    expect_failure(rig.context.load({.format = 1, .target = {}, .artifact = rig.artifact}),
                   Status::resource_limit, FailureKind::retryable, Cause::answer);
    refuse(Opcode::submit);
    expect_failure(rig.run(), Status::resource_limit, FailureKind::retryable, Cause::answer);
}

TEST(SessionObjects, empty_ones_are_refused_and_end_quietly) {
    Context context;
    Buffer buffer;
    Queue queue;
    Event event;
    const Program program;
    std::array<std::byte, 4> data{};
    const auto gone = [](const auto& outcome) {
        return !outcome && outcome.error().status == Status::stale_object &&
               outcome.error().cause == Cause::handle;
    };
    EXPECT_TRUE(gone(context.allocate({})));
    EXPECT_TRUE(gone(context.load({})));
    EXPECT_TRUE(gone(context.create_queue()));
    EXPECT_TRUE(gone(buffer.write(0, data)));
    EXPECT_TRUE(gone(buffer.read(0, data)));
    EXPECT_TRUE(gone(buffer.release()));
    EXPECT_TRUE(gone(queue.submit(program, {})));
    EXPECT_TRUE(gone(event.poll()));
    EXPECT_TRUE(gone(event.wait()));
    EXPECT_TRUE(gone(event.cancel()));
}

TEST(SessionObjects, a_refused_release_keeps_the_object) {
    Rig rig;
    {
        const Event event = rig.submit();
        expect_failure(rig.buffer.release(), Status::busy, FailureKind::retryable, Cause::answer);
        EXPECT_TRUE(rig.buffer);
    }
    EXPECT_TRUE(rig.buffer.release());
    EXPECT_FALSE(rig.buffer);
    expect_failure(rig.buffer.release(), Status::stale_object, FailureKind::not_sent,
                   Cause::handle);
}

TEST(SessionObjects, moving_one_moves_the_duty_to_release) {
    Rig rig;
    Buffer other = must(rig.context.allocate({.bytes = 8, .usage = usage_known}));
    EXPECT_EQ(rig.device.objects.size(), 5U);
    other = std::move(rig.buffer);
    EXPECT_EQ(rig.device.objects.size(), 4U);
    EXPECT_EQ(other.bytes(), 20'000U);
    const Buffer third{std::move(other)};
    EXPECT_EQ(rig.device.objects.size(), 4U);
    EXPECT_TRUE(third);
}

TEST(SessionEvent, is_polled_until_it_ends_with_pauses_that_grow) {
    Rig rig;
    rig.device.polls_pending = 400;
    Event event = rig.submit();
    const auto start_ns = rig.device.now_ns;
    const auto status = event.wait();
    ASSERT_TRUE(status);
    EXPECT_EQ(status->phase, EventPhase::complete);
    EXPECT_EQ(rig.served(Opcode::poll_event), 401U);
    EXPECT_EQ(rig.device.pauses, 400U);
    // 400 pauses of the shortest length would be 400 us.
    EXPECT_GT(rig.device.now_ns - start_ns, 1'000'000U);
    EXPECT_TRUE(event.release());
}

TEST(SessionEvent, outlives_a_wait_that_times_out) {
    Rig rig;
    rig.device.polls_pending = 1'000'000;
    Event event = rig.submit();
    const auto start_ns = rig.device.now_ns;
    expect_failure(event.wait(5'000), Status::deadline_expired, FailureKind::retryable,
                   Cause::time);
    EXPECT_EQ(rig.device.now_ns - start_ns, 5'000U);
    rig.device.polls_pending = 0;
    EXPECT_TRUE(event.wait(5'000));
}

TEST(SessionEvent, that_fails_or_is_cancelled_fails_the_run) {
    Rig rig;
    rig.device.end = {.state = 2, .error = 8, .reserved = {}};
    expect_failure(rig.run(), Status::deadline_expired, FailureKind::retryable, Cause::event);
    rig.device.end = {.state = 3, .error = 0, .reserved = {}};
    expect_failure(rig.run(), Status::busy, FailureKind::retryable, Cause::event);
    rig.device.end = {.state = 2, .error = 77, .reserved = {}};
    expect_failure(rig.run(), static_cast<Status>(77), FailureKind::unknown_status, Cause::event);
    EXPECT_EQ(rig.device.objects.size(), 4U);
}

TEST(SessionEvent, of_an_indeterminate_submission_is_kept_and_its_doubt_told) {
    Rig rig;
    const auto doubtful = [&rig] {
        // An event that the device has, answered as indeterminate.
        const auto event = rig.submit();
        auto answer = testing::id_answer(event.handle().id().raw);
        answer.status = static_cast<std::uint16_t>(Status::internal_error);
        rig.device.instead.emplace_back(Opcode::submit, answer);
        return rig.submit();
    };
    {
        const Event event = doubtful();
        EXPECT_EQ(event.doubt(), Status::internal_error);
    }
    EXPECT_EQ(rig.device.objects.size(), 4U);
    EXPECT_FALSE(rig.session.is_lost());
}

TEST(SessionEvent, a_run_in_doubt_is_indeterminate) {
    Rig rig;
    const std::uint64_t raw = 100 + rig.device.objects.size() + 1;
    const Event event = rig.submit();
    ASSERT_EQ(event.handle().id().raw, raw);
    auto answer = testing::id_answer(raw);
    answer.status = static_cast<std::uint16_t>(Status::internal_error);
    rig.device.instead.emplace_back(Opcode::submit, answer);
    expect_failure(rig.run(), Status::internal_error, FailureKind::indeterminate, Cause::answer);
    EXPECT_EQ(rig.device.objects.size(), 4U);
}

TEST(SessionEvent, dropped_while_pending_is_cancelled_and_released) {
    Rig rig;
    rig.device.polls_pending = 1'000'000;
    {
        const Event event = rig.submit();
    }
    EXPECT_EQ(rig.served(Opcode::cancel_event), 1U);
    EXPECT_EQ(rig.device.objects.size(), 4U);
}

TEST(SessionEvent, dropped_while_pending_is_waited_for_if_it_cannot_be_cancelled) {
    Rig rig;
    rig.device.identity.capabilities = CapabilityBit::host_visible_memory;
    ASSERT_TRUE(rig.session.device_info());
    rig.device.polls_pending = 50;
    {
        const Event event = rig.submit();
    }
    EXPECT_EQ(rig.served(Opcode::cancel_event), 0U);
    EXPECT_EQ(rig.device.objects.size(), 4U);
}

TEST(SessionEvent, that_will_not_end_is_parked_when_dropped) {
    Rig rig{{.drop_timeout_ns = 100'000}};
    rig.device.identity.capabilities = CapabilityBit::host_visible_memory;
    ASSERT_TRUE(rig.session.device_info());
    rig.device.polls_pending = 1'000'000;
    {
        const Event event = rig.submit();
    }
    EXPECT_EQ(rig.session.parked(), 1U);
    rig.device.polls_pending = 0;
    {
        const auto context = must(rig.session.create_context());
    }
    EXPECT_EQ(rig.session.parked(), 0U);
    EXPECT_EQ(rig.device.objects.size(), 4U);
}

TEST(SessionEvent, assigned_over_ends_like_one_dropped) {
    Rig rig;
    rig.device.polls_pending = 1'000'000;
    Event event = rig.submit();
    event = rig.submit();
    EXPECT_EQ(rig.served(Opcode::cancel_event), 1U);
    EXPECT_EQ(rig.device.objects.size(), 5U);
}

}  // namespace
}  // namespace virtaccel::guest

// What a session does when its device is lost, silent or wrong.

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/fake_device.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

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

class Rig {
  public:
    virtaccel::testing::CountingMemory heap{host::heap()};
    FakeDevice device;
    Session session = must(Session::open(device.transport(heap.memory()), heap.memory(),
                                         {.command_timeout_ns = 1000, .load_timeout_ns = 5000}));
    Context context = must(session.create_context());
    Buffer buffer = must(context.allocate({.bytes = 1000, .usage = usage_known}));
    std::vector<std::byte> data = std::vector<std::byte>(800);

    // After what lost the device: nothing is sent until `recover`, then all is as new.
    void expect_lost_then_recovered() {
        EXPECT_TRUE(session.is_lost());
        const auto posts = device.posts;
        const auto refused = session.create_context();
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, FailureKind::recovery_required);
        EXPECT_FALSE(buffer.read(0, data));
        EXPECT_EQ(device.posts, posts);

        ASSERT_TRUE(session.recover());
        EXPECT_FALSE(session.is_lost());
        const auto stale = buffer.read(0, data);
        ASSERT_FALSE(stale);
        EXPECT_EQ(stale.error().kind, FailureKind::invalidated);
        auto fresh = must(session.create_context());
        EXPECT_TRUE(fresh.allocate({.bytes = 8, .usage = usage_known}));
        EXPECT_EQ(device.objects.size(), 1U);
        context = {};
        buffer = {};
        EXPECT_EQ(device.objects.size(), 1U);
    }
};

template <class T>
void expect_unusable(const Outcome<T>& outcome, Cause cause) {
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().kind, FailureKind::recovery_required);
    EXPECT_EQ(outcome.error().cause, cause);
}

TEST(SessionRecovery, a_device_that_answers_when_waited_for_is_no_loss) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::at_wait;
    EXPECT_TRUE(rig.buffer.write(0, rig.data));
    EXPECT_FALSE(rig.session.is_lost());
}

TEST(SessionRecovery, a_silent_device_is_reset_before_the_call_returns) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::never;
    const auto start_ns = rig.device.now_ns;
    expect_unusable(rig.buffer.read(0, rig.data), Cause::time);
    EXPECT_EQ(rig.device.now_ns - start_ns, 1000U);
    EXPECT_EQ(rig.device.resets, 1U);
    EXPECT_TRUE(rig.device.posted.empty());
    rig.device.serves = FakeDevice::Serves::at_kick;
    rig.expect_lost_then_recovered();
}

TEST(SessionRecovery, a_load_has_a_time_limit_of_its_own) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::never;
    const auto start_ns = rig.device.now_ns;
    expect_unusable(rig.context.load({.format = 1, .target = {}, .artifact = rig.data}),
                    Cause::time);
    EXPECT_EQ(rig.device.now_ns - start_ns, 5000U);
}

TEST(SessionRecovery, waking_early_neither_ends_a_wait_nor_prolongs_it) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::at_wait;
    rig.device.spurious_wakes = 5;
    EXPECT_TRUE(rig.buffer.write(0, rig.data));

    rig.device.serves = FakeDevice::Serves::never;
    rig.device.spurious_wakes = 3;
    rig.device.spurious_wake_ns = 400;
    const auto start_ns = rig.device.now_ns;
    expect_unusable(rig.buffer.write(0, rig.data), Cause::time);
    // The clock starts after the first wake, which took 400.
    EXPECT_EQ(rig.device.now_ns - start_ns, 1400U);
}

TEST(SessionRecovery, waking_without_end_is_not_waiting_without_end) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::never;
    rig.device.spurious_wakes = 1000;
    rig.device.spurious_wake_ns = 300;
    expect_unusable(rig.buffer.write(0, rig.data), Cause::time);
    EXPECT_GT(rig.device.spurious_wakes, 990U);
}

TEST(SessionRecovery, a_broken_ring_loses_the_device_at_once) {
    Rig rig;
    rig.device.serves = FakeDevice::Serves::never;
    rig.device.is_broken = true;
    const auto start_ns = rig.device.now_ns;
    expect_unusable(rig.buffer.write(0, rig.data), Cause::ring);
    EXPECT_EQ(rig.device.now_ns, start_ns);
    EXPECT_EQ(rig.device.resets, 1U);
    rig.device.serves = FakeDevice::Serves::at_kick;
    rig.expect_lost_then_recovered();
}

TEST(SessionRecovery, a_forged_response_loses_the_device) {
    Rig rig;
    Answer forged;
    forged.flags = 1;
    rig.device.instead.emplace_back(Opcode::write_buffer, forged);
    expect_unusable(rig.buffer.write(0, rig.data), Cause::response);
    rig.expect_lost_then_recovered();
}

TEST(SessionRecovery, an_answer_of_device_lost_loses_the_device) {
    Rig rig;
    rig.device.instead.emplace_back(Opcode::write_buffer, Answer::refusal(Status::device_lost));
    const auto written = rig.buffer.write(0, rig.data);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, FailureKind::indeterminate);
    EXPECT_EQ(rig.device.resets, 0U);
    rig.expect_lost_then_recovered();
}

TEST(SessionRecovery, an_event_that_failed_with_device_lost_loses_the_device) {
    Rig rig;
    const std::array<std::byte, 4> artifact{};
    const auto program = must(rig.context.load({.format = 1, .target = {}, .artifact = artifact}));
    auto queue = must(rig.context.create_queue());
    rig.device.end = {.state = 2, .error = 9, .reserved = {}};
    const auto run = queue.run(program, {bind(0, rig.buffer, Access::read)});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().status, Status::device_lost);
    EXPECT_EQ(run.error().kind, FailureKind::indeterminate);
    EXPECT_TRUE(rig.session.is_lost());
}

TEST(SessionRecovery, an_indeterminate_release_leaves_nothing_to_release) {
    Rig rig;
    rig.device.instead.emplace_back(Opcode::free_buffer, Answer::refusal(Status::device_lost));
    const auto released = rig.buffer.release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().kind, FailureKind::indeterminate);
    EXPECT_FALSE(rig.buffer);
    EXPECT_TRUE(rig.session.is_lost());
}

TEST(SessionRecovery, objects_that_end_while_the_device_is_lost_send_nothing) {
    Rig rig;
    rig.device.instead.emplace_back(Opcode::write_buffer, Answer::refusal(Status::device_lost));
    ASSERT_FALSE(rig.buffer.write(0, rig.data));
    const auto posts = rig.device.posts;
    rig.buffer = {};
    rig.context = {};
    EXPECT_EQ(rig.device.posts, posts);
    EXPECT_EQ(rig.session.parked(), 0U);
    EXPECT_EQ(rig.session.abandoned(), 2U);
}

TEST(SessionRecovery, parked_objects_do_not_survive_a_reset) {
    Rig rig;
    rig.context = {};
    EXPECT_EQ(rig.session.parked(), 1U);
    ASSERT_TRUE(rig.session.recover());
    EXPECT_EQ(rig.session.parked(), 0U);
    EXPECT_EQ(rig.session.abandoned(), 1U);
}

TEST(SessionRecovery, a_reset_that_fails_can_be_tried_again) {
    Rig rig;
    rig.device.reset_result = fail(Status::internal_error);
    const auto recovered = rig.session.recover();
    ASSERT_FALSE(recovered);
    EXPECT_EQ(recovered.error().status, Status::internal_error);
    EXPECT_EQ(recovered.error().cause, Cause::config);
    EXPECT_TRUE(rig.session.is_lost());
    rig.device.reset_result = wire::Config{};
    ASSERT_FALSE(rig.session.recover());
    EXPECT_TRUE(rig.session.is_lost());
    rig.device.reset_result = testing::rig_config();
    rig.expect_lost_then_recovered();
}

TEST(SessionRecovery, a_device_that_is_wrong_after_its_reset_stays_lost) {
    Rig rig;
    rig.device.identity.limits.contexts = 0;
    ASSERT_FALSE(rig.session.recover());
    EXPECT_TRUE(rig.session.is_lost());
    rig.device.identity.limits.contexts = 1;
    EXPECT_TRUE(rig.session.recover());
}

TEST(SessionRecovery, new_limits_hold_after_a_reset) {
    Rig rig;
    auto config = testing::rig_config();
    config.request_bytes_max = 200;
    rig.device.reset_result = config;
    ASSERT_TRUE(rig.session.recover());
    auto context = must(rig.session.create_context());
    auto buffer = must(context.allocate({.bytes = 1000, .usage = usage_known}));
    rig.device.served.clear();
    ASSERT_TRUE(buffer.write(0, rig.data));
    EXPECT_EQ(rig.device.served[Opcode::write_buffer], 7U);  // of at most 128 bytes
}

}  // namespace
}  // namespace virtaccel::guest

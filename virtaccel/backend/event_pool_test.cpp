#include "virtaccel/backend/event_pool.h"

#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"

namespace virtaccel::backend {

namespace {

constexpr EventStatus pending{};
constexpr EventStatus complete{.phase = EventPhase::complete};
constexpr EventStatus cancelled{.phase = EventPhase::cancelled};
constexpr EventStatus failed{.phase = EventPhase::failed, .error = Status::internal_error};

TEST(EventCell, goes_from_pending_through_running_to_its_end) {
    EventCell cell;
    const auto use = cell.open();
    EXPECT_EQ(cell.status(use), pending);
    EXPECT_EQ(cell.pending_use(), use);
    ASSERT_TRUE(cell.claim(use));
    EXPECT_EQ(cell.status(use), pending);
    EXPECT_EQ(cell.pending_use(), std::nullopt);
    cell.finish(use, complete);
    EXPECT_EQ(cell.status(use), complete);
}

TEST(EventCell, keeps_the_error_of_a_failure_whole) {
    EventCell cell;
    const auto use = cell.open();
    EXPECT_TRUE(cell.decide(use, failed));
    EXPECT_EQ(cell.status(use), failed);
}

TEST(EventCell, decides_once) {
    EventCell cell;
    const auto use = cell.open();
    EXPECT_TRUE(cell.decide(use, cancelled));
    EXPECT_FALSE(cell.decide(use, failed));
    EXPECT_FALSE(cell.claim(use));
    EXPECT_EQ(cell.status(use), cancelled);
}

TEST(EventCell, is_not_cancelled_while_it_runs) {
    EventCell cell;
    const auto use = cell.open();
    ASSERT_TRUE(cell.claim(use));
    EXPECT_FALSE(cell.decide(use, cancelled));
    EXPECT_FALSE(cell.claim(use));
}

TEST(EventCell, ignores_a_handle_from_an_earlier_use) {
    EventCell cell;
    const auto old_use = cell.open();
    EXPECT_TRUE(cell.decide(old_use, cancelled));
    cell.close();
    EXPECT_EQ(cell.status(old_use), std::nullopt);
    const auto use = cell.open();
    EXPECT_NE(use, old_use);
    EXPECT_FALSE(cell.claim(old_use));
    EXPECT_FALSE(cell.decide(old_use, cancelled));
    EXPECT_EQ(cell.status(old_use), std::nullopt);
    EXPECT_EQ(cell.status(use), pending);
}

TEST(EventCell, lets_exactly_one_of_many_threads_decide) {
    constexpr int rounds = 2000;
    EventCell cell;
    int payload = 0;
    for (int round = 0; round < rounds; ++round) {
        payload = round;
        const auto use = cell.open();
        std::atomic<int> winners = 0;
        int seen = -1;
        {
            const std::jthread runner{[&] {
                if (cell.claim(use)) {
                    seen = payload;
                    cell.finish(use, complete);
                    winners.fetch_add(1);
                }
            }};
            const std::jthread canceller{
                [&] { winners.fetch_add(cell.decide(use, cancelled) ? 1 : 0); }};
        }
        ASSERT_EQ(winners.load(), 1);
        const auto status = cell.status(use);
        ASSERT_TRUE(status == complete || status == cancelled);
        ASSERT_EQ(seen, status == complete ? round : -1);
        cell.close();
    }
}

struct Record {
    EventCell cell;
    int payload = 0;
};

TEST(EventPool, destroys_only_what_has_ended) {
    EventPool<Record> pool{host::heap()};
    Record* const record = pool.take();
    ASSERT_NE(record, nullptr);
    const EventHandle event = pool.publish(*record);
    EXPECT_EQ(pool.live(), 1U);
    EXPECT_EQ(pool.destroy(event).status, Status::busy);
    EXPECT_TRUE(record->cell.decide(event.word, complete));
    EXPECT_EQ(pool.destroy(event).certainty, Certainty::done);
    EXPECT_EQ(pool.live(), 0U);
    EXPECT_EQ(pool.destroy(event).status, Status::stale_object);
    EXPECT_EQ(pool.live(), 0U);
}

TEST(EventPool, keeps_an_event_that_failed_with_a_lost_device) {
    EventPool<Record> pool{host::heap()};
    const EventHandle event = pool.publish(*pool.take());
    EXPECT_TRUE(EventPool<Record>::at(event).cell.decide(
        event.word, {.phase = EventPhase::failed, .error = Status::device_lost}));
    EXPECT_EQ(pool.destroy(event).status, Status::device_lost);
    EXPECT_EQ(pool.live(), 1U);
}

TEST(EventPool, allocates_nothing_in_steady_state) {
    testing::CountingMemory memory{host::heap()};
    {
        EventPool<Record> pool{memory.memory()};
        for (int i = 0; i < 1000; ++i) {
            Record* const record = pool.take();
            const EventHandle event = pool.publish(*record);
            EXPECT_TRUE(record->cell.decide(event.word, complete));
            EXPECT_EQ(pool.destroy(event).certainty, Certainty::done);
        }
        EXPECT_EQ(memory.granted(), 1U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

}  // namespace

}  // namespace virtaccel::backend

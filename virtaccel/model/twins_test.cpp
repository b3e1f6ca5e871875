// Random schedules find each of these devices, and what they find becomes short.
#include "virtaccel/model/testing/twins.h"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/model/explore.h"
#include "virtaccel/model/schedule.h"
#include "virtaccel/model/trial.h"

namespace virtaccel::model {
namespace {

// What the tests of a change explore (explore_test.cpp).
constexpr Search search{.first_seed = 1, .seeds = 150, .steps = 300};

// Whether the search finds the device, in a schedule that names no more than `actions_max` actions,
// is a replay file, parts again, and does not part a good device from the model.
void expect_found(const Cast& cast, std::size_t actions_max) {
    const auto explored = explore(cast, search);
    ASSERT_TRUE(explored.has_value()) << explored.error();
    ASSERT_TRUE(explored->finding.has_value());
    const std::string text = to_text(*explored->finding);
    EXPECT_LE(explored->finding->schedule.actions.size(), actions_max) << text;
    EXPECT_FALSE(explored->finding->what.empty());
    const auto parsed = parse_schedule(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error() << text;
    EXPECT_EQ(*parsed, explored->finding->schedule);
    const auto again = run_schedule(cast, *parsed);
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->has_value()) << text;
    const auto good = run_schedule({.memory = host::heap()}, *parsed);
    ASSERT_TRUE(good.has_value());
    EXPECT_FALSE(good->has_value()) << text << (**good).what;
}

template <class T>
void expect_line_found(std::size_t actions_max) {
    T line;
    expect_found({.memory = host::heap(), .line = &line}, actions_max);
}

template <class B>
void expect_backend_found(std::size_t actions_max) {
    expect_found({.memory = host::heap(), .wrap = &testing::wrap_in<B>}, actions_max);
}

TEST(RandomSchedules, find_a_device_that_answers_writes_while_busy) {
    expect_line_found<testing::AnswersWritesWhileBusy>(7);
}

TEST(RandomSchedules, find_a_device_that_calls_stale_invalid) {
    expect_line_found<testing::CallsStaleInvalid>(1);
}

TEST(RandomSchedules, find_a_device_that_keeps_destroyed_events) {
    expect_line_found<testing::KeepsDestroyedEvents>(7);
}

TEST(RandomSchedules, find_a_device_that_issues_an_id_twice) {
    expect_line_found<testing::IssuesAnIdTwice>(2);
}

TEST(RandomSchedules, find_a_device_that_judges_room_first) {
    expect_line_found<testing::JudgesRoomFirst>(1);
}

TEST(RandomSchedules, find_a_device_that_answers_without_room) {
    expect_line_found<testing::AnswersWithoutRoom>(1);
}

TEST(RandomSchedules, find_a_device_that_forgets_the_error) {
    expect_line_found<testing::ForgetsTheError>(7);
}

TEST(RandomSchedules, find_a_device_that_writes_past_the_used_length) {
    expect_line_found<testing::WritesPastTheUsedLength>(3);
}

TEST(RandomSchedules, find_a_backend_that_leaves_a_buffer_dirty) {
    expect_backend_found<testing::LeavesABufferDirty>(2);
}

TEST(RandomSchedules, find_a_backend_that_writes_into_a_neighbour) {
    expect_backend_found<testing::WritesIntoANeighbour>(5);
}

TEST(RandomSchedules, find_a_backend_that_stops_one_byte_short) {
    expect_backend_found<testing::StopsOneByteShort>(7);
}

TEST(RandomSchedules, find_a_backend_that_cancels_in_words_only) {
    expect_backend_found<testing::CancelsInWordsOnly>(7);
}

TEST(RandomSchedules, find_a_backend_that_completes_too_early) {
    expect_backend_found<testing::CompletesTooEarly>(7);
}

}  // namespace
}  // namespace virtaccel::model

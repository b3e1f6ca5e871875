// All interleavings of the two ends of a small split ring, and ends that break one rule each.
#include "tests/worlds/ring_world.h"

#include <cstdint>
#include <iostream>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/worlds/deeper.h"
#include "tests/worlds/exploration.h"
#include "tests/worlds/ring_ends.h"

namespace virtaccel::worlds {
namespace {

Outcome run(const RingWorldOptions& options) {
    RingWorld world{options};
    const Outcome outcome = explore(world);
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::cout << summary(test->name(), outcome) << "  real code run " << world.runs() << " times\n";
    return outcome;
}

void expect_right(const RingWorldOptions& options) {
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.broken, "");
    EXPECT_TRUE(outcome.complete);
    EXPECT_GT(outcome.finished, 0U);
}

void expect_caught(const RingWorldOptions& options, std::string_view rule) {
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.broken, rule);
}

TEST(SmallRing, of_two_keeps_the_rules_between_any_two_accesses) {
    expect_right({.size = 2,
                  .chains = deeper<std::uint8_t>(3),
                  .shapes = {Shape::pair, Shape::unreachable}});
}

TEST(SmallRing, of_two_keeps_the_rules_across_the_wrap_of_its_indexes) {
    expect_right({.size = 2, .first_index = 65534, .chains = deeper<std::uint8_t>(4), .resets = 0});
}

TEST(SmallRing, of_two_keeps_the_rules_when_stores_are_late) {
    expect_right({.size = 2,
                  .chains = deeper<std::uint8_t>(2),
                  .resets = 0,
                  .stores = Stores::in_order,
                  .late_stores_max = 3});
}

TEST(SmallRing, of_two_keeps_the_rules_at_a_reset_when_stores_are_late) {
    expect_right({.size = 2,
                  .chains = deeper<std::uint8_t>(2),
                  .stores = Stores::in_order,
                  .late_stores_max = 2,
                  .descriptors_apart = false});
}

TEST(SmallRing, of_two_keeps_the_rules_when_stores_are_late_and_out_of_order) {
    expect_right({.size = 2,
                  .chains = deeper<std::uint8_t>(2),
                  .resets = 0,
                  .stores = Stores::in_any_order,
                  .late_stores_max = 3});
}

TEST(SmallRing, of_four_keeps_the_rules_between_any_two_accesses) {
    expect_right(
        {.size = 4, .chains = deeper<std::uint8_t>(2), .shapes = {Shape::pair, Shape::triple}});
}

TEST(SmallRing, of_four_keeps_the_rules_with_chains_of_every_shape) {
    expect_right({.size = 4,
                  .chains = deeper<std::uint8_t>(2),
                  .resets = 0,
                  .shapes = {Shape::pair, Shape::triple, Shape::quad, Shape::unreachable},
                  .descriptors_apart = false});
}

TEST(SmallRing, of_four_keeps_the_rules_across_the_wrap_of_its_indexes) {
    expect_right({.size = 4, .first_index = 65535, .chains = deeper<std::uint8_t>(2), .resets = 0});
}

TEST(SmallRing, of_four_keeps_the_rules_when_stores_are_late) {
    expect_right({.size = 4,
                  .chains = deeper<std::uint8_t>(2),
                  .resets = 0,
                  .stores = Stores::in_order,
                  .late_stores_max = 2,
                  .descriptors_apart = false});
}

// A driver that is right, and is what the broken ones below are made of.
TEST(SmallRing, finds_nothing_wrong_with_a_plain_driver) {
    expect_right({.size = 4, .chains = 2, .resets = 0, .flaw = Flaw::plain});
}

TEST(BrokenRing, is_caught_without_fences_where_stores_are_late) {
    RingWorldOptions options{.chains = 1, .resets = 0, .flaw = Flaw::without_fences};
    expect_right(options);
    options.stores = Stores::in_order;
    const Outcome outcome = run(options);
    EXPECT_TRUE(outcome.broken == ring_rules::lost_kick ||
                outcome.broken == ring_rules::lost_interrupt);
}

TEST(BrokenRing, is_caught_when_the_device_does_not_look_again) {
    expect_caught({.resets = 0, .flaw = Flaw::device_never_looks}, ring_rules::lost_kick);
}

TEST(BrokenRing, is_caught_when_the_driver_does_not_look_again) {
    expect_caught({.resets = 0, .flaw = Flaw::never_looks_again}, ring_rules::lost_interrupt);
}

TEST(BrokenRing, is_caught_when_the_driver_asks_too_early_whether_to_kick) {
    expect_caught({.resets = 0, .flaw = Flaw::kicks_by_memory}, ring_rules::lost_kick);
}

TEST(BrokenRing, is_caught_when_the_device_asks_too_early_whether_to_interrupt) {
    expect_caught({.resets = 0, .flaw = Flaw::interrupts_by_memory}, ring_rules::lost_interrupt);
}

TEST(BrokenRing, is_caught_when_a_head_is_freed_twice) {
    expect_caught({.size = 4, .resets = 0, .flaw = Flaw::frees_twice}, ring_rules::wrong_free);
}

TEST(BrokenRing, is_caught_when_the_index_is_published_before_the_entry) {
    expect_caught({.size = 4, .resets = 0, .flaw = Flaw::publishes_first}, ring_rules::wrong_chain);
}

TEST(BrokenRing, is_caught_at_the_wrap_when_indexes_are_compared_by_size) {
    RingWorldOptions options{.chains = 3, .resets = 0, .flaw = Flaw::compares_indexes};
    expect_right(options);
    options.first_index = 65534;
    expect_caught(options, ring_rules::wrong_completion);
}

TEST(BrokenRing, is_caught_when_a_chain_is_completed_twice) {
    expect_caught({.resets = 0, .flaw = Flaw::completes_twice}, ring_rules::unknown_completion);
}

TEST(BrokenRing, is_caught_when_a_used_length_is_wrong) {
    expect_caught({.resets = 0, .flaw = Flaw::counts_used_wrong}, ring_rules::wrong_length);
}

TEST(BrokenRing, is_caught_when_a_chain_outlives_a_reset) {
    expect_caught({.resets = 1, .flaw = Flaw::ignores_reset}, ring_rules::stale_touch);
}

}  // namespace
}  // namespace virtaccel::worlds

// A device, and the whole stack, under every single fault and every pair of faults that a life can
// meet. Each run ends with nothing left over or with a discard, never with a leak or a lie: life.h
// says what is compared. The counts are printed.

#include "tests/faults/enumeration.h"

#include <array>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/faults/life.h"
#include "virtaccel/base/status.h"

namespace virtaccel::faults {

namespace {

// Every failure that there is.
constexpr std::array every_status{Status::unsupported,
                                  Status::incompatible,
                                  Status::invalid_argument,
                                  Status::out_of_bounds,
                                  Status::busy,
                                  Status::out_of_memory,
                                  Status::resource_limit,
                                  Status::deadline_expired,
                                  Status::device_lost,
                                  Status::permission_denied,
                                  Status::stale_object,
                                  Status::internal_error};
static_assert(every_status.size() == std::size(status_rows) - 1);

// The two that a device and a session treat each in a way of its own: the device is lost, or the
// object is kept. All others are kept as BUSY is, which the single faults show.
constexpr std::array telling_statuses{Status::device_lost, Status::busy};

void expect_nothing_wrong(std::string_view name, const Scenario& scenario) {
    Tally tally;
    enumerate_singles(scenario, every_status, tally);
    enumerate_pairs(scenario, telling_statuses, tally);
    std::string pair_statuses;
    for (const Status status : telling_statuses) {
        pair_statuses += (pair_statuses.empty() ? "" : ", ") + std::string{status_name(status)};
    }
    std::printf("faults: %s: %llu singles (%zu statuses), %llu pairs (of %s; both met in %llu)\n",
                std::string{name}.c_str(), static_cast<unsigned long long>(tally.singles),
                every_status.size(), static_cast<unsigned long long>(tally.pairs),
                pair_statuses.c_str(), static_cast<unsigned long long>(tally.pairs_met));
    EXPECT_EQ(tally.wrong, 0U);
    for (const std::string& finding : tally.findings) {
        ADD_FAILURE() << finding;
    }
    EXPECT_GT(tally.singles, 500U);
    EXPECT_GT(tally.pairs_met, 4000U);
}

TEST(Faults, leave_a_device_clean_or_to_be_discarded) {
    expect_nothing_wrong("device alone, released",
                         {.hands = device_alone, .ending = Ending::release});
}

TEST(Faults, leave_a_device_clean_or_to_be_discarded_by_a_reset) {
    expect_nothing_wrong("device alone, reset", {.hands = device_alone, .ending = Ending::reset});
}

TEST(Faults, leave_the_whole_stack_clean_or_to_be_discarded) {
    expect_nothing_wrong("whole stack, released",
                         {.hands = whole_stack, .ending = Ending::release});
}

TEST(Faults, leave_the_whole_stack_clean_or_to_be_discarded_by_a_recovery) {
    expect_nothing_wrong("whole stack, reset", {.hands = whole_stack, .ending = Ending::reset});
}

TEST(Faults, leave_the_whole_stack_clean_or_to_be_discarded_when_a_program_just_ends) {
    expect_nothing_wrong("whole stack, dropped", {.hands = whole_stack, .ending = Ending::drop});
}

}  // namespace

}  // namespace virtaccel::faults

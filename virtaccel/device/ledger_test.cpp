#include "virtaccel/device/ledger.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace virtaccel::device {
namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0};

TEST(Account, affords_exactly_its_budget) {
    Account account(100);
    EXPECT_TRUE(account.affords(100));
    EXPECT_FALSE(account.affords(101));
    account.charge(60);
    EXPECT_TRUE(account.affords(40));
    EXPECT_FALSE(account.affords(41));
    EXPECT_FALSE(account.affords(largest));
}

TEST(Account, refuses_a_refund_that_was_never_charged) {
    Account account(100);
    account.charge(60);
    EXPECT_FALSE(account.refund(61));
    EXPECT_EQ(account.charged_bytes(), 60U);
    EXPECT_TRUE(account.refund(60));
    EXPECT_EQ(account.charged_bytes(), 0U);
}

TEST(Account, holds_reserved_room_until_it_is_given_up) {
    Account account(100);
    account.reserve(70);
    EXPECT_FALSE(account.affords(31));
    EXPECT_EQ(account.charged_bytes(), 0U);
    account.unreserve(70);
    EXPECT_TRUE(account.affords(100));
    account.reserve(10);
    account.clear_reservations();
    EXPECT_TRUE(account.affords(100));
}

}  // namespace
}  // namespace virtaccel::device

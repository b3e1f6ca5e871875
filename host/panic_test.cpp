#include "host/panic.h"

#include <gtest/gtest.h>

namespace virtaccel {
namespace {

TEST(PanicDeathTest, names_the_invariant_and_the_place) {
    const int two = 2;
    EXPECT_DEATH(
        VIRTACCEL_CHECK(two == 3),
        "virtaccel: An invariant \\(two == 3\\) does not hold \\(panic_test.cpp:[0-9]+\\)");
}

TEST(PanicDeathTest, passes_what_holds) {
    int calls = 0;
    VIRTACCEL_CHECK(++calls == 1);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace virtaccel

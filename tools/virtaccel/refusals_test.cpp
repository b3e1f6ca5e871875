#include "tools/virtaccel/refusals.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "tools/virtaccel/failure.h"
#include "virtaccel/base/status.h"

namespace virtaccel::cli {
namespace {

TEST(Refusals, shows_the_first_reasons_and_says_that_there_are_more) {
    Refusals refusals;
    testing::internal::CaptureStderr();
    for (std::uint32_t i = 0; i < Refusals::shown_max + 5; ++i) {
        refusals.sink()("It is Monday.");
    }
    const std::string shown = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(shown, '\n'), Refusals::shown_max + 1);
    EXPECT_TRUE(shown.starts_with("virtaccel: It is Monday.\n"));
    EXPECT_TRUE(shown.ends_with("\nvirtaccel: More reasons than 1000 are not shown.\n"));
}

TEST(Refusals, tells_a_refusal_from_a_host_that_could_not) {
    Refusals refusals;
    const auto refused = refusals.judge("cpu", "m.tosa", Status::incompatible);
    EXPECT_EQ(refused.code, Exit::refused);
    EXPECT_EQ(refused.message,
              "The backend (cpu) refuses the model (m.tosa) with INCOMPATIBLE; choose a backend "
              "that runs such models.");
    const auto failed = refusals.judge("cpu", "m.tosa", Status::out_of_memory);
    EXPECT_EQ(failed.code, Exit::failed);
    EXPECT_EQ(failed.message,
              "The model (m.tosa) cannot be loaded on the backend (cpu): OUT_OF_MEMORY; free "
              "memory or choose a smaller model.");
    testing::internal::CaptureStderr();
    refusals.sink()("It needs too much.");
    testing::internal::GetCapturedStderr();
    EXPECT_EQ(refusals.judge("cpu", "m.tosa", Status::resource_limit).code, Exit::refused);
}

}  // namespace
}  // namespace virtaccel::cli

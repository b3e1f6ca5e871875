#include "virtaccel/device/dispatch.h"

#include <gtest/gtest.h>

#include "virtaccel/base/status.h"
#include "virtaccel/device/core.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/handlers.h"  // IWYU pragma: keep, the concept looks for them

namespace virtaccel::device {
namespace {

struct Everything {};

template <Opcode op>
Answer on(Everything& /*host*/, const Call<op>& /*call*/) {
    return Status::unsupported;
}

// Has a handler for every command but one.
struct AlmostEverything {};

template <Opcode op>
    requires(op != Opcode::cancel_event)
Answer on(AlmostEverything& /*host*/, const Call<op>& /*call*/) {
    return Status::unsupported;
}

TEST(Dispatch, sees_a_row_of_the_command_table_without_a_handler) {
    static_assert(handles_every_command<Core>);
    static_assert(handles_every_command<Everything>);
    static_assert(!handles_every_command<AlmostEverything>);
    static_assert(Handles<AlmostEverything, Opcode::poll_event>);
    static_assert(!Handles<AlmostEverything, Opcode::cancel_event>);
}

TEST(Answer, tells_its_five_kinds_apart) {
    EXPECT_TRUE(Answer{Status::ok}.ok());
    EXPECT_TRUE(Answer{Status::ok}.replies());
    const Answer failure{Status::internal_error};
    EXPECT_FALSE(failure.ok() || failure.replies() || failure.deferred() || failure.silent());
    EXPECT_EQ(failure.status(), Status::internal_error);
    const auto indeterminate = Answer::with_reply(Status::device_lost);
    EXPECT_TRUE(indeterminate.replies());
    EXPECT_FALSE(indeterminate.ok());
    EXPECT_EQ(indeterminate.status(), Status::device_lost);
    EXPECT_TRUE(Answer::later().deferred() && !Answer::later().replies());
    EXPECT_TRUE(Answer::silence().silent() && !Answer::silence().replies());
}

}  // namespace
}  // namespace virtaccel::device

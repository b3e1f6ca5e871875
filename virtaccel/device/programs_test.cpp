// Programs: loads against the budget and the backend's own report.
#include <cstdint>

#include <gtest/gtest.h>

#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::device {
namespace {

using testing::DeviceRig;
using testing::Ending;
using testing::Operation;
using wire::Opcode;

class ProgramTest : public DeviceRig {
  public:
    testing::Reply try_load(std::uint64_t resident_bytes = 64) {
        auto record = artifact(context_id);
        record.resident_bytes = resident_bytes;
        return call<Opcode::load_program>(record, artifact_bytes());
    }

    ContextId context_id = context();
};

TEST_F(ProgramTest, are_charged_what_they_keep_not_what_they_were_allowed) {
    backend->resident_bytes = 100;
    const auto id = made<ProgramKind>(try_load(4000));
    EXPECT_EQ(device().holdings().program_bytes, 100U);
    EXPECT_EQ(call<Opcode::unload_program>({id}).status, Status::ok);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
}

TEST_F(ProgramTest, over_their_ceiling_are_given_back) {
    backend->resident_bytes = 65;
    const auto live = backend->live();
    EXPECT_TRUE(try_load(64).refuses(Status::resource_limit));
    EXPECT_EQ(backend->live(), live);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
    EXPECT_FALSE(device().needs_reset());
}

TEST_F(ProgramTest, that_cannot_be_given_back_lose_the_device) {
    backend->resident_bytes = 65;
    backend->next(Operation::unload, Ending::rejected(Status::busy));
    EXPECT_TRUE(try_load(64).refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
    EXPECT_EQ(device().holdings().quarantined, (Tally{1, 65}));
}

TEST_F(ProgramTest, fill_the_budget_exactly) {
    backend->resident_bytes = 4000;
    EXPECT_EQ(try_load(4096).status, Status::ok);
    EXPECT_TRUE(try_load(97).refuses(Status::resource_limit));
    backend->resident_bytes = 96;
    EXPECT_EQ(try_load(96).status, Status::ok);
    EXPECT_EQ(device().holdings().program_bytes, 4096U);
}

TEST_F(ProgramTest, that_a_backend_refuses_leave_nothing_behind) {
    for (const auto status : {Status::unsupported, Status::incompatible, Status::invalid_argument,
                              Status::resource_limit}) {
        backend->next(Operation::prepare, Ending::rejected(status));
        EXPECT_TRUE(try_load().refuses(status));
        backend->next(Operation::load, Ending::rejected(status));
        EXPECT_TRUE(try_load().refuses(status));
    }
    backend->next(Operation::load, Ending::rejected(static_cast<Status>(40000)));
    EXPECT_TRUE(try_load().refuses(Status::internal_error));
    EXPECT_EQ(backend->live(), 1U) << "the context";
    EXPECT_FALSE(device().needs_reset());
}

TEST_F(ProgramTest, lose_the_device_when_a_load_says_so) {
    backend->next(Operation::load, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(try_load().refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
}

}  // namespace
}  // namespace virtaccel::device

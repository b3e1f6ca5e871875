#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"

namespace virtaccel::device {
namespace {

using testing::Ending;
using testing::Operation;
using testing::PopulatedRig;
using wire::Opcode;

class ResetTest : public PopulatedRig {
  public:
    // A reset after which the backend must be dropped.
    ResetReport expect_discard(Tally released, Tally quarantined) {
        const auto report = device().reset();
        EXPECT_TRUE(report.discard);
        EXPECT_EQ(report.released, released);
        EXPECT_EQ(report.quarantined, quarantined);
        EXPECT_TRUE(device().discard_required());
        EXPECT_TRUE(call<Opcode::get_device_info>().refuses(Status::device_lost));
        const auto calls = backend->calls() + backend->calls(Operation::poll);
        const auto again = device().reset();
        EXPECT_TRUE(again.discard) << "it is sticky";
        EXPECT_EQ(again.released, Tally{});
        EXPECT_EQ(again.quarantined, quarantined);
        EXPECT_EQ(backend->calls() + backend->calls(Operation::poll), calls)
            << "later resets call no backend";
        return report;
    }

    static constexpr std::uint64_t all_bytes = 256 + 64;  // one buffer, one program
};

TEST_F(ResetTest, releases_everything_users_before_what_they_use) {
    one_event();
    one_event();
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released, (Tally{6, all_bytes}));
    EXPECT_EQ(report.quarantined, Tally{});
    EXPECT_EQ(backend->live(), 0U);
    const std::vector<Operation> order{Operation::destroy_event, Operation::destroy_event,
                                       Operation::destroy_queue, Operation::unload,
                                       Operation::free,          Operation::destroy_context};
    EXPECT_TRUE(std::ranges::equal(backend->releases(), order));
    const auto holdings = device().holdings();
    EXPECT_EQ(holdings.contexts + holdings.buffers + holdings.programs + holdings.queues +
                  holdings.events,
              0U);
    EXPECT_EQ(holdings.buffer_bytes + holdings.program_bytes, 0U);
}

TEST_F(ResetTest, makes_every_old_id_stale_and_the_device_new) {
    const auto event_id = one_event();
    EXPECT_FALSE(device().reset().discard);
    const auto fresh = context();
    EXPECT_NE(fresh, context_id);
    buffer(fresh);
    EXPECT_TRUE(call<Opcode::destroy_context>({context_id}).refuses(Status::stale_object));
    EXPECT_TRUE(call<Opcode::free_buffer>({buffer_id}).refuses(Status::stale_object));
    EXPECT_TRUE(call<Opcode::unload_program>({program_id}).refuses(Status::stale_object));
    EXPECT_TRUE(call<Opcode::destroy_queue>({queue_id}).refuses(Status::stale_object));
    EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::stale_object));
    EXPECT_EQ(call<Opcode::get_device_info>().status, Status::ok);
}

TEST_F(ResetTest, of_an_empty_device_does_nothing) {
    EXPECT_FALSE(device().reset().discard);
    const auto calls = backend->calls();
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released, Tally{});
    EXPECT_EQ(backend->calls(), calls);
}

TEST_F(ResetTest, cancels_pending_events_where_the_backend_can) {
    one_event();
    backend->event_status = {};
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released.objects, 5U);
    EXPECT_EQ(backend->calls(Operation::cancel), 1U);
}

TEST_F(ResetTest, discards_a_pending_event_that_cannot_be_cancelled_and_all_it_retains) {
    backend->shown.capabilities = capabilities_memory;
    remake(testing::default_options());
    context_id = context();
    buffer_id = buffer(context_id);
    const auto loose = buffer(context_id, 100);
    program_id = program(context_id);
    queue_id = queue(context_id);
    const auto loose_queue = queue(context_id);
    one_event();
    backend->event_status = {};
    expect_discard({2, 100}, {5, all_bytes});
    EXPECT_EQ(backend->calls(Operation::cancel), 0U);
    (void)loose;
    (void)loose_queue;
}

TEST_F(ResetTest, looks_once_more_when_an_event_was_faster_than_its_cancellation) {
    one_event();
    backend->event_status = {};
    backend->next(Operation::cancel, Ending::rejected(Status::busy));
    const auto polls = backend->calls(Operation::poll);
    EXPECT_TRUE(device().reset().discard) << "the backend still says pending";
    EXPECT_EQ(backend->calls(Operation::poll), polls + 2) << "no third look";
}

TEST_F(ResetTest, releases_an_event_that_ended_during_its_cancellation) {
    one_event();
    backend->event_status = {};
    backend->next(Operation::cancel, Ending::rejected(Status::busy));
    backend->after_cancel = {EventPhase::complete, Status::ok};
    EXPECT_FALSE(device().reset().discard);
}

TEST_F(ResetTest, does_not_cancel_what_it_could_not_ask_about) {
    one_event();
    backend->next(Operation::poll, Ending::rejected(Status::internal_error));
    expect_discard({0, 0}, {5, all_bytes});
    EXPECT_EQ(backend->calls(Operation::cancel), 0U);
}

TEST_F(ResetTest, goes_on_after_a_rejected_release_but_discards) {
    const auto other = context();
    buffer(other, 10);
    backend->next(Operation::free, Ending::rejected(Status::busy));
    // The first buffer is kept, with its context; the rest goes.
    expect_discard({4, 10 + 64}, {2, 256});
}

TEST_F(ResetTest, stops_calling_at_an_indeterminate_release) {
    one_event();
    backend->next(Operation::destroy_queue, Ending::lost());
    const auto report = expect_discard({1, 0}, {4, all_bytes});
    EXPECT_EQ(backend->calls(Operation::unload) + backend->calls(Operation::free), 0U);
    EXPECT_EQ(report.quarantined.objects, 4U);
}

TEST_F(ResetTest, stops_calling_when_an_event_turns_out_lost) {
    one_event();
    backend->event_status = {EventPhase::failed, Status::device_lost};
    expect_discard({0, 0}, {5, all_bytes});
    EXPECT_EQ(backend->calls(Operation::destroy_event), 0U);
}

TEST_F(ResetTest, stops_calling_when_a_rejection_says_device_lost) {
    backend->next(Operation::destroy_queue, Ending::rejected(Status::device_lost));
    expect_discard({0, 0}, {4, all_bytes});
    EXPECT_EQ(backend->calls(Operation::unload), 0U);
}

TEST_F(ResetTest, stops_calling_when_a_cancellation_says_device_lost) {
    one_event();
    one_event();
    backend->event_status = {};
    backend->next(Operation::cancel, Ending::rejected(Status::device_lost));
    expect_discard({0, 0}, {6, all_bytes});
    EXPECT_EQ(backend->calls(Operation::cancel), 1U);
}

TEST_F(ResetTest, calls_no_backend_that_was_lost_before) {
    backend->next(Operation::unload, Ending::lost());
    EXPECT_TRUE(call<Opcode::unload_program>({program_id}).refuses(Status::device_lost));
    const auto calls = backend->calls();
    expect_discard({0, 0}, {4, all_bytes});
    EXPECT_EQ(backend->calls(), calls);
}

TEST_F(ResetTest, counts_what_was_lost_before_it_was_ever_seen) {
    backend->forge = [](backend::Allocation& report) { report.alignment = 0; };
    backend->next(Operation::free, Ending::lost());
    EXPECT_TRUE(
        call<Opcode::allocate_buffer>(allocation(context_id, 100)).refuses(Status::device_lost));
    expect_discard({0, 0}, {5, all_bytes + 100});
}

// The shape that the benchmark measures: 1000 objects of all kinds.
TEST_F(ResetTest, takes_one_release_for_each_of_a_thousand_objects) {
    backend->shown.limits.events_per_context = 400;
    backend->shown.limits.programs_per_context = 100;
    auto options = testing::default_options();
    options.policy.program_resident_bytes_max = 1U << 20U;
    remake(options);
    const auto home = context();
    const auto queue_of_home = queue(home);
    std::vector<ProgramId> programs;
    for (int i = 0; i < 100; ++i) {
        programs.push_back(program(home));
    }
    std::vector<BufferId> buffers;
    for (int i = 0; i < 498; ++i) {
        buffers.push_back(buffer(home));
    }
    for (std::size_t i = 0; i < 400; ++i) {
        event(queue_of_home, programs[i % 100], {binding(buffers[i]), binding(buffers[0], 1)});
    }
    const auto releases = backend->releases().size();
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released.objects, 1000U);
    EXPECT_EQ(backend->releases().size(), releases + 1000);
    EXPECT_EQ(backend->calls(Operation::cancel), 0U);
}

}  // namespace
}  // namespace virtaccel::device

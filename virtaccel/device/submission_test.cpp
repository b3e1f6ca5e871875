// SUBMIT: what the backend is handed, and who owns what afterwards.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::device {
namespace {

using testing::Ending;
using testing::Operation;
using testing::PopulatedRig;
using wire::Opcode;

class SubmissionTest : public PopulatedRig {
  public:
    testing::Reply submit_one() {
        return submit(queue_id, program_id, std::array{binding(buffer_id)});
    }

    void expect_nothing_retained() {
        EXPECT_EQ(device().holdings().events, 0U);
        EXPECT_EQ(call<Opcode::free_buffer>({buffer_id}).status, Status::ok);
        EXPECT_EQ(call<Opcode::unload_program>({program_id}).status, Status::ok);
        EXPECT_EQ(call<Opcode::destroy_queue>({queue_id}).status, Status::ok);
        EXPECT_EQ(call<Opcode::destroy_context>({context_id}).status, Status::ok);
    }
};

TEST_F(SubmissionTest, hands_the_backend_its_bindings_in_slot_order) {
    const auto other = buffer(context_id, 128);
    auto record = submission(queue_id, program_id, 3);
    record.timeout_ns = 12345;
    const std::array bindings{binding(buffer_id, 7, {1, 2}, Access::read),
                              binding(other, 3, {4, 5}, Access::write),
                              binding(buffer_id, 0xffffffff, {0, 256})};
    EXPECT_EQ(call<Opcode::submit>(record, std::as_bytes(std::span{bindings})).status, Status::ok);
    EXPECT_EQ(backend->timeout_ns, 12345U);
    const auto got = backend->bindings();
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].slot, 3U);
    EXPECT_EQ(got[0].range, (ByteRange{4, 5}));
    EXPECT_EQ(got[0].access, Access::write);
    EXPECT_EQ(got[1].slot, 7U);
    EXPECT_EQ(got[1].access, Access::read);
    EXPECT_EQ(got[2].slot, 0xffffffffU);
    EXPECT_EQ(got[2].range, (ByteRange{0, 256}));
    EXPECT_NE(got[0].buffer, got[1].buffer);
    EXPECT_EQ(got[1].buffer, got[2].buffer);
}

TEST_F(SubmissionTest, retains_as_many_buffers_as_a_submission_may_have) {
    std::vector<BufferId> buffers;
    std::vector<wire::Binding> bindings;
    for (std::uint32_t slot = 0; slot < 300; ++slot) {
        buffers.push_back(buffer(context_id, 64));
        bindings.push_back(binding(buffers.back(), 999 - slot));
    }
    const auto id = made<EventKind>(submit(queue_id, program_id, bindings));
    EXPECT_EQ(backend->bindings().size(), 300U);
    EXPECT_TRUE(std::ranges::is_sorted(backend->bindings(), {}, &backend::Binding::slot));
    for (const auto buffer : buffers) {
        ASSERT_TRUE(call<Opcode::free_buffer>({buffer}).refuses(Status::busy));
    }
    EXPECT_EQ(call<Opcode::destroy_event>({id}).status, Status::ok);
    for (const auto buffer : buffers) {
        ASSERT_EQ(call<Opcode::free_buffer>({buffer}).status, Status::ok);
    }
}

TEST_F(SubmissionTest, retains_nothing_when_it_is_rejected) {
    for (const auto status :
         {Status::incompatible, Status::deadline_expired, Status::busy, Status::out_of_memory}) {
        backend->next(Operation::submit, Ending::rejected(status));
        EXPECT_TRUE(submit_one().refuses(status));
    }
    for (const auto status : {Status::ok, static_cast<Status>(12)}) {
        backend->next(Operation::submit, Ending::rejected(status));
        EXPECT_TRUE(submit_one().refuses(Status::internal_error));
    }
    EXPECT_FALSE(device().needs_reset());
    expect_nothing_retained();
}

TEST_F(SubmissionTest, loses_the_device_when_a_rejection_says_so) {
    backend->next(Operation::submit, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(submit_one().refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
    EXPECT_EQ(device().holdings().events, 0U);
}

// The two failures never collapse into one: this one has an event, too.
TEST_F(SubmissionTest, owns_an_event_when_it_is_indeterminate) {
    backend->next(Operation::submit, Ending::lost(Status::internal_error));
    const auto reply = submit_one();
    EXPECT_EQ(reply.used_bytes, 24U);
    EXPECT_EQ(reply.status, Status::internal_error);
    EXPECT_FALSE(device().needs_reset()) << "another status keeps the device running";
    EXPECT_TRUE(call<Opcode::free_buffer>({buffer_id}).refuses(Status::busy));
    const auto id = reply.id<EventKind>();
    EXPECT_EQ(call<Opcode::poll_event>({id}).status, Status::ok);
    EXPECT_EQ(call<Opcode::destroy_event>({id}).status, Status::ok);
    expect_nothing_retained();
}

TEST_F(SubmissionTest, names_the_event_even_of_a_lost_device) {
    backend->next(Operation::submit, Ending::lost(Status::device_lost));
    const auto reply = submit_one();
    EXPECT_EQ(reply.used_bytes, 24U);
    EXPECT_EQ(reply.status, Status::device_lost);
    EXPECT_NE(reply.id<EventKind>().raw, 0U);
    EXPECT_TRUE(device().discard_required());
    EXPECT_TRUE(device().reset().discard);
}

TEST_F(SubmissionTest, is_indeterminate_when_its_outcome_contradicts_itself) {
    backend->next(Operation::submit, Ending{Status::busy, backend::Certainty::done});
    auto reply = submit_one();
    EXPECT_EQ(reply.used_bytes, 24U);
    EXPECT_EQ(reply.status, Status::busy);
    backend->next(Operation::submit, Ending::lost(Status::ok));
    reply = submit_one();
    EXPECT_EQ(reply.used_bytes, 24U);
    EXPECT_EQ(reply.status, Status::internal_error) << "a failure is never OK";
    EXPECT_EQ(device().holdings().events, 2U);
}

// The guest is never told of what the backend may still be doing.
TEST_F(SubmissionTest, needs_a_reset_when_it_is_indeterminate_and_cannot_say_so) {
    backend->next(Operation::submit, Ending::lost(Status::internal_error));
    const std::array bindings{binding(buffer_id)};
    const auto frame = request<Opcode::submit>(submission(queue_id, program_id, 1),
                                               std::as_bytes(std::span{bindings}))
                           .frame();
    const Piece readable{const_cast<std::byte*>(frame.data()), frame.size()};
    const Piece writable{response().data(), response().size()};
    const std::uint32_t live = 1;
    const auto served =
        device().serve(PieceList::of({&readable, 1}), PieceList::of({&writable, 1}, {&live, 2}));
    EXPECT_EQ(served.used_bytes, 0U);
    EXPECT_TRUE(device().needs_reset());
    EXPECT_FALSE(device().reset().discard) << "the event is known, and ends";
}

TEST_F(SubmissionTest, lets_a_context_have_as_many_events_as_it_may) {
    std::vector<EventId> events;
    for (std::uint32_t i = 0; i < backend->shown.limits.events_per_context; ++i) {
        events.push_back(one_event());
    }
    EXPECT_TRUE(submit_one().refuses(Status::resource_limit));
    EXPECT_EQ(call<Opcode::destroy_event>({events[3]}).status, Status::ok);
    EXPECT_EQ(submit_one().status, Status::ok);
}

}  // namespace
}  // namespace virtaccel::device

// Events: what POLL says, who wins a race, what a lost device does.
#include <cstdint>

#include <gtest/gtest.h>

#include "virtaccel/backend/contract.h"
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

constexpr backend::EventStatus pending{};

class EventTest : public PopulatedRig {
  public:
    // What POLL_EVENT says, which must be OK.
    backend::EventStatus poll(EventId event) {
        const auto reply = call<Opcode::poll_event>({event});
        EXPECT_EQ(reply.used_bytes, 24U);
        EXPECT_EQ(reply.status, Status::ok);
        const auto state = reply.as<wire::EventState>();
        EXPECT_EQ(state.reserved, 0U);
        return {static_cast<EventPhase>(std::uint16_t{state.state}),
                static_cast<Status>(std::uint16_t{state.error})};
    }

    testing::Reply destroy(EventId event) { return call<Opcode::destroy_event>({event}); }

    testing::Reply cancel(EventId event) { return call<Opcode::cancel_event>({event}); }

    EventId event_id = one_event();
};

TEST_F(EventTest, are_destroyed_when_the_backend_says_so_without_being_polled) {
    backend->next(Operation::destroy_event, Ending::rejected(Status::busy));
    EXPECT_TRUE(destroy(event_id).refuses(Status::busy));
    EXPECT_EQ(destroy(event_id).status, Status::ok);
    EXPECT_EQ(backend->calls(Operation::poll), 0U) << "to be polled could be what ends it";
}

TEST_F(EventTest, keep_their_first_terminal_state) {
    backend->event_status = {EventPhase::failed, Status::deadline_expired};
    EXPECT_EQ(poll(event_id), backend->event_status);
    const auto polls = backend->calls(Operation::poll);
    backend->event_status = {EventPhase::complete, Status::ok};
    EXPECT_EQ(poll(event_id), (backend::EventStatus{EventPhase::failed, Status::deadline_expired}));
    EXPECT_EQ(backend->calls(Operation::poll), polls);
    EXPECT_TRUE(cancel(event_id).refuses(Status::busy));
    EXPECT_EQ(backend->calls(Operation::cancel), 0U);
    EXPECT_EQ(destroy(event_id).status, Status::ok);
}

TEST_F(EventTest, end_in_exactly_one_way_when_cancelled) {
    backend->event_status = pending;
    EXPECT_EQ(cancel(event_id).status, Status::ok);
    backend->event_status = {EventPhase::complete, Status::ok};
    EXPECT_EQ(poll(event_id), (backend::EventStatus{EventPhase::cancelled, Status::ok}));
    EXPECT_TRUE(cancel(event_id).refuses(Status::busy));
    EXPECT_EQ(destroy(event_id).status, Status::ok);
}

TEST_F(EventTest, end_in_exactly_one_way_when_they_were_faster) {
    backend->next(Operation::cancel, Ending::rejected(Status::busy));
    EXPECT_TRUE(cancel(event_id).refuses(Status::busy));
    EXPECT_EQ(poll(event_id), (backend::EventStatus{EventPhase::complete, Status::ok}));
}

TEST_F(EventTest, pass_on_why_a_cancellation_failed) {
    backend->event_status = pending;
    backend->next(Operation::cancel, Ending::rejected(Status::unsupported));
    EXPECT_TRUE(cancel(event_id).refuses(Status::unsupported));
    backend->next(Operation::cancel, Ending::rejected(static_cast<Status>(99)));
    EXPECT_TRUE(cancel(event_id).refuses(Status::internal_error));
    EXPECT_EQ(poll(event_id), pending);
    EXPECT_EQ(cancel(event_id).status, Status::ok);
}

TEST_F(EventTest, lose_the_device_when_a_cancellation_says_so) {
    backend->event_status = pending;
    backend->next(Operation::cancel, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(cancel(event_id).refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
}

TEST_F(EventTest, tell_of_a_lost_device_once_and_then_nothing_more) {
    backend->event_status = {EventPhase::failed, Status::device_lost};
    EXPECT_EQ(poll(event_id), backend->event_status);
    EXPECT_TRUE(device().discard_required());
    EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::device_lost));
    EXPECT_TRUE(destroy(event_id).refuses(Status::device_lost));
    EXPECT_EQ(backend->calls(Operation::destroy_event), 0U);
}

TEST_F(EventTest, are_not_destroyed_when_they_failed_with_a_lost_device) {
    backend->next(Operation::destroy_event, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(destroy(event_id).refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
    EXPECT_EQ(device().holdings().events, 1U);
}

TEST_F(EventTest, lose_the_device_when_polling_does) {
    backend->next(Operation::poll, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
}

TEST_F(EventTest, survive_a_poll_that_fails) {
    backend->next(Operation::poll, Ending::rejected(Status::out_of_memory));
    EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::out_of_memory));
    backend->next(Operation::poll, Ending::rejected(Status::ok));
    EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::internal_error));
    EXPECT_FALSE(device().needs_reset());
    EXPECT_EQ(destroy(event_id).status, Status::ok);
}

TEST_F(EventTest, fail_with_an_error_that_the_protocol_knows) {
    backend->event_status = {EventPhase::failed, static_cast<Status>(500)};
    EXPECT_EQ(poll(event_id), (backend::EventStatus{EventPhase::failed, Status::internal_error}));
    const auto other = one_event();
    backend->event_status = {EventPhase::failed, Status::ok};
    EXPECT_EQ(poll(other), (backend::EventStatus{EventPhase::failed, Status::internal_error}));
}

TEST_F(EventTest, never_show_a_state_that_makes_no_sense) {
    for (const backend::EventStatus nonsense :
         {backend::EventStatus{EventPhase::complete, Status::busy},
          backend::EventStatus{EventPhase::pending, Status::internal_error},
          backend::EventStatus{EventPhase::cancelled, Status::device_lost},
          backend::EventStatus{static_cast<EventPhase>(4), Status::ok}}) {
        backend->event_status = nonsense;
        EXPECT_TRUE(call<Opcode::poll_event>({event_id}).refuses(Status::internal_error));
    }
    EXPECT_FALSE(device().needs_reset());
    backend->event_status = {EventPhase::complete, Status::ok};
    EXPECT_EQ(poll(event_id), backend->event_status);
}

}  // namespace
}  // namespace virtaccel::device

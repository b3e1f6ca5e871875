// The one release path, for all five kinds: done, busy, rejected, indeterminate, contradictory.
#include "virtaccel/device/release.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "virtaccel/backend/contract.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/frame.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"

namespace virtaccel::device {
namespace {

using testing::Ending;
using testing::Operation;
using testing::PopulatedRig;

// How a kind is named, made and released.
template <class KindTag, Opcode release_opcode, Operation release_operation>
struct Way {
    using Kind = KindTag;
    static constexpr Opcode opcode = release_opcode;
    static constexpr Operation operation = release_operation;
};

using Ways = ::testing::Types<Way<ContextKind, Opcode::destroy_context, Operation::destroy_context>,
                              Way<BufferKind, Opcode::free_buffer, Operation::free>,
                              Way<ProgramKind, Opcode::unload_program, Operation::unload>,
                              Way<QueueKind, Opcode::destroy_queue, Operation::destroy_queue>,
                              Way<EventKind, Opcode::destroy_event, Operation::destroy_event>>;

template <class Way>
class ReleaseTest : public PopulatedRig {
  public:
    // An object that nothing uses.
    Id<typename Way::Kind> make() {
        using Kind = typename Way::Kind;
        if constexpr (std::is_same_v<Kind, ContextKind>) {
            return context();
        } else if constexpr (std::is_same_v<Kind, BufferKind>) {
            return buffer(context_id);
        } else if constexpr (std::is_same_v<Kind, ProgramKind>) {
            return program(context_id);
        } else if constexpr (std::is_same_v<Kind, QueueKind>) {
            return queue(context_id);
        } else {
            return one_event();
        }
    }

    testing::Reply release(Id<typename Way::Kind> id) { return call<Way::opcode>({id}); }

    [[nodiscard]] std::uint32_t backend_releases() const { return backend->calls(Way::operation); }
};

TYPED_TEST_SUITE(ReleaseTest, Ways);

TYPED_TEST(ReleaseTest, removes_the_object_for_good_when_it_is_done) {
    const auto id = this->make();
    const auto live = this->backend->live();
    EXPECT_EQ(this->release(id).status, Status::ok);
    EXPECT_EQ(this->backend->live(), live - 1);
    EXPECT_TRUE(this->release(id).refuses(Status::stale_object));
    EXPECT_EQ(this->backend_releases(), 1U);
    EXPECT_NE(this->make(), id);
    EXPECT_TRUE(this->release(id).refuses(Status::stale_object));
}

TYPED_TEST(ReleaseTest, keeps_the_same_id_live_when_it_is_rejected) {
    const auto id = this->make();
    for (const auto status : {Status::busy, Status::internal_error, Status::out_of_memory}) {
        this->backend->next(TypeParam::operation, Ending::rejected(status));
        EXPECT_TRUE(this->release(id).refuses(status));
        EXPECT_FALSE(this->device().needs_reset());
    }
    this->backend->next(TypeParam::operation, Ending::rejected(Status::ok));
    EXPECT_TRUE(this->release(id).refuses(Status::internal_error));
    this->backend->next(TypeParam::operation, Ending::rejected(static_cast<Status>(77)));
    EXPECT_TRUE(this->release(id).refuses(Status::internal_error));
    this->backend->next(TypeParam::operation, Ending::rejected(Status::stale_object));
    EXPECT_TRUE(this->release(id).refuses(Status::internal_error)) << "the ID is not stale";
    EXPECT_EQ(this->release(id).status, Status::ok);
}

TYPED_TEST(ReleaseTest, loses_id_and_device_when_it_is_indeterminate) {
    const auto id = this->make();
    const auto before = this->device().holdings();
    this->backend->next(TypeParam::operation, Ending::lost(Status::internal_error));
    EXPECT_TRUE(this->release(id).refuses(Status::device_lost)) << "whatever the status was";
    EXPECT_TRUE(this->device().discard_required());
    EXPECT_EQ(this->device().holdings().quarantined.objects, 1U);
    const auto after = this->device().holdings();
    EXPECT_EQ(after.quarantined.bytes,
              before.buffer_bytes + before.program_bytes - after.buffer_bytes - after.program_bytes)
        << "its charge moves to quarantine";
    const auto calls = this->backend->calls();
    EXPECT_TRUE(this->release(id).refuses(Status::device_lost));
    EXPECT_TRUE(this->device().reset().discard);
    EXPECT_EQ(this->backend->calls(), calls) << "a lost backend is not called again";
}

TYPED_TEST(ReleaseTest, is_indeterminate_when_the_outcome_contradicts_itself) {
    const auto id = this->make();
    this->backend->next(TypeParam::operation, Ending{Status::busy, backend::Certainty::done});
    EXPECT_TRUE(this->release(id).refuses(Status::device_lost));
    EXPECT_TRUE(this->device().discard_required());
}

TYPED_TEST(ReleaseTest, is_indeterminate_when_the_certainty_is_unknown) {
    const auto id = this->make();
    this->backend->next(TypeParam::operation,
                        Ending{Status::ok, static_cast<backend::Certainty>(9)});
    EXPECT_TRUE(this->release(id).refuses(Status::device_lost));
    EXPECT_TRUE(this->device().discard_required());
}

TYPED_TEST(ReleaseTest, ends_the_backends_use_on_device_lost) {
    const auto id = this->make();
    this->backend->next(TypeParam::operation, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(this->release(id).refuses(Status::device_lost));
    EXPECT_TRUE(this->device().discard_required());
    EXPECT_EQ(this->device().holdings().quarantined.objects, 0U) << "the object is still owned";
}

TYPED_TEST(ReleaseTest, does_not_know_objects_of_other_kinds) {
    const auto releases = this->backend_releases();
    for (const std::uint64_t raw :
         {this->context_id.raw, this->buffer_id.raw, this->program_id.raw, this->queue_id.raw}) {
        const auto kind_index = raw == this->context_id.raw   ? 0
                                : raw == this->buffer_id.raw  ? 1
                                : raw == this->program_id.raw ? 2
                                                              : 3;
        using Kind = typename TypeParam::Kind;
        constexpr int own_index = std::is_same_v<Kind, ContextKind>   ? 0
                                  : std::is_same_v<Kind, BufferKind>  ? 1
                                  : std::is_same_v<Kind, ProgramKind> ? 2
                                  : std::is_same_v<Kind, QueueKind>   ? 3
                                                                      : 4;
        if (kind_index != own_index) {
            EXPECT_TRUE(this->release({raw}).refuses(Status::stale_object));
        }
    }
    EXPECT_EQ(this->backend_releases(), releases);
}

using BusyTest = PopulatedRig;

TEST_F(BusyTest, keeps_a_context_while_it_has_a_child_of_any_kind) {
    const auto expect_busy = [this] {
        EXPECT_TRUE(call<Opcode::destroy_context>({context_id}).refuses(Status::busy));
    };
    const auto waiting = one_event();
    expect_busy();
    EXPECT_EQ(call<Opcode::destroy_event>({waiting}).status, Status::ok);
    EXPECT_EQ(call<Opcode::destroy_queue>({queue_id}).status, Status::ok);
    expect_busy();
    EXPECT_EQ(call<Opcode::unload_program>({program_id}).status, Status::ok);
    expect_busy();
    EXPECT_EQ(call<Opcode::free_buffer>({buffer_id}).status, Status::ok);
    EXPECT_EQ(backend->calls(Operation::destroy_context), 0U);
    EXPECT_EQ(call<Opcode::destroy_context>({context_id}).status, Status::ok);
    EXPECT_EQ(backend->live(), 0U);
}

TEST_F(BusyTest, keeps_what_an_undestroyed_event_retains) {
    const auto first = one_event();
    const auto second = event(queue_id, program_id, {binding(buffer_id, 0), binding(buffer_id, 1)});
    const auto expect_busy = [this] {
        EXPECT_TRUE(call<Opcode::destroy_queue>({queue_id}).refuses(Status::busy));
        EXPECT_TRUE(call<Opcode::unload_program>({program_id}).refuses(Status::busy));
        EXPECT_TRUE(call<Opcode::free_buffer>({buffer_id}).refuses(Status::busy));
    };
    expect_busy();
    EXPECT_EQ(call<Opcode::poll_event>({first}).status, Status::ok);
    expect_busy();
    EXPECT_EQ(call<Opcode::destroy_event>({first}).status, Status::ok);
    expect_busy();
    EXPECT_EQ(call<Opcode::destroy_event>({second}).status, Status::ok);
    EXPECT_EQ(call<Opcode::destroy_queue>({queue_id}).status, Status::ok);
    EXPECT_EQ(call<Opcode::unload_program>({program_id}).status, Status::ok);
    EXPECT_EQ(call<Opcode::free_buffer>({buffer_id}).status, Status::ok);
}

TEST(Settle, trusts_only_outcomes_that_make_sense) {
    using backend::Certainty;
    using backend::ReleaseOutcome;
    EXPECT_EQ(settle(ReleaseOutcome::released()), Certainty::done);
    EXPECT_EQ(settle(ReleaseOutcome::rejected(Status::busy)), Certainty::rejected);
    EXPECT_EQ(settle(ReleaseOutcome::rejected(Status::ok)), Certainty::rejected);
    EXPECT_EQ(settle(ReleaseOutcome::lost()), Certainty::indeterminate);
    EXPECT_EQ(settle(ReleaseOutcome{Certainty::done, Status::busy}), Certainty::indeterminate);
    EXPECT_EQ(settle(ReleaseOutcome{static_cast<Certainty>(3), Status::ok}),
              Certainty::indeterminate);
}

}  // namespace
}  // namespace virtaccel::device

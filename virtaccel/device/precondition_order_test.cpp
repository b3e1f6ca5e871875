// The order of objects, quotas and preconditions (spec §5, second order table).
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

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

class PreconditionTest : public PopulatedRig {
  public:
    static constexpr ByteRange outside{.offset = 250, .bytes = 7};

    // Every call must be refused with `status` and reach no backend.
    void expect_refused(const testing::Reply& reply, Status status) {
        EXPECT_TRUE(reply.refuses(status)) << status_name(reply.status);
        EXPECT_EQ(backend->calls(), calls_seen) << "steps 1 to 7 call no backend";
    }

    testing::Reply read(BufferId buffer, ByteRange range) {
        calls_seen = backend->calls();
        return call<Opcode::read_buffer>({buffer, range.offset, range.bytes});
    }

    testing::Reply write(BufferId buffer, ByteRange range) {
        calls_seen = backend->calls();
        const std::vector<std::byte> data(range.bytes);
        return call<Opcode::write_buffer>({buffer, range.offset, range.bytes}, data);
    }

    testing::Reply try_submit(QueueId queue, ProgramId program,
                              std::vector<wire::Binding> bindings) {
        calls_seen = backend->calls();
        return submit(queue, program, bindings);
    }

    std::uint32_t calls_seen = 0;
};

TEST_F(PreconditionTest, of_transfers_are_stale_busy_bounds_permission) {
    const auto closed = buffer(context_id, 256, UsageBit::program_input);
    EXPECT_TRUE(read(closed, {0, 1}).refuses(Status::permission_denied));
    EXPECT_TRUE(write(closed, {0, 1}).refuses(Status::permission_denied));
    expect_refused(read(closed, outside), Status::out_of_bounds);
    expect_refused(write(closed, outside), Status::out_of_bounds);
    const auto waiting = event(queue_id, program_id, {binding(closed, 0, {0, 1}, Access::read)});
    expect_refused(read(closed, outside), Status::busy);
    expect_refused(write(closed, outside), Status::busy);
    EXPECT_EQ(call<Opcode::poll_event>({waiting}).as<wire::EventState>().state, 1);
    expect_refused(read(closed, {0, 1}), Status::busy);
    EXPECT_EQ(call<Opcode::destroy_event>({waiting}).status, Status::ok);
    EXPECT_EQ(call<Opcode::free_buffer>({closed}).status, Status::ok);
    expect_refused(read(closed, outside), Status::stale_object);
    expect_refused(write(closed, outside), Status::stale_object);
}

TEST_F(PreconditionTest, of_transfers_know_the_last_byte) {
    EXPECT_EQ(write(buffer_id, {255, 1}).status, Status::ok);
    EXPECT_EQ(read(buffer_id, {0, 256}).status, Status::ok);
    expect_refused(read(buffer_id, {255, 2}), Status::out_of_bounds);
    expect_refused(write(buffer_id, {256, 1}), Status::out_of_bounds);
    expect_refused(read(buffer_id, {~std::uint64_t{0} - 8, 8}), Status::out_of_bounds);
}

TEST_F(PreconditionTest, of_transfers_need_their_own_usage_bit) {
    const auto source = buffer(context_id, 64, UsageBit::transfer_source);
    const auto target = buffer(context_id, 64, UsageBit::transfer_destination);
    EXPECT_EQ(read(source, {0, 8}).status, Status::ok);
    expect_refused(write(source, {0, 8}), Status::permission_denied);
    EXPECT_EQ(write(target, {0, 8}).status, Status::ok);
    expect_refused(read(target, {0, 8}), Status::permission_denied);
}

// Aggregate policy, context, quota, backend.
TEST_F(PreconditionTest, of_allocate_buffer_start_with_the_policy) {
    auto options = testing::default_options();
    options.policy.buffer_bytes_max = 1000;
    backend->shown.limits.buffers_per_context = 1;
    remake(options);
    const ContextId nowhere{77};
    const auto full = context();
    buffer(full, 100);
    const auto try_allocate = [&](ContextId context, std::uint64_t bytes) {
        calls_seen = backend->calls();
        return call<Opcode::allocate_buffer>(allocation(context, bytes));
    };
    expect_refused(try_allocate(nowhere, 901), Status::resource_limit);
    expect_refused(try_allocate(nowhere, 900), Status::stale_object);
    expect_refused(try_allocate(full, 1), Status::resource_limit);
    const auto roomy = context();
    backend->next(Operation::allocate, Ending::rejected(Status::incompatible));
    EXPECT_TRUE(try_allocate(roomy, 1).refuses(Status::incompatible));
    EXPECT_EQ(try_allocate(roomy, 900).status, Status::ok);
}

TEST_F(PreconditionTest, of_load_program_start_with_the_policy) {
    auto options = testing::default_options();
    options.policy.program_resident_bytes_max = 100;
    backend->shown.limits.programs_per_context = 1;
    remake(options);
    const ContextId nowhere{77};
    const auto full = context();
    program(full);
    const auto try_load = [&](ContextId context, std::uint64_t resident_bytes) {
        calls_seen = backend->calls();
        auto record = artifact(context);
        record.resident_bytes = resident_bytes;
        return call<Opcode::load_program>(record, artifact_bytes());
    };
    expect_refused(try_load(nowhere, 37), Status::resource_limit);
    expect_refused(try_load(nowhere, 36), Status::stale_object);
    expect_refused(try_load(full, 36), Status::resource_limit);
    backend->resident_bytes = 36;
    EXPECT_EQ(try_load(context(), 36).status, Status::ok);
}

TEST_F(PreconditionTest, of_create_queue_are_context_then_quota) {
    backend->shown.limits.queues_per_context = 1;
    remake(testing::default_options());
    const auto full = context();
    queue(full);
    calls_seen = backend->calls();
    expect_refused(call<Opcode::create_queue>({ContextId{77}, 0U, 0U}), Status::stale_object);
    expect_refused(call<Opcode::create_queue>({full, 0U, 0U}), Status::resource_limit);
}

TEST_F(PreconditionTest, of_create_context_are_the_quota) {
    while (device().holdings().contexts < backend->shown.limits.contexts) {
        context();
    }
    calls_seen = backend->calls();
    expect_refused(call<Opcode::create_context>(), Status::resource_limit);
    EXPECT_EQ(call<Opcode::destroy_queue>({queue_id}).status, Status::ok);
}

TEST_F(PreconditionTest, of_submit_find_all_objects_in_one_context) {
    const auto other = context();
    const auto other_buffer = buffer(other);
    const auto other_program = program(other);
    const auto other_queue = queue(other);
    const auto stale = Status::stale_object;
    expect_refused(try_submit({99}, program_id, {binding(buffer_id)}), stale);
    expect_refused(try_submit(queue_id, {99}, {binding(buffer_id)}), stale);
    expect_refused(try_submit(queue_id, program_id, {binding({99})}), stale);
    expect_refused(try_submit(other_queue, program_id, {binding(buffer_id)}), stale);
    expect_refused(try_submit(queue_id, other_program, {binding(buffer_id)}), stale);
    expect_refused(try_submit(queue_id, program_id, {binding(buffer_id), binding(other_buffer, 1)}),
                   stale);
    // A wrong kind is no object of the right one.
    expect_refused(try_submit({program_id.raw}, program_id, {binding(buffer_id)}), stale);
    expect_refused(try_submit(queue_id, program_id, {binding({queue_id.raw})}), stale);
}

// Stale buffers, the event quota, ranges and permissions in slot order, the backend.
TEST_F(PreconditionTest, of_submit_put_the_quota_between_objects_and_ranges) {
    const auto input = buffer(context_id, 64, UsageBit::program_input);
    const auto out = binding(buffer_id, 0, outside);
    while (device().holdings().events < backend->shown.limits.events_per_context) {
        one_event();
    }
    expect_refused(try_submit(queue_id, program_id, {out, binding({99}, 1)}), Status::stale_object);
    expect_refused(try_submit(queue_id, program_id, {out}), Status::resource_limit);
    EXPECT_FALSE(device().reset().discard);
    const auto fresh = context();
    const auto fresh_queue = queue(fresh);
    const auto fresh_program = program(fresh);
    const auto fresh_buffer = buffer(fresh);
    const auto fresh_input = buffer(fresh, 64, UsageBit::program_input);
    const auto far = binding(fresh_buffer, 5, outside);
    const auto denied = binding(fresh_input, 4, {0, 64}, Access::write);
    expect_refused(try_submit(fresh_queue, fresh_program, {far, denied}),
                   Status::permission_denied);
    expect_refused(try_submit(fresh_queue, fresh_program, {denied, far}),
                   Status::permission_denied);
    auto later = denied;
    later.slot = 6;
    expect_refused(try_submit(fresh_queue, fresh_program, {later, far}), Status::out_of_bounds);
    const auto both = binding(fresh_input, 0, {60, 5}, Access::write);
    expect_refused(try_submit(fresh_queue, fresh_program, {both}), Status::out_of_bounds);
    (void)input;
}

TEST_F(PreconditionTest, of_submit_hold_access_against_usage) {
    struct Case {
        UsageBit usage;
        bool read, write, read_write;
    };

    for (const Case& row : {Case{UsageBit::transfer_source, false, false, false},
                            Case{UsageBit::transfer_destination, false, false, false},
                            Case{UsageBit::program_input, true, false, false},
                            Case{UsageBit::program_output, false, true, false},
                            Case{UsageBit::mutable_state, true, true, true}}) {
        const auto bound = buffer(context_id, 64, row.usage);
        const auto allowed = [&](Access access) {
            const auto reply =
                try_submit(queue_id, program_id, {binding(bound, 0, {0, 64}, access)});
            if (reply.status != Status::ok) {
                expect_refused(reply, Status::permission_denied);
            }
            return reply.status == Status::ok;
        };
        EXPECT_EQ(allowed(Access::read), row.read);
        EXPECT_EQ(allowed(Access::write), row.write);
        EXPECT_EQ(allowed(Access::read_write), row.read_write);
    }
}

TEST_F(PreconditionTest, of_cancel_event_ask_for_the_capability_first) {
    const auto running = one_event();
    backend->event_status = {.phase = EventPhase::pending};
    EXPECT_TRUE(call<Opcode::cancel_event>({EventId{99}}).refuses(Status::stale_object));
    EXPECT_EQ(call<Opcode::cancel_event>({running}).status, Status::ok);
    EXPECT_TRUE(call<Opcode::cancel_event>({running}).refuses(Status::busy));
    EXPECT_EQ(backend->calls(Operation::cancel), 1U) << "cancelled is remembered";
    EXPECT_FALSE(device().reset().discard);
    backend->shown.capabilities = capabilities_memory;
    remake(testing::default_options());
    EXPECT_TRUE(call<Opcode::cancel_event>({EventId{99}}).refuses(Status::unsupported));
    EXPECT_TRUE(call<Opcode::cancel_event>({EventId{0}}).refuses(Status::invalid_argument));
    EXPECT_EQ(backend->calls(Operation::cancel), 1U);
}

}  // namespace
}  // namespace virtaccel::device

// Allocation reports against requests and budgets, and content copies that fail.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

using backend::Allocation;
using testing::DeviceRig;
using testing::Ending;
using testing::Operation;
using wire::Opcode;

class BufferTest : public DeviceRig {
  public:
    testing::Reply try_allocate(MemoryDomain domain, Usage usage) {
        auto record = allocation(context_id, 256, usage);
        record.memory_domain = static_cast<std::uint8_t>(domain);
        return call<Opcode::allocate_buffer>(record);
    }

    // An allocation whose report `forge` changes is given back and refused.
    void expect_given_back(void (*forge)(Allocation&), Status status,
                           MemoryDomain domain = MemoryDomain::host,
                           Usage usage = testing::usage_all) {
        backend->forge = forge;
        const auto live = backend->live();
        EXPECT_TRUE(try_allocate(domain, usage).refuses(status));
        EXPECT_EQ(backend->live(), live) << "given back before the guest could see it";
        EXPECT_EQ(device().holdings().buffers, 0U);
        EXPECT_EQ(device().holdings().buffer_bytes, 0U);
        EXPECT_FALSE(device().needs_reset());
        backend->forge = nullptr;
    }

    ContextId context_id = context();
};

TEST_F(BufferTest, are_charged_what_they_really_cost) {
    backend->forge = [](Allocation& report) { report.backing_bytes = 4096; };
    const auto id = buffer(context_id, 100);
    EXPECT_EQ(device().holdings().buffer_bytes, 4096U);
    EXPECT_EQ(call<Opcode::free_buffer>({id}).status, Status::ok);
    EXPECT_EQ(device().holdings().buffer_bytes, 0U);
}

TEST_F(BufferTest, whose_report_differs_from_the_request_are_given_back) {
    const auto status = Status::internal_error;
    expect_given_back([](Allocation& report) { ++report.descriptor.bytes; }, status);
    expect_given_back([](Allocation& report) { report.descriptor.alignment *= 2; }, status);
    expect_given_back([](Allocation& report) { report.descriptor.domain = MemoryDomain::shared; },
                      status);
    expect_given_back([](Allocation& report) { report.descriptor.usage = UsageBit::program_input; },
                      status);
    expect_given_back([](Allocation& report) { report.backing_bytes = 255; }, status);
    expect_given_back([](Allocation& report) { report.alignment = 32; }, status);
    expect_given_back([](Allocation& report) { report.alignment = 96; }, status);
    expect_given_back([](Allocation& report) { report.alignment = 0; }, status);
}

TEST_F(BufferTest, whose_properties_fall_short_are_given_back) {
    const auto status = Status::internal_error;
    const Usage transfer_only = UsageBit::transfer_source;
    const auto no_host = [](Allocation& report) { report.properties.host_visible = false; };
    const auto no_local = [](Allocation& report) { report.properties.device_local = false; };
    const auto no_direct = [](Allocation& report) { report.properties.direct_binding = false; };
    expect_given_back(no_host, status, MemoryDomain::host, transfer_only);
    expect_given_back(no_local, status, MemoryDomain::device, transfer_only);
    expect_given_back(no_host, status, MemoryDomain::shared, transfer_only);
    expect_given_back(no_direct, status, MemoryDomain::shared, transfer_only);
    expect_given_back(no_direct, status, MemoryDomain::host, UsageBit::program_input);
    expect_given_back(no_direct, status, MemoryDomain::device, UsageBit::program_output);
    expect_given_back(no_direct, status, MemoryDomain::device, UsageBit::mutable_state);
}

TEST_F(BufferTest, need_no_property_that_nobody_promised) {
    const Usage transfer_only = UsageBit::transfer_source;
    backend->forge = [](Allocation& report) { report.properties = {.host_visible = true}; };
    EXPECT_EQ(try_allocate(MemoryDomain::host, transfer_only).status, Status::ok);
    backend->forge = [](Allocation& report) { report.properties = {.device_local = true}; };
    EXPECT_EQ(try_allocate(MemoryDomain::device, transfer_only).status, Status::ok);
    backend->forge = [](Allocation& report) { report.properties.device_local = false; };
    EXPECT_EQ(try_allocate(MemoryDomain::shared, testing::usage_all).status, Status::ok);
}

TEST_F(BufferTest, over_budget_after_allocation_are_given_back) {
    expect_given_back([](Allocation& report) { report.backing_bytes = (1U << 24U) + 1; },
                      Status::resource_limit);
    expect_given_back([](Allocation& report) { report.backing_bytes = ~std::uint64_t{0}; },
                      Status::resource_limit);
}

TEST_F(BufferTest, that_cannot_be_given_back_lose_the_device) {
    for (const auto ending : {Ending::rejected(Status::busy), Ending::lost(Status::internal_error),
                              Ending{Status::busy, backend::Certainty::done}}) {
        backend->forge = [](Allocation& report) { report.backing_bytes = 1U << 25U; };
        backend->next(Operation::free, ending);
        EXPECT_TRUE(
            try_allocate(MemoryDomain::host, testing::usage_all).refuses(Status::device_lost));
        EXPECT_TRUE(device().discard_required());
        EXPECT_EQ(device().holdings().quarantined, (Tally{1, 1U << 25U}));
        backend = std::make_unique<testing::ScriptedBackend>();
        remake(testing::default_options());
        context_id = context();
    }
}

TEST_F(BufferTest, read_back_what_was_written_and_zeros_elsewhere) {
    const auto id = buffer(context_id, 4096);
    std::vector<std::byte> data(1000, std::byte{0x5a});
    EXPECT_EQ(call<Opcode::write_buffer>({id, 3000U, data.size()}, data).status, Status::ok);
    EXPECT_EQ(call<Opcode::read_buffer>({id, 0U, 4096U}).used_bytes, 16U + 4096U);
    const auto read = std::span{response()}.subspan(16, 4096);
    const auto is = [](std::byte value) { return [=](std::byte byte) { return byte == value; }; };
    EXPECT_TRUE(std::ranges::all_of(read.first(3000), is(std::byte{0})));
    EXPECT_TRUE(std::ranges::all_of(read.subspan(3000, 1000), is(std::byte{0x5a})));
    EXPECT_TRUE(std::ranges::all_of(read.last(96), is(std::byte{0})));
}

// H6: nothing of an earlier owner is visible, and failures leave the books where they were.
TEST_F(BufferTest, are_fresh_whoever_had_the_memory_before) {
    const std::vector<std::byte> data(512, std::byte{0x5a});
    for (int round = 0; round < 10; ++round) {
        const auto id = buffer(context_id, 512);
        EXPECT_EQ(call<Opcode::read_buffer>({id, 0U, 512U}).status, Status::ok);
        EXPECT_EQ(std::ranges::count(std::span{response()}.subspan(16, 512), std::byte{0}), 512);
        EXPECT_EQ(call<Opcode::write_buffer>({id, 0U, 512U}, data).status, Status::ok);
        EXPECT_EQ(call<Opcode::free_buffer>({id}).status, Status::ok);
    }
}

TEST_F(BufferTest, survive_transfers_that_fail) {
    const auto id = buffer(context_id);
    const std::array data{std::byte{1}};
    backend->next(Operation::write, Ending::rejected(Status::internal_error));
    EXPECT_TRUE(call<Opcode::write_buffer>({id, 0U, 1U}, data).refuses(Status::internal_error));
    backend->next(Operation::read, Ending::rejected(Status::out_of_memory));
    EXPECT_TRUE(call<Opcode::read_buffer>({id, 0U, 200U}).refuses(Status::out_of_memory));
    EXPECT_EQ(call<Opcode::read_buffer>({id, 0U, 200U}).status, Status::ok);
    EXPECT_FALSE(device().needs_reset());
}

TEST_F(BufferTest, publish_nothing_that_a_backend_did_not_move) {
    const auto id = buffer(context_id);
    backend->partial_transfers = true;
    const std::array data{std::byte{1}, std::byte{2}};
    EXPECT_TRUE(call<Opcode::write_buffer>({id, 0U, 2U}, data).refuses(Status::internal_error));
    // All but the last byte went out before the backend stopped; the used length withholds it.
    const auto served =
        device().serve(request<Opcode::read_buffer>({id, 0U, 1U}).frame(), response());
    EXPECT_EQ(served.used_bytes, 16U);
}

TEST_F(BufferTest, lose_the_device_when_a_transfer_says_so) {
    const auto id = buffer(context_id);
    backend->next(Operation::read, Ending::rejected(Status::device_lost));
    EXPECT_TRUE(call<Opcode::read_buffer>({id, 0U, 1U}).refuses(Status::device_lost));
    EXPECT_TRUE(device().discard_required());
}

TEST_F(BufferTest, that_a_backend_refuses_leave_nothing_behind) {
    for (const auto status :
         {Status::out_of_memory, Status::incompatible, Status::resource_limit}) {
        backend->next(Operation::allocate, Ending::rejected(status));
        EXPECT_TRUE(try_allocate(MemoryDomain::host, testing::usage_all).refuses(status));
    }
    for (const auto status : {Status::ok, static_cast<Status>(1234)}) {
        backend->next(Operation::allocate, Ending::rejected(status));
        EXPECT_TRUE(
            try_allocate(MemoryDomain::host, testing::usage_all).refuses(Status::internal_error))
            << "what the protocol does not know is INTERNAL_ERROR";
    }
    EXPECT_EQ(device().holdings().buffers, 0U);
    EXPECT_FALSE(device().needs_reset());
}

TEST_F(BufferTest, fill_the_budget_exactly) {
    auto options = testing::default_options();
    options.policy.buffer_bytes_max = 512;
    remake(options);
    context_id = context();
    const auto first = buffer(context_id, 256);
    buffer(context_id, 256);
    EXPECT_TRUE(
        call<Opcode::allocate_buffer>(allocation(context_id, 1)).refuses(Status::resource_limit));
    EXPECT_EQ(call<Opcode::free_buffer>({first}).status, Status::ok);
    buffer(context_id, 256);
}

}  // namespace
}  // namespace virtaccel::device

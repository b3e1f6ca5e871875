// What the client sends: every command byte for byte, and what it refuses to send.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::guest {
namespace {

using testing::ClientRig;
using testing::Posted;
using wire::Opcode;

std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        data[i] = static_cast<std::byte>(i * 7);
    }
    return data;
}

// A request of `opcode` with `payload_bytes` of payload in all, and room for `response_bytes`.
void expect_frame(const Posted& request, Opcode opcode, std::size_t payload_bytes,
                  std::uint64_t response_bytes) {
    EXPECT_EQ(request.header.opcode, static_cast<std::uint16_t>(opcode));
    EXPECT_EQ(request.header.flags, 0);
    EXPECT_EQ(request.header.payload_bytes, payload_bytes);
    EXPECT_NE(request.header.request_id, 0U);
    EXPECT_EQ(request.payload.size(), payload_bytes);
    EXPECT_EQ(PieceList::of(request.writable).bytes, response_bytes);
}

template <class KindTag>
void expect_named(const Posted& request, Opcode opcode, std::uint64_t raw,
                  std::uint64_t response_bytes) {
    expect_frame(request, opcode, 8, response_bytes);
    EXPECT_EQ(request.record<wire::Object<KindTag>>().object_id.raw, raw);
}

void expect_refused(const Outcome<void>& posted, Status status, FailureKind kind, Cause cause) {
    ASSERT_FALSE(posted.has_value());
    EXPECT_EQ(posted.error().status, status);
    EXPECT_EQ(posted.error().kind, kind);
    EXPECT_EQ(posted.error().cause, cause);
}

void expect_not_sent(const ClientRig& rig, const Outcome<void>& posted, Status status,
                     Cause cause = Cause::request) {
    expect_refused(posted, status, FailureKind::not_sent, cause);
    EXPECT_EQ(rig.port.posts, 0U);
    EXPECT_FALSE(rig.chain.in_flight());
}

TEST(ClientRequests, get_device_info_has_no_payload) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    expect_frame(rig.last(), Opcode::get_device_info, 0, 92);
    EXPECT_EQ(rig.last().readable.size(), 1U);
    EXPECT_EQ(rig.last().writable.size(), 1U);
}

TEST(ClientRequests, create_context_is_eight_zero_bytes) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    expect_frame(rig.last(), Opcode::create_context, 8, 24);
    EXPECT_EQ(rig.last().payload, std::vector<std::byte>(8));
}

TEST(ClientRequests, allocate_buffer_says_what_is_asked_for) {
    ClientRig rig;
    const Usage usage = Usage{UsageBit::transfer_source} | UsageBit::program_output;
    ASSERT_TRUE(rig.client.allocate_buffer(
        rig.chain, rig.context,
        {.bytes = 100, .alignment = 256, .domain = MemoryDomain::host, .usage = usage}));
    expect_frame(rig.last(), Opcode::allocate_buffer, 40, 24);
    const auto record = rig.last().record<wire::AllocateBuffer>();
    EXPECT_EQ(record.context_id.raw, 11U);
    EXPECT_EQ(record.bytes, 100U);
    EXPECT_EQ(record.alignment, 256U);
    EXPECT_EQ(record.memory_domain, 1);
    EXPECT_EQ(record.usage, usage.bits);
}

TEST(ClientRequests, write_buffer_copies_the_data_into_the_area) {
    ClientRig rig;
    auto data = pattern(64);
    ASSERT_TRUE(rig.client.write_buffer(rig.chain, rig.buffer, 8, data));
    expect_frame(rig.last(), Opcode::write_buffer, 24 + 64, 16);
    EXPECT_EQ(rig.last().readable.size(), 1U);
    const auto record = rig.last().record<wire::WriteBuffer>();
    EXPECT_EQ(record.buffer_id.raw, 12U);
    EXPECT_EQ(record.offset, 8U);
    EXPECT_EQ(record.bytes, 64U);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), rig.last().payload.begin() + 24));
}

TEST(ClientRequests, write_prepared_posts_the_callers_own_memory) {
    ClientRig rig;
    const auto data = pattern(3000);
    ASSERT_TRUE(rig.client.write_prepared(rig.chain, rig.buffer, 0, data));
    expect_frame(rig.last(), Opcode::write_buffer, 24 + 3000, 16);
    ASSERT_EQ(rig.last().readable.size(), 2U);
    EXPECT_EQ(rig.last().readable[1].data, data.data());
    EXPECT_EQ(rig.last().readable[1].size, 3000U);
}

TEST(ClientRequests, write_prepared_takes_data_in_pieces_and_leaves_out_empty_ones) {
    ClientRig rig;
    ASSERT_EQ(rig.chain.reserve_pieces(rig.heap.memory(), 3), Status::ok);
    auto data = pattern(30);
    const std::array pieces{Piece{.data = data.data(), .size = 10},
                            Piece{.data = data.data() + 10, .size = 0},
                            Piece{.data = data.data() + 10, .size = 20}};
    ASSERT_TRUE(rig.client.write_prepared(rig.chain, rig.buffer, 0, PieceList::of(pieces)));
    expect_frame(rig.last(), Opcode::write_buffer, 24 + 30, 16);
    EXPECT_EQ(rig.last().readable.size(), 3U);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), rig.last().payload.begin() + 24));
}

TEST(ClientRequests, pieces_without_room_in_the_chain_are_not_sent) {
    ClientRig rig;
    auto data = pattern(20);
    const std::array pieces{Piece{.data = data.data(), .size = 10},
                            Piece{.data = data.data() + 10, .size = 10}};
    expect_not_sent(rig, rig.client.write_prepared(rig.chain, rig.buffer, 0, PieceList::of(pieces)),
                    Status::invalid_argument, Cause::chain_room);
}

TEST(ClientRequests, more_pieces_than_the_device_walks_are_not_sent) {
    ClientRig rig;
    auto data = pattern(15);
    std::vector<Piece> pieces(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
        pieces[i] = {.data = &data[i], .size = 1};
    }
    ASSERT_EQ(rig.chain.reserve_pieces(rig.heap.memory(), pieces.size()), Status::ok);
    expect_not_sent(rig, rig.client.write_prepared(rig.chain, rig.buffer, 0, PieceList::of(pieces)),
                    Status::resource_limit);
    pieces.pop_back();
    EXPECT_TRUE(rig.client.write_prepared(rig.chain, rig.buffer, 0, PieceList::of(pieces)));
}

TEST(ClientRequests, read_buffer_has_room_for_the_bytes_in_the_area) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.read_buffer(rig.chain, rig.buffer, {.offset = 4, .bytes = 100}));
    expect_frame(rig.last(), Opcode::read_buffer, 24, 16 + 100);
    EXPECT_EQ(rig.last().writable.size(), 1U);
    EXPECT_EQ(rig.last().record<wire::ReadBuffer>().offset, 4U);
}

TEST(ClientRequests, read_prepared_posts_the_callers_own_memory) {
    ClientRig rig;
    std::vector<std::byte> target(2000);
    ASSERT_TRUE(rig.client.read_prepared(rig.chain, rig.buffer, 4, target));
    expect_frame(rig.last(), Opcode::read_buffer, 24, 16 + 2000);
    ASSERT_EQ(rig.last().writable.size(), 2U);
    EXPECT_EQ(rig.last().writable[0].size, 16U);
    EXPECT_EQ(rig.last().writable[1].data, target.data());
}

TEST(ClientRequests, load_program_sends_the_artifact_from_where_it_stands) {
    ClientRig rig;
    const auto artifact = pattern(500);
    ASSERT_TRUE(rig.client.load_program(
        rig.chain, rig.context,
        {.format = 5, .target = {1, 2, 3}, .artifact = artifact, .resident_bytes = 64}));
    expect_frame(rig.last(), Opcode::load_program, 80 + 500, 24);
    const auto record = rig.last().record<wire::LoadProgram>();
    EXPECT_EQ(record.context_id.raw, 11U);
    EXPECT_EQ(record.format, 5U);
    EXPECT_EQ(record.flags, 0U);
    EXPECT_EQ(record.target[2], 3U);
    EXPECT_EQ(record.payload_bytes, 500U);
    EXPECT_EQ(record.resident_bytes, 64U);
    ASSERT_EQ(rig.last().readable.size(), 2U);
    EXPECT_EQ(rig.last().readable[1].data, artifact.data());
}

TEST(ClientRequests, load_program_declares_resident_bytes_by_the_formula) {
    ClientRig rig;
    const auto artifact = pattern(500);
    ASSERT_TRUE(rig.client.load_program(
        rig.chain, rig.context,
        {.format = 5, .target = {}, .artifact = artifact, .resident_bytes = 0}));
    EXPECT_EQ(rig.last().record<wire::LoadProgram>().resident_bytes, resident_bytes_for(500));
}

TEST(ClientRequests, create_queue_names_its_context) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_queue(rig.chain, rig.context));
    expect_frame(rig.last(), Opcode::create_queue, 16, 24);
    EXPECT_EQ(rig.last().record<wire::CreateQueue>().context_id.raw, 11U);
}

TEST(ClientRequests, submit_carries_every_binding) {
    ClientRig rig;
    const std::array bindings{
        Binding{.slot = 1,
                .access = Access::write,
                .buffer = &rig.buffer,
                .range = {.offset = 16, .bytes = 32}},
        Binding{.slot = 0,
                .access = Access::read_write,
                .buffer = &rig.buffer,
                .range = {.offset = 0, .bytes = 8}},
    };
    ASSERT_TRUE(rig.client.submit(
        rig.chain,
        {.queue = rig.queue, .program = rig.program, .bindings = bindings, .timeout_ns = 99}));
    expect_frame(rig.last(), Opcode::submit, 32 + 64, 24);
    const auto record = rig.last().record<wire::Submit>();
    EXPECT_EQ(record.queue_id.raw, 14U);
    EXPECT_EQ(record.program_id.raw, 13U);
    EXPECT_EQ(record.binding_count, 2U);
    EXPECT_EQ(record.flags, 0U);
    EXPECT_EQ(record.timeout_ns, 99U);
    const auto first = wire::load<wire::Binding>(rig.last().payload.data() + 32);
    EXPECT_EQ(first.buffer_id.raw, 12U);
    EXPECT_EQ(first.offset, 16U);
    EXPECT_EQ(first.bytes, 32U);
    EXPECT_EQ(first.slot, 1U);
    EXPECT_EQ(first.access, 2);
    EXPECT_EQ(first.reserved.bytes, (std::array<std::uint8_t, 3>{}));
    const auto second = wire::load<wire::Binding>(rig.last().payload.data() + 64);
    EXPECT_EQ(second.slot, 0U);
    EXPECT_EQ(second.access, 3);
}

TEST(ClientRequests, one_object_commands_name_their_object) {
    ClientRig rig;
    std::vector<Chain> chains(7);
    for (Chain& chain : chains) {
        chain = testing::make_chain(rig.heap.memory(), 0);
    }
    ASSERT_TRUE(rig.client.poll_event(chains[0], rig.event));
    expect_named<EventKind>(rig.last(), Opcode::poll_event, 15, 24);
    ASSERT_TRUE(rig.client.cancel_event(chains[1], rig.event));
    expect_named<EventKind>(rig.last(), Opcode::cancel_event, 15, 16);
    ASSERT_TRUE(rig.client.release(chains[2], rig.event));
    expect_named<EventKind>(rig.last(), Opcode::destroy_event, 15, 16);
    ASSERT_TRUE(rig.client.release(chains[3], rig.queue));
    expect_named<QueueKind>(rig.last(), Opcode::destroy_queue, 14, 16);
    ASSERT_TRUE(rig.client.release(chains[4], rig.program));
    expect_named<ProgramKind>(rig.last(), Opcode::unload_program, 13, 16);
    ASSERT_TRUE(rig.client.release(chains[5], rig.buffer));
    expect_named<BufferKind>(rig.last(), Opcode::free_buffer, 12, 16);
    ASSERT_TRUE(rig.client.release(chains[6], rig.context));
    expect_named<ContextKind>(rig.last(), Opcode::destroy_context, 11, 16);
    (void)rig.client.finish_reset(testing::rig_config());
    while (rig.client.next() != nullptr) {
    }
}

TEST(ClientRequests, a_release_takes_the_handle_only_if_it_is_posted) {
    ClientRig rig;
    rig.port.verdict = queue::Posted::full;
    expect_refused(rig.client.release(rig.chain, rig.buffer), Status::busy,
                   FailureKind::backpressure, Cause::queue_full);
    EXPECT_TRUE(rig.buffer);
    rig.port.verdict = queue::Posted::ok;
    ASSERT_TRUE(rig.client.release(rig.chain, rig.buffer));
    EXPECT_FALSE(rig.buffer);
}

TEST(ClientRequests, buffers_that_break_a_rule_are_not_sent) {
    ClientRig rig;
    const BufferSpec good{.bytes = 64,
                          .alignment = 64,
                          .domain = MemoryDomain::host,
                          .usage = UsageBit::transfer_source};
    const auto refused = [&rig](BufferSpec spec, Status status) {
        expect_not_sent(rig, rig.client.allocate_buffer(rig.chain, rig.context, spec), status);
    };
    auto spec = good;
    spec.bytes = 0;
    refused(spec, Status::invalid_argument);
    spec = good;
    spec.alignment = 3;
    refused(spec, Status::invalid_argument);
    spec = good;
    spec.usage = {};
    refused(spec, Status::invalid_argument);
    spec = good;
    spec.usage = Usage{0x20U};
    refused(spec, Status::unsupported);
    spec = good;
    spec.domain = static_cast<MemoryDomain>(4);
    refused(spec, Status::invalid_argument);
    spec = good;
    spec.domain = MemoryDomain::device;  // for which the device lacks the capability
    refused(spec, Status::unsupported);
    spec = good;
    spec.bytes = (1U << 20U) + 1;
    refused(spec, Status::resource_limit);
    EXPECT_TRUE(rig.client.allocate_buffer(rig.chain, rig.context, good));
}

TEST(ClientRequests, transfers_that_break_a_rule_are_not_sent) {
    ClientRig rig;
    const auto data = pattern(5000);
    std::vector<std::byte> target(5000);
    const std::uint64_t last = ~std::uint64_t{0};
    const auto some = std::span{data}.first(8);
    expect_not_sent(rig, rig.client.write_buffer(rig.chain, rig.buffer, 0, {}),
                    Status::invalid_argument);
    expect_not_sent(rig, rig.client.write_buffer(rig.chain, rig.buffer, last, some),
                    Status::invalid_argument);
    expect_not_sent(rig, rig.client.write_prepared(rig.chain, rig.buffer, 0, PieceList{}),
                    Status::invalid_argument);
    // A frame of 4,096 bytes less the header and the record.
    expect_not_sent(
        rig,
        rig.client.write_prepared(rig.chain, rig.buffer, 0, std::span{data}.first(4096 - 40 + 1)),
        Status::resource_limit);
    expect_not_sent(rig, rig.client.write_buffer(rig.chain, rig.buffer, 0, data),
                    Status::invalid_argument, Cause::chain_room);
    expect_not_sent(rig, rig.client.read_buffer(rig.chain, rig.buffer, {}),
                    Status::invalid_argument);
    expect_not_sent(rig,
                    rig.client.read_buffer(rig.chain, rig.buffer, {.offset = last, .bytes = 2}),
                    Status::invalid_argument);
    expect_not_sent(rig,
                    rig.client.read_buffer(rig.chain, rig.buffer, {.offset = 0, .bytes = last}),
                    Status::resource_limit);
    expect_not_sent(rig,
                    rig.client.read_buffer(rig.chain, rig.buffer, {.offset = 0, .bytes = 4081}),
                    Status::resource_limit);
    expect_not_sent(rig,
                    rig.client.read_buffer(rig.chain, rig.buffer, {.offset = 0, .bytes = 4000}),
                    Status::invalid_argument, Cause::chain_room);
    expect_not_sent(
        rig,
        rig.client.read_prepared(rig.chain, rig.buffer, 0, std::span{target}.first(4096 - 16 + 1)),
        Status::resource_limit);
    EXPECT_TRUE(
        rig.client.read_prepared(rig.chain, rig.buffer, 0, std::span{target}.first(4096 - 16)));
}

TEST(ClientRequests, programs_that_break_a_rule_are_not_sent) {
    ClientRig rig;
    const auto artifact = pattern(2001);
    const auto load = [&](std::uint32_t format, std::size_t bytes) {
        return rig.client.load_program(
            rig.chain, rig.context,
            {.format = format, .target = {}, .artifact = std::span{artifact}.first(bytes)});
    };
    expect_not_sent(rig, load(0, 8), Status::invalid_argument);
    expect_not_sent(rig, load(5, 0), Status::invalid_argument);
    expect_not_sent(rig, load(5, 2001), Status::resource_limit);
    EXPECT_TRUE(load(5, 2000));
}

TEST(ClientRequests, submissions_that_break_a_rule_are_not_sent) {
    ClientRig rig;
    const auto submit = [&rig](std::span<const Binding> bindings) {
        return rig.client.submit(
            rig.chain, {.queue = rig.queue, .program = rig.program, .bindings = bindings});
    };
    const auto refused = [&](const Binding& binding, Status status) {
        expect_not_sent(rig, submit({&binding, 1}), status);
    };
    expect_not_sent(rig, submit({}), Status::invalid_argument);
    const std::vector<Binding> nine(9, rig.binding(0));
    expect_not_sent(rig, submit(nine), Status::resource_limit);
    auto binding = rig.binding(0);
    binding.range.bytes = 0;
    refused(binding, Status::invalid_argument);
    binding = rig.binding(0);
    binding.range.offset = ~std::uint64_t{0};
    refused(binding, Status::invalid_argument);
    binding = rig.binding(0);
    binding.access = static_cast<Access>(0);
    refused(binding, Status::invalid_argument);
    binding = rig.binding(0);
    EXPECT_TRUE(submit({&binding, 1}));
}

TEST(ClientRequests, a_slot_bound_twice_is_found_in_any_order) {
    ClientRig rig;
    const auto refused = [&rig](std::initializer_list<std::uint32_t> slots) {
        std::vector<Binding> bindings;
        for (const auto slot : slots) {
            bindings.push_back(rig.binding(slot));
        }
        const auto posted = rig.client.submit(
            rig.chain, {.queue = rig.queue, .program = rig.program, .bindings = bindings});
        if (posted) {
            rig.port.answer(testing::id_answer(1));
            (void)rig.client.next();
        }
        return !posted && posted.error().status == Status::invalid_argument;
    };
    EXPECT_TRUE(refused({0, 0}));
    EXPECT_TRUE(refused({0, 1, 1}));
    EXPECT_TRUE(refused({3, 1, 3}));
    EXPECT_TRUE(refused({5, 4, 3, 3}));
    EXPECT_TRUE(refused({64, 0, 32, 64}));
    EXPECT_TRUE(refused({0xffffffff, 7, 0xffffffff}));
    EXPECT_TRUE(refused({0xffffffff, 7, 8, 7}));
    EXPECT_FALSE(refused({0, 1, 2}));
    EXPECT_FALSE(refused({2, 1, 0}));
    EXPECT_FALSE(refused({2, 0, 1}));
    EXPECT_FALSE(refused({32, 0, 31}));
    EXPECT_FALSE(refused({0xffffffff, 7, 0xfffffffe, 8}));
    EXPECT_FALSE(refused({9}));
}

TEST(ClientRequests, a_chain_without_room_is_told_so) {
    ClientRig rig;
    Chain empty;
    std::array<std::byte, 40> little{};
    Chain small{little};
    const std::vector<Binding> bindings(2, rig.binding(0));
    const auto refused = [](const Outcome<void>& posted) {
        return !posted && posted.error().cause == Cause::chain_room;
    };
    EXPECT_TRUE(refused(rig.client.get_device_info(empty)));
    EXPECT_TRUE(refused(rig.client.get_device_info(small)));
    EXPECT_TRUE(refused(rig.client.write_buffer(small, rig.buffer, 0, pattern(8))));
    EXPECT_TRUE(refused(rig.client.submit(
        small, {.queue = rig.queue, .program = rig.program, .bindings = bindings})));
    EXPECT_EQ(rig.port.posts, 0U);
}

TEST(ClientRequests, control_bytes_are_room_for_every_command_without_bulk_in_the_area) {
    ClientRig rig;
    const auto data = pattern(100);
    std::vector<std::byte> target(100);
    std::array<std::byte, Chain::control_bytes> area{};
    Chain chain{area};
    const auto fits = [&](const Outcome<void>& posted) {
        if (!posted) {
            return false;
        }
        rig.port.answer(testing::Answer::refusal(Status::busy));
        return rig.client.next() == &chain;
    };
    EXPECT_TRUE(fits(rig.client.get_device_info(chain)));
    EXPECT_TRUE(fits(rig.client.allocate_buffer(chain, rig.context,
                                                {.bytes = 1, .usage = UsageBit::transfer_source})));
    EXPECT_TRUE(fits(rig.client.write_prepared(chain, rig.buffer, 0, data)));
    EXPECT_TRUE(fits(rig.client.read_prepared(chain, rig.buffer, 0, target)));
    EXPECT_TRUE(fits(rig.client.load_program(chain, rig.context,
                                             {.format = 1, .target = {}, .artifact = data})));
    EXPECT_TRUE(fits(rig.client.create_queue(chain, rig.context)));
}

TEST(ClientRequests, handles_of_another_client_are_refused) {
    ClientRig rig;
    ClientRig other;
    const EventHandle nothing;
    const auto gone = [](const Outcome<void>& posted) {
        return !posted && posted.error().kind == FailureKind::invalidated &&
               posted.error().status == Status::stale_object &&
               posted.error().cause == Cause::handle;
    };
    const auto data = pattern(8);
    std::vector<std::byte> target(8);
    const auto own = rig.binding(0);
    const auto foreign = other.binding(0);
    auto unbound = rig.binding(0);
    unbound.buffer = nullptr;
    EXPECT_TRUE(gone(rig.client.poll_event(rig.chain, nothing)));
    EXPECT_TRUE(gone(rig.client.poll_event(rig.chain, other.event)));
    EXPECT_TRUE(gone(rig.client.cancel_event(rig.chain, other.event)));
    EXPECT_TRUE(gone(rig.client.release(rig.chain, other.event)));
    EXPECT_TRUE(gone(rig.client.allocate_buffer(rig.chain, other.context, {})));
    EXPECT_TRUE(gone(rig.client.create_queue(rig.chain, other.context)));
    EXPECT_TRUE(gone(rig.client.load_program(rig.chain, other.context, {})));
    EXPECT_TRUE(gone(rig.client.write_buffer(rig.chain, other.buffer, 0, data)));
    EXPECT_TRUE(gone(rig.client.write_prepared(rig.chain, other.buffer, 0, data)));
    EXPECT_TRUE(gone(rig.client.read_prepared(rig.chain, other.buffer, 0, target)));
    const auto submit = [&rig](const QueueHandle& queue, const Binding& binding) {
        return rig.client.submit(
            rig.chain, {.queue = queue, .program = rig.program, .bindings = {&binding, 1}});
    };
    EXPECT_TRUE(gone(submit(other.queue, own)));
    EXPECT_TRUE(gone(submit(rig.queue, foreign)));
    EXPECT_TRUE(gone(submit(rig.queue, unbound)));
    EXPECT_TRUE(other.event);
    EXPECT_EQ(rig.port.posts, 0U);
}

TEST(ClientRequests, a_full_queue_hands_the_chain_back) {
    ClientRig rig;
    std::vector<Chain> chains(rig.port.depth);
    for (Chain& chain : chains) {
        chain = testing::make_chain(rig.heap.memory(), 0);
        ASSERT_TRUE(rig.client.poll_event(chain, rig.event));
    }
    EXPECT_EQ(rig.client.in_flight(), rig.port.depth);
    expect_refused(rig.client.poll_event(rig.chain, rig.event), Status::busy,
                   FailureKind::backpressure, Cause::queue_full);
    EXPECT_FALSE(rig.chain.in_flight());
    rig.port.answer(testing::event_answer(0), 3);
    EXPECT_EQ(rig.client.next(), &chains[3]);
    EXPECT_TRUE(rig.client.poll_event(rig.chain, rig.event));
    (void)rig.client.finish_reset(testing::rig_config());
    while (rig.client.next() != nullptr) {
    }
}

TEST(ClientRequests, a_chain_in_flight_is_not_posted_again) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    expect_refused(rig.client.create_context(rig.chain), Status::busy, FailureKind::not_sent,
                   Cause::chain_busy);
    expect_refused(rig.client.write_buffer(rig.chain, rig.buffer, 0, pattern(8)), Status::busy,
                   FailureKind::not_sent, Cause::chain_busy);
    const auto binding = rig.binding(0);
    expect_refused(
        rig.client.submit(rig.chain,
                          {.queue = rig.queue, .program = rig.program, .bindings = {&binding, 1}}),
        Status::busy, FailureKind::not_sent, Cause::chain_busy);
    EXPECT_EQ(rig.port.posts, 1U);
}

TEST(ClientRequests, request_ids_are_unique_and_never_zero) {
    ClientRig rig;
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(rig.client.get_device_info(rig.chain));
        ids.push_back(rig.last().header.request_id);
        rig.port.answer(testing::Answer::refusal(Status::busy));
        ASSERT_EQ(rig.client.next(), &rig.chain);
    }
    std::ranges::sort(ids);
    EXPECT_NE(ids.front(), 0U);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(ClientRequests, operations_allocate_nothing) {
    ClientRig rig;
    const auto data = pattern(64);
    const auto binding = rig.binding(0);
    const auto before = rig.heap.granted();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(rig.client.write_prepared(rig.chain, rig.buffer, 0, data));
        EXPECT_TRUE(rig.finish<Opcode::write_buffer>({}));
        ASSERT_TRUE(rig.client.submit(
            rig.chain, {.queue = rig.queue, .program = rig.program, .bindings = {&binding, 1}}));
        auto submitted = rig.finish<Opcode::submit>(testing::id_answer(77));
        ASSERT_TRUE(submitted);
        ASSERT_TRUE(rig.client.release(rig.chain, submitted->event));
        EXPECT_TRUE(rig.finish<Opcode::destroy_event>({}));
    }
    EXPECT_EQ(rig.heap.granted(), before);
}

}  // namespace
}  // namespace virtaccel::guest

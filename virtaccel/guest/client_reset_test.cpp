// A client's start, its reset and its end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/requests.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {
namespace {

using testing::ClientRig;
using testing::id_answer;
using testing::rig_config;
using testing::ScriptedPort;
using wire::Opcode;

TEST(ClientStart, refuses_a_configuration_that_is_not_one_of_protocol_1) {
    ScriptedPort port;
    const auto starts = [&port](auto change) {
        auto config = rig_config();
        change(config);
        return Client::make(port, config, host::heap()).has_value();
    };
    EXPECT_TRUE(starts([](auto&) {}));
    EXPECT_TRUE(starts([](auto& config) { config.protocol_minor = 9; }));
    EXPECT_FALSE(starts([](auto& config) { config.protocol_major = 0; }));
    EXPECT_FALSE(starts([](auto& config) { config.protocol_major = 2; }));
    EXPECT_FALSE(starts([](auto& config) { config.command_queue_count = 2; }));
    EXPECT_FALSE(starts([](auto& config) { config.chain_descriptors_max = 1; }));
    EXPECT_FALSE(starts([](auto& config) { config.chain_descriptors_max = 257; }));
    EXPECT_FALSE(starts([](auto& config) { config.request_bytes_max = 96; }));
    EXPECT_FALSE(starts([](auto& config) { config.request_bytes_max = (16U << 20U) + 1; }));
    EXPECT_FALSE(starts([](auto& config) { config.response_bytes_max = 91; }));
}

TEST(ClientStart, answers_out_of_memory_for_every_refused_allocation) {
    ScriptedPort port;
    virtaccel::testing::CountingMemory memory{host::heap()};
    for (std::uint64_t allowed = 0;; ++allowed) {
        memory.refuse_after(allowed);
        const auto client = Client::make(port, rig_config(), memory.memory());
        if (client) {
            EXPECT_GE(allowed, 2U);
            break;
        }
        EXPECT_EQ(client.error(), Status::out_of_memory);
        EXPECT_EQ(memory.live_blocks(), 0U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

TEST(ClientStart, serves_as_many_requests_as_the_port_is_deep) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    ScriptedPort port;
    port.depth = 3000;
    Client client = testing::make_client(port, memory.memory());
    std::vector<Chain> chains(port.depth);
    for (Chain& chain : chains) {
        chain = testing::make_chain(memory.memory(), 0);
    }
    for (Chain& chain : chains) {
        ASSERT_TRUE(client.create_context(chain));
    }
    while (!port.posted.empty()) {
        port.answer(id_answer(1), port.posted.size() / 2);
    }
    std::size_t done = 0;
    while (Chain* const chain = client.next()) {
        done += client.result<Opcode::create_context>(*chain) ? 1U : 0U;
    }
    EXPECT_EQ(done, port.depth);
}

TEST(ClientStart, a_moved_client_goes_on_with_what_is_in_flight) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    ScriptedPort port;
    Chain chain = testing::make_chain(memory.memory(), 0);
    Client first = testing::make_client(port, memory.memory());
    const EventHandle event = first.adopt(EventId{4});
    ASSERT_TRUE(first.poll_event(chain, event));
    Client second{std::move(first)};
    port.answer(testing::event_answer(1));
    EXPECT_EQ(second.next(), &chain);
    EXPECT_TRUE(second.poll_event(chain, event));
    port.answer(testing::event_answer(1));
    EXPECT_EQ(second.next(), &chain);
}

TEST(ClientReset, ends_everything_outstanding_as_invalidated) {
    ClientRig rig;
    std::vector<Chain> chains(5);
    for (Chain& chain : chains) {
        chain = testing::make_chain(rig.heap.memory(), 0);
    }
    for (Chain& chain : chains) {
        ASSERT_TRUE(rig.client.poll_event(chain, rig.event));
    }
    rig.port.answer(testing::event_answer(0), 2);
    ASSERT_EQ(rig.client.next(), &chains[2]);
    rig.client.begin_reset();
    EXPECT_EQ(rig.client.next(), nullptr);
    EXPECT_FALSE(rig.client.get_device_info(rig.chain));
    rig.port.posted.clear();
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    std::vector<const Chain*> ended;
    while (const Chain* const chain = rig.client.next()) {
        ASSERT_TRUE(chain->failure().has_value());
        EXPECT_EQ(chain->failure()->kind, FailureKind::invalidated);
        EXPECT_EQ(chain->failure()->cause, Cause::reset);
        EXPECT_EQ(chain->failure()->opcode, Opcode::poll_event);
        ended.push_back(chain);
    }
    std::ranges::sort(ended);
    EXPECT_EQ(ended, (std::vector<const Chain*>{&chains[0], &chains[1], &chains[3], &chains[4]}));
    EXPECT_EQ(rig.client.in_flight(), 0U);
}

TEST(ClientReset, requests_posted_before_the_ended_ones_are_taken_are_kept_apart) {
    ClientRig rig;
    std::vector<Chain> chains(3);
    for (Chain& chain : chains) {
        chain = testing::make_chain(rig.heap.memory(), 0);
    }
    ASSERT_TRUE(rig.client.create_context(chains[0]));
    ASSERT_TRUE(rig.client.create_context(chains[1]));
    rig.port.posted.clear();
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    ASSERT_TRUE(rig.client.create_context(chains[2]));
    rig.port.answer(id_answer(3));
    std::vector<bool> succeeded;
    while (Chain* const chain = rig.client.next()) {
        succeeded.push_back(rig.client.result<Opcode::create_context>(*chain).has_value());
    }
    EXPECT_EQ(succeeded, (std::vector<bool>{false, false, true}));
}

TEST(ClientReset, makes_every_handle_stale) {
    ClientRig rig;
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    const auto posted = rig.client.poll_event(rig.chain, rig.event);
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error().kind, FailureKind::invalidated);
    EXPECT_FALSE(rig.client.release(rig.chain, rig.buffer));
    EXPECT_EQ(rig.port.posts, 0U);
    const auto fresh = rig.client.adopt(EventId{15});
    EXPECT_TRUE(rig.client.poll_event(rig.chain, fresh));
}

TEST(ClientReset, a_release_that_a_reset_ends_gives_nothing_back) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.release(rig.chain, rig.buffer));
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    ASSERT_EQ(rig.client.next(), &rig.chain);
    const auto released = rig.client.result<Opcode::free_buffer>(rig.chain);
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().failure.kind, FailureKind::invalidated);
    EXPECT_FALSE(released.error().handle);
}

TEST(ClientReset, takes_the_new_configuration_and_forgets_the_old_identity) {
    ClientRig rig;
    auto config = rig_config();
    config.request_bytes_max = 1000;
    config.chain_descriptors_max = 2;
    ASSERT_EQ(rig.client.finish_reset(config), Status::ok);
    EXPECT_FALSE(rig.client.identity().has_value());
    EXPECT_EQ(rig.client.write_bytes_max(), 960U);
    EXPECT_EQ(rig.client.artifact_bytes_max(), 1000U - 96);
    const auto buffer = rig.client.adopt(BufferId{1});
    const std::vector<std::byte> data(8);
    const auto posted = rig.client.write_prepared(rig.chain, buffer, 0, data);
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error().status, Status::resource_limit);
    EXPECT_TRUE(rig.client.write_buffer(rig.chain, buffer, 0, data));
}

TEST(ClientReset, a_bad_configuration_keeps_the_client_closed_until_a_good_one) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.poll_event(rig.chain, rig.event));
    EXPECT_EQ(rig.client.finish_reset(wire::Config{}), Status::incompatible);
    EXPECT_TRUE(rig.client.needs_reset());
    EXPECT_EQ(rig.client.next(), &rig.chain);
    EXPECT_FALSE(rig.client.get_device_info(rig.chain));
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    EXPECT_FALSE(rig.client.needs_reset());
    EXPECT_TRUE(rig.client.get_device_info(rig.chain));
}

TEST(ClientReset, forgets_that_the_device_was_lost) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.poll_event(rig.chain, rig.event));
    const auto result =
        rig.finish<Opcode::poll_event>(testing::Answer::refusal(Status::device_lost));
    EXPECT_FALSE(result);
    EXPECT_TRUE(rig.client.device_lost());
    ASSERT_EQ(rig.client.finish_reset(rig_config()), Status::ok);
    EXPECT_FALSE(rig.client.device_lost());
}

// Each does what must not be done.
void destroy_a_chain_in_flight() {
    ClientRig rig;
    Chain chain = testing::make_chain(rig.heap.memory(), 0);
    VIRTACCEL_CHECK(rig.client.get_device_info(chain).has_value());
}

void move_a_chain_in_flight() {
    ClientRig rig;
    VIRTACCEL_CHECK(rig.client.get_device_info(rig.chain).has_value());
    const Chain moved{std::move(rig.chain)};
}

void end_a_client_in_use() {
    ScriptedPort port;
    Chain chain = testing::make_chain(host::heap(), 0);
    Client client = testing::make_client(port, host::heap());
    VIRTACCEL_CHECK(client.get_device_info(chain).has_value());
}

void ask_before_completion() {
    ClientRig rig;
    VIRTACCEL_CHECK(rig.client.create_context(rig.chain).has_value());
    [[maybe_unused]] const auto result = rig.client.result<Opcode::create_context>(rig.chain);
}

void ask_for_another_command() {
    ClientRig rig;
    VIRTACCEL_CHECK(rig.client.create_context(rig.chain).has_value());
    rig.port.answer(id_answer(1));
    VIRTACCEL_CHECK(rig.client.next() == &rig.chain);
    [[maybe_unused]] const auto result = rig.client.result<Opcode::create_queue>(rig.chain);
}

TEST(ClientDeathTest, a_chain_in_flight_is_neither_destroyed_nor_moved) {
    EXPECT_DEATH(destroy_a_chain_in_flight(), "in_flight");
    EXPECT_DEATH(move_a_chain_in_flight(), "in_flight");
}

TEST(ClientDeathTest, a_client_does_not_end_with_requests_in_flight) {
    EXPECT_DEATH(end_a_client_in_use(), "in_flight");
}

TEST(ClientDeathTest, a_result_is_asked_of_the_command_that_completed) {
    EXPECT_DEATH(ask_before_completion(), "opcode");
    EXPECT_DEATH(ask_for_another_command(), "opcode");
}

TEST(ChainMemory, is_refused_with_out_of_memory) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    memory.refuse_after(0);
    EXPECT_EQ(Chain::make(memory.memory(), 100).error(), Status::out_of_memory);
    memory.refuse_after(1);
    auto chain = Chain::make(memory.memory(), 100);
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->area_bytes(), 100U);
    EXPECT_EQ(chain->reserve_pieces(memory.memory(), 9), Status::out_of_memory);
}

TEST(ChainMemory, moves_with_its_chain_and_ends_with_it) {
    virtaccel::testing::CountingMemory memory{host::heap()};
    {
        Chain first = testing::make_chain(memory.memory());
        ASSERT_EQ(first.reserve_pieces(memory.memory(), 9), Status::ok);
        first.tag = 5;
        Chain second;
        second = std::move(first);
        EXPECT_EQ(second.tag, 5U);
        EXPECT_GT(second.area_bytes(), 0U);
        EXPECT_EQ(memory.live_blocks(), 2U);
    }
    EXPECT_EQ(memory.live_blocks(), 0U);
}

}  // namespace
}  // namespace virtaccel::guest

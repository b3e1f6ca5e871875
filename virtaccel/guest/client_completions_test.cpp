// What the client makes of responses: good ones, refusals, and those of a hostile device.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {
namespace {

using testing::Answer;
using testing::ClientRig;
using testing::event_answer;
using testing::id_answer;
using wire::Opcode;

Answer raw_refusal(std::uint16_t status) {
    Answer answer;
    answer.status = status;
    return answer;
}

Answer bytes_answer(std::size_t bytes) {
    Answer answer;
    for (std::size_t i = 0; i < bytes; ++i) {
        answer.payload.push_back(static_cast<std::byte>(i));
    }
    return answer;
}

// Answers a GET_DEVICE_INFO and expects the client to lose its trust in the device.
void expect_distrust(const Answer& answer, Cause cause) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    const auto result = rig.finish<Opcode::get_device_info>(answer);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, FailureKind::recovery_required);
    EXPECT_EQ(result.error().cause, cause);
    EXPECT_TRUE(rig.client.needs_reset());
    const auto refused = rig.client.get_device_info(rig.chain);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, FailureKind::recovery_required);
    EXPECT_EQ(refused.error().cause, Cause::client_closed);
}

TEST(ClientCompletions, device_info_becomes_the_identity) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.identity().has_value());
    EXPECT_EQ(*rig.client.identity(), testing::rig_identity());
    auto other = testing::rig_identity();
    other.limits.contexts = 9;
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    const auto result = rig.finish<Opcode::get_device_info>(Answer::of(wire::to_record(other)));
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, other);
    EXPECT_EQ(rig.client.identity()->limits.contexts, 9U);
}

TEST(ClientCompletions, limits_are_the_smaller_of_the_frames_and_the_devices) {
    ClientRig rig;
    EXPECT_EQ(rig.client.write_bytes_max(), 4096U - 40);
    EXPECT_EQ(rig.client.read_bytes_max(), 4096U - 16);
    EXPECT_EQ(rig.client.artifact_bytes_max(), 2000U);
    EXPECT_EQ(rig.client.bindings_max(), 8U);
    auto large = testing::rig_identity();
    large.limits.artifact_bytes = std::uint64_t{256} << 20U;
    large.limits.bindings_per_submission = 4096;
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    ASSERT_TRUE(rig.finish<Opcode::get_device_info>(Answer::of(wire::to_record(large))));
    EXPECT_EQ(rig.client.artifact_bytes_max(), 4096U - 96);
    EXPECT_EQ(rig.client.bindings_max(), (4096U - 48) / 32);
}

TEST(ClientCompletions, creations_yield_handles) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    const auto context = rig.finish<Opcode::create_context>(id_answer(0x100000002));
    ASSERT_TRUE(context);
    EXPECT_EQ(context->id().raw, 0x100000002U);
    EXPECT_TRUE(context->is_of(rig.client.realm()));
    ASSERT_TRUE(rig.client.create_queue(rig.chain, *context));
    const auto queue = rig.finish<Opcode::create_queue>(id_answer(3));
    ASSERT_TRUE(queue);
    EXPECT_EQ(queue->id().raw, 3U);
}

TEST(ClientCompletions, a_read_into_the_area_yields_its_bytes) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.read_buffer(rig.chain, rig.buffer, {.offset = 0, .bytes = 10}));
    const auto answer = bytes_answer(10);
    const auto bytes = rig.finish<Opcode::read_buffer>(answer);
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(std::ranges::equal(*bytes, answer.payload));
}

TEST(ClientCompletions, a_prepared_read_yields_the_callers_memory) {
    ClientRig rig;
    std::array<std::byte, 10> target{};
    ASSERT_TRUE(rig.client.read_prepared(rig.chain, rig.buffer, 0, target));
    const auto answer = bytes_answer(10);
    const auto bytes = rig.finish<Opcode::read_buffer>(answer);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->data(), target.data());
    EXPECT_TRUE(std::ranges::equal(target, answer.payload));
}

TEST(ClientCompletions, a_read_into_pieces_fills_them_in_order) {
    ClientRig rig;
    ASSERT_EQ(rig.chain.reserve_pieces(rig.heap.memory(), 2), Status::ok);
    std::array<std::byte, 10> target{};
    const std::array pieces{Piece{.data = target.data() + 4, .size = 6},
                            Piece{.data = target.data(), .size = 4}};
    ASSERT_TRUE(rig.client.read_prepared(rig.chain, rig.buffer, 0, PieceList::of(pieces)));
    const auto bytes = rig.finish<Opcode::read_buffer>(bytes_answer(10));
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(bytes->empty());
    EXPECT_EQ(target[4], std::byte{0});
    EXPECT_EQ(target[0], std::byte{6});
}

TEST(ClientCompletions, event_states_are_told_apart) {
    ClientRig rig;
    const auto poll = [&rig](const Answer& answer) {
        EXPECT_TRUE(rig.client.poll_event(rig.chain, rig.event));
        return rig.finish<Opcode::poll_event>(answer);
    };
    EXPECT_EQ(poll(event_answer(0)), (EventStatus{EventPhase::pending, Status::ok}));
    EXPECT_EQ(poll(event_answer(1)), (EventStatus{EventPhase::complete, Status::ok}));
    EXPECT_EQ(poll(event_answer(2, 8)),
              (EventStatus{EventPhase::failed, Status::deadline_expired}));
    EXPECT_EQ(poll(event_answer(3)), (EventStatus{EventPhase::cancelled, Status::ok}));
    EXPECT_FALSE(rig.client.device_lost());
    EXPECT_EQ(poll(event_answer(2, 9)), (EventStatus{EventPhase::failed, Status::device_lost}));
    EXPECT_TRUE(rig.client.device_lost());
    EXPECT_FALSE(rig.client.needs_reset());
}

TEST(ClientCompletions, every_status_has_its_kind) {
    ClientRig rig;
    const auto kind_of = [&rig](std::uint16_t status) {
        EXPECT_TRUE(rig.client.create_context(rig.chain));
        const auto result = rig.finish<Opcode::create_context>(raw_refusal(status));
        EXPECT_FALSE(result);
        EXPECT_EQ(static_cast<std::uint16_t>(result.error().status), status);
        EXPECT_EQ(result.error().opcode, Opcode::create_context);
        EXPECT_EQ(result.error().cause, Cause::answer);
        EXPECT_EQ(rig.chain.failure(), result.error());
        return result.error().kind;
    };
    for (const auto status : std::to_array<std::uint16_t>({1, 2, 3, 4, 5, 6, 7, 8, 10, 65535})) {
        EXPECT_EQ(kind_of(status), FailureKind::retryable) << status;
    }
    EXPECT_FALSE(rig.client.device_lost());
    EXPECT_EQ(kind_of(11), FailureKind::invalidated);
    EXPECT_EQ(kind_of(9), FailureKind::indeterminate);
    EXPECT_TRUE(rig.client.device_lost());
    for (const auto status : std::to_array<std::uint16_t>({12, 0x1234, 65534})) {
        EXPECT_EQ(kind_of(status), FailureKind::unknown_status) << status;
    }
    EXPECT_FALSE(rig.client.needs_reset());
}

TEST(ClientCompletions, a_release_gives_the_handle_back_exactly_if_the_device_keeps_it) {
    ClientRig rig;
    const auto release = [&rig](const Answer& answer) {
        BufferHandle handle = rig.client.adopt(BufferId{12});
        EXPECT_TRUE(rig.client.release(rig.chain, handle));
        EXPECT_FALSE(handle);
        return rig.finish<Opcode::free_buffer>(answer);
    };
    EXPECT_TRUE(release({}));
    const auto busy = release(Answer::refusal(Status::busy));
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().failure.kind, FailureKind::retryable);
    EXPECT_EQ(busy.error().handle.id().raw, 12U);
    EXPECT_TRUE(busy.error().handle.is_of(rig.client.realm()));
    const auto unknown = release(raw_refusal(77));
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().failure.kind, FailureKind::unknown_status);
    EXPECT_TRUE(unknown.error().handle);
    const auto stale = release(Answer::refusal(Status::stale_object));
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().failure.kind, FailureKind::invalidated);
    EXPECT_FALSE(stale.error().handle);
    const auto lost = release(Answer::refusal(Status::device_lost));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().failure.kind, FailureKind::indeterminate);
    EXPECT_FALSE(lost.error().handle);
}

TEST(ClientCompletions, the_three_ends_of_a_submission_do_not_collapse) {
    ClientRig rig;
    const auto binding = rig.binding(0);
    const auto submit = [&](const Answer& answer) {
        EXPECT_TRUE(rig.client.submit(
            rig.chain, {.queue = rig.queue, .program = rig.program, .bindings = {&binding, 1}}));
        return rig.finish<Opcode::submit>(answer);
    };
    const auto accepted = submit(id_answer(5));
    ASSERT_TRUE(accepted);
    EXPECT_EQ(accepted->status, Status::ok);
    EXPECT_EQ(accepted->event.id().raw, 5U);
    EXPECT_EQ(rig.chain.failure(), std::nullopt);

    auto answer = id_answer(6);
    answer.status = static_cast<std::uint16_t>(Status::deadline_expired);
    const auto indeterminate = submit(answer);
    ASSERT_TRUE(indeterminate);
    EXPECT_EQ(indeterminate->status, Status::deadline_expired);
    EXPECT_EQ(indeterminate->event.id().raw, 6U);
    ASSERT_TRUE(rig.chain.failure().has_value());
    EXPECT_EQ(rig.chain.failure()->kind, FailureKind::indeterminate);

    const auto rejected = submit(Answer::refusal(Status::resource_limit));
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().kind, FailureKind::retryable);
    // After an indeterminate one, so that nothing of it is left in the chain.
    const auto lost = submit(Answer::refusal(Status::device_lost));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().kind, FailureKind::indeterminate);
    EXPECT_FALSE(rig.client.needs_reset());
}

TEST(ClientCompletions, an_indeterminate_submission_without_an_event_id_is_a_broken_rule) {
    ClientRig rig;
    const auto binding = rig.binding(0);
    ASSERT_TRUE(rig.client.submit(
        rig.chain, {.queue = rig.queue, .program = rig.program, .bindings = {&binding, 1}}));
    auto answer = id_answer(0);
    answer.status = static_cast<std::uint16_t>(Status::internal_error);
    const auto result = rig.finish<Opcode::submit>(answer);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, FailureKind::recovery_required);
    EXPECT_TRUE(rig.client.needs_reset());
}

TEST(ClientCompletions, any_order_of_completion_keeps_requests_apart) {
    ClientRig rig;
    std::vector<Chain> chains(6);
    for (std::size_t i = 0; i < chains.size(); ++i) {
        chains[i] = testing::make_chain(rig.heap.memory(), 0);
        chains[i].tag = i;
    }
    for (Chain& chain : chains) {
        ASSERT_TRUE(rig.client.create_context(chain));
    }
    for (const std::size_t index : {4U, 0U, 3U, 1U, 1U, 0U}) {
        rig.port.answer(id_answer(rig.port.posted.at(index).header.request_id), index);
    }
    std::vector<std::uint64_t> order;
    while (Chain* const done = rig.client.next()) {
        order.push_back(done->tag);
        EXPECT_TRUE(rig.client.result<Opcode::create_context>(*done));
    }
    EXPECT_EQ(order, (std::vector<std::uint64_t>{4, 0, 5, 2, 3, 1}));
    EXPECT_EQ(rig.client.in_flight(), 0U);
}

TEST(ClientCompletions, forged_used_lengths_are_a_broken_rule) {
    const auto info = Answer::of(wire::to_record(testing::rig_identity()));
    for (const std::uint32_t used : {0U, 1U, 15U, 16U, 91U, 93U, 4096U, 0xffffffffU}) {
        auto answer = info;
        answer.used_bytes = used;
        expect_distrust(answer, Cause::used_bytes);
    }
    for (const std::uint32_t used : {0U, 15U, 17U, 24U, 0xffffffffU}) {
        auto answer = Answer::refusal(Status::busy);
        answer.used_bytes = used;
        expect_distrust(answer, Cause::used_bytes);
    }
}

TEST(ClientCompletions, a_header_that_was_not_written_is_not_looked_at) {
    for (const std::uint32_t used : {0U, 15U}) {
        auto answer = Answer::refusal(Status::busy);
        answer.request_id = 0;
        answer.used_bytes = used;
        expect_distrust(answer, Cause::used_bytes);
    }
}

TEST(ClientCompletions, forged_response_headers_are_a_broken_rule) {
    const auto info = Answer::of(wire::to_record(testing::rig_identity()));
    for (const std::uint32_t bytes : {0U, 75U, 77U, 0xffffffffU}) {
        auto answer = info;
        answer.payload_bytes = bytes;
        expect_distrust(answer, Cause::used_bytes);
    }
    auto answer = info;
    answer.flags = 1;
    expect_distrust(answer, Cause::response);
    answer = Answer::refusal(Status::busy);
    answer.flags = 0x8000;
    expect_distrust(answer, Cause::response);
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        answer = info;
        answer.request_id = id;
        expect_distrust(answer, Cause::response);
    }
}

TEST(ClientCompletions, a_failure_with_a_payload_is_a_broken_rule) {
    auto answer = Answer::of(wire::to_record(testing::rig_identity()));
    answer.status = static_cast<std::uint16_t>(Status::busy);
    expect_distrust(answer, Cause::used_bytes);
    answer = id_answer(5);
    answer.status = static_cast<std::uint16_t>(Status::busy);
    expect_distrust(answer, Cause::used_bytes);
}

TEST(ClientCompletions, a_success_with_too_little_or_too_much_payload_is_a_broken_rule) {
    expect_distrust({}, Cause::used_bytes);
    expect_distrust(id_answer(5), Cause::used_bytes);
}

TEST(ClientCompletions, device_info_that_breaks_a_rule_is_refused) {
    const auto refused = [](auto change) {
        auto record = wire::to_record(testing::rig_identity());
        change(record);
        expect_distrust(Answer::of(record), Cause::reply);
    };
    refused([](auto& info) { info.reserved = 1; });
    refused([](auto& info) { info.capabilities = 0; });
    refused([](auto& info) { info.capabilities = 4; });
    refused([](auto& info) { info.capabilities = 1 | 8; });
    refused([](auto& info) { info.capabilities = 1 | 16; });
    refused([](auto& info) { info.contexts_max = 0; });
    refused([](auto& info) { info.buffers_per_context_max = 0; });
    refused([](auto& info) { info.programs_per_context_max = 0; });
    refused([](auto& info) { info.queues_per_context_max = 0; });
    refused([](auto& info) { info.events_per_context_max = 0; });
    refused([](auto& info) { info.bindings_per_submission_max = 0; });
    refused([](auto& info) { info.bindings_per_submission_max = 4097; });
    refused([](auto& info) { info.buffer_bytes_max = 0; });
    refused([](auto& info) { info.artifact_bytes_max = 0; });
}

TEST(ClientCompletions, unknown_capabilities_and_classes_are_kept) {
    ClientRig rig;
    auto identity = testing::rig_identity();
    identity.accelerator_class = static_cast<AcceleratorClass>(900);
    identity.capabilities = identity.capabilities | Capabilities{std::uint64_t{1} << 40U};
    ASSERT_TRUE(rig.client.get_device_info(rig.chain));
    const auto result = rig.finish<Opcode::get_device_info>(Answer::of(wire::to_record(identity)));
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, identity);
}

TEST(ClientCompletions, event_states_that_break_a_rule_keep_the_event_and_need_a_reset) {
    auto reserved = wire::EventState{.state = 1, .error = 0, .reserved = 1};
    for (const auto& answer : {event_answer(4), event_answer(0xffff), event_answer(2, 0),
                               event_answer(1, 3), event_answer(0, 9), Answer::of(reserved)}) {
        ClientRig rig;
        ASSERT_TRUE(rig.client.poll_event(rig.chain, rig.event));
        const auto result = rig.finish<Opcode::poll_event>(answer);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind, FailureKind::recovery_required);
        EXPECT_EQ(result.error().cause, Cause::reply);
        EXPECT_TRUE(rig.client.needs_reset());
        EXPECT_TRUE(rig.event);
    }
}

TEST(ClientCompletions, a_new_object_without_an_id_is_a_broken_rule) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    const auto result = rig.finish<Opcode::create_context>(id_answer(0));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().cause, Cause::reply);
    EXPECT_TRUE(rig.client.needs_reset());
}

TEST(ClientCompletions, a_result_is_read_from_the_device_once) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    const auto request = rig.last();
    rig.port.answer(id_answer(7));
    ASSERT_EQ(rig.client.next(), &rig.chain);
    rig.port.answer_to(request, id_answer(8));  // too late, into the same memory
    const auto result = rig.client.result<Opcode::create_context>(rig.chain);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->id().raw, 7U);
}

TEST(ClientCompletions, a_head_completed_twice_ends_one_request_once) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    const auto request = rig.last();
    rig.port.answer(id_answer(7));
    rig.port.answer_to(request, id_answer(8));
    EXPECT_EQ(rig.client.next(), &rig.chain);
    EXPECT_FALSE(rig.client.needs_reset());
    EXPECT_EQ(rig.client.next(), nullptr);
    EXPECT_TRUE(rig.client.needs_reset());
}

TEST(ClientCompletions, completions_of_what_was_never_posted_are_a_broken_rule) {
    for (const std::uint64_t cookie : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8},
                                       std::uint64_t{65535}, ~std::uint64_t{0}}) {
        ClientRig rig;
        rig.port.completions.push_back({.cookie = cookie, .used_bytes = 16});
        EXPECT_EQ(rig.client.next(), nullptr);
        EXPECT_TRUE(rig.client.needs_reset());
    }
}

TEST(ClientCompletions, a_broken_ring_completes_nothing_more) {
    ClientRig rig;
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    rig.port.is_broken = true;
    EXPECT_EQ(rig.client.next(), nullptr);
    EXPECT_TRUE(rig.client.needs_reset());
    EXPECT_EQ(rig.client.in_flight(), 1U);
    rig.port.answer(id_answer(7));
    EXPECT_EQ(rig.client.next(), nullptr);
}

TEST(ClientCompletions, a_ring_found_broken_when_posting_needs_a_reset) {
    ClientRig rig;
    rig.port.verdict = queue::Posted::broken;
    const auto posted = rig.client.create_context(rig.chain);
    ASSERT_FALSE(posted);
    EXPECT_EQ(posted.error().kind, FailureKind::recovery_required);
    EXPECT_EQ(posted.error().cause, Cause::ring);
    EXPECT_TRUE(rig.client.needs_reset());
    EXPECT_FALSE(rig.chain.in_flight());
}

TEST(ClientCompletions, after_one_forged_response_the_others_wait_for_the_reset) {
    ClientRig rig;
    Chain second = testing::make_chain(rig.heap.memory(), 0);
    ASSERT_TRUE(rig.client.create_context(rig.chain));
    ASSERT_TRUE(rig.client.create_context(second));
    auto forged = id_answer(7);
    forged.flags = 1;
    rig.port.answer(forged);
    rig.port.answer(id_answer(8));
    EXPECT_EQ(rig.client.next(), &rig.chain);
    EXPECT_EQ(rig.client.next(), nullptr);
    EXPECT_TRUE(second.in_flight());
    ASSERT_EQ(rig.client.finish_reset(testing::rig_config()), Status::ok);
    EXPECT_EQ(rig.client.next(), &second);
    EXPECT_EQ(second.failure()->kind, FailureKind::invalidated);
}

}  // namespace
}  // namespace virtaccel::guest

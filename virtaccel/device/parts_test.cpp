// Parts of artifacts as a guest meets them: programs of the device's own until a join makes them a
// program of the backend's (spec/parts.md).
#include "virtaccel/base/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using testing::DeviceRig;
using testing::Ending;
using testing::Operation;
using testing::Reply;
using testing::Request;
using wire::Opcode;

constexpr parts::Key key{std::byte{1}};
constexpr parts::Key other_key{std::byte{2}};
constexpr std::uint32_t format = 0x1234;

// An artifact of 200 bytes, and requests for its parts.
class PartsRig : public DeviceRig {
  public:
    static constexpr std::uint64_t total_bytes = 200;
    // Four blocks, and one for a part.
    static constexpr std::uint64_t first_cost = 256 + 64;

    PartsRig() {
        for (std::size_t i = 0; i < whole.size(); ++i) {
            whole.at(i) = static_cast<std::byte>((i * 3) + 1);
        }
    }

    ~PartsRig() override {
        is_counted = false;
        remake(testing::default_options());
        EXPECT_EQ(heap.live_blocks(), 0U);
    }

    PartsRig(const PartsRig&) = delete;
    PartsRig& operator=(const PartsRig&) = delete;

    // The last device, which outlives the count, is not counted.
    [[nodiscard]] Memory memory() override { return is_counted ? heap.memory() : host::heap(); }

    Request& part_request(ContextId context, std::uint64_t offset, std::uint64_t bytes,
                          const parts::Key& of = key) {
        std::vector<std::byte> payload(parts::part_head_bytes);
        parts::encode({.key = of, .total_bytes = total_bytes, .offset = offset},
                      std::span{payload}.first<parts::part_head_bytes>());
        payload.insert(payload.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset),
                       whole.begin() + static_cast<std::ptrdiff_t>(offset + bytes));
        wire::LoadProgram record;
        record.context_id = context;
        record.format = parts::part_format;
        std::ranges::copy(parts::part_target, record.target.begin());
        record.payload_bytes = payload.size();
        record.resident_bytes = first_cost;
        return request<Opcode::load_program>(record, payload);
    }

    Request& join_request(ContextId context, const parts::Key& of = key,
                          std::uint64_t resident_bytes = 64) {
        std::array<std::byte, parts::join_head_bytes> payload{};
        parts::encode({.key = of, .format = format}, payload);
        wire::LoadProgram record;
        record.context_id = context;
        record.format = parts::join_format;
        record.target[0] = 77;
        record.payload_bytes = payload.size();
        record.resident_bytes = resident_bytes;
        return request<Opcode::load_program>(record, payload);
    }

    Reply try_part(ContextId context, std::uint64_t offset, std::uint64_t bytes,
                   const parts::Key& of = key) {
        return send(part_request(context, offset, bytes, of));
    }

    Reply try_join(ContextId context, const parts::Key& of = key,
                   std::uint64_t resident_bytes = 64) {
        return send(join_request(context, of, resident_bytes));
    }

    ProgramId part(ContextId context, std::uint64_t offset, std::uint64_t bytes) {
        return made<ProgramKind>(try_part(context, offset, bytes));
    }

    void unload(ProgramId id) { EXPECT_EQ(call<Opcode::unload_program>({id}).status, Status::ok); }

    // The backend was shown the artifact, whole and in place.
    void expect_shown() {
        EXPECT_EQ(backend->artifact_format, format);
        EXPECT_EQ(backend->artifact_bytes, total_bytes);
        EXPECT_TRUE(
            std::ranges::equal(std::span{backend->artifact_start}.first(total_bytes), whole));
        EXPECT_TRUE(backend->artifact_is_stable);
    }

    virtaccel::testing::CountingMemory heap{host::heap()};
    bool is_counted = true;
    std::array<std::byte, total_bytes> whole{};
};

class PartsTest : public PartsRig {
  public:
    // The rig's first device is not counted either.
    PartsTest() {
        remake(testing::default_options());
        context_id = context();
    }

    ContextId context_id;
};

TEST_F(PartsTest, become_a_program_of_the_backend_by_a_join) {
    const auto first = part(context_id, 0, 150);
    const auto second = part(context_id, 150, 50);
    EXPECT_EQ(backend->calls(Operation::prepare), 0U) << "parts are not the backend's";
    EXPECT_EQ(device().holdings().programs, 2U);
    EXPECT_EQ(device().holdings().program_bytes, first_cost + 64);
    const auto program = made<ProgramKind>(try_join(context_id));
    expect_shown();
    EXPECT_EQ(device().holdings().program_bytes, first_cost + 64 + 64);
    unload(first);
    unload(second);
    EXPECT_EQ(device().holdings().program_bytes, 64U);
    EXPECT_EQ(backend->calls(Operation::unload), 0U);
    const auto line = queue(context_id);
    const auto data = buffer(context_id);
    const auto done = event(line, program, {binding(data)});
    EXPECT_EQ(call<Opcode::destroy_event>({done}).status, Status::ok);
    unload(program);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
}

TEST_F(PartsTest, can_be_joined_again) {
    part(context_id, 0, 200);
    backend->next(Operation::prepare, Ending::rejected(Status::unsupported));
    EXPECT_TRUE(try_join(context_id).refuses(Status::unsupported));
    EXPECT_EQ(device().holdings().programs, 1U);
    made<ProgramKind>(try_join(context_id));
    made<ProgramKind>(try_join(context_id));
    EXPECT_EQ(device().holdings().programs, 3U);
}

TEST_F(PartsTest, are_refused_as_the_text_says) {
    part(context_id, 50, 50);
    EXPECT_TRUE(try_part(context_id, 99, 1).refuses(Status::invalid_argument));
    EXPECT_TRUE(try_join(context_id).refuses(Status::invalid_argument)) << "parts are missing";
    EXPECT_TRUE(try_join(context_id, other_key).refuses(Status::invalid_argument));
    EXPECT_TRUE(try_part(ContextId{4711}, 0, 1).refuses(Status::stale_object));
    EXPECT_TRUE(try_join(ContextId{4711}).refuses(Status::stale_object));
    EXPECT_EQ(backend->calls(Operation::prepare), 0U);
}

TEST_F(PartsTest, of_one_context_are_nothing_to_another) {
    const auto elsewhere = context();
    part(context_id, 0, 200);
    EXPECT_TRUE(try_join(elsewhere).refuses(Status::invalid_argument));
    part(elsewhere, 0, 100);
    EXPECT_TRUE(try_join(elsewhere).refuses(Status::invalid_argument));
    made<ProgramKind>(try_join(context_id));
}

TEST_F(PartsTest, cannot_be_submitted) {
    const auto id = part(context_id, 0, 100);
    const auto line = queue(context_id);
    const auto data = buffer(context_id);
    const std::array bindings{binding(data)};
    EXPECT_TRUE(submit(line, id, bindings).refuses(Status::incompatible));
    EXPECT_EQ(backend->calls(Operation::submit), 0U);
    const std::array outside{binding(data, 0, {.offset = 255, .bytes = 2})};
    EXPECT_TRUE(submit(line, id, outside).refuses(Status::out_of_bounds));
    EXPECT_EQ(device().holdings().events, 0U);
    unload(id);
}

TEST_F(PartsTest, count_as_programs_of_their_context) {
    for (std::uint64_t i = 0; i < backend->shown.limits.programs_per_context; ++i) {
        part(context_id, i, 1);
    }
    EXPECT_TRUE(try_part(context_id, 100, 1).refuses(Status::resource_limit));
    EXPECT_TRUE(try_join(context_id).refuses(Status::resource_limit));
    EXPECT_TRUE(call<Opcode::destroy_context>({context_id}).refuses(Status::busy));
}

TEST_F(PartsTest, hold_their_bytes_in_the_budget_until_the_last_one_goes) {
    const auto first = part(context_id, 0, 10);
    const auto second = part(context_id, 10, 10);
    unload(first);
    EXPECT_EQ(device().holdings().program_bytes, first_cost);
    const auto third = part(context_id, 0, 10);
    unload(second);
    EXPECT_EQ(device().holdings().program_bytes, first_cost);
    unload(third);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
}

TEST_F(PartsTest, are_refused_past_the_budget_before_anything_is_allocated) {
    auto options = testing::default_options();
    options.policy.program_resident_bytes_max = first_cost + 64 + 63;
    remake(options);
    context_id = context();
    part(context_id, 0, 10);
    const auto granted = heap.granted();
    EXPECT_TRUE(try_part(context_id, 0, 10, other_key).refuses(Status::resource_limit));
    EXPECT_EQ(heap.granted(), granted);
    auto& cheap = part_request(context_id, 10, 10);
    auto record = wire::load<wire::LoadProgram>(cheap.bytes.data() + 16);
    record.resident_bytes = 64;
    std::ranges::copy(std::as_bytes(std::span{&record, 1}), cheap.bytes.begin() + 16);
    EXPECT_EQ(send(cheap).status, Status::ok);
    EXPECT_TRUE(try_join(context_id).refuses(Status::resource_limit));
}

TEST_F(PartsTest, that_need_more_than_the_largest_artifact_are_refused) {
    backend->shown.limits.artifact_bytes = total_bytes - 1;
    remake(testing::default_options());
    context_id = context();
    EXPECT_TRUE(try_part(context_id, 0, 10).refuses(Status::resource_limit));
    backend->shown.limits.artifact_bytes = total_bytes;
    remake(testing::default_options());
    context_id = context();
    part(context_id, 0, 10);
}

TEST_F(PartsTest, are_given_up_by_a_reset) {
    part(context_id, 0, 10);
    part(context_id, 10, 10);
    made<ProgramKind>(try_part(context_id, 0, 200, other_key));
    made<ProgramKind>(try_join(context_id, other_key));
    const auto before = heap.live_bytes();
    const auto report = device().reset();
    EXPECT_FALSE(report.discard);
    EXPECT_EQ(report.released, (Tally{5, (2 * first_cost) + 64 + 64}));
    EXPECT_EQ(report.quarantined, Tally{});
    EXPECT_EQ(heap.live_bytes(), before - (std::uint64_t{2} * 256));
    context_id = context();
    EXPECT_TRUE(try_join(context_id, other_key).refuses(Status::invalid_argument));
    part(context_id, 0, 10);
}

TEST_F(PartsTest, are_given_up_although_the_backend_is_lost) {
    part(context_id, 0, 10);
    const auto id = program(context_id);
    backend->next(Operation::unload, Ending::lost());
    EXPECT_TRUE(call<Opcode::unload_program>({id}).refuses(Status::device_lost));
    const auto before = heap.live_bytes();
    const auto report = device().reset();
    EXPECT_TRUE(report.discard);
    EXPECT_EQ(report.released, (Tally{1, first_cost}));
    EXPECT_EQ(heap.live_bytes(), before - 256);
}

TEST_F(PartsTest, are_freed_with_a_device_whose_guest_died_half_way) {
    part(context_id, 0, 10);
    part(context_id, 10, 10);
    made<ProgramKind>(try_part(context_id, 0, 200, other_key));
    remake(testing::default_options());
    const auto empty = heap.live_bytes();
    part(context(), 0, 10);
    remake(testing::default_options());
    EXPECT_EQ(heap.live_bytes(), empty);
}

// Every allocation of a load in parts fails once.
TEST_F(PartsTest, are_refused_at_any_allocation_without_harm) {
    std::uint64_t n = 0;
    for (bool refused = true; refused; ++n) {
        remake(testing::default_options());
        const auto before = heap.refused();
        bool has_refused = false;
        const auto insist = [&](const auto& attempt) {
            auto reply = attempt();
            if (!has_refused && heap.refused() != before) {
                has_refused = true;
                EXPECT_TRUE(reply.refuses(Status::out_of_memory)) << n;
                EXPECT_FALSE(device().needs_reset());
                heap.refuse_nothing();
                reply = attempt();
            }
            EXPECT_EQ(reply.status, Status::ok) << n;
            return reply;
        };
        heap.refuse_after(n);
        context_id = made<ContextKind>(insist([&] { return call<Opcode::create_context>(); }));
        insist([&] { return try_part(context_id, 0, 100); });
        insist([&] { return try_part(context_id, 100, 100); });
        insist([&] { return try_join(context_id); });
        expect_shown();
        heap.refuse_nothing();
        refused = has_refused;
    }
    EXPECT_EQ(n, 6U) << "contexts, programs, two pools and the artifact";
}

// A join that waits to be prepared elsewhere.
class DeferredJoinTest : public PartsRig {
  public:
    DeferredJoinTest() {
        auto options = testing::default_options();
        options.deferred_loads_max = 4;
        remake(options);
        context_id = context();
        part_id = part(context_id, 0, 200);
    }

    void defer() {
        const auto frame = join_request(context_id).frame();
        frame_.assign(frame.begin(), frame.end());
        answer_.assign(64, testing::untouched);
        EXPECT_TRUE(device().serve(frame_, answer_).deferred);
        load = device().take_load();
    }

    [[nodiscard]] Status status() const {
        const auto header = wire::load<wire::ResponseHeader>(answer_.data());
        return static_cast<Status>(std::uint16_t{header.status});
    }

    ContextId context_id;
    ProgramId part_id;
    PendingLoad load;

  private:
    std::vector<std::byte> frame_;
    std::vector<std::byte> answer_;
};

TEST_F(DeferredJoinTest, is_prepared_on_another_thread_from_what_nobody_can_change) {
    defer();
    std::thread other{[this] { load.prepare(); }};
    EXPECT_TRUE(call<Opcode::unload_program>({part_id}).refuses(Status::busy));
    EXPECT_TRUE(try_part(context_id, 7, 1).refuses(Status::invalid_argument));
    other.join();
    const auto served = device().finish(std::move(load));
    ASSERT_TRUE(served.has_value());
    EXPECT_EQ(served->used_bytes, 24U);
    EXPECT_EQ(status(), Status::ok);
    expect_shown();
    unload(part_id);
}

TEST_F(DeferredJoinTest, keeps_its_bytes_through_a_reset_and_then_lets_them_go) {
    for (const bool is_prepared : {false, true}) {
        defer();
        if (is_prepared) {
            load.prepare();
        }
        EXPECT_FALSE(device().reset().discard);
        const auto before = heap.live_bytes();
        if (!is_prepared) {
            load.prepare();  // it may be in the middle of it
        }
        EXPECT_FALSE(device().finish(std::move(load)).has_value());
        EXPECT_LE(heap.live_bytes(), before - 256);
        context_id = context();
        part_id = part(context_id, 0, 200);
    }
}

TEST_F(DeferredJoinTest, that_is_dropped_lets_its_parts_go) {
    defer();
    load = {};
    unload(part_id);
    EXPECT_EQ(device().holdings().program_bytes, 0U);
}

TEST_F(DeferredJoinTest, outlives_its_device) {
    defer();
    remake(testing::default_options());
    load.prepare();
    expect_shown();
    load = {};
}

}  // namespace
}  // namespace virtaccel::device

#include "virtaccel/guest/parted_load.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/base/panic.h"
#include "virtaccel/base/parts.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/chain.h"
#include "virtaccel/guest/client.h"
#include "virtaccel/guest/failure.h"
#include "virtaccel/guest/handle.h"
#include "virtaccel/guest/resident_bytes.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/guest/testing/client_rig.h"
#include "virtaccel/guest/testing/fake_device.h"
#include "virtaccel/guest/testing/scripted_port.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::guest {
namespace {

using testing::Answer;
using testing::FakeDevice;
using testing::Posted;
using wire::Opcode;

// What the rig's frames carry of a part: 4096 bytes less 16, 80 and 32.
constexpr std::size_t part_bytes = 3968;
constexpr std::uint32_t format = 0x1234;

std::vector<std::byte> pattern(std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        data[i] = static_cast<std::byte>((i * 11) + (i / 256));
    }
    return data;
}

// A LOAD_PROGRAM as the device sees it.
struct Load {
    wire::LoadProgram record;
    std::vector<std::byte> payload;

    [[nodiscard]] parts::PartHead part() const {
        return parts::decode_part(std::span{payload}.first<parts::part_head_bytes>());
    }

    [[nodiscard]] parts::JoinHead join() const {
        VIRTACCEL_CHECK(payload.size() == parts::join_head_bytes);
        return parts::decode_join(std::span{payload}.first<parts::join_head_bytes>());
    }
};

// A session with a device that takes large artifacts, and a look at what it is sent.
class Parted : public ::testing::Test {
  protected:
    Parted() { device.identity.limits.artifact_bytes = 100'000; }

    void open(bool reaches_caller_memory = true) {
        auto transport = device.transport(heap.memory());
        transport.reaches_caller_memory = reaches_caller_memory;
        auto opened = Session::open(transport, heap.memory());
        VIRTACCEL_CHECK(opened.has_value());
        session.emplace(*std::move(opened));
        auto made = session->create_context();
        VIRTACCEL_CHECK(made.has_value());
        context = *std::move(made);
        device.on_post = [this](const Posted& request) {
            if (request.header.opcode == static_cast<std::uint16_t>(Opcode::load_program)) {
                loads.push_back({.record = request.record<wire::LoadProgram>(),
                                 .payload = {request.payload.begin() + sizeof(wire::LoadProgram),
                                             request.payload.end()}});
            }
        };
    }

    [[nodiscard]] Outcome<Program> load(std::span<const std::byte> artifact,
                                        std::uint64_t resident_bytes = 0) {
        loads.clear();
        return context.load({.format = format,
                             .target = {5, 6, 7},
                             .artifact = artifact,
                             .resident_bytes = resident_bytes});
    }

    // The parts and the join that were sent make `artifact`, and nothing else is on the device.
    void expect_loaded(const Program& program, const std::vector<std::byte>& artifact) {
        ASSERT_GE(loads.size(), 2U);
        std::vector<std::byte> whole;
        const parts::Key key = loads.front().part().key;
        for (const Load& load : std::span{loads}.first(loads.size() - 1)) {
            EXPECT_EQ(load.record.format, parts::part_format);
            TargetWords target{};
            std::ranges::copy(load.record.target, target.begin());
            EXPECT_EQ(target, parts::part_target);
            EXPECT_EQ(load.record.resident_bytes, parts::resident_bytes_of(artifact.size()));
            EXPECT_EQ(load.part().key, key);
            EXPECT_EQ(load.part().total_bytes, artifact.size());
            EXPECT_EQ(load.part().offset, whole.size());
            whole.insert(whole.end(), load.payload.begin() + parts::part_head_bytes,
                         load.payload.end());
        }
        EXPECT_EQ(whole, artifact);
        EXPECT_EQ(loads.back().record.format, parts::join_format);
        EXPECT_EQ(loads.back().record.target[2], 7U);
        EXPECT_EQ(loads.back().join(), (parts::JoinHead{.key = key, .format = format}));
        EXPECT_EQ(device.served[Opcode::unload_program], loads.size() - 1);
        EXPECT_TRUE(device.objects.contains(program.handle().id().raw));
        EXPECT_EQ(device.objects.size(), 2U) << "a context and the program";
    }

    void expect_failure(const Outcome<Program>& outcome, const Failure& failure) {
        ASSERT_FALSE(outcome.has_value());
        EXPECT_EQ(outcome.error().status, failure.status);
        EXPECT_EQ(outcome.error().kind, failure.kind);
        EXPECT_EQ(outcome.error().cause, failure.cause);
        EXPECT_EQ(device.objects.size(), 1U) << "the context";
    }

    virtaccel::testing::CountingMemory heap{host::heap()};
    FakeDevice device;
    std::optional<Session> session;
    Context context;
    std::vector<Load> loads;
};

constexpr Failure too_large{.status = Status::resource_limit,
                            .opcode = Opcode::load_program,
                            .kind = FailureKind::not_sent,
                            .cause = Cause::request};

TEST_F(Parted, goes_whole_as_long_as_a_frame_carries_it) {
    open();
    const auto artifact = pattern(4000);
    const auto program = load(artifact);
    ASSERT_TRUE(program.has_value());
    ASSERT_EQ(loads.size(), 1U);
    EXPECT_EQ(loads.front().record.format, format);
    EXPECT_EQ(loads.front().payload, artifact);
}

TEST_F(Parted, goes_in_parts_beyond_and_declares_what_the_whole_would) {
    open();
    for (const std::size_t bytes : {std::size_t{4001}, 2 * part_bytes, (3 * part_bytes) + 1}) {
        device.served.clear();
        const auto artifact = pattern(bytes);
        const auto program = load(artifact);
        ASSERT_TRUE(program.has_value());
        EXPECT_EQ(loads.size(), ((bytes - 1) / part_bytes) + 2);
        expect_loaded(*program, artifact);
        EXPECT_EQ(loads.back().record.resident_bytes, resident_bytes_for(bytes));
    }
    const auto program = load(pattern(5000), 77);
    ASSERT_TRUE(program.has_value());
    EXPECT_EQ(loads.back().record.resident_bytes, 77U);
}

TEST_F(Parted, has_a_key_of_its_own_each_time) {
    open();
    std::set<parts::Key> keys;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(load(pattern(5000)).has_value());
        EXPECT_TRUE(keys.insert(loads.front().part().key).second);
    }
}

TEST_F(Parted, is_staged_in_room_for_one_part) {
    open(false);
    heap.forget_peak();
    const auto before = heap.live_bytes();
    const auto artifact = pattern(5 * part_bytes);
    const auto program = load(artifact);
    ASSERT_TRUE(program.has_value());
    expect_loaded(*program, artifact);
    EXPECT_LE(heap.peak_bytes(), before + part_bytes + 512);
}

TEST_F(Parted, ends_where_memory_does) {
    open(false);
    for (std::uint64_t n = 0; n < 2; ++n) {
        heap.refuse_after(n);
        expect_failure(load(pattern(5000)), {.status = Status::out_of_memory,
                                             .opcode = Opcode::load_program,
                                             .kind = FailureKind::not_sent,
                                             .cause = Cause::memory});
        heap.refuse_nothing();
        EXPECT_TRUE(loads.empty());
    }
}

TEST_F(Parted, is_not_sent_if_it_cannot_succeed) {
    open();
    expect_failure(load(pattern(100'001)), too_large);
    // Sixteen programs are fifteen parts and what they make.
    ASSERT_TRUE(load(pattern(15 * part_bytes)).has_value());
    expect_failure(load(pattern((15 * part_bytes) + 1)), too_large);
    EXPECT_TRUE(loads.empty());
}

TEST_F(Parted, is_not_sent_if_no_part_fits_a_frame) {
    device.config.request_bytes_max = 97 + 31;
    open();
    expect_failure(load(pattern(200)), too_large);
    EXPECT_TRUE(loads.empty());
}

TEST_F(Parted, is_one_byte_at_a_time_if_a_frame_is_that_small) {
    device.config.request_bytes_max = 97 + 32;
    device.identity.limits.programs_per_context = 64;
    open();
    const auto artifact = pattern(40);
    const auto program = load(artifact);
    ASSERT_TRUE(program.has_value());
    EXPECT_EQ(loads.size(), 41U);
    expect_loaded(*program, artifact);
}

TEST_F(Parted, says_that_a_foreign_device_does_not_join) {
    open();
    for (const auto status :
         {Status::unsupported, Status::incompatible, Status::invalid_argument}) {
        device.instead.emplace_back(Opcode::load_program, Answer::refusal(status));
        expect_failure(load(pattern(5000)), {.status = status,
                                             .opcode = Opcode::load_program,
                                             .kind = FailureKind::retryable,
                                             .cause = Cause::parts});
        EXPECT_EQ(loads.size(), 1U);
    }
    device.instead.emplace_back(Opcode::load_program, Answer::refusal(Status::resource_limit));
    expect_failure(load(pattern(5000)), {.status = Status::resource_limit,
                                         .opcode = Opcode::load_program,
                                         .kind = FailureKind::retryable,
                                         .cause = Cause::answer});
}

TEST_F(Parted, unloads_its_parts_when_a_later_command_is_refused) {
    open();
    for (std::size_t before = 1; before <= 3; ++before) {
        std::size_t sent = 0;
        device.on_post = [&](const Posted& request) {
            if (request.header.opcode == static_cast<std::uint16_t>(Opcode::load_program) &&
                sent++ == before) {
                device.instead.emplace_back(Opcode::load_program,
                                            Answer::refusal(Status::unsupported));
            }
        };
        expect_failure(load(pattern((2 * part_bytes) + 1)), {.status = Status::unsupported,
                                                             .opcode = Opcode::load_program,
                                                             .kind = FailureKind::retryable,
                                                             .cause = Cause::answer});
        EXPECT_EQ(sent, before + 1);
    }
}

TEST_F(Parted, ends_with_the_device) {
    open();
    device.instead.emplace_back(Opcode::load_program, Answer::refusal(Status::device_lost));
    const auto program = load(pattern(5000));
    ASSERT_FALSE(program.has_value());
    EXPECT_EQ(program.error().kind, FailureKind::indeterminate);
    EXPECT_TRUE(session->is_lost());
    EXPECT_EQ(loads.size(), 1U);
    EXPECT_FALSE(load(pattern(5000)).has_value());
    EXPECT_TRUE(loads.empty());
}

// The same on the client itself, whose caller waits and releases.
class PartedClient : public ::testing::Test {
  protected:
    // Answers what was posted, gives the load its result, and says what was posted.
    wire::LoadProgram step(PartedLoad& load, const Answer& answer) {
        EXPECT_TRUE(load.post(rig.client, rig.chain, rig.context).has_value());
        const auto record = rig.last().record<wire::LoadProgram>();
        load.take(rig.finish<Opcode::load_program>(answer));
        return record;
    }

    [[nodiscard]] Outcome<PartedLoad> make(std::span<const std::byte> artifact) {
        return PartedLoad::make(rig.client, {.format = format, .target = {}, .artifact = artifact},
                                parts::Key{}, rig.heap.memory());
    }

    testing::ClientRig rig;
};

TEST_F(PartedClient, posts_one_command_after_the_other) {
    // The rig's device takes artifacts of 2000 bytes, and so parts of 1968 at most.
    EXPECT_EQ(rig.client.part_bytes_max(), 2000U - 32);
    const auto artifact = pattern(2000);
    auto load = make(artifact);
    ASSERT_TRUE(load.has_value());
    EXPECT_FALSE(load->is_over());
    EXPECT_EQ(load->next_bytes().size(), 1920U) << "a multiple of 64";
    EXPECT_EQ(step(*load, testing::id_answer(21)).payload_bytes, 1920U + 32);
    EXPECT_EQ(load->next_bytes().size(), 80U);
    EXPECT_EQ(step(*load, testing::id_answer(22)).payload_bytes, 80U + 32);
    EXPECT_TRUE(load->next_bytes().empty());
    EXPECT_FALSE(load->is_over());
    EXPECT_EQ(step(*load, testing::id_answer(23)).payload_bytes, 24U);
    EXPECT_TRUE(load->is_over());
    ASSERT_EQ(load->parts().size(), 2U);
    EXPECT_EQ(load->parts()[0].id().raw, 21U);
    EXPECT_EQ(load->parts()[1].id().raw, 22U);
    const auto program = load->result();
    ASSERT_TRUE(program.has_value());
    EXPECT_EQ(program->id().raw, 23U);
}

TEST_F(PartedClient, can_post_again_what_was_not_sent) {
    const auto artifact = pattern(1999);
    auto load = make(artifact);
    ASSERT_TRUE(load.has_value());
    rig.port.verdict = queue::Posted::full;
    const auto posted = load->post(rig.client, rig.chain, rig.context);
    ASSERT_FALSE(posted.has_value());
    EXPECT_EQ(posted.error().kind, FailureKind::backpressure);
    rig.port.verdict = queue::Posted::ok;
    step(*load, testing::id_answer(21));
    EXPECT_EQ(load->parts().size(), 1U);
}

TEST_F(PartedClient, wants_an_artifact) {
    const auto load = make({});
    ASSERT_FALSE(load.has_value());
    EXPECT_EQ(load.error().status, Status::invalid_argument);
}

TEST_F(PartedClient, refuses_parts_that_break_a_rule) {
    const auto bytes = pattern(2000);
    const auto refused = [&](std::span<const std::byte> part) {
        const auto sent =
            rig.client.load_part(rig.chain, rig.context, {.total_bytes = 4000, .bytes = part});
        return !sent && sent.error().kind == FailureKind::not_sent;
    };
    EXPECT_TRUE(refused(std::span{bytes}.first(1969)));
    const ContextHandle stale;
    EXPECT_FALSE(rig.client.load_part(rig.chain, stale, {}).has_value());
    EXPECT_FALSE(rig.client.load_joined(rig.chain, stale, {}).has_value());
    std::array<std::byte, 100> area{};
    Chain small{area};
    EXPECT_FALSE(rig.client.load_joined(small, rig.context, {.format = format}).has_value());
    EXPECT_EQ(rig.port.posts, 0U);
}

}  // namespace
}  // namespace virtaccel::guest

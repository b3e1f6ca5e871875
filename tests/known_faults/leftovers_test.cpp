// Nothing of the host, and nothing of an earlier owner, shows in an answer; and what fails leaves
// nothing behind. Elsewhere reserved fields held what was on the stack, fresh buffers held what was
// in them before, and each failed command kept a little memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/loopback/loopback.h"
#include "backends/cpu/cpu.h"
#include "backends/null/null.h"
#include "host/memory.h"
#include "tests/known_faults/machine.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/guest/session.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::known_faults {
namespace {

using virtaccel::testing::CountingMemory;

// A machine with a context.
class Leftovers : public ::testing::Test {
  protected:
    [[nodiscard]] Machine& machine() { return machine_; }

    [[nodiscard]] CountingMemory& heap() { return heap_; }

    // The object that `op` makes of `record`, whose tail is `tail`.
    template <Opcode op, class Kind>
    Id<Kind> make(const wire::RequestOf<op>& record, std::span<const std::byte> tail = {}) {
        const Frame frame = machine_.frame<op>(record, 24, static_cast<std::uint32_t>(tail.size()));
        std::ranges::copy(tail, machine_.rig.ram.at(frame.request).last(tail.size()).begin());
        EXPECT_EQ(machine_.serve(frame), 24U);
        return machine_.id_in<Kind>(frame);
    }

    [[nodiscard]] ContextId context() { return make<Opcode::create_context, ContextKind>({}); }

    // 100 000 times the same refusal, after which the host is as it was.
    void expect_no_trace(const Frame& frame, Status why) {
        ASSERT_EQ(machine_.serve(frame), sizeof(wire::ResponseHeader));
        const auto blocks = heap_.live_blocks();
        const auto bytes = heap_.live_bytes();
        const auto before = machine_.endpoint->device().holdings();
        heap_.forget_peak();
        for (int i = 0; i < 100'000; ++i) {
            ASSERT_EQ(machine_.serve(frame), sizeof(wire::ResponseHeader));
        }
        EXPECT_EQ(machine_.status_of(frame), why);
        EXPECT_EQ(heap_.live_blocks(), blocks);
        EXPECT_EQ(heap_.live_bytes(), bytes);
        EXPECT_LE(heap_.peak_bytes(), bytes + request_bytes_max);
        const auto after = machine_.endpoint->device().holdings();
        EXPECT_EQ(after.contexts, before.contexts);
        EXPECT_EQ(after.buffers, before.buffers);
        EXPECT_EQ(after.programs, before.programs);
        EXPECT_EQ(after.buffer_bytes, before.buffer_bytes);
        EXPECT_EQ(after.program_bytes, before.program_bytes);
    }

  private:
    CountingMemory heap_{host::heap()};
    Machine machine_{{}, heap_.memory()};
};

TEST_F(Leftovers, are_not_in_the_reserved_fields_of_answers) {
    const Frame info = machine().info_frame();
    ASSERT_EQ(machine().serve(info), info_bytes);
    const auto identity = wire::load<wire::DeviceInfo>(machine().rig.ram.at(info.response).data() +
                                                       sizeof(wire::ResponseHeader));
    EXPECT_EQ(identity.reserved, (decltype(identity.reserved){}));

    const auto in = context();
    const auto bytes = mock::encode({.operation = mock::Operation::barrier});
    const auto program = make<Opcode::load_program, ProgramKind>(program_in(in), bytes);
    const auto queue = make<Opcode::create_queue, QueueKind>({in, 0U, 0U});
    const wire::Binding bound{make<Opcode::allocate_buffer, BufferKind>(buffer_in(in, 256)),
                              0U,
                              256U,
                              0U,
                              static_cast<std::uint8_t>(Access::read),
                              {}};
    wire::Submit submit;
    submit.queue_id = queue;
    submit.program_id = program;
    submit.binding_count = 1;
    const auto event =
        make<Opcode::submit, EventKind>(submit, std::as_bytes(std::span{&bound, std::size_t{1}}));
    const Frame poll = machine().frame<Opcode::poll_event>({event}, 64);
    ASSERT_EQ(machine().serve(poll), sizeof(wire::ResponseHeader) + sizeof(wire::EventState));
    const auto state = wire::load<wire::EventState>(machine().rig.ram.at(poll.response).data() +
                                                    sizeof(wire::ResponseHeader));
    EXPECT_EQ(state.reserved, (decltype(state.reserved){}));
    EXPECT_TRUE(machine().rig.ram.holds({poll.response.offset + 24, 40}, 0xa5));
}

TEST_F(Leftovers, of_a_hundred_thousand_bad_alignments_are_none) {
    auto record = buffer_in(context(), 256);
    record.alignment = 3;
    expect_no_trace(machine().frame<Opcode::allocate_buffer>(record, 24), Status::invalid_argument);
}

TEST_F(Leftovers, of_a_hundred_thousand_requests_past_a_quota_are_none) {
    for (std::uint32_t i = 0; i < mock::reference_identity.limits.contexts; ++i) {
        static_cast<void>(context());
    }
    expect_no_trace(machine().frame<Opcode::create_context>({}, 24), Status::resource_limit);
}

TEST_F(Leftovers, of_a_hundred_thousand_bad_artifacts_are_none) {
    const auto in = context();
    const Frame frame =
        machine().frame<Opcode::load_program>(program_in(in), 24, mock::reference_artifact_bytes);
    expect_no_trace(frame, Status::invalid_argument);
}

Result<backend::AnyBackend> make_cpu() {
    return backends::cpu::make(host::heap());
}

Result<backend::AnyBackend> make_mock() {
    return backend::make_owned<mock::Reference>(host::heap(), host::heap(),
                                                mock::ReferenceOptions{});
}

Result<backend::AnyBackend> make_null() {
    return backend::make_owned<backends::null::NullBackend>(host::heap(), host::heap());
}

TEST(FreshBuffers, read_as_zero_whoever_had_their_bytes_before) {
    for (auto* maker : {make_cpu, make_mock, make_null}) {
        adapters::loopback::Options options;
        options.queue_size = 16;
        options.device = device_options(16);
        auto loopback =
            adapters::loopback::Loopback::make(host::heap(), backend::factory_from(maker), options);
        ASSERT_TRUE(loopback.has_value());
        auto session = guest::Session::open(loopback->transport(), host::heap());
        ASSERT_TRUE(session.has_value());
        auto context = session->create_context();
        ASSERT_TRUE(context.has_value());
        for (const std::uint64_t bytes : {1U, 64U, 1000U, 4096U}) {
            for (int owner = 0; owner < 8; ++owner) {
                auto buffer = context->allocate(
                    {.bytes = bytes,
                     .usage = Usage{UsageBit::transfer_source} | UsageBit::transfer_destination});
                ASSERT_TRUE(buffer.has_value());
                std::vector<std::byte> content(bytes, std::byte{0xa5});
                ASSERT_TRUE(buffer->read(0, content).has_value());
                EXPECT_EQ(std::ranges::count(content, std::byte{0}),
                          static_cast<std::ptrdiff_t>(bytes))
                    << loopback->endpoint().device().backend().name();
                std::ranges::fill(content, std::byte{0x5a});
                ASSERT_TRUE(buffer->write(0, content).has_value());
                ASSERT_TRUE(buffer->release().has_value());
            }
        }
    }
}

}  // namespace
}  // namespace virtaccel::known_faults

#include "tools/virtaccel/replay_recording.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tools/virtaccel/backends.h"
#include "tools/virtaccel/failure.h"
#include "tools/virtaccel/probe/request.h"
#include "tools/virtaccel/recording.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/status.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::cli {
namespace {

using probe::Bytes;
using probe::bytes_of;
using wire::Opcode;

// IDs as another device may give them.
constexpr std::uint64_t context_id = 0xc0ffee01;
constexpr std::uint64_t buffer_id = 0xc0ffee02;
constexpr std::uint64_t program_id = 0xc0ffee03;
constexpr std::uint64_t queue_id = 0xc0ffee04;
constexpr std::uint64_t event_id = 0xc0ffee05;

// A recording under construction.
class Script {
  public:
    Script() {
        recording_.config.chain_descriptors_max = 16;
        recording_.config.request_bytes_max = 4096;
        recording_.config.response_bytes_max = 4096;
        recording_.backend = "mock";
    }

    void add(Opcode opcode, const Bytes& payload, Status status, const Bytes& reply = {}) {
        const std::uint64_t request_id = recording_.entries.size() + 1;
        wire::ResponseHeader header;
        header.status = static_cast<std::uint16_t>(status);
        header.payload_bytes = static_cast<std::uint32_t>(reply.size());
        header.request_id = request_id;
        Exchange exchange{.request = probe::Request(opcode, payload).frame(request_id),
                          .capacity = 256,
                          .response = bytes_of(header)};
        exchange.response.insert(exchange.response.end(), reply.begin(), reply.end());
        recording_.entries.emplace_back(std::move(exchange));
    }

    void make(Opcode opcode, const Bytes& payload, std::uint64_t id) {
        add(opcode, payload, Status::ok, word(id));
    }

    void reset() { recording_.entries.emplace_back(ResetMark{}); }

    static Bytes word(std::uint64_t number) {
        return bytes_of(wire::Object<ContextKind>{.object_id = ContextId{number}});
    }

    [[nodiscard]] const Recording& recording() const { return recording_; }

  private:
    Recording recording_;
};

// A session that makes one of everything; the event is polled and found complete.
Script session(std::uint16_t event_state = 1) {
    Script script;
    script.make(Opcode::create_context, Bytes(8), context_id);
    wire::AllocateBuffer allocation;
    allocation.context_id = ContextId{context_id};
    allocation.bytes = 64U;
    allocation.alignment = 64U;
    allocation.memory_domain = 1U;
    allocation.usage = 0x1fU;
    script.make(Opcode::allocate_buffer, bytes_of(allocation), buffer_id);
    wire::LoadProgram load;
    load.context_id = ContextId{context_id};
    load.format = mock::reference_format;
    std::ranges::copy(mock::reference_target, load.target.begin());
    load.payload_bytes = mock::reference_artifact_bytes;
    load.resident_bytes = mock::reference_resident_bytes;
    const auto artifact =
        mock::encode({.operation = mock::Operation::fill, .first_slot = 0, .operand = 9});
    Bytes payload = bytes_of(load);
    payload.insert(payload.end(), artifact.begin(), artifact.end());
    script.make(Opcode::load_program, payload, program_id);
    wire::CreateQueue queue;
    queue.context_id = ContextId{context_id};
    script.make(Opcode::create_queue, bytes_of(queue), queue_id);
    wire::Submit submit;
    submit.queue_id = QueueId{queue_id};
    submit.program_id = ProgramId{program_id};
    submit.binding_count = 1U;
    wire::Binding binding;
    binding.buffer_id = BufferId{buffer_id};
    binding.bytes = 64U;
    binding.access = 2U;
    script.make(Opcode::submit, bytes_of(submit, binding), event_id);
    wire::EventState state;
    state.state = event_state;
    script.add(Opcode::poll_event, Script::word(event_id), Status::ok, bytes_of(state));
    script.add(Opcode::destroy_event, Script::word(event_id), Status::ok);
    return script;
}

OrFailure<void> replay(const Script& script, const std::string& backend = {}) {
    BackendChoice choice;
    choice.name = backend;
    return replay_recording(script.recording(), "s.rec", choice);
}

void expect_difference(const Script& script, const std::string& what) {
    const auto done = replay(script);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Exit::failed);
    EXPECT_NE(done.error().message.find(what), std::string::npos) << done.error().message;
}

TEST(ReplayOfARecording, gives_every_id_the_place_of_the_recorded_one) {
    Script script = session();
    script.add(Opcode::free_buffer, Script::word(buffer_id), Status::ok);
    script.add(Opcode::unload_program, Script::word(program_id), Status::ok);
    script.add(Opcode::destroy_queue, Script::word(queue_id), Status::ok);
    script.add(Opcode::destroy_context, Script::word(context_id), Status::ok);
    script.add(Opcode::destroy_context, Script::word(context_id), Status::stale_object);
    const auto done = replay(script);
    EXPECT_TRUE(done.has_value()) << done.error().message;
}

TEST(ReplayOfARecording, compares_bytes_of_reads_without_failing_for_them) {
    Script script = session();
    wire::ReadBuffer read;
    read.buffer_id = BufferId{buffer_id};
    read.bytes = 4U;
    script.add(Opcode::read_buffer, bytes_of(read), Status::ok, Bytes(4, std::byte{9}));
    script.add(Opcode::read_buffer, bytes_of(read), Status::ok, Bytes(4, std::byte{8}));
    ::testing::internal::CaptureStdout();
    const auto done = replay(script);
    const std::string said = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(done.has_value()) << done.error().message;
    EXPECT_NE(said.find("reads (2), those with the same bytes are (1)"), std::string::npos) << said;
}

TEST(ReplayOfARecording, says_where_a_status_differs) {
    Script script = session();
    script.add(Opcode::free_buffer, Script::word(buffer_id), Status::busy);
    expect_difference(script,
                      "part at the entry (8), a FREE_BUFFER: the device answers (OK with 0 bytes "
                      "of payload) and the recording has (BUSY with 0 bytes of payload)");
}

TEST(ReplayOfARecording, says_where_an_event_ends_otherwise) {
    expect_difference(session(2), "the entry (6), a POLL_EVENT: the event ends in another way");
}

TEST(ReplayOfARecording, says_where_a_payload_has_another_size) {
    Script script;
    script.add(Opcode::get_device_info, {}, Status::ok, Bytes(75));
    expect_difference(script, "(OK with 76 bytes of payload) and the recording has (OK with 75");
}

TEST(ReplayOfARecording, makes_old_ids_stale_at_a_recorded_reset) {
    Script script = session();
    script.reset();
    script.add(Opcode::free_buffer, Script::word(buffer_id), Status::stale_object);
    const auto done = replay(script);
    EXPECT_TRUE(done.has_value()) << done.error().message;
}

TEST(ReplayOfARecording, goes_to_the_backend_that_is_asked_for) {
    const auto done = replay(session(), "null");
    ASSERT_FALSE(done.has_value());
    EXPECT_NE(done.error().message.find("over the backend (null)"), std::string::npos)
        << done.error().message;
    EXPECT_NE(done.error().message.find("a LOAD_PROGRAM"), std::string::npos)
        << done.error().message;
}

}  // namespace
}  // namespace virtaccel::cli

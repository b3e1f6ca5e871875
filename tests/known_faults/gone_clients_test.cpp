// A client that goes, however it goes, takes nothing along and leaves nothing behind. Elsewhere a
// daemon died of a closed pipe, or kept the objects and descriptors of every client that was
// killed. A device on streams serves one client in its life; what is shown here is what it leaves
// to whoever made it. Sockets have cases of their own once there are sockets.

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "adapters/stdio/device_stream.h"
#include "adapters/stdio/framing.h"
#include "adapters/stdio/testing/pipes.h"
#include "host/memory.h"
#include "host/streams.h"
#include "tests/known_faults/machine.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::known_faults {
namespace {

using adapters::stdio::DeviceStream;
using adapters::stdio::FramePrefix;
using adapters::stdio::testing::Pipe;
using virtaccel::testing::CountingMemory;
using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, const auto& value, std::size_t size) {
    const auto raw = std::as_bytes(std::span{&value, std::size_t{1}}).first(size);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// The number of the next descriptor, which grows with each that is not closed.
int lowest_free_descriptor() {
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    return next;
}

// A device over a mock whose events never end, in a counted memory, and clients of it that come one
// after the other.
class GoneClients : public ::testing::Test {
  protected:
    GoneClients() { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

    // What a client sends: one frame.
    template <Opcode op>
    [[nodiscard]] Bytes frame(const wire::RequestOf<op>& record, const Bytes& tail = {}) {
        constexpr std::size_t fixed = wire::fixed_bytes<wire::RequestOf<op>>;
        const wire::RequestHeader header{
            .opcode = static_cast<std::uint16_t>(op),
            .flags = 0,
            .payload_bytes = static_cast<std::uint32_t>(fixed + tail.size()),
            .request_id = ++request_id_};
        const FramePrefix prefix{
            .length = static_cast<std::uint32_t>(sizeof header + fixed + tail.size()),
            .capacity = response_bytes_max};
        Bytes bytes;
        append(bytes, prefix, sizeof prefix);
        append(bytes, header, sizeof header);
        append(bytes, record, fixed);
        bytes.insert(bytes.end(), tail.begin(), tail.end());
        return bytes;
    }

    // A client that sends `bytes` and goes; whether it stays to read, and what there was to read.
    struct Left {
        std::string complaint;
        Bytes replies;
    };

    Left serve(const Bytes& bytes, bool reads) {
        Pipe requests;
        Pipe replies;
        EXPECT_TRUE(host::write_fully(requests.target(), bytes).has_value());
        requests.close_target();
        if (!reads) {
            replies.close_source();
        }
        const auto served = DeviceStream{*endpoint_, requests.source(), replies.target()}.serve();
        replies.close_target();
        Left left{.complaint = served ? "" : served.error().message, .replies = {}};
        if (reads) {
            left.replies.resize(4096);
            const auto got = host::read_fully(replies.source(), left.replies);
            left.replies.resize(got.value_or(0));
        }
        return left;
    }

    // The object that a client makes with this frame.
    template <class Kind>
    [[nodiscard]] Id<Kind> make(const Bytes& frame) {
        const auto replies = serve(frame, true).replies;
        constexpr std::size_t id_offset = sizeof(wire::le32) + sizeof(wire::ResponseHeader);
        if (replies.size() != id_offset + sizeof(std::uint64_t)) {
            ADD_FAILURE() << "no object, but " << replies.size() << " bytes";
            return {};
        }
        return wire::load<wire::Object<Kind>>(replies.data() + id_offset).object_id;
    }

    // A context with four events that nobody will ever end.
    void leave_four_pending_events() {
        const auto context = make<ContextKind>(frame<Opcode::create_context>({}));
        const auto bytes = mock::encode({.operation = mock::Operation::barrier});
        wire::Submit submit;
        submit.program_id = make<ProgramKind>(
            frame<Opcode::load_program>(program_in(context), {bytes.begin(), bytes.end()}));
        submit.queue_id = make<QueueKind>(frame<Opcode::create_queue>({context, 0U, 0U}));
        submit.binding_count = 1;
        wire::Binding bound;
        bound.buffer_id = make<BufferKind>(frame<Opcode::allocate_buffer>(buffer_in(context, 64)));
        bound.bytes = 64;
        bound.access = static_cast<std::uint8_t>(Access::read);
        Bytes tail;
        append(tail, bound, sizeof bound);
        for (int i = 0; i < 4; ++i) {
            static_cast<void>(make<EventKind>(frame<Opcode::submit>(submit, tail)));
        }
        ASSERT_EQ(endpoint_->device().holdings().events, 4U);
    }

    void make_device(bool can_cancel) {
        maker_.options.complete_at = mock::CompleteAt::never;
        if (!can_cancel) {
            maker_.options.identity.capabilities =
                maker_.options.identity.capabilities - CapabilityBit::event_cancellation;
        }
        maker_.memory = heap_.memory();
        auto made = device::Endpoint::make(heap_.memory(), backend::factory_from(maker_),
                                           device_options(16));
        ASSERT_TRUE(made.has_value());
        endpoint_.emplace(*std::move(made));
    }

    void end_device() { endpoint_.reset(); }

    [[nodiscard]] device::Endpoint& endpoint() { return *endpoint_; }

    [[nodiscard]] const CountingMemory& heap() const { return heap_; }

  private:
    CountingMemory heap_{host::heap()};
    MockMaker maker_;
    std::optional<device::Endpoint> endpoint_;
    std::uint64_t request_id_ = 0;
};

TEST_F(GoneClients, that_do_not_read_their_answer_a_thousand_times_cost_nothing) {
    make_device(true);
    const Bytes info = frame<Opcode::get_device_info>({});
    ASSERT_EQ(serve(info, true).complaint, "");
    const int descriptor = lowest_free_descriptor();
    const auto bytes = heap().live_bytes();
    for (int i = 0; i < 1000; ++i) {
        const auto left = serve(info, false);
        ASSERT_TRUE(left.complaint.ends_with(
            ") cannot be written: Broken pipe; look at what is at its other end."))
            << left.complaint;
    }
    EXPECT_EQ(lowest_free_descriptor(), descriptor);
    EXPECT_EQ(heap().live_bytes(), bytes);
    EXPECT_EQ(serve(info, true).replies.size(), sizeof(wire::le32) + info_bytes);
}

TEST_F(GoneClients, with_pending_events_leave_a_clean_device_to_the_next) {
    for (const bool can_cancel : {true, false}) {
        make_device(can_cancel);
        const auto seed_of_the_first = 1U;
        leave_four_pending_events();
        const auto answer = endpoint().reset(seed_of_the_first + 1);
        EXPECT_EQ(answer, can_cancel ? device::ResetAnswer::reused : device::ResetAnswer::rebuilt);
        const auto& report = endpoint().last_report();
        EXPECT_EQ(report.quarantined.objects == 0, can_cancel);
        EXPECT_EQ(endpoint().device().holdings().contexts, 0U);
        EXPECT_EQ(endpoint().device().holdings().buffer_bytes, 0U);
        EXPECT_EQ(endpoint().device().holdings().program_bytes, 0U);
        EXPECT_EQ(serve(frame<Opcode::get_device_info>({}), true).replies.size(),
                  sizeof(wire::le32) + info_bytes);
        leave_four_pending_events();
        end_device();
        EXPECT_EQ(heap().live_blocks(), 0U);
        EXPECT_EQ(heap().live_bytes(), 0U);
    }
}

TEST_F(GoneClients, in_the_middle_of_a_frame_are_told_of_and_cost_nothing) {
    make_device(true);
    Bytes part = frame<Opcode::create_context>({});
    const auto bytes = heap().live_bytes();
    while (part.size() > 1) {
        part.pop_back();
        ASSERT_TRUE(serve(part, true).complaint.ends_with("must send whole frames."));
    }
    EXPECT_EQ(endpoint().device().holdings().contexts, 0U);
    EXPECT_EQ(heap().live_bytes(), bytes);
}

}  // namespace
}  // namespace virtaccel::known_faults

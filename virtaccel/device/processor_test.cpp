#include "virtaccel/device/processor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/device/device.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/device/pending_load.h"
#include "virtaccel/device/testing/device_rig.h"
#include "virtaccel/device/testing/scripted_backend.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/records.h"
#include "virtaccel/wire/schema.h"

namespace virtaccel::device {
namespace {

using testing::Ending;
using testing::Operation;
using testing::ScriptedBackend;
using wire::Opcode;

// A queue whose chains are in one process's memory.
class FakePort : public queue::DevicePort {
  public:
    struct Request {
        std::vector<std::byte> bytes;
        std::array<std::byte, 128> response{};
        Piece readable;
        Piece writable;
        std::optional<std::uint32_t> used_bytes;
    };

    // Offers a request; its head is its place in `requests`.
    std::uint16_t offer(std::vector<std::byte> bytes) {
        auto& request = *requests.emplace_back(std::make_unique<Request>());
        request.bytes = std::move(bytes);
        request.readable = {request.bytes.data(), request.bytes.size()};
        request.writable = {request.response.data(), request.response.size()};
        const auto head = static_cast<std::uint16_t>(requests.size() - 1);
        waiting.push_back(head);
        return head;
    }

    // What a reset does to a queue: old chains are neither reachable nor completed.
    void reset() {
        ++epoch;
        waiting.clear();
        outstanding.clear();
    }

    std::optional<queue::Chain> pop() override {
        if (waiting.empty()) {
            return std::nullopt;
        }
        popped_while_notified |= notifications;
        const auto head = waiting.front();
        waiting.pop_front();
        outstanding.push_back(head);
        const Lease lease{&epoch, epoch};
        return queue::Chain{head, PieceList::of({&requests[head]->readable, 1}, lease),
                            PieceList::of({&requests[head]->writable, 1}, lease)};
    }

    bool complete(std::uint16_t head, std::uint32_t used_bytes) override {
        if (std::erase(outstanding, head) == 0) {
            ++late_completions;
            return false;
        }
        requests[head]->used_bytes = used_bytes;
        return true;
    }

    void flush() override { ++flushes; }

    bool want_notifications(bool wanted) override {
        notifications = wanted;
        if (wanted && !arrives_late.empty()) {
            offer(std::exchange(arrives_late, {}));
            return true;
        }
        return false;
    }

    [[nodiscard]] Status status(std::uint16_t head) const {
        const auto header = wire::load<wire::ResponseHeader>(requests[head]->response.data());
        return static_cast<Status>(std::uint16_t{header.status});
    }

    std::vector<std::unique_ptr<Request>> requests;
    std::deque<std::uint16_t> waiting;
    std::vector<std::uint16_t> outstanding;
    std::vector<std::byte> arrives_late;  // while notifications are being enabled
    std::uint32_t epoch = 0;
    int flushes = 0;
    int late_completions = 0;
    bool notifications = true;
    bool popped_while_notified = false;
};

template <Opcode op>
std::vector<std::byte> frame(const wire::RequestOf<op>& record = {}, std::size_t tail_bytes = 0) {
    constexpr auto fixed = wire::fixed_bytes<wire::RequestOf<op>>;
    wire::RequestHeader header;
    header.opcode = static_cast<std::uint16_t>(op);
    header.payload_bytes = static_cast<std::uint32_t>(fixed + tail_bytes);
    header.request_id = 1;
    std::vector<std::byte> bytes(sizeof header + fixed + tail_bytes);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &record, fixed);
    return bytes;
}

class ProcessorTest : public ::testing::Test {
  public:
    ProcessorTest() {
        auto options = testing::default_options();
        options.deferred_loads_max = 8;
        auto made =
            Endpoint::make(host::heap(),
                           {this,
                            [](void* state) -> Result<backend::AnyBackend> {
                                auto& self = *static_cast<ProcessorTest*>(state);
                                self.backends.push_back(std::make_unique<ScriptedBackend>());
                                return backend::AnyBackend::borrow(*self.backends.back());
                            }},
                           options);
        EXPECT_TRUE(made.has_value());
        endpoint.emplace(std::move(*made));
    }

    // Keeps deferred loads until a test finishes them.
    [[nodiscard]] LoadRunner keeper() {
        return {this, [](void* state, PendingLoad load) {
                    static_cast<ProcessorTest*>(state)->loads.push_back(std::move(load));
                }};
    }

    std::uint16_t offer_load(ContextId context) {
        return port.offer(frame<Opcode::load_program>(testing::DeviceRig::artifact(context),
                                                      testing::DeviceRig::artifact_bytes().size()));
    }

    ContextId make_context(Processor& processor) {
        const auto head = port.offer(frame<Opcode::create_context>());
        EXPECT_EQ(processor.run(1), 1U);
        return wire::load<wire::Object<ContextKind>>(port.requests[head]->response.data() + 16)
            .object_id;
    }

    FakePort port;
    std::vector<std::unique_ptr<ScriptedBackend>> backends;
    std::optional<Endpoint> endpoint;
    std::vector<PendingLoad> loads;
};

TEST_F(ProcessorTest, completes_what_it_pops_and_tells_the_driver_once) {
    Processor processor(*endpoint, port);
    for (int i = 0; i < 5; ++i) {
        port.offer(frame<Opcode::get_device_info>());
    }
    EXPECT_EQ(processor.run(100), 5U);
    EXPECT_EQ(port.flushes, 1);
    for (const auto& request : port.requests) {
        EXPECT_EQ(request->used_bytes, 92U);
    }
    EXPECT_EQ(processor.run(100), 0U);
    EXPECT_EQ(port.flushes, 2) << "the port may have completed malformed chains itself";
}

TEST_F(ProcessorTest, takes_no_more_chains_than_it_was_told) {
    Processor processor(*endpoint, port);
    for (int i = 0; i < 5; ++i) {
        port.offer(frame<Opcode::get_device_info>());
    }
    EXPECT_EQ(processor.run(0), 0U);
    EXPECT_FALSE(processor.run_until_idle(0));
    EXPECT_EQ(processor.run(3), 3U);
    EXPECT_FALSE(port.requests[3]->used_bytes.has_value());
    EXPECT_FALSE(processor.run_until_idle(2));
    EXPECT_TRUE(processor.run_until_idle(2));
    EXPECT_EQ(port.requests[4]->used_bytes, 92U);
}

// H1: a bad head comes back with length 0 and does not stop the next.
TEST_F(ProcessorTest, completes_bad_frames_with_length_zero_and_goes_on) {
    Processor processor(*endpoint, port);
    for (int i = 0; i < 100; ++i) {
        port.offer(std::vector<std::byte>(15));
        port.offer(frame<Opcode::get_device_info>());
    }
    EXPECT_EQ(processor.run(1000), 200U);
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_EQ(port.requests[i]->used_bytes, i % 2 == 0 ? 0U : 92U);
    }
    EXPECT_FALSE(processor.needs_reset());
}

TEST_F(ProcessorTest, looks_again_after_asking_for_notifications) {
    Processor processor(*endpoint, port);
    port.offer(frame<Opcode::get_device_info>());
    port.arrives_late = frame<Opcode::get_device_info>();
    EXPECT_TRUE(processor.run_until_idle(100));
    EXPECT_TRUE(port.notifications);
    EXPECT_FALSE(port.popped_while_notified) << "a driver that sees work go on need not notify";
    ASSERT_EQ(port.requests.size(), 2U);
    EXPECT_EQ(port.requests[1]->used_bytes, 92U);
}

TEST_F(ProcessorTest, lets_others_overtake_a_deferred_load) {
    Processor processor(*endpoint, port, keeper());
    const auto context = make_context(processor);
    const auto first = offer_load(context);
    const auto second = offer_load(context);
    const auto info = port.offer(frame<Opcode::get_device_info>());
    EXPECT_EQ(processor.run(10), 3U);
    EXPECT_EQ(port.requests[info]->used_bytes, 92U);
    EXPECT_FALSE(port.requests[first]->used_bytes.has_value());
    ASSERT_EQ(loads.size(), 2U);
    const auto flushes = port.flushes;
    processor.finish(std::move(loads[1]));
    EXPECT_EQ(port.requests[second]->used_bytes, 24U);
    EXPECT_EQ(port.flushes, flushes + 1);
    processor.finish(std::move(loads[0]));
    EXPECT_EQ(port.requests[first]->used_bytes, 24U);
    EXPECT_EQ(port.status(first), Status::ok);
}

TEST_F(ProcessorTest, finishes_loads_at_once_without_a_runner) {
    Processor processor(*endpoint, port);
    const auto head = offer_load(make_context(processor));
    EXPECT_EQ(processor.run(10), 1U);
    EXPECT_EQ(port.requests[head]->used_bytes, 24U);
}

// VQ-018: no late completion and no late write after a reset.
TEST_F(ProcessorTest, completes_nothing_late_after_a_reset) {
    Processor processor(*endpoint, port, keeper());
    const auto head = offer_load(make_context(processor));
    EXPECT_EQ(processor.run(10), 1U);
    port.reset();
    EXPECT_EQ(endpoint->reset(), ResetAnswer::reused);
    processor.finish(std::move(loads[0]));
    EXPECT_FALSE(port.requests[head]->used_bytes.has_value());
    EXPECT_EQ(port.late_completions, 0);
    EXPECT_EQ(port.status(head), Status::ok) << "still the zeros it was offered with";
    EXPECT_FALSE(processor.needs_reset());
}

TEST_F(ProcessorTest, serves_the_device_that_a_reset_built) {
    Processor processor(*endpoint, port, keeper());
    const auto old_load = offer_load(make_context(processor));
    EXPECT_EQ(processor.run(10), 1U);
    backends.back()->next(Operation::create_context, Ending::rejected(Status::device_lost));
    const auto lost = port.offer(frame<Opcode::create_context>());
    EXPECT_EQ(processor.run(10), 1U);
    EXPECT_EQ(port.status(lost), Status::device_lost);
    EXPECT_TRUE(processor.needs_reset());
    port.reset();
    EXPECT_EQ(endpoint->reset(), ResetAnswer::rebuilt);
    EXPECT_FALSE(processor.needs_reset());
    processor.finish(std::move(loads[0]));
    EXPECT_FALSE(port.requests[old_load]->used_bytes.has_value());
    make_context(processor);
    EXPECT_EQ(endpoint->device().holdings().contexts, 1U);
}

}  // namespace
}  // namespace virtaccel::device

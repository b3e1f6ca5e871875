#include "adapters/loopback/loopback.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/error.h"
#include "host/memory.h"
#include "virtaccel/backend/any_backend.h"
#include "virtaccel/backend/contract.h"
#include "virtaccel/backend/owned.h"
#include "virtaccel/base/bytes.h"
#include "virtaccel/base/id.h"
#include "virtaccel/base/memory.h"
#include "virtaccel/base/result.h"
#include "virtaccel/base/status.h"
#include "virtaccel/base/testing/memory.h"
#include "virtaccel/base/vocabulary.h"
#include "virtaccel/device/endpoint.h"
#include "virtaccel/device/options.h"
#include "virtaccel/guest/transport.h"
#include "virtaccel/mock/reference.h"
#include "virtaccel/mock/reference_artifact.h"
#include "virtaccel/queue/port.h"
#include "virtaccel/wire/commands.h"
#include "virtaccel/wire/convert.h"
#include "virtaccel/wire/records.h"

namespace virtaccel::adapters::loopback {
namespace {

using ::virtaccel::testing::CountingMemory;

Options small(std::uint32_t queue_size = 64) {
    Options options;
    options.queue_size = queue_size;
    options.device.config.chain_descriptors_max = 16;
    options.device.config.request_bytes_max = 65536;
    options.device.config.response_bytes_max = 65536;
    options.device.policy = {.buffer_bytes_max = 1U << 20U,
                             .program_resident_bytes_max = 1U << 20U};
    return options;
}

// Makes reference backends, unless it is broken.
struct Factory {
    Memory memory = host::heap();
    bool broken = false;
    int made = 0;

    Result<backend::AnyBackend> operator()() {
        if (broken) {
            return fail(Status::device_lost);
        }
        ++made;
        return backend::make_owned<mock::Reference>(memory, memory);
    }

    [[nodiscard]] backend::BackendFactory get() { return backend::factory_from(*this); }
};

// One request and its response, in the driver's memory.
template <class Payload>
struct Exchange {
    wire::RequestHeader header;
    Payload payload;
    std::array<std::byte, 92> response{};

    Exchange(wire::Opcode opcode, std::uint64_t id, const Payload& sent = {}) : payload(sent) {
        header.opcode = static_cast<std::uint16_t>(opcode);
        header.request_id = id;
        header.payload_bytes =
            static_cast<std::uint32_t>(std::is_empty_v<Payload> ? 0 : sizeof sent);
    }

    queue::Posted post(queue::DriverPort& port, std::uint64_t cookie) {
        const std::array readable{
            Piece{.data = reinterpret_cast<std::byte*>(&header), .size = sizeof header},
            Piece{.data = reinterpret_cast<std::byte*>(&payload), .size = sizeof payload}};
        const std::array writable{Piece{.data = response.data(), .size = response.size()}};
        return port.post(std::span{readable}.first(std::is_empty_v<Payload> ? 1 : 2), writable,
                         cookie);
    }

    [[nodiscard]] Status status() const {
        wire::ResponseHeader answer;
        std::memcpy(&answer, response.data(), sizeof answer);
        EXPECT_EQ(answer.request_id, header.request_id);
        return static_cast<Status>(std::uint16_t{answer.status});
    }

    template <class Record>
    [[nodiscard]] Record payload_of_response() const {
        Record record;
        std::memcpy(&record, response.data() + sizeof(wire::ResponseHeader), sizeof record);
        return record;
    }
};

// Posts, kicks and expects the one completion.
template <class Payload>
void run(Loopback& loopback, Exchange<Payload>& exchange, std::uint32_t used_bytes) {
    ASSERT_EQ(exchange.post(loopback.port(), 7), queue::Posted::ok);
    EXPECT_FALSE(loopback.port().next().has_value());
    loopback.port().kick();
    const auto completion = loopback.port().next();
    ASSERT_TRUE(completion.has_value());
    EXPECT_EQ(completion->cookie, 7U);
    EXPECT_EQ(completion->used_bytes, used_bytes);
    EXPECT_FALSE(loopback.port().next().has_value());
}

std::uint64_t create_context(Loopback& loopback) {
    Exchange<wire::CreateContext> create{wire::Opcode::create_context, 1};
    run(loopback, create, 24);
    EXPECT_EQ(create.status(), Status::ok);
    return create.payload_of_response<wire::Object<ContextKind>>().object_id.raw;
}

Status destroy_context(Loopback& loopback, std::uint64_t id) {
    wire::Object<ContextKind> object;
    object.object_id.raw = id;
    Exchange<wire::Object<ContextKind>> destroy{wire::Opcode::destroy_context, 2, object};
    run(loopback, destroy, 16);
    return destroy.status();
}

TEST(Loopback, answers_before_kick_returns) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    Exchange<wire::Empty> info{wire::Opcode::get_device_info, 0x1234};
    run(*loopback, info, 92);
    EXPECT_EQ(info.status(), Status::ok);
    EXPECT_EQ(wire::to_identity(info.payload_of_response<wire::DeviceInfo>()),
              mock::reference_identity);
}

TEST(Loopback, says_what_its_options_say) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small(256));
    ASSERT_TRUE(loopback.has_value());
    EXPECT_EQ(loopback->port().depth_max(), 128U);
    EXPECT_EQ(loopback->port().chain_pieces_max(), 16U);
    EXPECT_EQ(loopback->config().chain_descriptors_max, 16);
    EXPECT_EQ(loopback->config().request_bytes_max, 65536U);
    EXPECT_EQ(Options{}.queue_size, 1024U);
}

TEST(Loopback, serves_a_full_queue_in_one_kick_and_goes_on) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    queue::DriverPort& port = loopback->port();
    std::vector<Exchange<wire::Empty>> exchanges;
    exchanges.reserve(port.depth_max());
    for (std::uint64_t i = 0; i < port.depth_max(); ++i) {
        exchanges.emplace_back(wire::Opcode::get_device_info, i + 1);
    }
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < exchanges.size(); ++i) {
            ASSERT_EQ(exchanges[i].post(port, i), queue::Posted::ok);
        }
        EXPECT_EQ(exchanges[0].post(port, 0), queue::Posted::full);
        port.kick();
        for (std::uint64_t i = 0; i < exchanges.size(); ++i) {
            const auto completion = port.next();
            ASSERT_TRUE(completion.has_value());
            EXPECT_EQ(completion->cookie, i);
            EXPECT_EQ(exchanges[i].status(), Status::ok);
        }
        EXPECT_FALSE(port.next().has_value());
    }
}

TEST(Loopback, allocates_nothing_for_a_command_that_creates_nothing) {
    CountingMemory memory{host::heap()};
    Factory factory;
    auto loopback = Loopback::make(memory.memory(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    const std::uint64_t granted = memory.granted();
    Exchange<wire::Empty> info{wire::Opcode::get_device_info, 1};
    for (int i = 0; i < 100; ++i) {
        run(*loopback, info, 92);
    }
    EXPECT_EQ(memory.granted(), granted);
}

TEST(Loopback, stays_where_it_is_when_it_is_moved) {
    Factory factory;
    auto made = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(made.has_value());
    const queue::DriverPort* const port = &made->port();
    Loopback moved = *std::move(made);
    Loopback again = Loopback::make(host::heap(), factory.get(), small()).value();
    again = std::move(moved);
    EXPECT_EQ(&again.port(), port);
    Exchange<wire::Empty> info{wire::Opcode::get_device_info, 1};
    run(again, info, 92);
}

// VQ-018, VQ-019
TEST(Loopback, forgets_objects_and_chains_at_reset) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    const std::uint64_t context = create_context(*loopback);
    Exchange<wire::Empty> late{wire::Opcode::get_device_info, 9};
    ASSERT_EQ(late.post(loopback->port(), 9), queue::Posted::ok);
    EXPECT_EQ(loopback->reset(2), device::ResetAnswer::reused);
    loopback->port().kick();
    EXPECT_FALSE(loopback->port().next().has_value());
    EXPECT_TRUE(std::ranges::all_of(late.response, [](std::byte b) { return b == std::byte{}; }));
    EXPECT_EQ(destroy_context(*loopback, context), Status::stale_object);
    const std::uint64_t fresh = create_context(*loopback);
    EXPECT_NE(fresh, context);
    EXPECT_EQ(destroy_context(*loopback, fresh), Status::ok);
    EXPECT_EQ(factory.made, 1);
}

TEST(Loopback, changes_nothing_when_it_refuses_a_reset) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    const std::uint64_t context = create_context(*loopback);
    Exchange<wire::Empty> info{wire::Opcode::get_device_info, 9};
    ASSERT_EQ(info.post(loopback->port(), 9), queue::Posted::ok);
    EXPECT_EQ(loopback->reset(0), device::ResetAnswer::refused);
    EXPECT_EQ(loopback->reset(1), device::ResetAnswer::refused);
    loopback->port().kick();
    EXPECT_TRUE(loopback->port().next().has_value());
    EXPECT_EQ(destroy_context(*loopback, context), Status::ok);
}

TEST(Loopback, names_the_option_that_is_wrong) {
    Factory factory;
    const auto message = [&factory](const Options& options) {
        const auto made = Loopback::make(host::heap(), factory.get(), options);
        return made ? std::string{} : made.error().message;
    };
    for (const std::uint32_t size : {0U, 3U, 1000U, 65536U}) {
        EXPECT_EQ(message(small(size)), "The queue size (" + std::to_string(size) +
                                            ") is not a power of two from 2 to 32768: choose one "
                                            "that is.");
    }
    EXPECT_EQ(message(small(8)),
              "The chain limit (16) is greater than the queue size (8): lower the one or raise the "
              "other.");
    Options options = small();
    options.seed = 0;
    EXPECT_EQ(message(options), explain(device::Unfit::seed_is_zero));
    options = small();
    options.device.policy = {};
    EXPECT_EQ(message(options), explain(device::Unfit::policy_is_zero));
    factory.broken = true;
    EXPECT_EQ(message(small()), explain(device::Unfit::no_backend));
}

TEST(Loopback, says_so_when_there_is_no_memory_and_leaves_none_behind) {
    CountingMemory memory{host::heap()};
    Factory factory{.memory = memory.memory()};
    std::uint64_t refused = 0;
    for (bool done = false; !done; ++refused) {
        memory.refuse_after(refused);
        const auto made = Loopback::make(memory.memory(), factory.get(), small());
        done = made.has_value();
        if (!done) {
            EXPECT_TRUE(made.error().message.ends_with('.'));
            EXPECT_EQ(memory.live_blocks(), 0U);
        }
    }
    EXPECT_GT(refused, 6U);
    EXPECT_EQ(memory.live_blocks(), 0U);
}

TEST(LoopbackTransport, carries_what_a_session_needs) {
    Factory factory;
    auto loopback = Loopback::make(host::heap(), factory.get(), small());
    ASSERT_TRUE(loopback.has_value());
    const guest::Transport transport = loopback->transport();
    EXPECT_EQ(transport.port, &loopback->port());
    EXPECT_EQ(transport.config.request_bytes_max, 65536U);
    EXPECT_TRUE(transport.reaches_caller_memory);
    const guest::Waiter& waiter = transport.waiter;
    const std::uint64_t before = waiter.now_ns(waiter.state);
    EXPECT_FALSE(waiter.wait(waiter.state, 1'000'000));
    EXPECT_GE(waiter.now_ns(waiter.state) - before, 1'000'000U);
    // Posted and not kicked: waiting serves it, and finds the completion.
    Exchange<wire::Empty> info{wire::Opcode::get_device_info, 1};
    ASSERT_EQ(info.post(*transport.port, 1), queue::Posted::ok);
    EXPECT_TRUE(waiter.wait(waiter.state, 3'600'000'000'000));
    EXPECT_TRUE(transport.port->next().has_value());
    const std::uint64_t context = create_context(*loopback);
    const auto config = transport.reset(transport.reset_state);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->request_bytes_max, 65536U);
    EXPECT_EQ(destroy_context(*loopback, context), Status::stale_object);
}

TEST(LoopbackTransport, ends_a_pause_when_the_backend_has_news) {
    mock::Reference reference{host::heap()};
    auto borrow = [&reference]() -> Result<backend::AnyBackend> {
        return backend::AnyBackend::borrow(reference);
    };
    auto loopback = Loopback::make(host::heap(), backend::factory_from(borrow), small());
    ASSERT_TRUE(loopback.has_value());
    const guest::Waiter waiter = loopback->transport().waiter;
    auto context = reference.create_context();
    ASSERT_TRUE(context.has_value());
    // A backend's thread ends an event while the driver's sleeps.
    const auto buffer = reference.allocate(
        *context, {.bytes = 64, .usage = usage_program | UsageBit::transfer_destination});
    ASSERT_TRUE(buffer.has_value());
    auto artifact = mock::encode({.operation = mock::Operation::barrier});
    const std::array pieces{Piece{.data = artifact.data(), .size = artifact.size()}};
    const auto prepared = reference.prepare({.format = mock::reference_format,
                                             .target = mock::reference_target,
                                             .resident_bytes_max = mock::reference_resident_bytes,
                                             .payload = Reader{PieceList::of(pieces)},
                                             .refusals = {}});
    ASSERT_TRUE(prepared.has_value());
    const auto program = reference.load(*context, *prepared);
    const auto queue = reference.create_queue(*context);
    ASSERT_TRUE(program.has_value() && queue.has_value());
    const std::array bindings{
        backend::Binding{.buffer = buffer->buffer, .range = {.offset = 0, .bytes = 64}}};
    const auto submitted =
        reference.submit({.queue = *queue, .program = program->program, .bindings = bindings});
    ASSERT_EQ(submitted.certainty, backend::Certainty::done);
    std::thread worker{[&reference, &submitted] { reference.complete(submitted.event); }};
    waiter.pause(waiter.state, std::uint64_t{3600} * 1'000'000'000);
    worker.join();
    EXPECT_EQ(reference.poll(submitted.event)->phase, EventPhase::complete);
}

}  // namespace
}  // namespace virtaccel::adapters::loopback
